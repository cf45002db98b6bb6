//! Upkeep: expiry, decay, quota, missing vectors. Small steps, safe to run in many processes at once.

pub(crate) mod batch_size;
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

/// How much one call does.
#[derive(Clone, Copy, Debug)]
pub struct UpkeepOptions {
    /// Memories looked up at once; fewer are changed in one transaction, so that writers never wait long.
    pub batch: usize,
    /// Batches of each sort before the call returns.
    pub batches_max: usize,
}

impl Default for UpkeepOptions {
    fn default() -> Self {
        UpkeepOptions { batch: 200, batches_max: 10_000 }
    }
}

/// What a call did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct UpkeepReport {
    pub expired: u64,
    /// Faded away: nobody recalled them.
    pub archived: u64,
    pub embedded: u64,
    /// Still without a vector, where the embedder gave none; counted up to one batch.
    pub unembedded: u64,
    /// Why it gave none.
    #[serde(skip)]
    pub embedder_down: Option<String>,
    /// Proposals that waited too long.
    pub lapsed: u64,
    /// Another process is at it.
    #[serde(skip)]
    pub elsewhere: bool,
    /// Drafts of conversations that are still going on.
    pub extended: u64,
    /// Receipts and touches past their time.
    pub receipts: u64,
    /// Transactions it took, and the longest of them: nobody else was held up longer.
    #[serde(skip)]
    pub transactions: u64,
    #[serde(skip)]
    pub longest: SignedDuration,
}

impl Engine {
    /// As [`Engine::upkeep`], because somebody asks for it now.
    pub fn upkeep_now(&self, caller: &Caller, upkeep: UpkeepOptions) -> Result<UpkeepReport, Error> {
        admins_only(caller)?;
        self.upkeep(caller.tenant, upkeep)
    }

    /// Does what is due for one tenant. Of several processes at once one does it; the others come back with nothing.
    pub fn upkeep(&self, tenant: TenantId, upkeep: UpkeepOptions) -> Result<UpkeepReport, Error> {
        let mut shift = WorkLease::new(self, tenant, "upkeep");
        let done = run_upkeep(self, tenant, upkeep, &mut shift);
        let (elsewhere, (transactions, longest)) = (shift.was_held_elsewhere(), shift.batch_stats());
        shift.release_lease()?;
        Ok(UpkeepReport { elsewhere, transactions, longest, ..done? })
    }

    /// The part of upkeep that gives vectors, under the same lease, while `going_on`: for a process with one client.
    pub fn upkeep_vectors(
        &self,
        tenant: TenantId,
        upkeep: UpkeepOptions,
        going_on: &dyn Fn() -> bool,
    ) -> Result<UpkeepReport, Error> {
        let mut shift = WorkLease::new(self, tenant, "upkeep");
        let done = embed_missing(self, tenant, upkeep, &mut shift, going_on);
        shift.release_lease()?;
        done
    }
}

fn run_upkeep(
    engine: &Engine,
    tenant: TenantId,
    upkeep: UpkeepOptions,
    shift: &mut WorkLease<'_>,
) -> Result<UpkeepReport, Error> {
    let now = engine.clock.now();
    let retire = |due: &[Memory], operation, name| archive_batch(engine, tenant, due, operation, name, now);
    // Before anything expires: what goes on does not.
    let extended = draft_expiry::extend_drafts(engine, tenant, upkeep.batch)?;
    Ok(UpkeepReport {
        extended,
        expired: run_in_batches(
            upkeep,
            shift,
            || list_expired(engine, tenant, upkeep.batch, now),
            |due| retire(due, Operation::Expire, EventName::Expired),
        )?,
        archived: run_in_batches(
            upkeep,
            shift,
            || list_faded(engine, tenant, upkeep.batch, now),
            |due| retire(due, Operation::Archive, EventName::Archived),
        )?,
        lapsed: decide::expire_reviews(engine, tenant, now)?,
        receipts: receipts::purge_receipts(engine, tenant, upkeep, shift)?,
        ..embed_missing(engine, tenant, upkeep, shift, &|| true)?
    })
}

/// Gives vectors to what has none of the current model, and says what is left where the embedder gives none.
fn embed_missing(
    engine: &Engine,
    tenant: TenantId,
    upkeep: UpkeepOptions,
    shift: &mut WorkLease<'_>,
    going_on: &dyn Fn() -> bool,
) -> Result<UpkeepReport, Error> {
    let due = || match going_on() {
        true => Ok(engine.backend.list_unembedded(tenant, engine.embedder.model(), upkeep.batch)?),
        false => Ok(Vec::new()),
    };
    let down = Cell::new(None);
    let embedded = run_in_batches(upkeep, shift, due, |due| match embed_memories(engine, due) {
        Ok(vectors) => write_vectors(engine, tenant, due, &vectors),
        // An embedder that is down is not a failure of upkeep: the next one tries again.
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

/// What has faded, in stores whose ruleset lets importance decay.
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
    let fade_below = Some(lifecycle::fade_key(lifecycle::ARCHIVE_BELOW, now));
    let filter = Filter { stores, layers, fade_below, ..Filter::default() };
    let page = PageRequest { order: SortOrder::Fading, after: None, limit };
    let mut due = engine.backend.list_memories(&Readable::whole_tenant(tenant), &filter, &page)?;
    due.retain(|memory| memory.decayed_importance(now) < lifecycle::ARCHIVE_BELOW);
    Ok(due)
}

/// Archives memories in one transaction; where one of them changed meanwhile, each on its own, so that it does not
/// hold up the rest.
fn archive_batch(
    engine: &Engine,
    tenant: TenantId,
    group: &[Memory],
    operation: Operation,
    name: EventName,
    now: Timestamp,
) -> Result<u64, Error> {
    let caller = Caller { principal: "ingrain".to_owned(), ..Caller::admin(tenant) };
    let steps: Vec<Change> =
        group.iter().map(|memory| quota::plan_archive(engine, &caller, memory, operation, name, now, None)).collect();
    match engine.backend.commit_setup(steps.iter().cloned().fold(Change::new(tenant, now), Change::with_change)) {
        Ok(_) => return Ok(group.len() as u64),
        Err(StoreError::Guard(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let mut retired = 0;
    for step in steps {
        match engine.backend.commit_setup(step) {
            Ok(_) => retired += 1,
            Err(StoreError::Guard(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(retired)
}

fn embed_memories(engine: &Engine, due: &[Memory]) -> Result<Vec<Vec<f32>>, EmbedError> {
    let texts: Vec<String> = due.iter().map(gate::embedding_text).collect();
    engine.embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Writes the vectors of memories that have none of the current model: the embedder was down, or is new.
fn write_vectors(engine: &Engine, tenant: TenantId, due: &[Memory], vectors: &[Vec<f32>]) -> Result<u64, Error> {
    let model = engine.embedder.model().to_owned();
    let mut change = Change::new(tenant, engine.clock.now());
    for (memory, values) in due.iter().zip(vectors) {
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

/// Works on what is due, batch by batch, for as long as the turn is ours and something comes of it. `work` is one
/// transaction.
pub(crate) fn run_in_batches<T>(
    upkeep: UpkeepOptions,
    shift: &mut WorkLease<'_>,
    due: impl Fn() -> Result<Vec<T>, Error>,
    work: impl Fn(&[T]) -> Result<u64, Error>,
) -> Result<u64, Error> {
    let mut worked = 0;
    for _ in 0..upkeep.batches_max {
        let batch = due()?;
        let hold = if batch.is_empty() { LeaseStatus::HeldElsewhere } else { shift.acquire_or_renew()? };
        let done = match hold {
            LeaseStatus::HeldElsewhere => break,
            LeaseStatus::Acquired => continue,
            LeaseStatus::Held => shift.run_in_batches(&batch, &work)?,
        };
        worked += done;
        if done == 0 {
            break;
        }
    }
    Ok(worked)
}
