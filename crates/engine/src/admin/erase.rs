//! Erase: a user, a pipeline or a tenant goes with everything kept of it, and leaves a certificate.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::id::{MemoryId, TenantId};
use crate::model::memory::Memory;
use crate::model::scope::Scope;
use crate::model::vocabulary::{ScopeKind, State};
use crate::ports::change::{Change, Guard, Place, Write};
use crate::ports::row::{self, Kept, RowFilter, RowKind};
use crate::ports::{Filter, Order, Tenant};
use crate::removal::certificate::{Certificate, Erased, Erasure};
use crate::review::Review;
use crate::tenant::bans::{BanCause, Banning};
use crate::tenant::pipelines::admins_only;

/// Whose memories go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EraseWhat {
    User(String),
    Pipeline(String),
    /// Everything of the caller's own tenant; the name must be its slug, so that nobody erases the wrong one.
    Tenant(String),
}

/// How certificates of tenants are told from others.
const TENANT_STATE: &str = "tenant";
/// Erasures of one tenant that are counted.
const ERASURES_MAX: usize = 10_000;

/// The tenant was not erased since it was looked at: what was let in before that is not written after it.
pub(crate) fn erasures_are(count: u64) -> Guard {
    Guard::RowsAre { kind: RowKind::Certificates, state: TENANT_STATE, count }
}

impl EraseWhat {
    fn name(&self) -> &str {
        match self {
            EraseWhat::User(name) | EraseWhat::Pipeline(name) | EraseWhat::Tenant(name) => name,
        }
    }
}

/// A tenant, and when it was erased where nothing is in it since.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TenantStanding {
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
        what: &EraseWhat,
        reason: Option<String>,
        may_return: bool,
    ) -> Result<Certificate, Error> {
        let certificate = self.erase_once(caller, what, reason.clone(), may_return)?;
        // What was written between the look and the deed, in places that were empty before.
        if self.to_erase(caller, what)?.iter().any(|memory| memory.updated_at <= certificate.at) {
            self.erase_once(caller, what, reason, may_return)?;
        }
        Ok(certificate)
    }

    /// All that is kept of it, in whatever state.
    fn to_erase(&self, caller: &Caller, what: &EraseWhat) -> Result<Vec<Memory>, Error> {
        let scope = match what {
            EraseWhat::User(_) => Some(ScopeKind::User),
            EraseWhat::Pipeline(_) => Some(ScopeKind::Pipeline),
            EraseWhat::Tenant(_) => None,
        };
        let filter = Filter { scopes: scope.into_iter().collect(), states: State::ALL.to_vec(), ..Filter::default() };
        let mut memories = self.all(caller.tenant, &filter, Order::Oldest)?;
        memories.retain(|memory| match (what, &memory.scope) {
            (EraseWhat::User(wanted), Scope::User { user }) => wanted == user,
            (EraseWhat::Pipeline(wanted), Scope::Pipeline { pipeline, .. }) => wanted == pipeline,
            (EraseWhat::Tenant(_), _) => true,
            _ => false,
        });
        Ok(memories)
    }

    fn erase_once(
        &self,
        caller: &Caller,
        what: &EraseWhat,
        reason: Option<String>,
        may_return: bool,
    ) -> Result<Certificate, Error> {
        admins_only(caller)?;
        if what.name().trim().is_empty() {
            return Err(Error::invalid("shape.name", "say whose memories shall go"));
        }
        let (erasure, subject) = match what {
            EraseWhat::User(user) => (Erasure::User, user.clone()),
            EraseWhat::Pipeline(pipeline) => (Erasure::Pipeline, pipeline.clone()),
            EraseWhat::Tenant(slug) => (Erasure::Tenant, self.own_slug(caller, slug)?),
        };
        let memories = self.to_erase(caller, what)?;
        let now = self.clock.now();
        let mut change = Change::new(caller.tenant, now);
        if matches!(what, EraseWhat::User(_)) && !may_return {
            change.writes.extend(self.banning_all(caller, &memories, reason.as_deref())?);
        }
        if !matches!(what, EraseWhat::Tenant(_)) {
            self.holding_back(caller, &memories.iter().map(|memory| memory.id).collect())?;
        }
        let key = self.ban_key(caller.tenant)?;
        let versions = memories.iter().map(|memory| u64::from(memory.version_number)).sum();
        let erased = Erased { erasure, subject, memories: &memories, versions, why: reason };
        let certificate = Certificate::new(self.clock.fresh_id().to_string(), caller, now, &key.key, &erased);
        let places: HashSet<Place> =
            memories.iter().map(|memory| Place { store: memory.store.clone(), scope: memory.scope.clone() }).collect();
        for place in places {
            change = change.write(Write::Erase { place });
        }
        change = self.erasing_rows(caller, what, &memories, change)?;
        if matches!(what, EraseWhat::Tenant(_)) {
            change = self.revoking_all(caller, change)?;
        }
        let event = Happening::new(EventName::Erased, caller, now)
            .with("erasure", erasure)
            .with("memories", memories.len())
            .with("certificate", &certificate.id)
            .with("seal", &certificate.seal);
        self.backend.commit(change.write(Write::Row(certificate.to_row())).event(event))?;
        Ok(certificate)
    }

    fn banning_all(&self, caller: &Caller, memories: &[Memory], reason: Option<&str>) -> Result<Vec<Write>, Error> {
        let why = Banning { cause: BanCause::Erase, by: &caller.principal, why: reason, at: self.clock.now() };
        let mut by_scope: BTreeMap<&Scope, Vec<&Memory>> = BTreeMap::new();
        for memory in memories {
            by_scope.entry(&memory.scope).or_default().push(memory);
        }
        let mut writes = Vec::new();
        for (scope, memories) in by_scope {
            let values = memories.into_iter().map(|memory| (memory.id, memory.content.as_str()));
            writes.extend(self.banning(caller.tenant, scope, values, &why)?);
        }
        Ok(writes)
    }

    /// Side records that go with the memories.
    fn erasing_rows(
        &self,
        caller: &Caller,
        what: &EraseWhat,
        memories: &[Memory],
        change: Change,
    ) -> Result<Change, Error> {
        let mut change = change;
        let mut gone = |kind: RowKind, id: String| change.writes.push(Write::RowGone { kind, id });
        match what {
            EraseWhat::Tenant(_) => {
                self.known.asking.forget_made();
                for kind in TENANT_ROWS {
                    self.each_row(caller, *kind, |row| gone(*kind, row.id.clone()))?;
                }
            }
            EraseWhat::User(_) | EraseWhat::Pipeline(_) => {
                let ids: HashSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
                self.each_row(caller, RowKind::Reviews, |row| {
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
                let summaries = self.dropping_summaries(caller.tenant, said)?;
                for write in &summaries {
                    if let Write::RowGone { kind, id } = write {
                        gone(*kind, id.clone());
                    }
                }
                if let EraseWhat::User(user) = what {
                    let mut his = HashSet::new();
                    self.each_row(caller, RowKind::Summaries, |row| {
                        if row.body["user"].as_str() == Some(user) {
                            his.insert(row.parent.clone());
                        }
                    })?;
                    self.each_row(caller, RowKind::Summaries, |row| {
                        if his.contains(&row.parent) {
                            gone(RowKind::Summaries, row.id.clone());
                        }
                    })?;
                    // What he asked is his as well.
                    self.each_row(caller, RowKind::Receipts, |row| {
                        if row.body["caller"]["user"].as_str() == Some(user) {
                            gone(RowKind::Receipts, row.id.clone());
                        }
                    })?;
                }
                if let EraseWhat::Pipeline(pipeline) = what {
                    for opt_in in self.opt_ins(caller, Some(pipeline))? {
                        gone(RowKind::Pipelines, opt_in.id());
                    }
                }
            }
        }
        Ok(change)
    }

    pub(crate) fn each_row(
        &self,
        caller: &Caller,
        kind: RowKind,
        mut visit: impl FnMut(&row::Row),
    ) -> Result<(), Error> {
        let mut filter = RowFilter { limit: self.limits().list_max, ..RowFilter::default() };
        loop {
            let rows = self.backend.rows(caller.tenant, kind, &filter)?;
            rows.iter().for_each(&mut visit);
            match rows.last() {
                Some(last) if rows.len() == filter.limit => filter.after = Some((last.at, last.id.clone())),
                _ => return Ok(()),
            }
        }
    }

    /// How often the tenant was erased.
    pub(crate) fn erasures(&self, tenant: TenantId) -> Result<u64, Error> {
        let erasures = RowFilter { state: Some(TENANT_STATE.to_owned()), limit: ERASURES_MAX, ..RowFilter::default() };
        Ok(self.backend.rows(tenant, RowKind::Certificates, &erasures)?.len() as u64)
    }

    /// As [`Engine::erasures`], as last read.
    pub(crate) fn known_erasures(&self, tenant: TenantId) -> Result<u64, Error> {
        if let Some(count) = self.known.erasures(tenant) {
            return Ok(count);
        }
        let count = self.erasures(tenant)?;
        self.known.learn_erasures(tenant, count);
        Ok(count)
    }

    /// What was begun before the tenant was erased does not go on after it.
    pub(crate) fn unerased_since(&self, tenant: TenantId, begun: Timestamp) -> Result<(), Error> {
        let newest =
            RowFilter { state: Some(TENANT_STATE.to_owned()), newest_first: true, limit: 1, ..RowFilter::default() };
        let certificates: Vec<Certificate> = row::select(&*self.backend, tenant, &newest)?;
        match certificates.first() {
            Some(certificate) if certificate.at >= begun => {
                Err(Error::conflict("conflict.erased", "the tenant was erased meanwhile; nothing was saved"))
            }
            _ => Ok(()),
        }
    }

    /// Every tenant. One that was erased and has not been used since says so.
    pub fn tenants(&self) -> Result<Vec<TenantStanding>, Error> {
        let standing = |tenant: Tenant| {
            let erasure = RowFilter {
                state: Some(Erasure::Tenant.to_string()),
                newest_first: true,
                limit: 1,
                ..RowFilter::default()
            };
            let certificates: Vec<Certificate> = row::select(&*self.backend, tenant.id, &erasure)?;
            let erased_at = match certificates.first() {
                Some(certificate) if self.is_empty(&tenant)? => Some(certificate.at),
                _ => None,
            };
            Ok(TenantStanding { tenant, erased_at })
        };
        self.backend.tenants()?.into_iter().map(standing).collect()
    }

    fn is_empty(&self, tenant: &Tenant) -> Result<bool, Error> {
        Ok(self.backend.live(tenant.id)?.iter().all(|(_, live)| *live == 0))
    }

    fn own_slug(&self, caller: &Caller, slug: &str) -> Result<String, Error> {
        let own = self.backend.tenants()?.into_iter().find(|tenant| tenant.id == caller.tenant);
        match own.filter(|tenant| tenant.slug == slug) {
            Some(tenant) => Ok(tenant.slug),
            None => Err(Error::not_found(format!("tenant `{slug}`, or it is not the caller's"))),
        }
    }
}
