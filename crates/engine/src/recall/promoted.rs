//! What a promotion leaves behind: the promoted copy, its source, and a notice. A reader needs the copy; the source
//! says the same with less trust, and the notice only reports it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::Memory;
use crate::model::vocabulary::{Layer, Trust};
use crate::recall::ranking::Hit;

/// Store of the notices.
pub(crate) const NOTICES_STORE: &str = "layers";

// Values of the field `event` in the metadata of a notice.
pub(crate) const PROMOTION: &str = "promotion";
pub(crate) const ROLLBACK: &str = "rollback";

/// Reason of a source whose promoted copy is among the hits.
pub(crate) const COPY_REASON: &str = "its promoted copy says the same";

/// Whether a memory is a notice. Turn contexts leave notices out, searches put them last: a notice shares words with
/// the memory it reports and would take its place. Decision points, which ask for past decisions, rank them.
pub(crate) fn is_notice(memory: &Memory) -> bool {
    let event = memory.metadata.get("event").and_then(Value::as_str);
    memory.layer == Layer::Episodic && memory.store == NOTICES_STORE && matches!(event, Some(PROMOTION | ROLLBACK))
}

/// Memories among the hits that were copied into a more trusted one which is there too, with the same text.
pub(crate) fn copied_sources(hits: &[Hit]) -> HashSet<MemoryId> {
    let mut copies: HashMap<VersionId, (&str, Trust)> = HashMap::new();
    for Hit { memory, .. } in hits {
        for source in &memory.derived_from {
            copies.insert(*source, (&memory.sha256, memory.trust));
        }
    }
    let is_copied = |memory: &Memory| {
        copies.get(&memory.version).is_some_and(|(sha256, trust)| *sha256 == memory.sha256 && *trust > memory.trust)
    };
    hits.iter().map(|hit| &hit.memory).filter(|memory| is_copied(memory)).map(|memory| memory.id).collect()
}

/// Leaves out sources whose copy is there, and puts notices behind everything else.
pub(crate) fn arrange(hits: &mut Vec<Hit>) {
    let copied = copied_sources(hits);
    hits.retain(|hit| !copied.contains(&hit.memory.id));
    // Stable: the order within each part stays.
    hits.sort_by_key(|hit| is_notice(&hit.memory));
}
