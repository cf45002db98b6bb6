//! Grants on systems, from configuration and from an external resolver. A resolver that fails grants nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use engine::model::caller::{Caller, Grant};
use serde::Deserialize;

use crate::config::ServerConfig;
use crate::lock::lock_unpoisoned;
use crate::outbound::OutboundClient;

/// Most cached answers; the cache is emptied when it is full, which bounds its memory.
const CACHED_MAX: usize = 10_000;

type GrantsBySystem = BTreeMap<String, Grant>;

pub(super) struct Grants {
    configured: BTreeMap<String, GrantsBySystem>,
    resolver: Option<GrantResolver>,
}

struct GrantResolver {
    url: String,
    outbound: OutboundClient,
    cache_ttl: Duration,
    cache: Mutex<HashMap<String, (Instant, GrantsBySystem)>>,
}

#[derive(Deserialize)]
struct ResolverAnswer {
    grants: GrantsBySystem,
}

impl Grants {
    pub(super) fn new(config: &ServerConfig, outbound: OutboundClient) -> Grants {
        let resolver = (!config.grants_url.is_empty()).then(|| GrantResolver {
            url: config.grants_url.clone(),
            outbound,
            cache_ttl: Duration::from_secs(config.limits.grants_cache_secs),
            cache: Mutex::default(),
        });
        Grants { configured: config.grants.clone(), resolver }
    }

    /// Adds the caller's grants to those of its key or token; the higher grant wins. Blocks if there is a resolver.
    pub(super) fn add_grants(&self, caller: &mut Caller) {
        let configured = self.configured.get(&caller.principal).cloned().unwrap_or_default();
        let resolved = self.resolver.as_ref().map(|resolver| resolver.resolve_grants(caller)).unwrap_or_default();
        for (system, grant) in configured.into_iter().chain(resolved) {
            let current = caller.grants.entry(system).or_insert(grant);
            *current = (*current).max(grant);
        }
    }
}

impl GrantResolver {
    fn resolve_grants(&self, caller: &Caller) -> GrantsBySystem {
        let name = format!("{}/{}", caller.tenant, caller.principal);
        // The lock is released before the request: one slow answer must not block all callers.
        if let Some((at, grants)) = self.lock_cache().get(&name)
            && at.elapsed() < self.cache_ttl
        {
            return grants.clone();
        }
        let query = [("tenant", caller.tenant.to_string()), ("principal", caller.principal.clone())];
        let grants = match self.outbound.get_json::<ResolverAnswer>(&self.url, &query) {
            Ok(resolved) => resolved.grants,
            // Not cached: the next call asks again.
            Err(reason) => {
                tracing::warn!(%reason, "the grant resolver failed: no grants from it");
                return GrantsBySystem::new();
            }
        };
        let mut cached = self.lock_cache();
        if cached.len() >= CACHED_MAX {
            cached.clear();
        }
        cached.insert(name, (Instant::now(), grants.clone()));
        grants
    }

    fn lock_cache(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Instant, GrantsBySystem)>> {
        lock_unpoisoned(&self.cache)
    }
}
