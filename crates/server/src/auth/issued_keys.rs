//! Digests of all keys of a tenant, in memory: tells a good new key from a wrong one without a look-up for each. Used
//! only while wrong keys are throttled, so that they do not lock out good ones of the same address.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use engine::admin::keys::parse_key_tenant;
use engine::model::error::Error;
use engine::model::id::TenantId;
use tokio::sync::Mutex;

use super::Credential;
use crate::app::App;
use crate::problem::Problem;

/// How long the digests are used: a key that another process made is let in after this time at the latest. Keys made by
/// this server count at once.
const DIGESTS_TTL: Duration = Duration::from_secs(1);

/// A lock that waits without a thread: a flood of wrong keys waits for one look-up together.
#[derive(Default)]
pub(super) struct IssuedKeys(Mutex<LoadedDigests>);

#[derive(Default)]
struct LoadedDigests {
    /// Of the key cache: changes whenever this server changes keys.
    generation: u64,
    tenants: Option<(Instant, HashSet<TenantId>)>,
    digests: HashMap<TenantId, (Instant, HashSet<String>)>,
}

impl IssuedKeys {
    /// Forgets what is loaded: this server has made a key. Waits for a look-up that may have missed it.
    pub(super) async fn reset(&self) {
        *self.0.lock().await = LoadedDigests::default();
    }

    /// Whether a key with this text was issued. Costs at most one look-up a second for each tenant that exists.
    pub(super) async fn contains(&self, app: &App, generation: u64, credential: &Credential) -> Result<bool, Problem> {
        let Some(tenant) = parse_key_tenant(&credential.text) else { return Ok(false) };
        let mut loaded = self.0.lock().await;
        if loaded.generation != generation {
            *loaded = LoadedDigests { generation, ..LoadedDigests::default() };
        }
        let is_fresh = |at: Instant| at.elapsed() < DIGESTS_TTL;
        if !loaded.tenants.as_ref().is_some_and(|(at, _)| is_fresh(*at)) {
            let list = |engine: &engine::Engine| Ok(engine.database().list_tenants().map_err(Error::from)?);
            let tenants = app.entrance.call("authenticate", list).await?;
            loaded.tenants = Some((Instant::now(), tenants.into_iter().map(|tenant| tenant.id).collect()));
        }
        // Names of tenants that do not exist are free to invent: they must cost nothing.
        if !loaded.tenants.as_ref().is_some_and(|(_, tenants)| tenants.contains(&tenant)) {
            return Ok(false);
        }
        if !loaded.digests.get(&tenant).is_some_and(|(at, _)| is_fresh(*at)) {
            let digests = app.entrance.call("authenticate", move |engine| Ok(engine.key_digests(tenant)?)).await?;
            loaded.digests.insert(tenant, (Instant::now(), digests));
        }
        Ok(loaded.digests.get(&tenant).is_some_and(|(_, digests)| digests.contains(&credential.sha256)))
    }
}
