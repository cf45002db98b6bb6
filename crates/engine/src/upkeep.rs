//! Upkeep: expiry, decay, quota, missing vectors. Small steps, safe to run in many processes at once.

use jiff::Timestamp;

use crate::Engine;
use crate::caller::Caller;
use crate::change::{Change, Guard, Place, Write};
use crate::error::Error;
use crate::event::{EventName, Happening};
use crate::gate::{self, Entry, Stamp};
use crate::id::TenantId;
use crate::lifecycle;
use crate::memory::Memory;
use crate::policy::Readable;
use crate::ports::{Filter, Order, Page, StoreError};
use crate::ruleset::Ruleset;
use crate::vector::{Embedding, Vector};
use crate::vocabulary::{Operation, State};

/// How much one call does.
#[derive(Clone, Copy, Debug)]
pub struct Upkeep {
    /// Memories changed in one transaction, so that writers never wait long.
    pub batch: usize,
    /// Batches of each sort before the call returns.
    pub batches_max: usize,
}

impl Default for Upkeep {
    fn default() -> Self {
        Upkeep { batch: 200, batches_max: 10_000 }
    }
}

/// What a call did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct UpkeepDone {
    pub expired: u64,
    /// Faded away: nobody recalled them.
    pub archived: u64,
    pub embedded: u64,
    /// Proposals that waited too long.
    pub lapsed: u64,
}

impl Engine {
    /// Does what is due for one tenant.
    pub fn upkeep(&self, tenant: TenantId, upkeep: Upkeep) -> Result<UpkeepDone, Error> {
        let mut done = UpkeepDone::default();
        for _ in 0..upkeep.batches_max {
            let expired = self.expire_batch(tenant, upkeep.batch)?;
            done.expired += expired;
            if expired < upkeep.batch as u64 {
                break;
            }
        }
        for _ in 0..upkeep.batches_max {
            let archived = self.fade_batch(tenant, upkeep.batch)?;
            done.archived += archived;
            if archived < upkeep.batch as u64 {
                break;
            }
        }
        for _ in 0..upkeep.batches_max {
            let embedded = self.embed_batch(tenant, upkeep.batch)?;
            done.embedded += embedded;
            if embedded == 0 {
                break;
            }
        }
        done.lapsed = self.expire_reviews(tenant, self.clock.now())?;
        Ok(done)
    }

    fn expire_batch(&self, tenant: TenantId, limit: usize) -> Result<u64, Error> {
        let now = self.clock.now();
        let filter =
            Filter { expired_by: Some(now), states: vec![State::Active, State::Constrained], ..Filter::default() };
        let page = Page { order: Order::Oldest, after: None, limit };
        let due = self.backend.list(&Readable::everything(tenant), &filter, &page)?;
        self.retire(tenant, &due, Operation::Expire, EventName::Expired, now)
    }

    /// Archives what has faded, in stores whose ruleset lets importance decay.
    fn fade_batch(&self, tenant: TenantId, limit: usize) -> Result<u64, Error> {
        let now = self.clock.now();
        let (mut stores, mut layers) = (Vec::new(), Vec::new());
        for store in self.stores(&Caller::admin(tenant))? {
            if let Some(ruleset) = self.ruleset(&store).ok().filter(|ruleset| ruleset.importance) {
                layers.extend(
                    ruleset.layers.iter().filter(|layer| !layers.contains(*layer)).copied().collect::<Vec<_>>(),
                );
                stores.push(store.slug);
            }
        }
        if stores.is_empty() {
            return Ok(0);
        }
        let fade_below = Some(lifecycle::fade_key(lifecycle::ARCHIVE_BELOW, now));
        let filter = Filter { stores, layers, fade_below, ..Filter::default() };
        let page = Page { order: Order::Fading, after: None, limit };
        let mut due = self.backend.list(&Readable::everything(tenant), &filter, &page)?;
        due.retain(|memory| memory.decayed_importance(now) < lifecycle::ARCHIVE_BELOW);
        self.retire(tenant, &due, Operation::Archive, EventName::Archived, now)
    }

    /// Archives memories, each on its own, so that one that changed meanwhile does not hold up the rest.
    pub(crate) fn retire(
        &self,
        tenant: TenantId,
        due: &[Memory],
        operation: Operation,
        name: EventName,
        now: Timestamp,
    ) -> Result<u64, Error> {
        let caller = Caller { principal: "ingrain".to_owned(), ..Caller::admin(tenant) };
        let mut retired = 0;
        for memory in due {
            let change = self.retiring(&caller, memory, operation, name, now);
            match self.backend.commit(change) {
                Ok(_) => retired += 1,
                Err(StoreError::Guard(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(retired)
    }

    fn retiring(
        &self,
        caller: &Caller,
        memory: &Memory,
        operation: Operation,
        name: EventName,
        now: Timestamp,
    ) -> Change {
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, None);
        let entry = Entry::transition(memory, operation, stamp, Vec::new(), |memory| {
            memory.state = State::Archived;
            memory.archived_at = Some(now);
        });
        Change::new(caller.tenant, now)
            .guard(Guard::VersionIs { memory: memory.id, version: memory.version })
            .event(Happening::new(name, caller, now).about(entry.memory()))
            .write(Write::Entry(Box::new(entry)))
    }

    /// Adds to a save what keeps its place within the quota: the least important is archived with it. In a nearly full
    /// place what has all but faded goes even earlier.
    pub(crate) fn making_room(
        &self,
        caller: &Caller,
        place: &Place,
        ruleset: &Ruleset,
        change: Change,
    ) -> Result<Change, Error> {
        let Some(live_max) = ruleset.live_max else { return Ok(change) };
        let state = self.backend.place(caller.tenant, place)?;
        if (state.live as f64) < live_max as f64 * lifecycle::NEARLY_FULL {
            return Ok(change.guard(Guard::RoomLeft { place: place.clone(), live_max }));
        }
        let over = (state.live + 1).saturating_sub(live_max) as usize;
        let filter = Filter { places: vec![place.clone()], layers: ruleset.layers.clone(), ..Filter::default() };
        let page = Page { order: Order::Fading, after: None, limit: over.max(1) };
        let mut fading = self.backend.list(&Readable::everything(caller.tenant), &filter, &page)?;
        let mut change = change;
        if over == 0 {
            fading.retain(|memory| memory.decayed_importance(change.at) < lifecycle::EARLY_BELOW);
            change = change.guard(Guard::RoomLeft { place: place.clone(), live_max });
        }
        for memory in fading {
            let step = self.retiring(caller, &memory, Operation::Archive, EventName::Archived, change.at);
            change.guards.extend(step.guards);
            change.writes.extend(step.writes);
            change.events.extend(step.events);
        }
        Ok(change)
    }

    /// Gives vectors to memories that have none of the current model: the embedder was down, or is new.
    fn embed_batch(&self, tenant: TenantId, limit: usize) -> Result<u64, Error> {
        let model = self.embedder.model().to_owned();
        let due = self.backend.unembedded(tenant, &model, limit)?;
        let texts: Vec<String> = due.iter().map(gate::embedding_text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        // An embedder that is down is not a failure of upkeep: the next one tries again.
        let Ok(vectors) = self.embedder.embed(&texts) else { return Ok(0) };
        let mut change = Change::new(tenant, self.clock.now());
        for (memory, values) in due.iter().zip(&vectors) {
            let Some(vector) = Vector::quantise(values) else { continue };
            let embedding = Embedding { model: model.clone(), vector };
            change = change.write(Write::Embedded { memory: memory.id, version: memory.version, embedding });
        }
        let embedded = change.writes.len() as u64;
        if embedded > 0 {
            self.backend.commit(change)?;
        }
        Ok(embedded)
    }
}
