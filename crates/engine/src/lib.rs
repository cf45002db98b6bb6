//! The engine: every decision about memories, without I/O.
//!
//! Access, safety, ranking, review and the context shown to a model are decided here. The engine performs no I/O and
//! reads no clock, environment or randomness of its own; all of these come in through [`ports`]. REST, MCP and the
//! command line only translate and call the methods of [`Engine`].
//!
//! The modules form layers, listed lowest first in `layers.txt`. A module uses its own layer and lower ones, never a
//! higher one; `scripts/check-layers` enforces it.

pub mod admin;
pub mod consent;
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

// Re-exported at the root, so that other crates do not depend on the folders.
pub use admin::database::Database;
pub use admin::erase::{EraseTarget, TenantStatus};
pub use admin::export::{
    EXPORT_FORMAT, ExportFile, ExportLayout, ExportLineReader, ExportPiece, ExportWriter, ExportedMemory,
    ExportedVersion, markdown,
};
pub use admin::import::{ImportReport, RefusedPiece};
pub use admin::import_batch::{
    BATCH_FIELD, ImportAction, ImportBatch, ImportedDraft, KeptMemory, PlannedDraft, SOURCE_FIELD, UndoReport,
};
pub use admin::verification::{
    BrokenEntry, CheckedCounts, Checkpoint, Finding, FindingCode, Repair, Verdict, Verification,
};
pub use consent::{Answer, AskedQuestion, ConsentRequest};
pub use context::diagnose::{Diagnosis, SessionMemory, SessionReceipt, SessionReport};
pub use context::session_start::{SessionStart, SessionStartRequest};
pub use context::turn::{Context, ContextRequest, RECEIPT_PENDING};
pub use context::window::{Message, Window, WindowCut, WindowRequest};
pub use model::run::{Run, RunOutcome};
pub use model::turn::Turn;
pub use ports::transition::TransitionOutcome;
pub use recall::event_feed::EventFeed;
pub use recall::event_visibility::EventVisibility;
pub use recall::lineage::Lineage;
pub use recall::read::{Listing, MemoryReference};
pub use recall::search::{HitExplanation, SearchQuery, SearchResults};
pub use removal::forget::ForgetOptions;
pub use removal::quarantine::{QuarantineOutcome, QuarantineReach};
pub use removal::redact::{RedactionOutcome, RedactionReport, RedactionRequest};
pub use review::consolidation::{ConsolidationGroup, LayerContext, ProfileProposal};
pub use review::forget_request::ForgetOutcome;
pub use review::propose::{Promotion, ProposalOutcome};
pub use review::rescan::{RESCAN_ORDER, RescanReport, StoredFinding};
pub use review::rollback::{Rollback, RollbackOutcome};
pub use sources::audit_log::{AuditEntry, StepOutput};
pub use sources::episodes::{EPISODES_STORE, SessionSummary};
pub use sources::four_sources::{RecallQuery, RecallResults, RecalledItem, SourceFailure};
pub use sources::ingest::{DocumentText, IngestOutcome, IngestReport, RemovedDocument};
pub use sources::knowledge::KnowledgeResults;
pub use sources::knowledge::{Document, DocumentStatus};
pub use sources::runs::{CloseRunOutcome, CloseRunReport, CloseRunRequest};
pub use sources::skills::{LoadedSkills, Skill, SkillSource, SkippedSkill};
pub use summaries::Summariser;
pub use summaries::extractive::ExtractiveSummariser;
pub use tenant::projects::ProjectSummary;
pub use tenant::stores::{NewStore, default_store};
pub use upkeep::{UpkeepOptions, UpkeepReport};
pub use write::patch::{Patch, PatchOutcome};
pub use write::pin::Pin;
pub use write::remember::{PendingSave, SaveStep};
pub use write::{Remembered, SaveOutcome, SavedMemory};

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
use crate::ports::scanned_change::ScannedChange;
use crate::ports::{Backend, Clock, Embedder};

/// The one entry point of REST, MCP and the command line: a backend, an embedder, a clock and the settings.
///
/// Cheap to clone. Clones share caches and counters.
#[derive(Clone)]
pub struct Engine {
    backend: Arc<dyn Backend>,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub settings: Arc<Settings>,
    /// Rows that rarely change: stores, ban keys, the number of erasures. A write that relies on one guards it.
    tenant_cache: Arc<tenant::cache::TenantCache>,
    /// Findings per scanner rule since this process started, for metrics.
    scan_counters: Arc<safety::scan_counters::ScanCounters>,
    /// Summaries being generated or just generated in this process, so that concurrent calls share one request.
    summary_requests: Arc<summaries::in_flight::SummaryRequests>,
    /// Only on the clone that serves one call under an idempotency key: the row its first commit writes with it.
    idempotency_mark: Option<Arc<write::idempotency::IdempotencyMark>>,
}

/// Configuration of the engine.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub limits: Limits,
    pub rulesets: Rulesets,
    /// `MEMORY_ENABLED=false`: reads work, writes are refused, contexts are empty.
    pub memory_off: bool,
    /// Generates summaries of turns that no longer fit; `None`: extracted by the engine, without a model.
    pub summariser: Option<Arc<dyn Summariser>>,
    /// Model that checks for prompt injection in addition to the rules; `None`: the rules alone.
    pub classifier: Option<Arc<dyn safety::classifier::Classifier>>,
    pub skills: Option<Arc<dyn SkillSource>>,
    /// Knowledge base categories by agent name. An agent without an entry sees all categories.
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

    /// This engine as another process would have it: same backend and settings, empty caches. For tests.
    #[must_use]
    pub fn with_empty_caches(&self) -> Engine {
        Engine {
            tenant_cache: Arc::default(),
            scan_counters: Arc::default(),
            summary_requests: Arc::default(),
            ..self.clone()
        }
    }

    #[must_use]
    pub fn with_settings(&self, settings: Settings) -> Engine {
        Engine { settings: Arc::new(settings), ..self.clone() }
    }

    #[must_use]
    pub fn with_clock(&self, clock: Arc<dyn Clock>) -> Engine {
        Engine { clock, ..self.clone() }
    }

    /// Findings per scanner rule since this process started.
    pub fn scan_counters(&self) -> &safety::scan_counters::ScanCounters {
        &self.scan_counters
    }

    fn limits(&self) -> &Limits {
        &self.settings.limits
    }

    /// Commits a change and waits until it is durable. Under an idempotency key, the first commit also marks the key.
    ///
    /// Set-up that must not mark the key goes through [`Engine::commit_setup`] instead.
    pub(crate) fn commit(&self, change: Change) -> Result<CommitResult, StoreError> {
        match &self.idempotency_mark {
            Some(mark) => mark.commit(change, |change| self.backend.commit(self.scan_change(change))),
            None => self.backend.commit(self.scan_change(change)),
        }
    }

    /// As [`Backend::commit_setup`].
    pub(crate) fn commit_setup(&self, change: Change) -> Result<CommitResult, StoreError> {
        self.backend.commit_setup(self.scan_change(change))
    }

    /// As [`Backend::commit_later`].
    pub(crate) fn commit_later(&self, change: Change) {
        self.backend.commit_later(self.scan_change(change));
    }

    /// The change with every string scanned, as backends take it.
    pub fn scan_change(&self, change: Change) -> ScannedChange {
        let tenant = change.tenant;
        // Without the list nothing is allowed: the value is redacted.
        change.scanned_except(&|| tenant::allow_list::load_allow_list(self, tenant).unwrap_or_default())
    }

    fn fresh_memory_id(&self) -> MemoryId {
        MemoryId(self.clock.fresh_id())
    }

    fn fresh_version_id(&self) -> VersionId {
        VersionId(self.clock.fresh_id())
    }

    /// What this caller may read, with its pipeline's opt-in looked up. Archived stores are not yet hidden: reads of
    /// memories use `recall::visibility`.
    pub fn readable_by(&self, caller: &Caller) -> Result<Result<Readable, Refusal>, Error> {
        let enabled = self.opt_in(caller)?.is_some();
        Ok(policy::readable_by(caller, enabled))
    }

    /// Refuses while memory is turned off. First check of every method that changes memories, except redaction,
    /// erasure and upkeep: those remove text that must not stay, so they are never turned off.
    fn ensure_memory_enabled(&self) -> Result<(), Error> {
        match self.settings.memory_off {
            true => Err(gate::memory_disabled_refusal().into()),
            false => Ok(()),
        }
    }
}
