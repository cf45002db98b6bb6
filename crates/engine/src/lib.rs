//! What a memory is, who may touch it, what comes first.
//!
//! Every decision of the product is made here, by plain functions; nothing here does I/O or reads a clock, the
//! environment or randomness. Nouns, then judgement, then the verbs every door calls.

// nouns
pub mod allow;
pub mod ban;
mod blocks;
pub mod caller;
pub mod certificate;
pub mod change;
mod chronicle;
pub mod chunks;
pub mod container;
pub mod count;
mod cursor;
pub mod entities;
pub mod error;
pub mod event;
pub mod id;
pub mod keys;
pub mod lifecycle;
pub mod limits;
mod marking;
pub mod memory;
pub mod misfit;
pub mod moment;
pub mod owners;
pub mod pipeline;
pub mod ports;
pub mod presets;
pub mod receipt;
pub mod refusal;
pub mod review;
pub mod row;
pub mod ruleset;
pub mod scope;
pub mod vector;
pub mod vocabulary;
// judgement
pub mod duplicate;
pub mod filtering;
pub mod gate;
mod normal;
pub mod policy;
pub mod ranking;
pub mod render;
pub mod safety;
pub mod tokens;
pub mod words;
// verbs
mod activity;
mod asking;
pub mod classify;
mod context;
mod diagnose;
mod episodes;
mod erase;
mod export;
mod extractive;
mod forget;
mod html;
mod import;
mod ingest;
mod intake;
mod knowledge;
pub mod known;
mod layers;
mod lease;
mod lineage;
mod pace;
mod packed;
mod patch;
mod propose;
mod quarantine;
mod read;
mod recall;
mod redact;
mod remember;
mod rename;
pub mod repeat;
mod rescan;
mod rollback;
mod run;
mod saving;
mod search;
mod seed;
mod skills;
pub mod snapshot;
mod sources;
mod stores;
mod summary;
pub mod tally;
mod together;
pub mod touch;
mod upkeep;
pub mod usage;
mod verify;
mod verify_by;
mod window;
mod witness;

pub use context::{Context, ContextRequest, RECEIPT_NOT_YET};
pub use diagnose::{Diagnosis, SessionMemory, SessionReceipt, SessionReport};
pub use episodes::{EPISODES, SessionSummary, Turn};
pub use erase::{EraseWhat, TenantStanding};
pub use export::{EXPORT_FORMAT, ExportFile, ExportLines, ExportText, Exported, Layout, Story, StoryVersion, markdown};
pub use extractive::Extractive;
pub use forget::{Forgetting, Forgotten};
pub use import::{ImportDone, ImportRefused};
pub use ingest::{DocumentText, IngestOutcome, Ingested, Removed};
pub use knowledge::{Document, DocumentStatus};
pub use layers::{Group, LayerContext, ProfileProposal};
pub use lineage::Lineage;
pub use patch::{Patch, Patched};
pub use propose::{Promotion, Proposed};
pub use quarantine::{Quarantined, Reach};
pub use read::{Listing, Reference};
pub use recall::{MyQuery, Recalled, Recollection, SourceFailure};
pub use redact::{Redacted, Redaction, RedactionDone};
pub use remember::{Outcome, Remembered, Saved};
pub use rescan::{RESCAN_ORDER, Rescanned, StoredFinding};
pub use rollback::{Rollback, RolledBack};
pub use run::{Closed, Closing, Run, RunClosed, RunOutcome};
pub use saving::{Saving, Step};
pub use search::{Answer, Query, WhyNot};
pub use skills::{LeftOut, Shelf, Shelved, Skill};
pub use sources::{AuditEntry, StepOutput};
pub use stores::NewStore;
pub use summary::Summariser;
pub use upkeep::{Upkeep, UpkeepDone};
pub use verify::{Broken, Verified};
pub use window::{Cut, Message, Window, WindowRequest};
pub use witness::Witness;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::caller::Caller;
use crate::change::Change;
use crate::container::Store;
use crate::error::Error;
use crate::event::Happening;
use crate::id::{MemoryId, VersionId};
use crate::limits::Limits;
use crate::memory::Memory;
use crate::policy::Readable;
use crate::ports::{Backend, Clock, Embedder, StoreError};
use crate::refusal::Refusal;
use crate::row::RowFilter;
use crate::ruleset::Rulesets;
use crate::vector::{Embedding, Vector};

/// The product behind every door: a backend, an embedder, a clock, and the rules.
#[derive(Clone)]
pub struct Engine {
    pub backend: Arc<dyn Backend>,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub settings: Arc<Settings>,
    /// Rows that hardly ever change.
    pub known: Arc<known::Known>,
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
    pub classifier: Option<Arc<dyn classify::Classifier>>,
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
        let closed: Vec<Store> = row::select(&*self.backend, caller.tenant, &closed)?;
        let mut closed: Vec<String> = closed.into_iter().map(|store| store.slug).collect();
        if !caller.role.decides() {
            closed.push(container::KNOWLEDGE_DRAFTS.to_owned());
        }
        Ok(Readable { closed, ..self.readable(caller)?? })
    }

    /// As [`Engine::eyes`], without the stores that are looked into by name only, unless this filter names some.
    fn eyes_on(&self, caller: &Caller, filter: &ports::Filter) -> Result<Readable, Error> {
        let mut eyes = self.eyes(caller)?;
        if filter.stores.is_empty() && filter.places.is_empty() {
            eyes.closed.extend(container::ASKED_BY_NAME.iter().map(|slug| (*slug).to_owned()));
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
