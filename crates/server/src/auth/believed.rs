//! Keys that were just looked up: believed for a moment, so that a busy caller does not ask the database each time.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use engine::id::TenantId;
use engine::keys::Key;
use jiff::Timestamp;

/// A key that another process revokes still works so long here; one revoked by this server ends at once.
const BELIEVED: Duration = Duration::from_secs(1);
/// Keys held at once; past it all are looked up anew.
const KEYS_MAX: usize = 10_000;

#[derive(Default)]
pub(super) struct Believed(Mutex<State>);

#[derive(Default)]
struct State {
    /// Counts the times everything was dropped: a look-up begun before that does not count after it.
    era: u64,
    keys: HashMap<String, (TenantId, Key, Instant)>,
}

impl Believed {
    pub(super) fn era(&self) -> u64 {
        self.state().era
    }

    /// A key by the hash of its text, while it is believed and good.
    pub(super) fn get(&self, sha256: &str, now: Timestamp) -> Option<(TenantId, Key)> {
        let state = self.state();
        let (tenant, key, at) = state.keys.get(sha256)?;
        (at.elapsed() < BELIEVED && key.is_good(now)).then(|| (*tenant, key.clone()))
    }

    pub(super) fn keep(&self, era: u64, sha256: String, tenant: TenantId, key: &Key) {
        let mut state = self.state();
        if state.keys.len() >= KEYS_MAX {
            state.keys.clear();
        }
        if state.era == era {
            state.keys.insert(sha256, (tenant, key.clone(), Instant::now()));
        }
    }

    /// Looks every key up anew: some were changed.
    pub(super) fn drop_all(&self) {
        let mut state = self.state();
        state.era += 1;
        state.keys.clear();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
