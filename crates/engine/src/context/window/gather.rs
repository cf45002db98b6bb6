//! Collects the parts of a window before any cut: skills, pinned memories, and memories and document chunks for the
//! message.

use super::WindowRequest;
use super::parts::{ToolResult, WindowParts};
use crate::Engine;
use crate::context::turn::{self, ContextCandidate, ContextRequest, MEMORY_OFF, block_for_trust};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::memory::Memory;
use crate::model::store::KNOWLEDGE_BASE;
use crate::model::vocabulary::Ranker;
use crate::policy;
use crate::ports::Filter;
use crate::recall::ranking::Hit;
use crate::recall::search::SearchQuery;
use crate::recall::{promoted, search, visibility};
use crate::receipts::receipt::{ReceiptSettings, to_shown_entry};
use crate::receipts::render;
use crate::sources::knowledge::{self, KnowledgeResults};
use crate::sources::skills::{LoadedSkills, Skill, SkippedSkill};
use crate::text::words::{self, QueryWords};

/// Memories and document chunks before any cut.
const MEMORIES_MAX: usize = 5;
const CHUNKS_MAX: usize = 5;
const WINDOW_REASON: &str = "in the window";
/// A longer memory is cut here; chunks are always shorter.
const MEMORY_TOKENS_MAX: usize = 512;

/// Collects all parts. A failed search is noted and its part stays empty.
pub(crate) fn gather_window_parts<'a>(
    engine: &Engine,
    caller: &Caller,
    request: &'a WindowRequest,
    notes: &mut Vec<String>,
) -> Result<WindowParts<'a>, Error> {
    // Recorded in the receipt; the cuts keep the window's own limit.
    let budget_tokens = Some(request.window_tokens);
    let context_request =
        ContextRequest { message: request.message.clone(), budget_tokens, ..ContextRequest::default() };
    let settings =
        ReceiptSettings { memories_max: MEMORIES_MAX + CHUNKS_MAX, ..turn::context_settings(engine, &context_request) };
    let mut parts = WindowParts {
        request,
        skills: window_skills(engine, request, notes),
        pinned: Vec::new(),
        memories: Vec::new(),
        chunks: Vec::new(),
        dropped: Vec::new(),
        tool_results: request
            .tool_results
            .iter()
            .map(|text| ToolResult { text: text.clone(), is_cut: false })
            .collect(),
        first_turn: 0,
        summary: None,
        least_tokens: None,
        settings,
    };
    if engine.settings.memory_off {
        notes.push(MEMORY_OFF.to_owned());
        return Ok(parts);
    }
    if request.message.trim().is_empty() {
        return Ok(parts);
    }
    let query = words::parse_query(&request.message);
    let failure_note = |what: &str, error: &Error| format!("{what}: {}", error.code());
    parts.pinned = window_pins(engine, caller, &parts.settings, notes).unwrap_or_else(|error| {
        notes.push(failure_note("always-inject memories", &error));
        Vec::new()
    });
    let memories = window_memories(engine, caller, request, notes).unwrap_or_else(|error| {
        notes.push(failure_note("memories", &error));
        Vec::new()
    });
    // Its rank puts it into a better block than an agent's pin.
    let is_ranked = |choice: &ContextCandidate| memories.iter().any(|hit| hit.memory.id == choice.memory.id);
    parts.pinned.retain(|choice| !(turn::pin_lowers_trust(&choice.memory) && is_ranked(choice)));
    // A hit that is also pinned is shown once. The search returns more than `MEMORIES_MAX`, so others take its place.
    let is_pinned = |hit: &Hit| parts.pinned.iter().any(|choice| choice.memory.id == hit.memory.id);
    let unpinned: Vec<Hit> = memories.into_iter().filter(|hit| !is_pinned(hit)).take(MEMORIES_MAX).collect();
    parts.memories = unpinned.into_iter().map(|hit| to_window_choice(engine, &parts.settings, &query, hit)).collect();
    // A search of its own, so that documents and memories do not crowd each other out.
    let chunks = knowledge::find_knowledge_hits(engine, caller, &request.message, &[], Ranker::Operational, CHUNKS_MAX);
    let chunks = chunks.unwrap_or_else(|error| {
        notes.push(failure_note("knowledge", &error));
        KnowledgeResults::default()
    });
    notes.extend(chunks.warnings);
    parts.chunks = chunks.hits.into_iter().map(|hit| to_window_choice(engine, &parts.settings, &query, hit)).collect();
    Ok(parts)
}

/// The request's skills, then the configured ones, or those of them that are named. Skipped and unknown ones are noted.
fn window_skills(engine: &Engine, request: &WindowRequest, notes: &mut Vec<String>) -> Vec<Skill> {
    let wanted = |skill: &Skill| request.skill_names.as_ref().is_none_or(|names| names.contains(&skill.name));
    let LoadedSkills { skills: configured, left_out } = engine.skills();
    notes.extend(left_out.iter().map(SkippedSkill::to_note));
    // Skills in the request are always included; `skill_names` selects among the configured ones.
    let mut skills = request.skills.clone();
    for skill in configured.into_iter().filter(wanted) {
        if !skills.iter().any(|given| given.name == skill.name) {
            skills.push(skill);
        }
    }
    let is_given = |name: &String| skills.iter().any(|skill| skill.name == *name);
    let missing = request.skill_names.iter().flatten().filter(|name| !is_given(name));
    notes.extend(missing.map(|name| format!("there is no skill `{name}`")));
    skills
}

/// Always-inject memories that fit into their share of the default budget of a turn, not of the window.
fn window_pins(
    engine: &Engine,
    caller: &Caller,
    settings: &ReceiptSettings,
    notes: &mut Vec<String>,
) -> Result<Vec<ContextCandidate>, Error> {
    let mut left = engine.limits().context_budget_tokens / engine.limits().always_inject_share;
    let mut pinned = Vec::new();
    let (always, warnings) = turn::list_always_injected(engine, caller, &Filter::default())?;
    notes.extend(warnings);
    for memory in always {
        let choice = turn::pinned_candidate(engine, settings, memory, WINDOW_REASON.to_owned());
        let choice = show_in_window(settings, choice, None);
        if choice.considered.tokens <= left {
            left -= choice.considered.tokens;
            pinned.push(choice);
        }
    }
    Ok(pinned)
}

/// Ranked memories for the message, without the knowledge base (searched apart) and promotion notices.
fn window_memories(
    engine: &Engine,
    caller: &Caller,
    request: &WindowRequest,
    notes: &mut Vec<String>,
) -> Result<Vec<Hit>, Error> {
    let query = SearchQuery { text: request.message.clone(), ..SearchQuery::default() };
    let mut readable = visibility::visible_for_filter(engine, caller, &query.filter)?;
    readable.hidden_stores.push(KNOWLEDGE_BASE.to_owned());
    let (mut hits, _) = search::find_hits_or_by_time(engine, &readable, &query, Ranker::Operational, MEMORIES_MAX)?;
    let may_see = |memory: &Memory| readable.shows_memory(memory) && policy::may_recall_in_run(caller, memory);
    promoted::arrange(&mut hits);
    hits.retain(|hit| may_see(&hit.memory) && !promoted::is_notice(&hit.memory));
    search::drop_altered(&mut hits, notes);
    Ok(hits)
}

/// A candidate that is shown, until a cut removes it.
fn to_window_choice(engine: &Engine, settings: &ReceiptSettings, query: &QueryWords, hit: Hit) -> ContextCandidate {
    show_in_window(settings, turn::unshown_candidate(engine, settings, hit, WINDOW_REASON.to_owned()), Some(query))
}

/// A long content is cut around what matches the query, or after its beginning without one.
fn show_in_window(
    settings: &ReceiptSettings,
    mut choice: ContextCandidate,
    query: Option<&QueryWords>,
) -> ContextCandidate {
    let content = &choice.memory.content;
    choice.considered.excerpt = query
        .filter(|_| render::is_cut(content, MEMORY_TOKENS_MAX))
        .map(|query| turn::find_excerpt(content, query, MEMORY_TOKENS_MAX));
    choice.considered.block = Some(block_for_trust(settings, &choice.considered));
    choice.considered.content_tokens_max = MEMORY_TOKENS_MAX;
    choice.considered.tokens = render::entry_tokens(&to_shown_entry(&choice.considered, &choice.memory));
    choice
}
