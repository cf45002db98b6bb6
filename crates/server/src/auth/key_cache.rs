//! Cache of looked-up keys, so that a busy caller does not cost one database read per request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::model::id::TenantId;
use engine::model::key::Key;
use jiff::Timestamp;
use tokio::sync::watch;

use crate::lock::lock_unpoisoned;

/// How long a looked-up key is used. A key revoked by another process works here that much longer; one revoked by this
/// server ends at once.
pub(crate) const KEY_CACHE_TTL: Duration = Duration::from_secs(1);
/// Most cached keys; the cache is emptied when it is full.
const CACHED_KEYS_MAX: usize = 10_000;

/// Tenant, key and time of the look-up.
type CachedKey = (TenantId, Arc<Key>, Instant);

#[derive(Default)]
pub(super) struct KeyCache {
    keys: Mutex<HashMap<String, CachedKey>>,
    /// Counts invalidations. A look-up that began before one must not be cached after it.
    generation: watch::Sender<u64>,
}

impl KeyCache {
    pub(super) fn generation(&self) -> u64 {
        *self.generation.borrow()
    }

    /// Changes with every invalidation.
    pub(super) fn watch_generation(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// The key with this hash, if it was looked up recently and is valid now.
    pub(super) fn get(&self, sha256: &str, now: Timestamp) -> Option<(TenantId, Arc<Key>)> {
        let keys = self.lock_keys();
        let (tenant, key, at) = keys.get(sha256)?;
        // A key may expire while it is cached.
        (at.elapsed() < KEY_CACHE_TTL && key.is_valid(now)).then(|| (*tenant, key.clone()))
    }

    /// Caches a key, unless an invalidation happened since `generation`, the value before the look-up.
    pub(super) fn insert_key(&self, generation: u64, sha256: &str, tenant: TenantId, key: &Arc<Key>) {
        let mut keys = self.lock_keys();
        if keys.len() >= CACHED_KEYS_MAX {
            keys.clear();
        }
        if self.generation() == generation {
            keys.insert(sha256.to_owned(), (tenant, key.clone(), Instant::now()));
        }
    }

    /// Empties the cache: some keys were changed.
    pub(super) fn invalidate_keys(&self) {
        let mut keys = self.lock_keys();
        keys.clear();
        // Under the lock, so that no insert of an older generation slips in between.
        self.generation.send_modify(|generation| *generation += 1);
    }

    fn lock_keys(&self) -> std::sync::MutexGuard<'_, HashMap<String, CachedKey>> {
        lock_unpoisoned(&self.keys)
    }
}
