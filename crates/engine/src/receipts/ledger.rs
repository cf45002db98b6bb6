//! The context ledger: which memories reached a run (`blame`), and which runs a memory reached (`reach`).

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::row::RowFilter;
use crate::policy::admins_only;
use crate::ports::row;
use crate::recall::usage::{MemoryUsage, Touch};
use crate::recall::{read, visibility};
use crate::receipts::receipt;

impl Engine {
    /// Memories that reached a run, latest use first.
    pub fn blame(&self, caller: &Caller, run: &str) -> Result<Vec<MemoryUsage>, Error> {
        admins_only(caller)?;
        receipt::wait_for_writes(self);
        let filter = RowFilter {
            parent: Some(run.to_owned()),
            newest_first: true,
            limit: self.limits().list_max,
            ..RowFilter::default()
        };
        row::select_records(&*self.backend, caller.tenant, &filter)
    }

    /// Runs and conversations a memory reached, latest first.
    pub fn reach(&self, caller: &Caller, memory: MemoryId) -> Result<Vec<MemoryUsage>, Error> {
        admins_only(caller)?;
        receipt::wait_for_writes(self);
        let filter = RowFilter {
            subject: Some(memory.to_string()),
            newest_first: true,
            limit: self.limits().list_max,
            ..RowFilter::default()
        };
        let mut touches: Vec<MemoryUsage> = row::select_records(&*self.backend, caller.tenant, &filter)?;
        // Both sources are limited, and their times overlap: sort after joining.
        touches.extend(usages_from_versions(self, caller, memory)?);
        touches.sort_by_key(|touch| std::cmp::Reverse(touch.at));
        // Usage records outlive an erased memory, so the memory is read only if there are none: an unknown id is an
        // error, an unused memory is not.
        if touches.is_empty() {
            read::read_by_id(self, caller, memory)?;
        }
        Ok(touches)
    }
}

/// Writes of a memory in conversations without a run. A save there has no usage record, so they come from its versions.
fn usages_from_versions(engine: &Engine, caller: &Caller, memory: MemoryId) -> Result<Vec<MemoryUsage>, Error> {
    let versions = engine.backend.list_versions(
        &visibility::visible_to(engine, caller)?,
        memory,
        None,
        engine.limits().list_max,
    )?;
    let in_conversations =
        versions.into_iter().filter(|version| version.run.is_none() && version.conversation.is_some());
    Ok(in_conversations
        .map(|version| MemoryUsage {
            id: version.id.to_string(),
            at: version.at,
            memory,
            version: version.id,
            touch: Touch::Written,
            actor: version.actor,
            run: None,
            conversation: version.conversation,
            receipt: None,
        })
        .collect())
}
