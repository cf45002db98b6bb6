//! What a memory is, who may touch it, what comes first.
//!
//! Every decision of the product is made here, by plain functions; nothing here does I/O or reads a clock, the
//! environment or randomness. Nouns, then judgement, then the verbs every door calls.

pub mod admin;
pub mod context;
pub mod gate;
pub mod model;
pub mod policy;
pub mod ports;
pub mod recall;
pub mod receipts;
pub mod removal;
pub mod review;
pub mod safety;
pub mod sources;
pub mod summaries;
pub mod tenant;
pub mod text;
pub mod upkeep;
pub mod write;

pub use admin::erase::{EraseWhat, TenantStanding};
pub use admin::export::{
    EXPORT_FORMAT, ExportFile, ExportLines, ExportText, Exported, Layout, Story, StoryVersion, markdown,
};
pub use admin::import::{ImportDone, ImportRefused};
pub use admin::verify::{Broken, Verified};
pub use context::diagnose::{Diagnosis, SessionMemory, SessionReceipt, SessionReport};
pub use context::turn::{Context, ContextRequest, RECEIPT_NOT_YET};
pub use context::window::{Cut, Message, Window, WindowRequest};
pub use recall::event_visibility::Witness;
pub use recall::lineage::Lineage;
pub use recall::read::{Listing, Reference};
pub use recall::search::{Answer, Query, WhyNot};
pub use removal::forget::{Forgetting, Forgotten};
pub use removal::quarantine::{Quarantined, Reach};
pub use removal::redact::{Redacted, Redaction, RedactionDone};
pub use review::consolidation::{Group, LayerContext, ProfileProposal};
pub use review::propose::{Promotion, Proposed};
pub use review::rescan::{RESCAN_ORDER, Rescanned, StoredFinding};
pub use review::rollback::{Rollback, RolledBack};
pub use sources::audit_log::{AuditEntry, StepOutput};
pub use sources::episodes::{EPISODES, SessionSummary, Turn};
pub use sources::four_sources::{MyQuery, Recalled, Recollection, SourceFailure};
pub use sources::ingest::{DocumentText, IngestOutcome, Ingested, Removed};
pub use sources::knowledge::{Document, DocumentStatus};
pub use sources::runs::{Closed, Closing, Run, RunClosed, RunOutcome};
pub use sources::skills::{LeftOut, Shelf, Shelved, Skill};
pub use summaries::Summariser;
pub use summaries::extractive::Extractive;
pub use tenant::stores::NewStore;
pub use upkeep::{Upkeep, UpkeepDone};
pub use write::attempt::{Saving, Step};
pub use write::patch::{Patch, Patched};
pub use write::remember::{Outcome, Remembered, Saved};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::Happening;
use crate::model::id::{MemoryId, VersionId};
use crate::model::limits::Limits;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::ruleset::Rulesets;
use crate::model::store::Store;
use crate::model::vector::{Embedding, Vector};
use crate::policy::Readable;
use crate::ports::change::Change;
use crate::ports::row::RowFilter;
use crate::ports::{Backend, Clock, Embedder, StoreError};

/// The product behind every door: a backend, an embedder, a clock, and the rules.
#[derive(Clone)]
pub struct Engine {
    pub backend: Arc<dyn Backend>,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub settings: Arc<Settings>,
    /// Rows that hardly ever change.
    pub known: Arc<tenant::cache::Known>,
}

/// What configuration can say about the engine.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub limits: Limits,
    pub rulesets: Rulesets,
    /// `MEMORY_ENABLED=false`: reads work, writes are refused, no context is prepared.
    pub memory_off: bool,
    /// Makes summaries of turns that no longer fit; `None`: they are extracted here.
    pub summariser: Option<Arc<dyn Summariser>>,
    /// A model's opinion on planted orders, beside the rules; `None`: the rules alone.
    pub classifier: Option<Arc<dyn safety::classifier::Classifier>>,
    pub skills: Option<Arc<dyn Shelf>>,
    /// Categories of the knowledge base an agent looks into, by its name; an agent that is not named sees all.
    pub knowledge_categories: BTreeMap<String, Vec<String>>,
}

impl Engine {
    fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    fn fresh_memory_id(&self) -> MemoryId {
        MemoryId(self.clock.fresh_id())
    }

    fn fresh_version_id(&self) -> VersionId {
        VersionId(self.clock.fresh_id())
    }

    /// What this caller may see, with its pipeline's opt-in looked up.
    pub fn readable(&self, caller: &Caller) -> Result<Result<Readable, Refusal>, Error> {
        let enabled = self.opt_in(caller)?.is_some();
        Ok(policy::readable(caller, enabled))
    }

    /// As [`Engine::readable`]; without `memory.read` nothing exists.
    fn eyes(&self, caller: &Caller) -> Result<Readable, Error> {
        let closed =
            RowFilter { state: Some("archived".to_owned()), limit: self.limits().list_max, ..RowFilter::default() };
        let closed: Vec<Store> = ports::row::select(&*self.backend, caller.tenant, &closed)?;
        let mut closed: Vec<String> = closed.into_iter().map(|store| store.slug).collect();
        if !caller.role.decides() {
            closed.push(model::store::KNOWLEDGE_DRAFTS.to_owned());
        }
        Ok(Readable { closed, ..self.readable(caller)?? })
    }

    /// As [`Engine::eyes`], without the stores that are looked into by name only, unless this filter names some.
    fn eyes_on(&self, caller: &Caller, filter: &ports::Filter) -> Result<Readable, Error> {
        let mut eyes = self.eyes(caller)?;
        if filter.stores.is_empty() && filter.places.is_empty() {
            eyes.closed.extend(model::store::ASKED_BY_NAME.iter().map(|slug| (*slug).to_owned()));
        }
        Ok(eyes)
    }

    /// Asked first by every verb that changes memories. What takes text away for good and what keeps the promises made
    /// about it (redaction, erasure, upkeep) is never turned off.
    fn is_on(&self) -> Result<(), Error> {
        match self.settings.memory_off {
            true => Err(gate::memory_disabled().into()),
            false => Ok(()),
        }
    }

    /// Does it again where what it looked at changed before it could write.
    fn again<T>(&self, work: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        for _ in 1..self.limits().commit_attempts {
            match work() {
                Err(Error::Store(StoreError::Guard(_))) => {}
                answer => return answer,
            }
        }
        work()
    }

    /// Writes a refusal into the log and hands it back.
    fn refuse(&self, caller: &Caller, store: &str, refusal: Refusal) -> Result<Refusal, Error> {
        self.backend.commit(self.refusal(caller, store, &refusal))?;
        Ok(refusal)
    }

    /// What tells of a refusal.
    fn refusal(&self, caller: &Caller, store: &str, refusal: &Refusal) -> Change {
        let now = self.clock.now();
        self.known.tally.blocked(refusal);
        Change::new(caller.tenant, now).event(Happening::refused(caller, now, store, refusal))
    }

    /// The vector of a text, where the embedder is up. A memory without one is still found by its words.
    fn embedding(&self, text: &str) -> Option<Embedding> {
        let vectors = self.embedder.embed(&[text]).ok()?;
        let vector = Vector::quantise(vectors.first()?)?;
        Some(Embedding { model: self.embedder.model().to_owned(), vector })
    }

    /// The vector of a memory being saved: only where making it does not hold up the save.
    fn embedding_at_save(&self, memory: &Memory) -> Option<Embedding> {
        self.embedder.is_instant().then(|| self.embedding(&gate::embedding_text(memory))).flatten()
    }
}
