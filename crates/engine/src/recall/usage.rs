//! Touches: which memory reached which run or conversation, and how.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::Memory;
use crate::model::row::{RowKind, SideRecord};
use crate::ports::change::{Change, Write};
use crate::vocabulary;

vocabulary! {
    /// How a memory touched a run.
    Touch ("use") {
        Injected = "injected",
        Read = "read",
        Written = "written",
        Proposed = "proposed",
    }
}

/// One memory's touch of one run or conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryUsage {
    pub id: String,
    pub at: Timestamp,
    pub memory: MemoryId,
    pub version: VersionId,
    pub touch: Touch,
    pub actor: String,
    pub run: Option<String>,
    pub conversation: Option<String>,
    pub receipt: Option<String>,
}

impl SideRecord for MemoryUsage {
    const KIND: RowKind = RowKind::Usage;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        self.touch.to_string()
    }
    fn row_subject(&self) -> String {
        self.memory.to_string()
    }
    fn row_parent(&self) -> String {
        self.run.clone().unwrap_or_default()
    }
}

/// What this caller's run is to be blamed with: nothing outside of one.
pub(crate) fn plan_usages(
    engine: &Engine,
    caller: &Caller,
    touch: Touch,
    memories: impl Iterator<Item = (MemoryId, VersionId)>,
) -> Vec<Write> {
    if caller.run.is_none() {
        return Vec::new();
    }
    let write = |(memory, version)| Write::Row(new_usage(engine, caller, touch, memory, version, None).to_row());
    memories.map(write).collect()
}

/// Leaves behind that somebody was shown these. Written with the next group: the answer waits for no disk.
pub(crate) fn record_reads<'a>(engine: &Engine, caller: &Caller, memories: impl IntoIterator<Item = &'a Memory>) {
    let memories = memories.into_iter().map(|memory| (memory.id, memory.version));
    let writes = plan_usages(engine, caller, Touch::Read, memories);
    // A read still answers while memory is turned off, and leaves no trace.
    if !writes.is_empty() && !engine.settings.memory_off {
        engine.backend.commit_later(Change { writes, ..Change::new(caller.tenant, engine.clock.now()) });
    }
}

/// A touch to be written with the deed it belongs to.
pub(crate) fn new_usage(
    engine: &Engine,
    caller: &Caller,
    touch: Touch,
    memory: MemoryId,
    version: VersionId,
    receipt: Option<&str>,
) -> MemoryUsage {
    MemoryUsage {
        id: engine.clock.fresh_id().to_string(),
        at: engine.clock.now(),
        memory,
        version,
        touch,
        actor: caller.principal.clone(),
        run: caller.run.clone(),
        conversation: caller.conversation.clone(),
        receipt: receipt.map(str::to_owned),
    }
}
