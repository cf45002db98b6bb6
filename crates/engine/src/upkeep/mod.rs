//! Upkeep: work that time makes due: expiry, decay, lapsed reviews, old receipts, missing vectors. Runs in small
//! transactions under a lease, so many processes may call it at once.

pub(crate) mod batch_size;
mod clock_jump;
pub(crate) mod draft_expiry;
pub(crate) mod lease;
pub(crate) mod receipts;

use std::cell::Cell;

use jiff::{SignedDuration, Timestamp};

use crate::Engine;
use crate::gate;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::EventName;
use crate::model::id::TenantId;
use crate::model::lifecycle;
use crate::model::memory::Memory;
use crate::model::vector::{Embedding, Vector};
use crate::model::vocabulary::{Operation, State};
use crate::policy::{Readable, admins_only};
use crate::ports::change::{Change, Write};
use crate::ports::{EmbedError, Filter, PageRequest, SortOrder};
use crate::review::decide;
use crate::tenant::stores;
use crate::upkeep::lease::{LeaseStatus, WorkLease};
use crate::write::quota;

/// Bounds on the work of one call.
#[derive(Clone, Copy, Debug)]
pub struct UpkeepOptions {
    /// Memories read at once. A transaction changes fewer of them, see `batch_size`.
    pub batch: usize,
    /// Batches of each kind of work before the call returns.
    pub batches_max: usize,
}

impl Default for UpkeepOptions {
    fn default() -> Self {
        UpkeepOptions { batch: 200, batches_max: 10_000 }
    }
}

/// Counts of what one call did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct UpkeepReport {
    pub expired: u64,
    /// Archived because their importance decayed: they were not recalled.
    pub archived: u64,
    pub embedded: u64,
    /// Memories still without a vector because the embedder failed; counted up to one batch.
    pub unembedded: u64,
    /// Error of the embedder.
    #[serde(skip)]
    pub embedder_down: Option<String>,
    /// Active again because the clock that archived them ran ahead and was set back.
    pub restored: u64,
    /// Reviews closed because they waited too long.
    pub lapsed: u64,
    /// Another process held the lease.
    #[serde(skip)]
    pub elsewhere: bool,
    /// Drafts extended because their conversation is still active.
    pub extended: u64,
    /// Receipts and usage records deleted after their retention time.
    pub receipts: u64,
    #[serde(skip)]
    pub transactions: u64,
    /// Longest transaction: the longest time another writer had to wait.
    #[serde(skip)]
    pub longest: SignedDuration,
}

impl Engine {
    /// [`Engine::upkeep`] on request of a caller. Admins only.
    pub fn upkeep_now(&self, caller: &Caller, upkeep: UpkeepOptions) -> Result<UpkeepReport, Error> {
        admins_only(caller)?;
        self.upkeep(caller.tenant, upkeep)
    }

    /// Does all work that is due for one tenant. If another process holds the lease, returns with little or nothing
    /// done.
    pub fn upkeep(&self, tenant: TenantId, upkeep: UpkeepOptions) -> Result<UpkeepReport, Error> {
        let mut lease = WorkLease::new(self, tenant, "upkeep");
        let done = run_upkeep(self, tenant, upkeep, &mut lease);
        let (elsewhere, (transactions, longest)) = (lease.was_held_elsewhere(), lease.batch_stats());
        // Released before the result is looked at: a failed upkeep must not block the next one for minutes.
        lease.release_lease()?;
        Ok(UpkeepReport { elsewhere, transactions, longest, ..done? })
    }

    /// Embeds memories without a vector, under the same lease, while `may_continue` is true. For a process that serves
    /// one client and runs no full upkeep.
    pub fn upkeep_vectors(
        &self,
        tenant: TenantId,
        upkeep: UpkeepOptions,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<UpkeepReport, Error> {
        let mut lease = WorkLease::new(self, tenant, "upkeep");
        let done = embed_missing(self, tenant, upkeep, &mut lease, may_continue);
        lease.release_lease()?;
        done
    }
}

fn run_upkeep(
    engine: &Engine,
    tenant: TenantId,
    upkeep: UpkeepOptions,
    lease: &mut WorkLease<'_>,
) -> Result<UpkeepReport, Error> {
    let now = engine.clock.now();
    let restored = clock_jump::restore_archived_ahead(engine, tenant, upkeep.batch, now)?;
    let archive = |due: &[Memory], operation, name| archive_batch(engine, tenant, due, operation, name, now);
    // Before expiry: drafts of an active conversation must not expire.
    let extended = draft_expiry::extend_drafts(engine, tenant, upkeep.batch)?;
    receipts::purge_questions(engine, tenant, upkeep, lease)?;
    Ok(UpkeepReport {
        extended,
        restored,
        expired: run_in_batches(
            upkeep,
            lease,
            || list_expired(engine, tenant, upkeep.batch, now),
            |due| archive(due, Operation::Expire, EventName::Expired),
        )?,
        archived: run_in_batches(
            upkeep,
            lease,
            || list_faded(engine, tenant, upkeep.batch, now),
            |due| archive(due, Operation::Archive, EventName::Archived),
        )?,
        // Without a lease: each review is closed under a guard of its own.
        lapsed: decide::expire_reviews(engine, tenant, now)?,
        receipts: receipts::purge_receipts(engine, tenant, upkeep, lease)?,
        ..embed_missing(engine, tenant, upkeep, lease, &|| true)?
    })
}

/// Embeds memories without a vector of the current model. If the embedder fails, reports the error and how many are
/// left.
fn embed_missing(
    engine: &Engine,
    tenant: TenantId,
    upkeep: UpkeepOptions,
    lease: &mut WorkLease<'_>,
    may_continue: &dyn Fn() -> bool,
) -> Result<UpkeepReport, Error> {
    let due = || match may_continue() {
        true => Ok(engine.backend.list_unembedded(tenant, engine.embedder.model(), upkeep.batch)?),
        false => Ok(Vec::new()),
    };
    let down = Cell::new(None);
    let embedded = run_in_batches(upkeep, lease, due, |due| match embed_memories(engine, due) {
        Ok(vectors) => write_vectors(engine, tenant, due, &vectors),
        // A failing embedder does not fail upkeep: the next call tries again. 0 changes end the batches.
        Err(error) => {
            down.set(Some(error));
            Ok(0)
        }
    })?;
    Ok(match down.take() {
        None | Some(EmbedError::Off) => UpkeepReport { embedded, ..UpkeepReport::default() },
        Some(error) => {
            let (unembedded, embedder_down) = (due()?.len() as u64, Some(error.to_string()));
            UpkeepReport { embedded, unembedded, embedder_down, ..UpkeepReport::default() }
        }
    })
}

fn list_expired(engine: &Engine, tenant: TenantId, limit: usize, now: Timestamp) -> Result<Vec<Memory>, Error> {
    let filter = Filter { expired_by: Some(now), states: vec![State::Active, State::Constrained], ..Filter::default() };
    let page = PageRequest { order: SortOrder::Expiring, after: None, limit };
    Ok(engine.backend.list_memories(&Readable::whole_tenant(tenant), &filter, &page)?)
}

/// Memories whose importance has decayed below the threshold, in stores whose ruleset lets importance decay.
fn list_faded(engine: &Engine, tenant: TenantId, limit: usize, now: Timestamp) -> Result<Vec<Memory>, Error> {
    let (mut stores, mut layers) = (Vec::new(), Vec::new());
    for store in engine.stores(&Caller::admin(tenant))? {
        if let Some(ruleset) = stores::ruleset_of(engine, &store).ok().filter(|ruleset| ruleset.importance) {
            layers.extend(ruleset.layers.iter().filter(|layer| !layers.contains(*layer)).copied().collect::<Vec<_>>());
            stores.push(store.slug);
        }
    }
    if stores.is_empty() {
        return Ok(Vec::new());
    }
    // The key is a floating-point logarithm, so the exact value is compared below.
    let fade_below = Some(lifecycle::fade_key(lifecycle::ARCHIVE_BELOW, now));
    let filter = Filter { stores, layers, fade_below, ..Filter::default() };
    let page = PageRequest { order: SortOrder::Fading, after: None, limit };
    let mut due = engine.backend.list_memories(&Readable::whole_tenant(tenant), &filter, &page)?;
    due.retain(|memory| memory.decayed_importance(now) < lifecycle::ARCHIVE_BELOW);
    Ok(due)
}

/// Archives memories in one transaction. If a guard fails because one of them changed, archives each on its own, so
/// that one does not block the rest.
fn archive_batch(
    engine: &Engine,
    tenant: TenantId,
    batch: &[Memory],
    operation: Operation,
    name: EventName,
    now: Timestamp,
) -> Result<u64, Error> {
    let caller = Caller::system(tenant);
    let steps: Vec<Change> =
        batch.iter().map(|memory| quota::plan_archive(engine, &caller, memory, operation, name, now, None)).collect();
    // `commit_setup`: these memories are due anyway, so archiving is no effect of a call under an idempotency key.
    let whole_batch = steps.iter().cloned().fold(Change::new(tenant, now), Change::with_change);
    match engine.commit_setup(clock_jump::with_archival_time(whole_batch)) {
        Ok(_) => return Ok(batch.len() as u64),
        Err(StoreError::Guard(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let mut archived = 0;
    for step in steps {
        match engine.commit_setup(clock_jump::with_archival_time(step)) {
            Ok(_) => archived += 1,
            Err(StoreError::Guard(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(archived)
}

fn embed_memories(engine: &Engine, due: &[Memory]) -> Result<Vec<Vec<f32>>, EmbedError> {
    let texts: Vec<String> = due.iter().map(gate::embedding_text).collect();
    engine.embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Commits the vectors; returns how many. Each write names the version it was made from, so a newer text keeps none of
/// an older one.
fn write_vectors(engine: &Engine, tenant: TenantId, due: &[Memory], vectors: &[Vec<f32>]) -> Result<u64, Error> {
    let model = engine.embedder.model().to_owned();
    let mut change = Change::new(tenant, engine.clock.now());
    for (memory, values) in due.iter().zip(vectors) {
        // An embedder may answer with a vector that has no direction; the memory stays without one.
        let Some(vector) = Vector::quantise(values) else { continue };
        let embedding = Embedding { model: model.clone(), vector };
        change = change.with_write(Write::SetEmbedding { memory: memory.id, version: memory.version, embedding });
    }
    let embedded = change.writes.len() as u64;
    if embedded > 0 {
        engine.commit(change)?;
    }
    Ok(embedded)
}

/// Lists due items and runs `work` on them, batch by batch, until none is left, another process holds the lease, or a
/// batch changes nothing. `work` is one transaction and returns how many items it changed.
pub(crate) fn run_in_batches<T>(
    upkeep: UpkeepOptions,
    lease: &mut WorkLease<'_>,
    list_due: impl Fn() -> Result<Vec<T>, Error>,
    work: impl Fn(&[T]) -> Result<u64, Error>,
) -> Result<u64, Error> {
    let mut worked = 0;
    for _ in 0..upkeep.batches_max {
        let batch = list_due()?;
        // The lease is only taken when something is due: an idle tenant costs no write.
        let status = if batch.is_empty() { LeaseStatus::HeldElsewhere } else { lease.acquire_or_renew()? };
        let done = match status {
            LeaseStatus::HeldElsewhere => break,
            // The list was read before the lease was held.
            LeaseStatus::Acquired => continue,
            LeaseStatus::Held => lease.run_in_batches(&batch, &work)?,
        };
        worked += done;
        // The same items would come again, for ever.
        if done == 0 {
            break;
        }
    }
    Ok(worked)
}
