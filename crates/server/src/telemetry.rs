//! Span names and attributes after the OpenTelemetry conventions for memory. No span holds a query or content.

use engine::model::memory::Memory;
use tracing::Span;
use tracing::field::Empty;

/// Conventional name of the memory operation behind a verb or tool; `None` for others.
pub(crate) fn memory_operation(verb: &str) -> Option<&'static str> {
    match verb {
        "search" | "record_search" | "recall" | "context" | "memory_search" | "recall_memory" | "ai_searchMemory"
        | "search_my_memories" | "search_knowledge" => Some("search_memory"),
        "remember" | "remember_turns" | "memory_remember" | "save_memory" | "ai_saveMemory" => Some("upsert_memory"),
        "patch" | "pin" | "verify_by" | "memory_patch" => Some("update_memory"),
        "forget" | "redact" | "erase" | "memory_forget" | "ai_deleteMemory" => Some("delete_memory"),
        _ => None,
    }
}

/// The span of one request.
pub(crate) fn request_span(id: &str, method: &str, route: &str, verb: &'static str) -> Span {
    let operation = memory_operation(verb);
    // Fields that are recorded later must be declared here: tracing ignores unknown ones.
    tracing::info_span!(
        "request",
        otel.name = operation.unwrap_or(verb),
        otel.kind = "server",
        request.id = id,
        method,
        route,
        principal = Empty,
        gen_ai.operation.name = operation,
        gen_ai.memory.store.id = Empty,
        gen_ai.memory.record.id = Empty,
        gen_ai.memory.record.count = Empty
    )
}

/// The span of one tool call.
pub(crate) fn tool_span(name: &'static str) -> Span {
    let operation = memory_operation(name);
    tracing::info_span!("tool", otel.name = operation.unwrap_or(name), tool = name, gen_ai.operation.name = operation)
}

/// Records on the request's span which memory it was about.
pub(crate) fn record_memory(memory: &Memory) {
    let span = Span::current();
    span.record("gen_ai.memory.store.id", memory.store.as_str());
    span.record("gen_ai.memory.record.id", memory.id.to_string());
}

/// Records on the request's span how many memories were found.
pub(crate) fn record_hit_count(count: usize) {
    Span::current().record("gen_ai.memory.record.count", count);
}
