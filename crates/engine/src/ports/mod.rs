//! Ports: the interfaces the engine needs from outside ([`Backend`], [`Embedder`], [`Clock`]), their request and answer
//! types, and the helpers that plan and retry changes.

pub(crate) mod candidate_reviews;
pub mod change;
pub(crate) mod cursor;
pub(crate) mod embedding;
pub(crate) mod refusals;
pub(crate) mod retry;
pub mod row;
pub mod scan;
pub mod scanned_change;
pub(crate) mod transition;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use crate::model::error::StoreError;
use crate::model::event::Event;
use crate::model::guard::Place;
use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::limits::Neighbours;
use crate::model::limits::text_weights::TextWeights;
use crate::model::memory::{Memory, Version};
use crate::model::row::{Row, RowFilter, RowKind};
use crate::model::vector::{Embedding, Vector};
use crate::model::vocabulary::{Kind, Layer, ScopeKind, State, Trust};
use crate::policy::Readable;
use crate::ports::change::CommitResult;
use crate::ports::scan::{
    LogEntry, LogHead, LogPosition, ScanFrom, ScannedMemory, ScannedPlace, ScannedRow, ScannedVersion,
};
use crate::ports::scanned_change::ScannedChange;
use crate::text::words::{IndexedWords, QueryWords};

/// The database. SQLite and Postgres implement it, with the same results for the same calls.
///
/// - Each method runs in one transaction and sees one snapshot.
/// - Every row belongs to a tenant, and no call crosses tenants.
/// - Methods that take a [`Readable`] return only what it shows; all else does not exist for them.
/// - Calls block. A backend is shared by threads and opens as many connections as it needs.
pub trait Backend: Send + Sync {
    // Writing.

    /// Commits a change atomically and returns when it is durable (on disk, synced). A failed guard rolls back and is
    /// returned as [`StoreError::Guard`].
    fn commit(&self, change: ScannedChange) -> Result<CommitResult, StoreError>;
    /// Commits set-up that must not count as the call's effect (idempotency), such as creating a built-in store.
    fn commit_setup(&self, change: ScannedChange) -> Result<CommitResult, StoreError> {
        self.commit(change)
    }
    /// As [`Backend::commit`], with the result passed to `answer`. Where [`Backend::submits_in_background`], returns at
    /// once and calls `answer` from the writer's thread; `answer` is dropped without a call if the writer panics.
    ///
    /// The backend releases its reference to the change before it answers, so that the caller frees the memory on the
    /// thread that allocated it.
    fn submit(&self, change: Arc<ScannedChange>, answer: StoreCallback<CommitResult>) {
        answer(self.commit(Arc::unwrap_or_clone(change)));
    }
    /// Whether [`Backend::submit`] returns at once. The default implementation blocks.
    fn submits_in_background(&self) -> bool {
        false
    }
    /// Queues a change for the next group commit and returns at once: recall counters, usage records. A crash may lose
    /// it; it never delays or fails a [`Backend::commit`].
    fn commit_later(&self, change: ScannedChange);
    /// Queued for the next group; calls `answer` when durable. Written even if the caller stops waiting, and retried
    /// while another process holds the database.
    fn commit_later_with_callback(&self, change: ScannedChange, answer: StoreCallback<()>) {
        answer(self.commit(change).map(drop));
    }
    /// Waits until every change queued before is written.
    fn flush(&self) -> Result<(), StoreError>;
    /// As [`Backend::flush`], with the result passed to `answer`, for callers with a time limit.
    fn flush_with_callback(&self, answer: StoreCallback<()>) {
        answer(self.flush());
    }

    // Tenants and side records.

    /// All tenants, ordered by slug.
    fn list_tenants(&self) -> Result<Vec<Tenant>, StoreError>;
    /// Inserts the tenant unless its slug exists; returns the stored one, which may have another id.
    fn ensure_tenant(&self, tenant: &Tenant) -> Result<Tenant, StoreError>;

    /// Reads one side record by primary key.
    fn get_row(&self, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, StoreError>;
    /// Reads side records by filter, ordered by time and id.
    fn list_rows(&self, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, StoreError>;

    // Memories.

    /// Reads one memory by id (in any state) or by path or content hash (active only).
    fn get_memory(&self, readable: &Readable, address: &Address) -> Result<Option<Memory>, StoreError>;
    /// Reads one page of memories by filter.
    fn list_memories(
        &self,
        readable: &Readable,
        filter: &Filter,
        page: &PageRequest,
    ) -> Result<Vec<Memory>, StoreError>;
    /// Reads the versions of a memory, newest first. `below`: only versions with a lower number.
    fn list_versions(
        &self,
        readable: &Readable,
        memory: MemoryId,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<Version>, StoreError>;
    /// Reads one version by id.
    fn get_version(&self, readable: &Readable, version: VersionId) -> Result<Option<Version>, StoreError>;
    /// Finds candidates by words and by vector, with the statistics needed to score them. The engine ranks.
    fn find_candidates(&self, readable: &Readable, find: &CandidateQuery) -> Result<CandidateSet, StoreError>;
    /// Generation and number of active memories of a place; both zero if nothing was ever written there.
    fn place_state(&self, tenant: TenantId, place: &Place) -> Result<PlaceState, StoreError>;
    /// Active memories per store slug. Stores without any may be absent.
    fn live_counts(&self, tenant: TenantId) -> Result<Vec<(String, u64)>, StoreError>;
    /// Places of one kind of scope with their active memories, by name and store.
    fn list_places(&self, tenant: TenantId, kind: ScopeKind) -> Result<Vec<(Place, u64)>, StoreError>;
    /// Active memories without a vector of this model, oldest first.
    fn list_unembedded(&self, tenant: TenantId, model: &str, limit: usize) -> Result<Vec<Memory>, StoreError>;

    // The event log.

    /// Events with a number greater than `after`, in order and without gaps.
    fn events_after(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError>;
    /// Number of the last event; 0 for an empty log.
    fn last_event_seq(&self, tenant: TenantId) -> Result<u64, StoreError>;
    /// Waits for an event with a number greater than `after`, at most `at_most`; returns the number of the last event.
    fn wait_events(&self, tenant: TenantId, after: u64, at_most: Duration) -> Result<u64, StoreError>;

    // Verification: raw rows in key order, one page in one short transaction.

    /// Entries of the log after a number, with the digests of what they wrote.
    fn scan_log(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<LogEntry>, StoreError>;
    /// The end of the log, as its head in the database has it.
    fn log_head(&self, tenant: TenantId) -> Result<LogHead, StoreError>;
    /// The end of each tenant's log, where the backend keeps it outside the database too.
    fn log_positions(&self) -> Result<Vec<LogPosition>, StoreError> {
        Ok(Vec::new())
    }
    /// Replaces those positions by the logs as they are now: an older database was put back on purpose.
    fn accept_log_positions(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Versions, by memory and number.
    fn scan_versions(
        &self,
        tenant: TenantId,
        from: &ScanFrom<(MemoryId, u32)>,
        limit: usize,
    ) -> Result<Vec<ScannedVersion>, StoreError>;
    /// Live rows of memories, by id.
    fn scan_memories(
        &self,
        tenant: TenantId,
        from: &ScanFrom<MemoryId>,
        limit: usize,
    ) -> Result<Vec<ScannedMemory>, StoreError>;
    /// Side records, by id.
    fn scan_rows(
        &self,
        tenant: TenantId,
        kind: RowKind,
        from: &ScanFrom<String>,
        limit: usize,
    ) -> Result<Vec<ScannedRow>, StoreError>;
    /// All places with their counters, for verification.
    fn scan_places(&self, tenant: TenantId) -> Result<Vec<ScannedPlace>, StoreError>;

    // Diagnosis.

    /// Version, size and state of the database, for `doctor`.
    fn health(&self) -> Result<BackendHealth, StoreError>;
    /// Writes a little where a save would write. Fails where the disk is full or the database is read-only.
    fn probe_write(&self) -> Result<(), StoreError>;
    /// Descriptions of damage, found by reading the whole file; slow. Empty for Postgres, which checks its own pages.
    /// `deep`: also that every index holds what its table does.
    fn check_integrity(&self, deep: bool) -> Result<Vec<String>, StoreError>;
}

/// Receives the result of a queued change. Called at most once.
pub type StoreCallback<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// An isolated customer or team. No query crosses tenants.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Tenant {
    pub id: TenantId,
    pub slug: String,
    pub created_at: Timestamp,
}

/// Address of one memory.
#[derive(Clone, PartialEq, Debug)]
pub enum Address {
    Id(MemoryId),
    /// The active memory with this path.
    Path {
        place: Place,
        path: String,
    },
    /// The active memory without a path that has this content.
    Hash {
        place: Place,
        sha256: String,
    },
}

/// Conditions on memories; all must hold. Empty lists and `None` do not filter, except for `states`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Filter {
    pub stores: Vec<String>,
    pub scopes: Vec<ScopeKind>,
    /// Only memories in one of these places.
    pub places: Vec<Place>,
    pub layers: Vec<Layer>,
    pub kinds: Vec<Kind>,
    /// All of these tags, each an exact match.
    pub tags: Vec<String>,
    /// Empty: active only.
    pub states: Vec<State>,
    pub trust_min: Option<Trust>,
    pub updated_after: Option<Timestamp>,
    pub updated_before: Option<Timestamp>,
    pub path_prefix: Option<String>,
    pub path: Option<String>,
    pub session: Option<String>,
    pub always_inject: Option<bool>,
    /// Only memories that have not expired at this time.
    pub unexpired_at: Option<Timestamp>,
    /// Only memories that expire at or before this time (due for upkeep).
    pub expired_by: Option<Timestamp>,
    /// Only memories with a lower [`crate::model::lifecycle::fade_key`] (due for archiving).
    pub fade_below: Option<f64>,
    /// Reads the versions that were current at this time instead of today's.
    pub as_of: Option<Timestamp>,
}

impl Filter {
    /// Leaves out memories expired at this time, unless the filter asks for archived or other inactive ones: most of
    /// those have expired.
    pub fn without_expired(self, at: Timestamp) -> Filter {
        Filter { unexpired_at: (!self.asks_for_inactive()).then_some(at), ..self }
    }

    /// Whether the filter asks for superseded, archived or tombstoned memories. Expired ones belong to them even before
    /// upkeep archives them.
    pub(crate) fn asks_for_inactive(&self) -> bool {
        self.states.iter().any(|state| !state.is_changeable())
    }
}

/// Sort order of a listing. Ties are broken by id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SortOrder {
    #[default]
    Path,
    /// By `updated_at`, latest first.
    Newest,
    /// By `created_at`, earliest first.
    Oldest,
    /// By turn number, highest first; only turns. First page only.
    LastTurn,
    /// By `expires_at`, earliest first; for upkeep, with [`Filter::expired_by`].
    Expiring,
    /// By [`crate::model::lifecycle::fade_key`], lowest first. First page only. With [`Filter::fade_below`] a backend
    /// may sort by place first, which its index is faster at: every memory found is due, so the order does not matter.
    Fading,
}

/// One page of a listing.
#[derive(Clone, PartialEq, Debug)]
pub struct PageRequest {
    pub order: SortOrder,
    /// Sort key and id of the last row of the page before.
    pub after: Option<ListCursor>,
    pub limit: usize,
}

/// Position in a listing: sort key and id of a row (keyset pagination).
#[derive(Clone, PartialEq, Debug)]
pub enum ListCursor {
    Path(String, MemoryId),
    Time(Timestamp, MemoryId),
}

/// A search for candidates: memories that match by words or by vector, before ranking.
#[derive(Clone, Debug, Default)]
pub struct CandidateQuery {
    pub filter: Filter,
    pub words: QueryWords,
    /// Lower-case; memories whose summary line contains it are candidates, too (the `layered` ranker).
    pub substring: Option<String>,
    pub vector: Option<Embedding>,
    /// Most candidates by words, and most by vector.
    pub pool: usize,
    /// Candidates by words are the best by these weights, those that the engine ranks with.
    pub weights: TextWeights,
    /// Also the neighbouring turns of the best candidates: the answer often stands next to the match.
    pub neighbours: Option<Neighbours>,
    /// For a query without words: the newest memories are the candidates.
    pub newest: bool,
    /// Candidates in any case, for `explain`.
    pub always_include: Vec<MemoryId>,
}

/// Candidates and the statistics to score them.
#[derive(Clone, Debug, Default)]
pub struct CandidateSet {
    pub candidates: Vec<Candidate>,
    pub stats: CorpusStats,
    /// Number of places searched.
    pub searched: u64,
}

/// A memory with its indexed words and its vector (of the query's model).
#[derive(Clone, Debug)]
pub struct Candidate {
    pub memory: Memory,
    pub words: IndexedWords,
    pub vector: Option<Vector>,
}

/// BM25 statistics, from the same snapshot as the candidates. Only over memories the caller may read, so that scores
/// reveal nothing about the others.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CorpusStats {
    /// Number of memories.
    pub docs: u64,
    /// Sum of their lengths in tokens.
    pub total_len: u64,
    /// Document frequency per query term, in the order of the query.
    pub df: Vec<u32>,
}

/// State of a place for optimistic concurrency (`Guard::PlaceUnchanged`) and quotas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlaceState {
    /// Grows with every write to the place.
    pub generation: u64,
    /// Number of active memories.
    pub live: u64,
}

/// State of a backend, as `doctor` shows it.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct BackendHealth {
    pub backend: String,
    pub location: String,
    /// Of the database software.
    pub version: String,
    /// Number of the last schema migration applied.
    pub migration: u32,
    /// Whether vectors are searched, and if not, why.
    pub vectors: String,
    pub memories: u64,
    pub bytes: u64,
    /// Disk syncs of this process; `None` if the database is a server.
    pub syncs: Option<u64>,
    /// Whether the login role passes the walls between tenants (row-level security), as a superuser does.
    pub bypasses_walls: bool,
}

/// Time and ids: the only source of non-determinism in the engine.
pub trait Clock: Send + Sync {
    /// The current time in whole microseconds, the precision of both databases.
    fn now(&self) -> Timestamp;
    /// A fresh UUIDv7.
    fn fresh_id(&self) -> Uuid;
}

/// An embedding model.
pub trait Embedder: Send + Sync {
    /// Stable name of model and version. Vectors of different names are never compared.
    fn model(&self) -> &str;
    fn dimensions(&self) -> usize;
    /// One vector of unit length per text; an empty one for a text with nothing to embed.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
    /// Whether a call is cheap enough for inside a save: no network, no neural network.
    fn is_instant(&self) -> bool;
    /// Whether the model was trained on the script of this text. Otherwise its vectors are meaningless and not used.
    fn supports_script(&self, _text: &str) -> bool {
        true
    }
    /// Cosines of unrelated and of equivalent short texts, measured for this model.
    fn calibration(&self) -> Calibration;
}

/// Maps a cosine to a relevance from 0 to 1, so that thresholds mean the same for every model: 0 up to `unrelated`, 1
/// from `same`, linear in between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    pub unrelated: f32,
    pub same: f32,
}

impl Calibration {
    pub fn cosine_to_relevance(self, cosine: f32) -> f64 {
        // Never zero, even if a model is configured with equal values.
        let span = (self.same - self.unrelated).max(f32::EPSILON);
        f64::from(((cosine - self.unrelated) / span).clamp(0.0, 1.0))
    }
}

/// Failure of an embedder. A save or search goes on without a vector.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("embedding is turned off")]
    Off,
    #[error("the embedding endpoint did not answer: {0}")]
    Unavailable(String),
    #[error("the embedding model is not usable: {0}")]
    Broken(String),
}
