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

pub use admin::database::Database;
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
pub use recall::event_feed::EventFeed;
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
pub use write::patch::{Patch, PatchOutcome};
pub use write::remember::{PendingSave, SaveStep};
pub use write::remember::{Remembered, SaveOutcome, SavedMemory};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::id::{MemoryId, VersionId};
use crate::model::limits::Limits;
use crate::model::refusal::Refusal;
use crate::model::ruleset::Rulesets;
use crate::policy::Readable;
use crate::ports::change::{Change, CommitResult};
use crate::ports::{Backend, Clock, Embedder};

/// The product behind every door: a backend, an embedder, a clock, and the rules.
#[derive(Clone)]
pub struct Engine {
    pub backend: Arc<dyn Backend>,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub settings: Arc<Settings>,
    /// Rows that rarely change: stores, ban keys, the count of erasures. Every use is checked by a guard.
    tenant_cache: Arc<tenant::cache::TenantCache>,
    scan_counters: Arc<safety::scan_counters::ScanCounters>,
    summary_requests: Arc<summaries::in_flight::SummaryRequests>,
    /// Set for one call under an idempotency key.
    idempotency_mark: Option<Arc<write::idempotency::IdempotencyMark>>,
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
    pub fn new(
        backend: Arc<dyn Backend>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Engine {
        Engine {
            backend,
            embedder,
            clock,
            settings: Arc::new(settings),
            tenant_cache: Arc::default(),
            scan_counters: Arc::default(),
            summary_requests: Arc::default(),
            idempotency_mark: None,
        }
    }

    /// This engine as another process would have it: the same database, nothing cached.
    #[must_use]
    pub fn with_empty_caches(&self) -> Engine {
        Engine {
            tenant_cache: Arc::default(),
            scan_counters: Arc::default(),
            summary_requests: Arc::default(),
            ..self.clone()
        }
    }

    /// This engine with other settings.
    #[must_use]
    pub fn with_settings(&self, settings: Settings) -> Engine {
        Engine { settings: Arc::new(settings), ..self.clone() }
    }

    /// This engine with another clock.
    #[must_use]
    pub fn with_clock(&self, clock: Arc<dyn Clock>) -> Engine {
        Engine { clock, ..self.clone() }
    }

    /// How often each scanner rule found something in this process.
    pub fn scan_counters(&self) -> &safety::scan_counters::ScanCounters {
        &self.scan_counters
    }

    fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// Commits a change and waits until it is durable. Under an idempotency key, the first one also marks the key.
    pub(crate) fn commit(&self, change: Change) -> Result<CommitResult, StoreError> {
        match &self.idempotency_mark {
            Some(mark) => mark.commit(&*self.backend, change),
            None => self.backend.commit(change),
        }
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
