//! The live row of a memory: the columns of the table `memories` that repeat its newest version, so that lists and
//! filters need not read it. What each column must hold is said once, for `verify` and `repair`.

use crate::model::memory::Memory;

/// Names of the columns, in the order of [`live_columns`]. Place, scope kind and names come from the row's scope.
pub const LIVE_COLUMNS: [&str; 23] = [
    "store",
    "scope",
    "scope name",
    "scope second name",
    "state",
    "kind",
    "layer",
    "trust",
    "path",
    "sha256",
    "always_inject",
    "importance",
    "session",
    "turn",
    "expires_at",
    "created_at",
    "updated_at",
    "number",
    "version",
    "author",
    "summary",
    "tags",
    "tenant",
];

/// What the live row of this memory must hold, as text.
pub fn live_columns(memory: &Memory) -> Vec<Option<String>> {
    let (first, second) = memory.scope.name_columns();
    let text = |text: &str| Some(text.to_owned());
    vec![
        text(&memory.store),
        text(memory.scope.kind().as_str()),
        text(first),
        text(second),
        text(memory.state.as_str()),
        text(memory.kind.as_str()),
        text(memory.layer.as_str()),
        text(memory.trust.as_str()),
        memory.path.clone(),
        text(&memory.sha256),
        Some(u8::from(memory.always_inject).to_string()),
        Some(memory.importance.to_string()),
        memory.session.clone(),
        memory.turn.map(|turn| turn.to_string()),
        memory.expires_at.map(|at| at.as_microsecond().to_string()),
        Some(memory.created_at.as_microsecond().to_string()),
        Some(memory.updated_at.as_microsecond().to_string()),
        Some(memory.version_number.to_string()),
        Some(memory.version.to_string()),
        text(&memory.author),
        Some(memory.summary_line().to_lowercase()),
        Some(join_tags(memory.tags.iter().cloned())),
        Some(memory.tenant.to_string()),
    ]
}

/// Tags as one text, whatever their order: one backend keeps them in a table of their own.
pub fn join_tags(tags: impl Iterator<Item = String>) -> String {
    tags.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("\n")
}
