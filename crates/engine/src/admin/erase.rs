//! Erase: a user, a pipeline or a tenant goes with everything kept of it, and leaves a certificate.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use crate::Engine;
use crate::admin::keys;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Place;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::review::Review;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::model::vocabulary::{ScopeKind, State};
use crate::policy::admins_only;
use crate::ports::change::{Change, Write};
use crate::ports::{Filter, SortOrder, Tenant, row};
use crate::recall::read;
use crate::removal::certificate::{Certificate, Erasure, ErasureDetails};
use crate::removal::redact;
use crate::summaries;
use crate::tenant::bans::{self, BanCause, BanReason};

/// Whose memories go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EraseTarget {
    User(String),
    Pipeline(String),
    /// Everything of the caller's own tenant; the name must be its slug, so that nobody erases the wrong one.
    Tenant(String),
}

impl EraseTarget {
    fn name(&self) -> &str {
        match self {
            EraseTarget::User(name) | EraseTarget::Pipeline(name) | EraseTarget::Tenant(name) => name,
        }
    }
}

/// A tenant, and when it was erased where nothing is in it since.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TenantStatus {
    #[serde(flatten)]
    pub tenant: Tenant,
    pub erased_at: Option<Timestamp>,
}

/// Side records that may repeat what memories said. Stores, seeds and certificates stay.
const TENANT_ROWS: &[RowKind] = &[
    RowKind::Reviews,
    RowKind::Receipts,
    RowKind::Runs,
    RowKind::Documents,
    RowKind::Summaries,
    RowKind::Idempotency,
    RowKind::Owners,
    RowKind::Allowed,
    RowKind::Pipelines,
    RowKind::Bans,
];

impl Engine {
    /// Deletes memories with all their history. A user's values may not return, unless `may_return`.
    pub fn erase(
        &self,
        caller: &Caller,
        what: &EraseTarget,
        reason: Option<String>,
        may_return: bool,
    ) -> Result<Certificate, Error> {
        let certificate = erase_once(self, caller, what, reason.clone(), may_return)?;
        // What was written between the look and the deed, in places that were empty before.
        if list_erasure_targets(self, caller, what)?.iter().any(|memory| memory.updated_at <= certificate.at) {
            erase_once(self, caller, what, reason, may_return)?;
        }
        Ok(certificate)
    }

    /// Every tenant. One that was erased and has not been used since says so.
    pub fn tenants(&self) -> Result<Vec<TenantStatus>, Error> {
        let standing = |tenant: Tenant| {
            let erasure = RowFilter {
                state: Some(Erasure::Tenant.to_string()),
                newest_first: true,
                limit: 1,
                ..RowFilter::default()
            };
            let certificates: Vec<Certificate> = row::select_records(&*self.backend, tenant.id, &erasure)?;
            let erased_at = match certificates.first() {
                Some(certificate) if is_tenant_empty(self, &tenant)? => Some(certificate.at),
                _ => None,
            };
            Ok(TenantStatus { tenant, erased_at })
        };
        self.backend.list_tenants()?.into_iter().map(standing).collect()
    }
}

/// All that is kept of it, in whatever state.
fn list_erasure_targets(engine: &Engine, caller: &Caller, what: &EraseTarget) -> Result<Vec<Memory>, Error> {
    let scope = match what {
        EraseTarget::User(_) => Some(ScopeKind::User),
        EraseTarget::Pipeline(_) => Some(ScopeKind::Pipeline),
        EraseTarget::Tenant(_) => None,
    };
    let filter = Filter { scopes: scope.into_iter().collect(), states: State::ALL.to_vec(), ..Filter::default() };
    let mut memories = read::list_all_memories(engine, caller.tenant, &filter, SortOrder::Oldest)?;
    memories.retain(|memory| match (what, &memory.scope) {
        (EraseTarget::User(wanted), Scope::User { user }) => wanted == user,
        (EraseTarget::Pipeline(wanted), Scope::Pipeline { pipeline, .. }) => wanted == pipeline,
        (EraseTarget::Tenant(_), _) => true,
        _ => false,
    });
    Ok(memories)
}

fn erase_once(
    engine: &Engine,
    caller: &Caller,
    what: &EraseTarget,
    reason: Option<String>,
    may_return: bool,
) -> Result<Certificate, Error> {
    admins_only(caller)?;
    if what.name().trim().is_empty() {
        return Err(Error::invalid("shape.name", "say whose memories shall go"));
    }
    let (erasure, subject) = match what {
        EraseTarget::User(user) => (Erasure::User, user.clone()),
        EraseTarget::Pipeline(pipeline) => (Erasure::Pipeline, pipeline.clone()),
        EraseTarget::Tenant(slug) => (Erasure::Tenant, check_own_slug(engine, caller, slug)?),
    };
    let memories = list_erasure_targets(engine, caller, what)?;
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    if matches!(what, EraseTarget::User(_)) && !may_return {
        change.writes.extend(plan_erasure_bans(engine, caller, &memories, reason.as_deref())?);
    }
    if !matches!(what, EraseTarget::Tenant(_)) {
        redact::hold_back_derived(engine, caller, &memories.iter().map(|memory| memory.id).collect())?;
    }
    let key = bans::ensure_ban_key(engine, caller.tenant)?;
    let versions = memories.iter().map(|memory| u64::from(memory.version_number)).sum();
    let erased = ErasureDetails { erasure, subject, memories: &memories, versions, why: reason };
    let certificate = Certificate::new(engine.clock.fresh_id().to_string(), caller, now, &key.key, &erased);
    let places: HashSet<Place> =
        memories.iter().map(|memory| Place { store: memory.store.clone(), scope: memory.scope.clone() }).collect();
    for place in places {
        change = change.with_write(Write::Erase { place });
    }
    change = plan_row_deletions(engine, caller, what, &memories, change)?;
    if matches!(what, EraseTarget::Tenant(_)) {
        change = keys::plan_key_revocations(engine, caller, change)?;
    }
    let event = EventBody::new(EventName::Erased, caller, now)
        .with_field("erasure", erasure)
        .with_field("memories", memories.len())
        .with_field("certificate", &certificate.id)
        .with_field("seal", &certificate.seal);
    engine.commit(change.with_write(Write::Row(certificate.to_row())).with_event(event))?;
    Ok(certificate)
}

fn plan_erasure_bans(
    engine: &Engine,
    caller: &Caller,
    memories: &[Memory],
    reason: Option<&str>,
) -> Result<Vec<Write>, Error> {
    let why = BanReason { cause: BanCause::Erase, by: &caller.principal, why: reason, at: engine.clock.now() };
    let mut by_scope: BTreeMap<&Scope, Vec<&Memory>> = BTreeMap::new();
    for memory in memories {
        by_scope.entry(&memory.scope).or_default().push(memory);
    }
    let mut writes = Vec::new();
    for (scope, memories) in by_scope {
        let values = memories.into_iter().map(|memory| (memory.id, memory.content.as_str()));
        writes.extend(bans::plan_bans(engine, caller.tenant, scope, values, &why)?);
    }
    Ok(writes)
}

/// Side records that go with the memories.
fn plan_row_deletions(
    engine: &Engine,
    caller: &Caller,
    what: &EraseTarget,
    memories: &[Memory],
    change: Change,
) -> Result<Change, Error> {
    let mut change = change;
    let mut gone = |kind: RowKind, id: String| change.writes.push(Write::DeleteRow { kind, id });
    match what {
        EraseTarget::Tenant(_) => {
            engine.summary_requests.clear_recent();
            for kind in TENANT_ROWS {
                row::for_each_row(engine, caller, *kind, |row| gone(*kind, row.id.clone()))?;
            }
        }
        EraseTarget::User(_) | EraseTarget::Pipeline(_) => {
            let ids: HashSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
            row::for_each_row(engine, caller, RowKind::Reviews, |row| {
                let review = Review::from_row(row.clone());
                let touches = |review: &Review| {
                    let sources = review.sources.iter().map(|source| source.memory);
                    sources.chain(review.candidate).chain(review.result).any(|id| ids.contains(&id))
                };
                if review.is_ok_and(|review| touches(&review)) {
                    gone(RowKind::Reviews, row.id.clone());
                }
            })?;
            let said = memories.iter().map(|memory| memory.content.as_str());
            let summaries = summaries::plan_summary_removal(engine, caller.tenant, said)?;
            for write in &summaries {
                if let Write::DeleteRow { kind, id } = write {
                    gone(*kind, id.clone());
                }
            }
            if let EraseTarget::User(user) = what {
                let mut his = HashSet::new();
                row::for_each_row(engine, caller, RowKind::Summaries, |row| {
                    if row.body["user"].as_str() == Some(user) {
                        his.insert(row.parent.clone());
                    }
                })?;
                row::for_each_row(engine, caller, RowKind::Summaries, |row| {
                    if his.contains(&row.parent) {
                        gone(RowKind::Summaries, row.id.clone());
                    }
                })?;
                // What he asked is his as well.
                row::for_each_row(engine, caller, RowKind::Receipts, |row| {
                    if row.body["caller"]["user"].as_str() == Some(user) {
                        gone(RowKind::Receipts, row.id.clone());
                    }
                })?;
            }
            if let EraseTarget::Pipeline(pipeline) = what {
                for opt_in in engine.opt_ins(caller, Some(pipeline))? {
                    gone(RowKind::Pipelines, opt_in.row_id());
                }
            }
        }
    }
    Ok(change)
}

fn is_tenant_empty(engine: &Engine, tenant: &Tenant) -> Result<bool, Error> {
    Ok(engine.backend.live_counts(tenant.id)?.iter().all(|(_, live)| *live == 0))
}

fn check_own_slug(engine: &Engine, caller: &Caller, slug: &str) -> Result<String, Error> {
    let own = engine.backend.list_tenants()?.into_iter().find(|tenant| tenant.id == caller.tenant);
    match own.filter(|tenant| tenant.slug == slug) {
        Some(tenant) => Ok(tenant.slug),
        None => Err(Error::not_found(format!("tenant `{slug}`, or it is not the caller's"))),
    }
}
