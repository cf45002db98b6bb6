//! The recall index: one partition in memory per scope, refreshed from the table `recall` before each search. Where no
//! memory is allowed for it, each search reads the rows it needs from the table instead.

mod as_of;
mod candidates;
mod dot_product;
mod one_shot;
mod partition;
mod partition_load;
mod postings;
mod search;
mod sign_bits;
mod top_ranked;
mod unembedded;
mod vector_search;
mod vector_table;

pub(super) use unembedded::list_unembedded;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard};

use engine::model::error::StoreError;
use engine::model::id::TenantId;
use engine::policy::Readable;
use engine::ports::{CandidateQuery, CandidateSet};
use rusqlite::Connection;

use super::fault::Fault;
use super::pool::Readers;
use super::scopes::{self, VisibleScope};
use crate::sync::{lock, read_lock, write_lock};
use partition::Partition;

/// Attempts of a search whose snapshot is older than a partition that another search has refreshed meanwhile.
const ATTEMPTS_MAX: usize = 4;

type SharedPartition = Arc<RwLock<Partition>>;

/// The cached partitions, within a budget of bytes.
pub(super) struct RecallIndex {
    bytes_max: usize,
    cache: Mutex<PartitionCache>,
}

#[derive(Default)]
struct PartitionCache {
    parts: HashMap<(TenantId, i64), CachedPartition>,
    /// Number of searches so far, to order partitions by last use.
    clock: u64,
    bytes: usize,
}

struct CachedPartition {
    shared: SharedPartition,
    used: u64,
    bytes: usize,
}

impl RecallIndex {
    pub(super) fn new(bytes_max: usize) -> RecallIndex {
        RecallIndex { bytes_max, cache: Mutex::default() }
    }

    pub(super) fn find_candidates(
        &self,
        readers: &Readers,
        readable: &Readable,
        find: &CandidateQuery,
    ) -> Result<CandidateSet, StoreError> {
        for attempt in 1.. {
            let found = readers.with_connection(|conn| self.try_find(conn, readable, find, attempt >= ATTEMPTS_MAX))?;
            if let Some(found) = found {
                return Ok(found);
            }
        }
        Ok(CandidateSet::default())
    }

    /// Returns `None` where a partition is ahead of this transaction, unless `lenient`. A lenient search may miss a
    /// memory that was changed meanwhile.
    fn try_find(
        &self,
        conn: &Connection,
        readable: &Readable,
        find: &CandidateQuery,
        lenient: bool,
    ) -> Result<Option<CandidateSet>, Fault> {
        let scopes = scopes::visible_scopes(conn, readable, &find.filter)?;
        if find.filter.as_of.is_some() {
            return as_of::find_as_of(conn, readable, find, &scopes).map(Some);
        }
        let model = find.vector.as_ref().map(|embedding| embedding.model.as_str());
        let parts = match self.bytes_max == 0 && one_shot::is_plain_filter(&find.filter) {
            true => one_shot_partitions(conn, readable.tenant, &scopes, find)?,
            false => self.fresh_partitions(conn, readable.tenant, &scopes, model)?,
        };
        let picks = {
            // Locked in the order of scope ids, so that two searches cannot deadlock.
            let parts: Vec<RwLockReadGuard<'_, Partition>> = parts.iter().map(|part| read_lock(part)).collect();
            let is_ahead = parts.iter().zip(&scopes).any(|(part, scope)| part.seq > scope.recall_seq);
            if is_ahead && !lenient {
                return Ok(None);
            }
            // In the same transaction as the partitions were compared with, so both see the same memories.
            let allowed = search::allowed_memories(conn, readable, &find.filter, &scopes)?;
            search::search_partitions(&parts, readable, find, allowed.as_ref())
        };
        self.evict_unused();
        candidates::load_candidates(conn, readable, find, &scopes, picks).map(Some)
    }

    /// The partition of each scope, at least as new as this transaction.
    fn fresh_partitions(
        &self,
        conn: &Connection,
        tenant: TenantId,
        scopes: &[VisibleScope],
        model: Option<&str>,
    ) -> Result<Vec<SharedPartition>, Fault> {
        let shared: Vec<SharedPartition> = {
            let mut cache = lock(&self.cache);
            cache.clock += 1;
            let clock = cache.clock;
            let mut part = |scope: &VisibleScope| {
                let part = cache.parts.entry((tenant, scope.id)).or_insert_with(CachedPartition::empty);
                part.used = clock;
                part.shared.clone()
            };
            scopes.iter().map(&mut part).collect()
        };
        for (shared, scope) in shared.iter().zip(scopes) {
            let is_fresh = {
                let part = read_lock(shared);
                part.seq >= scope.recall_seq && part.has_model(model) && !part.needs_sorting()
            };
            if !is_fresh {
                let mut part = write_lock(shared);
                partition_load::refresh_partition(conn, tenant, scope, model, &mut part)?;
                let bytes = part.memory_bytes();
                drop(part);
                lock(&self.cache).update_bytes((tenant, scope.id), bytes);
            }
        }
        Ok(shared)
    }

    /// Evicts least recently used partitions until the rest fits. A search that still uses one keeps it alive.
    fn evict_unused(&self) {
        let mut cache = lock(&self.cache);
        if cache.bytes <= self.bytes_max {
            return;
        }
        let mut oldest: Vec<_> = cache.parts.iter().map(|(key, part)| (part.used, *key)).collect();
        oldest.sort_unstable_by_key(|(used, (_, scope))| (*used, *scope));
        for (_, key) in oldest {
            if cache.bytes <= self.bytes_max {
                break;
            }
            if let Some(part) = cache.parts.remove(&key) {
                cache.bytes -= part.bytes;
            }
        }
    }
}

/// Partitions read for one search, holding only what it asks for.
fn one_shot_partitions(
    conn: &Connection,
    tenant: TenantId,
    scopes: &[VisibleScope],
    find: &CandidateQuery,
) -> Result<Vec<SharedPartition>, Fault> {
    scopes.iter().map(|scope| Ok(Arc::new(RwLock::new(one_shot::read_partition(conn, tenant, scope, find)?)))).collect()
}

impl PartitionCache {
    fn update_bytes(&mut self, key: (TenantId, i64), bytes: usize) {
        // Another search may have evicted it meanwhile.
        if let Some(part) = self.parts.get_mut(&key) {
            self.bytes = self.bytes - part.bytes + bytes;
            part.bytes = bytes;
        }
    }
}

impl CachedPartition {
    fn empty() -> CachedPartition {
        CachedPartition { shared: Arc::default(), used: 0, bytes: 0 }
    }
}
