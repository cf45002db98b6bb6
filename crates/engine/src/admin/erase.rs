//! Erasure: deletes everything of a user, project, pipeline or tenant, history included, and leaves a certificate.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use crate::Engine;
use crate::admin::{keys, person_records};
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
use crate::safety;
use crate::summaries;
use crate::tenant::bans::{self, BanCause, BanReason};
use crate::tenant::projects;

/// Subject of an erasure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EraseTarget {
    User(String),
    /// With the projects that were merged into it.
    Project(String),
    Pipeline(String),
    /// The caller's own tenant. Its slug must be given, so that nobody erases the wrong one.
    Tenant(String),
}

impl EraseTarget {
    fn name(&self) -> &str {
        match self {
            EraseTarget::User(name)
            | EraseTarget::Project(name)
            | EraseTarget::Pipeline(name)
            | EraseTarget::Tenant(name) => name,
        }
    }
}

/// A tenant, and when it was erased if it is still empty.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TenantStatus {
    #[serde(flatten)]
    pub tenant: Tenant,
    pub erased_at: Option<Timestamp>,
}

/// Kinds of side records that an erasure of a tenant deletes: they may repeat texts of memories. Stores, seeds and
/// certificates stay.
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
    RowKind::Projects,
    RowKind::Questions,
    RowKind::Bans,
];

impl Engine {
    /// Deletes memories with all their history. The texts of a user are banned, unless `may_return`. Admins only.
    pub fn erase(
        &self,
        caller: &Caller,
        target: &EraseTarget,
        reason: Option<String>,
        may_return: bool,
    ) -> Result<Certificate, Error> {
        let certificate = erase_once(self, caller, target, reason.clone(), may_return)?;
        // Saves to places that were empty when the places were listed are not covered by the transaction: erase again.
        if list_erasure_targets(self, caller, target)?.iter().any(|memory| memory.updated_at <= certificate.at) {
            erase_once(self, caller, target, reason, may_return)?;
        }
        Ok(certificate)
    }

    /// All tenants. One that was erased and not used since has `erased_at`.
    pub fn tenants(&self) -> Result<Vec<TenantStatus>, Error> {
        let status = |tenant: Tenant| {
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
        self.backend.list_tenants()?.into_iter().map(status).collect()
    }
}

/// All memories of the target, in every state.
fn list_erasure_targets(engine: &Engine, caller: &Caller, target: &EraseTarget) -> Result<Vec<Memory>, Error> {
    let scope = match target {
        EraseTarget::User(_) => Some(ScopeKind::User),
        EraseTarget::Project(_) => Some(ScopeKind::Project),
        EraseTarget::Pipeline(_) => Some(ScopeKind::Pipeline),
        EraseTarget::Tenant(_) => None,
    };
    let projects = project_names(engine, caller, target)?;
    let filter = Filter { scopes: scope.into_iter().collect(), states: State::ALL.to_vec(), ..Filter::default() };
    let mut memories = read::list_all_memories(engine, caller.tenant, &filter, SortOrder::Oldest)?;
    memories.retain(|memory| match (target, &memory.scope) {
        (EraseTarget::User(wanted), Scope::User { user }) => wanted == user,
        (EraseTarget::Project(_), Scope::Project { project }) => projects.contains(project),
        (EraseTarget::Pipeline(wanted), Scope::Pipeline { pipeline, .. }) => wanted == pipeline,
        (EraseTarget::Tenant(_), _) => true,
        _ => false,
    });
    Ok(memories)
}

/// Erases what is there now, in one transaction.
fn erase_once(
    engine: &Engine,
    caller: &Caller,
    target: &EraseTarget,
    reason: Option<String>,
    may_return: bool,
) -> Result<Certificate, Error> {
    admins_only(caller)?;
    if target.name().trim().is_empty() {
        return Err(Error::invalid("shape.name", "name the user, project, pipeline or tenant to erase"));
    }
    if let EraseTarget::Project(name) = target {
        let today = projects::load_names(engine, caller.tenant, name)?.name;
        // A former name, or one that was merged: more would be deleted than was named.
        if today != *name {
            let reason = format!("`{name}` is part of `{today}` now: name that one, or unmerge `{name}` first");
            return Err(Error::conflict("conflict.project_merged", reason));
        }
    }
    let (erasure, subject) = match target {
        EraseTarget::User(user) => (Erasure::User, user.clone()),
        EraseTarget::Project(project) => (Erasure::Project, project.clone()),
        EraseTarget::Pipeline(pipeline) => (Erasure::Pipeline, pipeline.clone()),
        EraseTarget::Tenant(slug) => (Erasure::Tenant, check_own_slug(engine, caller, slug)?),
    };
    // Not refused: a user stored under a secret by an older version must be erasable.
    let subject = safety::redact_identifier(subject);
    let memories = list_erasure_targets(engine, caller, target)?;
    let now = engine.clock.now();
    let mut change = Change::new(caller.tenant, now);
    if matches!(target, EraseTarget::User(_)) && !may_return {
        change.writes.extend(plan_erasure_bans(engine, caller, &memories, reason.as_deref())?);
    }
    // Memories outside the target that were derived from it may repeat its texts. In a tenant nothing is outside.
    if !matches!(target, EraseTarget::Tenant(_)) {
        redact::hold_back_derived(engine, caller, &memories.iter().map(|memory| memory.id).collect())?;
    }
    // Made before the transaction: the digests of the certificate need a key even if nothing is banned.
    let key = bans::ensure_ban_key(engine, caller.tenant)?;
    let versions = memories.iter().map(|memory| u64::from(memory.version_number)).sum();
    let erased = ErasureDetails { erasure, subject, memories: &memories, versions, why: reason };
    let certificate = Certificate::new(engine.clock.fresh_id().to_string(), caller, now, &key.key, &erased);
    let places: HashSet<Place> =
        memories.iter().map(|memory| Place { store: memory.store.clone(), scope: memory.scope.clone() }).collect();
    // Erased by place, not by id: a memory saved to one of these places meanwhile is deleted as well.
    for place in places {
        change = change.with_write(Write::Erase { place });
    }
    change = plan_row_deletions(engine, caller, target, &memories, change)?;
    if let EraseTarget::User(user) = target {
        change = person_records::plan_person_records(engine, caller, user, &memories, change)?;
    }
    if matches!(target, EraseTarget::Tenant(_)) {
        // Holders of old keys must not write into the empty tenant.
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

/// Bans of the erased texts, each in its own scope.
fn plan_erasure_bans(
    engine: &Engine,
    caller: &Caller,
    memories: &[Memory],
    reason: Option<&str>,
) -> Result<Vec<Write>, Error> {
    let why = BanReason::new(BanCause::Erase, caller, reason, engine.clock.now());
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

/// Adds the deletion of side records that repeat texts of the erased memories.
fn plan_row_deletions(
    engine: &Engine,
    caller: &Caller,
    target: &EraseTarget,
    memories: &[Memory],
    change: Change,
) -> Result<Change, Error> {
    let mut change = change;
    let mut delete = |kind: RowKind, id: String| change.writes.push(Write::DeleteRow { kind, id });
    match target {
        EraseTarget::Tenant(_) => {
            // Summaries that are being made now would be written after the erasure.
            engine.summary_requests.clear_recent();
            for kind in TENANT_ROWS {
                row::for_each_row(engine, caller, *kind, |row| delete(*kind, row.id.clone()))?;
            }
        }
        EraseTarget::User(_) | EraseTarget::Project(_) | EraseTarget::Pipeline(_) => {
            let ids: HashSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
            row::for_each_row(engine, caller, RowKind::Reviews, |row| {
                let review = Review::from_row(row.clone());
                let touches = |review: &Review| {
                    let sources = review.sources.iter().map(|source| source.memory);
                    sources.chain(review.candidate).chain(review.result).any(|id| ids.contains(&id))
                };
                // A review that cannot be decoded names no memory that could be compared.
                if review.is_ok_and(|review| touches(&review)) {
                    delete(RowKind::Reviews, row.id.clone());
                }
            })?;
            let removed_texts = memories.iter().map(|memory| memory.content.as_str());
            let summaries = summaries::plan_summary_removal(engine, caller.tenant, removed_texts)?;
            for write in &summaries {
                if let Write::DeleteRow { kind, id } = write {
                    delete(*kind, id.clone());
                }
            }
            if let EraseTarget::User(user) = target {
                // A conversation with a summary for this user: all summaries of it are deleted, also those that name no
                // user.
                let mut conversations = HashSet::new();
                row::for_each_row(engine, caller, RowKind::Summaries, |row| {
                    if row.body["user"].as_str() == Some(user) {
                        conversations.insert(row.parent.clone());
                    }
                })?;
                row::for_each_row(engine, caller, RowKind::Summaries, |row| {
                    if conversations.contains(&row.parent) {
                        delete(RowKind::Summaries, row.id.clone());
                    }
                })?;
                // Receipts hold the queries of the user.
                row::for_each_row(engine, caller, RowKind::Receipts, |row| {
                    if row.body["caller"]["user"].as_str() == Some(user) {
                        delete(RowKind::Receipts, row.id.clone());
                    }
                })?;
            }
            let projects = project_names(engine, caller, target)?;
            if !projects.is_empty() {
                for name in &projects[1..] {
                    delete(RowKind::Projects, name.clone());
                }
                // Receipts hold the queries of its members.
                row::for_each_row(engine, caller, RowKind::Receipts, |row| {
                    if row.body["caller"]["project"].as_str().is_some_and(|name| projects.iter().any(|one| one == name))
                    {
                        delete(RowKind::Receipts, row.id.clone());
                    }
                })?;
            }
            if let EraseTarget::Pipeline(pipeline) = target {
                for opt_in in engine.opt_ins(caller, Some(pipeline))? {
                    delete(RowKind::Pipelines, opt_in.row_id());
                }
            }
        }
    }
    Ok(change)
}

/// All names of the project to erase, today's first; empty for another target.
fn project_names(engine: &Engine, caller: &Caller, target: &EraseTarget) -> Result<Vec<String>, Error> {
    let EraseTarget::Project(name) = target else { return Ok(Vec::new()) };
    let names = projects::load_names(engine, caller.tenant, name)?;
    Ok(std::iter::once(names.name).chain(names.merged).collect())
}

fn is_tenant_empty(engine: &Engine, tenant: &Tenant) -> Result<bool, Error> {
    Ok(engine.backend.live_counts(tenant.id)?.iter().all(|(_, live)| *live == 0))
}

/// The slug, if it is that of the caller's own tenant.
fn check_own_slug(engine: &Engine, caller: &Caller, slug: &str) -> Result<String, Error> {
    let own = engine.backend.list_tenants()?.into_iter().find(|tenant| tenant.id == caller.tenant);
    match own.filter(|tenant| tenant.slug == slug) {
        Some(tenant) => Ok(tenant.slug),
        None => Err(Error::not_found(format!("tenant `{slug}`, or it is not your own"))),
    }
}
