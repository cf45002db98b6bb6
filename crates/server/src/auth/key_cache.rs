//! Keys that were just looked up: believed for a moment, so that a busy caller does not ask the database each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::model::id::TenantId;
use engine::model::key::Key;
use jiff::Timestamp;
use tokio::sync::watch;

use crate::lock::lock_unpoisoned;

/// A key that another process revokes still works so long here; one revoked by this server ends at once.
pub(crate) const KEY_CACHE_TTL: Duration = Duration::from_secs(1);
/// Keys held at once; past it all are looked up anew.
const CACHED_KEYS_MAX: usize = 10_000;

/// A key, whose it is and when it was looked up.
type CachedKey = (TenantId, Arc<Key>, Instant);

#[derive(Default)]
pub(super) struct KeyCache {
    keys: Mutex<HashMap<String, CachedKey>>,
    /// Counts the times everything was dropped: a look-up begun before that does not count after it.
    generation: watch::Sender<u64>,
}

impl KeyCache {
    pub(super) fn generation(&self) -> u64 {
        *self.generation.borrow()
    }

    /// Moves when everything was dropped.
    pub(super) fn watch_generation(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    /// A key by the hash of its text, while it is believed and good.
    pub(super) fn get(&self, sha256: &str, now: Timestamp) -> Option<(TenantId, Arc<Key>)> {
        let keys = self.lock_keys();
        let (tenant, key, at) = keys.get(sha256)?;
        (at.elapsed() < KEY_CACHE_TTL && key.is_valid(now)).then(|| (*tenant, key.clone()))
    }

    pub(super) fn insert_key(&self, era: u64, sha256: &str, tenant: TenantId, key: &Arc<Key>) {
        let mut keys = self.lock_keys();
        if keys.len() >= CACHED_KEYS_MAX {
            keys.clear();
        }
        if self.generation() == era {
            keys.insert(sha256.to_owned(), (tenant, key.clone(), Instant::now()));
        }
    }

    /// Looks every key up anew: some were changed.
    pub(super) fn invalidate_keys(&self) {
        let mut keys = self.lock_keys();
        keys.clear();
        // While the keys are held: nobody keeps one of the era before.
        self.generation.send_modify(|era| *era += 1);
    }

    fn lock_keys(&self) -> std::sync::MutexGuard<'_, HashMap<String, CachedKey>> {
        lock_unpoisoned(&self.keys)
    }
}
