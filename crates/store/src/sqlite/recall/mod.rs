//! Finding: an index in memory, one part a place, kept in step with the table; or, where no memory is allowed for it,
//! one reading of the table for each question.

mod candidates;
mod dot;
mod glance;
mod load;
mod near;
mod partition;
mod past;
mod postings;
mod search;
mod signs;
mod top;
mod unembedded;
mod vectors;

pub(super) use unembedded::unembedded;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use engine::model::id::TenantId;
use engine::policy::Readable;
use engine::ports::{Find, Found, StoreError};
use rusqlite::Connection;

use super::fault::Fault;
use super::pool::{Readers, lock};
use super::scopes::{self, Seen};
use partition::Partition;

/// Times a find starts over because another one moved a shared part past its own moment.
const ATTEMPTS: usize = 4;

type Shared = Arc<RwLock<Partition>>;

/// The parts in memory, within a budget of bytes.
pub(super) struct Index {
    bytes_max: usize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    parts: HashMap<(TenantId, i64), Part>,
    /// Counts finds, to know which part was used last.
    clock: u64,
    bytes: usize,
}

struct Part {
    shared: Shared,
    used: u64,
    bytes: usize,
}

impl Index {
    pub(super) fn new(bytes_max: usize) -> Index {
        Index { bytes_max, held: Mutex::default() }
    }

    pub(super) fn find(&self, readers: &Readers, readable: &Readable, find: &Find) -> Result<Found, StoreError> {
        for attempt in 1.. {
            let found = readers.read(|conn| self.attempt(conn, readable, find, attempt >= ATTEMPTS))?;
            if let Some(found) = found {
                return Ok(found);
            }
        }
        Ok(Found::default())
    }

    /// `None` when a part is ahead of this transaction, unless that is to be lived with.
    fn attempt(
        &self,
        conn: &Connection,
        readable: &Readable,
        find: &Find,
        lenient: bool,
    ) -> Result<Option<Found>, Fault> {
        let scopes = scopes::visible(conn, readable, &find.filter)?;
        if find.filter.as_of.is_some() {
            return past::find(conn, readable, find, &scopes).map(Some);
        }
        let model = find.vector.as_ref().map(|embedding| embedding.model.as_str());
        let parts = match self.bytes_max == 0 && glance::is_plain(&find.filter) {
            true => glanced(conn, readable.tenant, &scopes, find)?,
            false => self.parts(conn, readable.tenant, &scopes, model)?,
        };
        let picks = {
            // Always in the order of their numbers, so that two finds never wait for each other.
            let parts: Vec<RwLockReadGuard<'_, Partition>> =
                parts.iter().map(|part| part.read().unwrap_or_else(PoisonError::into_inner)).collect();
            let ahead = parts.iter().zip(&scopes).any(|(part, scope)| part.seq > scope.recall_seq);
            if ahead && !lenient {
                return Ok(None);
            }
            let allowed = search::allowed(conn, readable, &find.filter, &scopes)?;
            search::run(&parts, readable, find, allowed.as_ref())
        };
        self.evict();
        candidates::load(conn, readable, find, &scopes, picks).map(Some)
    }

    /// The part of each place, at least as new as this transaction.
    fn parts(
        &self,
        conn: &Connection,
        tenant: TenantId,
        scopes: &[Seen],
        model: Option<&str>,
    ) -> Result<Vec<Shared>, Fault> {
        let shared: Vec<Shared> = {
            let mut held = lock(&self.held);
            held.clock += 1;
            let clock = held.clock;
            let mut part = |scope: &Seen| {
                let part = held.parts.entry((tenant, scope.id)).or_insert_with(Part::empty);
                part.used = clock;
                part.shared.clone()
            };
            scopes.iter().map(&mut part).collect()
        };
        for (shared, scope) in shared.iter().zip(scopes) {
            let fresh = {
                let part = shared.read().unwrap_or_else(PoisonError::into_inner);
                part.seq >= scope.recall_seq && part.has_model(model) && !part.owes_sorting()
            };
            if !fresh {
                let mut part = shared.write().unwrap_or_else(PoisonError::into_inner);
                load::bring_up(conn, tenant, scope, model, &mut part)?;
                let bytes = part.bytes();
                drop(part);
                lock(&self.held).weigh((tenant, scope.id), bytes);
            }
        }
        Ok(shared)
    }

    /// Lets go of the parts longest unused until the rest fits.
    fn evict(&self) {
        let mut held = lock(&self.held);
        if held.bytes <= self.bytes_max {
            return;
        }
        let mut oldest: Vec<_> = held.parts.iter().map(|(key, part)| (part.used, *key)).collect();
        oldest.sort_unstable_by_key(|(used, (_, scope))| (*used, *scope));
        for (_, key) in oldest {
            if held.bytes <= self.bytes_max {
                break;
            }
            if let Some(part) = held.parts.remove(&key) {
                held.bytes -= part.bytes;
            }
        }
    }
}

/// The parts as far as one question asks, where nothing is kept.
fn glanced(conn: &Connection, tenant: TenantId, scopes: &[Seen], find: &Find) -> Result<Vec<Shared>, Fault> {
    scopes.iter().map(|scope| Ok(Arc::new(RwLock::new(glance::read(conn, tenant, scope, find)?)))).collect()
}

impl Held {
    fn weigh(&mut self, key: (TenantId, i64), bytes: usize) {
        if let Some(part) = self.parts.get_mut(&key) {
            self.bytes = self.bytes - part.bytes + bytes;
            part.bytes = bytes;
        }
    }
}

impl Part {
    fn empty() -> Part {
        Part { shared: Arc::default(), used: 0, bytes: 0 }
    }
}
