//! All the engine asks of the world: a backend to keep things, an embedder, a clock.

pub mod change;
pub(crate) mod cursor;
pub(crate) mod embedding;
pub(crate) mod refusals;
pub(crate) mod retry;
pub mod row;
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
use crate::model::memory::{Memory, Version};
use crate::model::row::{Row, RowFilter, RowKind};
use crate::model::vector::{Embedding, Vector};
use crate::model::vocabulary::{Kind, Layer, ScopeKind, State, Trust};
use crate::policy::Readable;
use crate::ports::change::{Change, CommitResult};
use crate::text::words::{IndexedWords, QueryWords};

/// Keeps memories and finds them. One method is one transaction; a backend does all of it or is not shipped.
pub trait Backend: Send + Sync {
    /// Writes all of it or none of it, and returns when it is safe on disk.
    fn commit(&self, change: Change) -> Result<CommitResult, StoreError>;
    /// As [`Backend::commit`], for what a call needs before it can do its own: by this nothing of the call is done.
    fn commit_setup(&self, change: Change) -> Result<CommitResult, StoreError> {
        self.commit(change)
    }
    /// As [`Backend::commit`], and `answer` is told when it is safe on disk: from another thread where the backend
    /// [writes beside](Backend::writes_beside) those who ask. Dropped unasked, it says that the change broke. Whoever
    /// keeps the change until then frees it too: memory is best freed where it was taken.
    fn submit(&self, change: Arc<Change>, answer: StoreCallback<CommitResult>) {
        answer(self.commit(Arc::unwrap_or_clone(change)));
    }
    /// Whether [`Backend::submit`] returns at once.
    fn submits_in_background(&self) -> bool {
        false
    }
    /// Writes soon, in the next group: what a recall leaves behind. A crash may lose it, never a [`Backend::commit`].
    fn commit_later(&self, change: Change);
    /// As [`Backend::commit_later`], at once, and `answer` is told when it is safe on disk. Whoever listens may stop to:
    /// it is written all the same, however long another process holds the database.
    fn commit_later_with_callback(&self, change: Change, answer: StoreCallback<()>) {
        answer(self.commit(change).map(drop));
    }
    /// Waits until everything handed to [`Backend::commit_later`] is written.
    fn flush(&self) -> Result<(), StoreError>;
    /// As [`Backend::flush`], for whoever does not wait as long as that may take.
    fn flush_with_callback(&self, answer: StoreCallback<()>) {
        answer(self.flush());
    }

    fn list_tenants(&self) -> Result<Vec<Tenant>, StoreError>;
    /// Makes the tenant where its slug is new; answers the one that stands.
    fn ensure_tenant(&self, tenant: &Tenant) -> Result<Tenant, StoreError>;

    fn get_row(&self, tenant: TenantId, kind: RowKind, id: &str) -> Result<Option<Row>, StoreError>;
    fn list_rows(&self, tenant: TenantId, kind: RowKind, filter: &RowFilter) -> Result<Vec<Row>, StoreError>;

    fn get_memory(&self, readable: &Readable, address: &Address) -> Result<Option<Memory>, StoreError>;
    fn list_memories(
        &self,
        readable: &Readable,
        filter: &Filter,
        page: &PageRequest,
    ) -> Result<Vec<Memory>, StoreError>;
    /// Newest first.
    fn list_versions(
        &self,
        readable: &Readable,
        memory: MemoryId,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<Version>, StoreError>;
    fn get_version(&self, readable: &Readable, version: VersionId) -> Result<Option<Version>, StoreError>;
    fn find_candidates(&self, readable: &Readable, find: &CandidateQuery) -> Result<CandidateSet, StoreError>;
    /// A number that grows with every write to a place, and how many live memories it holds.
    fn place_state(&self, tenant: TenantId, place: &Place) -> Result<PlaceState, StoreError>;
    /// How many live memories each store holds; stores without any may be left out.
    fn live_counts(&self, tenant: TenantId) -> Result<Vec<(String, u64)>, StoreError>;
    /// Live memories without a vector of this model, oldest first.
    fn list_unembedded(&self, tenant: TenantId, model: &str, limit: usize) -> Result<Vec<Memory>, StoreError>;

    /// Entries after `seq`, in order, without gaps.
    fn events_after(&self, tenant: TenantId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError>;
    /// Number of the last entry.
    fn last_event_seq(&self, tenant: TenantId) -> Result<u64, StoreError>;
    /// Waits until there is an entry after `seq`, at most so long; answers the number of the last one.
    fn wait_events(&self, tenant: TenantId, after: u64, at_most: Duration) -> Result<u64, StoreError>;

    /// What this backend is and how it is doing, for `doctor`.
    fn health(&self) -> Result<BackendHealth, StoreError>;
    /// What is damaged in it, read page by page: for `doctor`, as it takes its time. A server looks after its own pages.
    fn check_integrity(&self) -> Result<Vec<String>, StoreError>;
}

/// Told how a change went.
pub type StoreCallback<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// A hard wall and its slug.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Tenant {
    pub id: TenantId,
    pub slug: String,
    pub created_at: Timestamp,
}

/// How to name one memory.
#[derive(Clone, PartialEq, Debug)]
pub enum Address {
    Id(MemoryId),
    /// The live memory at a path.
    Path {
        place: Place,
        path: String,
    },
    /// The live memory with this content and no path.
    Hash {
        place: Place,
        sha256: String,
    },
}

/// Which memories. Empty lists do not filter.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Filter {
    pub stores: Vec<String>,
    pub scopes: Vec<ScopeKind>,
    /// Only this one place's names, such as one system.
    pub places: Vec<Place>,
    pub layers: Vec<Layer>,
    pub kinds: Vec<Kind>,
    /// All of them, exactly.
    pub tags: Vec<String>,
    /// Empty means active only.
    pub states: Vec<State>,
    pub trust_min: Option<Trust>,
    pub updated_after: Option<Timestamp>,
    pub updated_before: Option<Timestamp>,
    pub path_prefix: Option<String>,
    /// Exactly this path.
    pub path: Option<String>,
    pub session: Option<String>,
    pub always_inject: Option<bool>,
    /// Memories expired by this time are left out.
    pub unexpired_at: Option<Timestamp>,
    /// Due for upkeep: expired at or before this time.
    pub expired_by: Option<Timestamp>,
    /// Fading below this key ([`crate::model::lifecycle::fade_key`]).
    pub fade_below: Option<f64>,
    /// The memories as they stood at this time.
    pub as_of: Option<Timestamp>,
}

impl Filter {
    /// Without what has expired by then, unless what is gone is asked for: the archive is full of it.
    pub fn without_expired(self, at: Timestamp) -> Filter {
        Filter { unexpired_at: (!self.asks_for_inactive()).then_some(at), ..self }
    }

    /// What has expired counts as archived, also before upkeep has seen to it.
    pub(crate) fn asks_for_inactive(&self) -> bool {
        self.states.iter().any(|state| !state.is_changeable())
    }
}

/// How a listing is sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SortOrder {
    #[default]
    Path,
    /// Updated last comes first.
    Newest,
    /// Created first comes first.
    Oldest,
    /// The last turn of a session comes first; what is no turn is left out. Read from its start, not paged.
    LastTurn,
    /// Expires first comes first; with [`Filter::expired_by`], what upkeep asks for.
    Expiring,
    /// Least worth keeping first: by [`crate::model::lifecycle::fade_key`], then oldest. Read from its start, not paged. With
    /// [`Filter::fade_below`] everything found is due, and places may come one after the other.
    Fading,
}

/// A stretch of a listing.
#[derive(Clone, PartialEq, Debug)]
pub struct PageRequest {
    pub order: SortOrder,
    /// The sort key and id of the last row of the stretch before.
    pub after: Option<ListCursor>,
    pub limit: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ListCursor {
    Path(String, MemoryId),
    Time(Timestamp, MemoryId),
}

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct CandidateQuery {
    pub filter: Filter,
    pub words: QueryWords,
    /// Lower-cased; memories whose summary contains it are found too (the `layered` ranker).
    pub substring: Option<String>,
    pub vector: Option<Embedding>,
    /// How many to find by words, and how many by vector.
    pub pool: usize,
    /// Also the turns beside the best ones: what was said next to an answer often is the answer.
    pub neighbours: Option<Neighbours>,
    /// With no words at all: the newest.
    pub newest: bool,
    /// Judged whether found or not: what `explain` asks about.
    pub always_include: Vec<MemoryId>,
}

/// What was found, with what the engine needs to score it.
#[derive(Clone, Debug, Default)]
pub struct CandidateSet {
    pub candidates: Vec<Candidate>,
    pub stats: CorpusStats,
    /// Places searched, for `explain`.
    pub searched: u64,
}

#[derive(Clone, Debug)]
pub struct Candidate {
    pub memory: Memory,
    pub words: IndexedWords,
    pub vector: Option<Vector>,
}

/// Statistics over the visible, live memories only, from the same snapshot as the candidates.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CorpusStats {
    pub docs: u64,
    pub total_len: u64,
    /// Per query term: how many memories hold it.
    pub df: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlaceState {
    pub generation: u64,
    pub live: u64,
}

/// What `doctor` shows of a backend.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct BackendHealth {
    pub backend: String,
    pub location: String,
    pub version: String,
    pub migration: u32,
    /// Whether vectors are searched, and if not why.
    pub vectors: String,
    pub memories: u64,
    pub bytes: u64,
    /// Times this process waited for its disk; `None` where a server does the waiting.
    pub syncs: Option<u64>,
}

/// Time and fresh names; the only ways chance gets in.
pub trait Clock: Send + Sync {
    /// Now, in whole microseconds.
    fn now(&self) -> Timestamp;
    /// A fresh UUIDv7.
    fn fresh_id(&self) -> Uuid;
}

/// Turns text into a vector of unit length, or says why not.
pub trait Embedder: Send + Sync {
    /// A stable name of model and version; vectors of different names are never compared.
    fn model(&self) -> &str;
    fn dimensions(&self) -> usize;
    /// One vector per text, unit length. An empty vector where a text holds nothing to embed.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
    /// Whether a call is cheap enough to make inside a save (no network, no model run).
    fn is_instant(&self) -> bool;
    /// Whether the model learnt to read the script of a text: where not, its vectors say nothing.
    fn supports_script(&self, _text: &str) -> bool {
        true
    }
    /// What cosine means for this model: similarity of unrelated and of equivalent short texts, from calibration.
    fn calibration(&self) -> Calibration;
}

/// Maps a raw cosine to relevance 0..1: at or below `unrelated` is 0, at or above `same` is 1, linear between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    pub unrelated: f32,
    pub same: f32,
}

impl Calibration {
    /// Relevance 0..1 of a raw cosine.
    pub fn cosine_to_relevance(self, cosine: f32) -> f64 {
        let span = (self.same - self.unrelated).max(f32::EPSILON);
        f64::from(((cosine - self.unrelated) / span).clamp(0.0, 1.0))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("embedding is turned off")]
    Off,
    #[error("the embedding endpoint did not answer: {0}")]
    Unavailable(String),
    #[error("the embedding model is not usable: {0}")]
    Broken(String),
}
