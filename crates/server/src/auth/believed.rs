//! Keys that were just looked up: believed for a moment, so that a busy caller does not ask the database each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::admin::keys::Key;
use engine::model::id::TenantId;
use jiff::Timestamp;
use tokio::sync::watch;

/// A key that another process revokes still works so long here; one revoked by this server ends at once.
pub(crate) const BELIEVED: Duration = Duration::from_secs(1);
/// Keys held at once; past it all are looked up anew.
const KEYS_MAX: usize = 10_000;

/// A key, whose it is and when it was looked up.
type Held = (TenantId, Arc<Key>, Instant);

#[derive(Default)]
pub(super) struct Believed {
    keys: Mutex<HashMap<String, Held>>,
    /// Counts the times everything was dropped: a look-up begun before that does not count after it.
    era: watch::Sender<u64>,
}

impl Believed {
    pub(super) fn era(&self) -> u64 {
        *self.era.borrow()
    }

    /// Moves when everything was dropped.
    pub(super) fn eras(&self) -> watch::Receiver<u64> {
        self.era.subscribe()
    }

    /// A key by the hash of its text, while it is believed and good.
    pub(super) fn get(&self, sha256: &str, now: Timestamp) -> Option<(TenantId, Arc<Key>)> {
        let keys = self.keys();
        let (tenant, key, at) = keys.get(sha256)?;
        (at.elapsed() < BELIEVED && key.is_good(now)).then(|| (*tenant, key.clone()))
    }

    pub(super) fn keep(&self, era: u64, sha256: &str, tenant: TenantId, key: &Arc<Key>) {
        let mut keys = self.keys();
        if keys.len() >= KEYS_MAX {
            keys.clear();
        }
        if self.era() == era {
            keys.insert(sha256.to_owned(), (tenant, key.clone(), Instant::now()));
        }
    }

    /// Looks every key up anew: some were changed.
    pub(super) fn drop_all(&self) {
        let mut keys = self.keys();
        keys.clear();
        // While the keys are held: nobody keeps one of the era before.
        self.era.send_modify(|era| *era += 1);
    }

    fn keys(&self) -> std::sync::MutexGuard<'_, HashMap<String, Held>> {
        self.keys.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
