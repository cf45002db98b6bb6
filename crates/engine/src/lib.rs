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

pub use admin::erase::{EraseTarget, TenantStatus};
pub use admin::export::{
    EXPORT_FORMAT, ExportFile, ExportLayout, ExportLineReader, ExportPiece, ExportWriter, ExportedMemory,
    ExportedVersion, markdown,
};
pub use admin::import::{ImportReport, RefusedPiece};
pub use admin::log_verification::{BrokenEntry, LogVerification};
pub use context::diagnose::{Diagnosis, SessionMemory, SessionReceipt, SessionReport};
pub use context::turn::{Context, ContextRequest, RECEIPT_PENDING};
pub use context::window::{Message, Window, WindowCut, WindowRequest};
pub use model::run::{Run, RunOutcome};
pub use model::turn::Turn;
pub use recall::event_visibility::EventVisibility;
pub use recall::lineage::Lineage;
pub use recall::read::{Listing, MemoryReference};
pub use recall::search::{HitExplanation, SearchQuery, SearchResults};
pub use removal::forget::{ForgetOptions, TransitionOutcome};
pub use removal::quarantine::{QuarantineOutcome, QuarantineReach};
pub use removal::redact::{RedactionOutcome, RedactionReport, RedactionRequest};
pub use review::consolidation::{ConsolidationGroup, LayerContext, ProfileProposal};
pub use review::propose::{Promotion, ProposalOutcome};
pub use review::rescan::{RESCAN_ORDER, RescanReport, StoredFinding};
pub use review::rollback::{Rollback, RollbackOutcome};
pub use sources::audit_log::{AuditEntry, StepOutput};
pub use sources::episodes::{EPISODES_STORE, SessionSummary};
pub use sources::four_sources::{RecallQuery, RecallResults, RecalledItem, SourceFailure};
pub use sources::ingest::{DocumentText, IngestOutcome, IngestReport, RemovedDocument};
pub use sources::knowledge::{Document, DocumentStatus};
pub use sources::runs::{CloseRunOutcome, CloseRunReport, CloseRunRequest};
pub use sources::skills::{LoadedSkills, Skill, SkillSource, SkippedSkill};
pub use summaries::Summariser;
pub use summaries::extractive::ExtractiveSummariser;
pub use tenant::stores::NewStore;
pub use upkeep::{UpkeepOptions, UpkeepReport};
pub use write::attempt::{PendingSave, SaveStep};
pub use write::patch::{Patch, PatchOutcome};
pub use write::remember::{Remembered, SaveOutcome, SavedMemory};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::error::StoreError;
use crate::model::event::EventBody;
use crate::model::id::{MemoryId, VersionId};
use crate::model::limits::Limits;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::row::RowFilter;
use crate::model::ruleset::Rulesets;
use crate::model::store::Store;
use crate::model::vector::{Embedding, Vector};
use crate::policy::Readable;
use crate::ports::change::Change;
use crate::ports::{Backend, Clock, Embedder};

/// The product behind every door: a backend, an embedder, a clock, and the rules.
#[derive(Clone)]
pub struct Engine {
    pub backend: Arc<dyn Backend>,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub settings: Arc<Settings>,
    /// Rows that hardly ever change.
    pub known: Arc<tenant::cache::TenantCache>,
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
    pub skills: Option<Arc<dyn SkillSource>>,
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
    pub fn readable_by(&self, caller: &Caller) -> Result<Result<Readable, Refusal>, Error> {
        let enabled = self.opt_in(caller)?.is_some();
        Ok(policy::readable_by(caller, enabled))
    }

    /// Asked first by every verb that changes memories. What takes text away for good and what keeps the promises made
    /// about it (redaction, erasure, upkeep) is never turned off.
    fn ensure_memory_enabled(&self) -> Result<(), Error> {
        match self.settings.memory_off {
            true => Err(gate::memory_disabled_refusal().into()),
            false => Ok(()),
        }
    }
}

/// As [`Engine::readable`]; without `memory.read` nothing exists.
pub(crate) fn visible_to(engine: &Engine, caller: &Caller) -> Result<Readable, Error> {
    let closed =
        RowFilter { state: Some("archived".to_owned()), limit: engine.limits().list_max, ..RowFilter::default() };
    let closed: Vec<Store> = ports::row::select_records(&*engine.backend, caller.tenant, &closed)?;
    let mut closed: Vec<String> = closed.into_iter().map(|store| store.slug).collect();
    if !caller.role.may_decide_reviews() {
        closed.push(model::store::KNOWLEDGE_DRAFTS.to_owned());
    }
    Ok(Readable { hidden_stores: closed, ..engine.readable_by(caller)?? })
}

/// As [`Engine::eyes`], without the stores that are looked into by name only, unless this filter names some.
pub(crate) fn visible_for_filter(engine: &Engine, caller: &Caller, filter: &ports::Filter) -> Result<Readable, Error> {
    let mut eyes = visible_to(engine, caller)?;
    if filter.stores.is_empty() && filter.places.is_empty() {
        eyes.hidden_stores.extend(model::store::STORES_BY_NAME_ONLY.iter().map(|slug| (*slug).to_owned()));
    }
    Ok(eyes)
}

/// Does it again where what it looked at changed before it could write.
pub(crate) fn retry_lost_race<T>(engine: &Engine, work: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 1..engine.limits().commit_attempts {
        match work() {
            Err(Error::Store(StoreError::Guard(_))) => {}
            answer => return answer,
        }
    }
    work()
}

/// Writes a refusal into the log and hands it back.
pub(crate) fn log_refusal(engine: &Engine, caller: &Caller, store: &str, refusal: Refusal) -> Result<Refusal, Error> {
    engine.backend.commit(plan_refusal_event(engine, caller, store, &refusal))?;
    Ok(refusal)
}

/// What tells of a refusal.
pub(crate) fn plan_refusal_event(engine: &Engine, caller: &Caller, store: &str, refusal: &Refusal) -> Change {
    let now = engine.clock.now();
    engine.known.scan_counters.count_blocked(refusal);
    Change::new(caller.tenant, now).with_event(EventBody::from_refusal(caller, now, store, refusal))
}

/// The vector of a text, where the embedder is up. A memory without one is still found by its words.
pub(crate) fn embed_text(engine: &Engine, text: &str) -> Option<Embedding> {
    let vectors = engine.embedder.embed(&[text]).ok()?;
    let vector = Vector::quantise(vectors.first()?)?;
    Some(Embedding { model: engine.embedder.model().to_owned(), vector })
}

/// The vector of a memory being saved: only where making it does not hold up the save.
pub(crate) fn embed_if_instant(engine: &Engine, memory: &Memory) -> Option<Embedding> {
    engine.embedder.is_instant().then(|| embed_text(engine, &gate::embedding_text(memory))).flatten()
}
