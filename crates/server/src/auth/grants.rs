//! Grants on systems from configuration and from a resolver. A resolver that fails grants nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use engine::model::caller::{Caller, Grant};
use serde::Deserialize;

use crate::config::ServerConfig;
use crate::outbound::Outbound;

/// Answers kept before all are thrown away: a bound on memory.
const CACHED_MAX: usize = 10_000;

type ByEverySystem = BTreeMap<String, Grant>;

pub(super) struct Grants {
    configured: BTreeMap<String, ByEverySystem>,
    resolver: Option<Resolver>,
}

struct Resolver {
    url: String,
    outbound: Outbound,
    believed: Duration,
    cached: Mutex<HashMap<String, (Instant, ByEverySystem)>>,
}

#[derive(Deserialize)]
struct Resolved {
    grants: ByEverySystem,
}

impl Grants {
    pub(super) fn new(config: &ServerConfig, outbound: Outbound) -> Grants {
        let resolver = (!config.grants_url.is_empty()).then(|| Resolver {
            url: config.grants_url.clone(),
            outbound,
            believed: Duration::from_secs(config.limits.grants_cache_secs),
            cached: Mutex::default(),
        });
        Grants { configured: config.grants.clone(), resolver }
    }

    /// Adds what the caller holds beyond its key or token. Blocks where a resolver is asked.
    pub(super) fn add(&self, caller: &mut Caller) {
        let configured = self.configured.get(&caller.principal).cloned().unwrap_or_default();
        let resolved = self.resolver.as_ref().map(|resolver| resolver.grants(caller)).unwrap_or_default();
        for (system, grant) in configured.into_iter().chain(resolved) {
            let held = caller.grants.entry(system).or_insert(grant);
            *held = (*held).max(grant);
        }
    }
}

impl Resolver {
    fn grants(&self, caller: &Caller) -> ByEverySystem {
        let name = format!("{}/{}", caller.tenant, caller.principal);
        if let Some((at, grants)) = self.cached().get(&name)
            && at.elapsed() < self.believed
        {
            return grants.clone();
        }
        let query = [("tenant", caller.tenant.to_string()), ("principal", caller.principal.clone())];
        let grants = match self.outbound.get_json::<Resolved>(&self.url, &query) {
            Ok(resolved) => resolved.grants,
            Err(reason) => {
                tracing::warn!(%reason, "the grant resolver failed: no grants from it");
                return ByEverySystem::new();
            }
        };
        let mut cached = self.cached();
        if cached.len() >= CACHED_MAX {
            cached.clear();
        }
        cached.insert(name, (Instant::now(), grants.clone()));
        grants
    }

    fn cached(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Instant, ByEverySystem)>> {
        self.cached.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
