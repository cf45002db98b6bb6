//! Adoption: what a database held before its log had digests enters the log as it is now. From then on everything in
//! the database must be in the log.

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::write_digest::LoggedWrite;
use crate::ports::change::{Change, Write};

/// Digests in one log entry; each takes about 60 bytes.
const BATCH_WRITES: usize = 5_000;

impl Engine {
    /// Takes everything the log does not cover into the log as it is. Returns how much. Admins only. Refuses while
    /// anything is damaged: damage must not become what the log says.
    pub fn adopt_uncovered(&self, caller: &Caller) -> Result<u64, Error> {
        let (verified, scan) = self.replay_log(caller)?;
        if !verified.is_intact() {
            let message = "the database is not what its log says: see `ingrain verify`; adopt after it is repaired";
            return Err(Error::conflict("conflict.damaged", message));
        }
        let adopted = scan.uncovered.len() as u64;
        if scan.is_strict {
            return Ok(0);
        }
        // With nothing left to adopt the log still has to say that it covers everything from here on.
        let empty: &[LoggedWrite] = &[];
        let mut batches = scan.uncovered.chunks(BATCH_WRITES).chain((adopted == 0).then_some(empty)).peekable();
        while let Some(batch) = batches.next() {
            let mut writes: Vec<LoggedWrite> =
                batch.iter().map(|write| LoggedWrite::Adopted(Box::new(write.clone()))).collect();
            let is_last = batches.peek().is_none();
            writes.extend(is_last.then_some(LoggedWrite::AdoptionDone));
            let now = self.clock.now();
            let event = EventBody::new(EventName::LogAdopted, caller, now)
                .with_field("adopted", batch.len())
                .with_field("done", is_last);
            self.commit(Change::new(caller.tenant, now).with_write(Write::Adopt(writes)).with_event(event))?;
        }
        Ok(adopted)
    }
}
