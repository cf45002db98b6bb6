//! Usage records ("touches"): which memory reached which run or conversation, and how.

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
    /// How a memory reached a run.
    Touch ("use") {
        Injected = "injected",
        Read = "read",
        Written = "written",
        Proposed = "proposed",
    }
}

/// One use of a memory in a run or conversation.
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

/// Writes one usage record per memory for the caller's run; nothing if the caller has no run.
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

/// Records that the caller's run read these memories. Written with the next group commit; the read does not wait for
/// it.
pub(crate) fn record_reads<'a>(engine: &Engine, caller: &Caller, memories: impl IntoIterator<Item = &'a Memory>) {
    let memories = memories.into_iter().map(|memory| (memory.id, memory.version));
    let writes = plan_usages(engine, caller, Touch::Read, memories);
    // Reading works while memory is turned off, but writes nothing.
    if !writes.is_empty() && !engine.settings.memory_off {
        engine.commit_later(Change { writes, ..Change::new(caller.tenant, engine.clock.now()) });
    }
}

/// A new usage record, to be committed together with the action it belongs to.
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
