//! What goes into a window: skills, pinned memories, memories and chunks for the message.

use super::WindowRequest;
use super::parts::{Parts, ToolResult};
use crate::Engine;
use crate::context::turn::{Choice, ContextRequest, MEMORY_OFF, block_of};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::memory::Memory;
use crate::model::store::KNOWLEDGE_BASE;
use crate::model::vocabulary::Ranker;
use crate::policy;
use crate::ports::Filter;
use crate::recall::ranking::Hit;
use crate::recall::search::Query;
use crate::receipts::receipt::{ReceiptSettings, show};
use crate::receipts::render;
use crate::review::promotion_notice;
use crate::sources::skills::{LeftOut, Shelved, Skill};

/// Memories and chunks before anything is cut (SPEC §3).
const MEMORIES: usize = 5;
const CHUNKS: usize = 5;
/// A memory is shown up to here; a chunk is never longer.
const MEMORY_TOKENS: usize = 512;

impl Engine {
    pub(super) fn parts<'a>(
        &self,
        caller: &Caller,
        request: &'a WindowRequest,
        notes: &mut Vec<String>,
    ) -> Result<Parts<'a>, Error> {
        let budget_tokens = Some(request.window_tokens);
        let asked = ContextRequest { message: request.message.clone(), budget_tokens, ..ContextRequest::default() };
        let settings = ReceiptSettings { memories_max: MEMORIES + CHUNKS, ..self.context_settings(&asked) };
        let mut parts = Parts {
            request,
            skills: self.window_skills(request, notes),
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
        if self.settings.memory_off {
            notes.push(MEMORY_OFF.to_owned());
            return Ok(parts);
        }
        if request.message.trim().is_empty() {
            return Ok(parts);
        }
        let missed = |what: &str, error: &Error| format!("{what}: {}", error.code());
        parts.pinned = self.window_pins(caller, &parts.settings).unwrap_or_else(|error| {
            notes.push(missed("always-inject memories", &error));
            Vec::new()
        });
        let memories = self.window_memories(caller, request).unwrap_or_else(|error| {
            notes.push(missed("memories", &error));
            Vec::new()
        });
        let is_pinned = |hit: &Hit| parts.pinned.iter().any(|choice| choice.memory.id == hit.memory.id);
        let fresh: Vec<Hit> = memories.into_iter().filter(|hit| !is_pinned(hit)).take(MEMORIES).collect();
        parts.memories = fresh.into_iter().map(|hit| self.shown_in_window(&parts.settings, hit)).collect();
        let chunks = self.knowledge_hits(caller, &request.message, &[], Ranker::Operational, CHUNKS);
        let chunks = chunks.unwrap_or_else(|error| {
            notes.push(missed("knowledge", &error));
            Vec::new()
        });
        parts.chunks = chunks.into_iter().map(|hit| self.shown_in_window(&parts.settings, hit)).collect();
        Ok(parts)
    }

    /// The request's own skills and the configured ones, or those of them that were named.
    fn window_skills(&self, request: &WindowRequest, notes: &mut Vec<String>) -> Vec<Skill> {
        let wanted = |skill: &Skill| request.skill_names.as_ref().is_none_or(|names| names.contains(&skill.name));
        let Shelved { skills: configured, left_out } = self.skills();
        notes.extend(left_out.iter().map(LeftOut::note));
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

    /// Pinned memories, within their share of a turn's budget.
    fn window_pins(&self, caller: &Caller, settings: &ReceiptSettings) -> Result<Vec<Choice>, Error> {
        let mut left = self.limits().context_budget_tokens / self.limits().always_inject_share;
        let mut pinned = Vec::new();
        for memory in self.always_injected(caller, &Filter::default())? {
            let choice = self.shown_in_window(settings, Hit::bare(memory));
            if choice.considered.tokens <= left {
                left -= choice.considered.tokens;
                pinned.push(choice);
            }
        }
        Ok(pinned)
    }

    fn window_memories(&self, caller: &Caller, request: &WindowRequest) -> Result<Vec<Hit>, Error> {
        let query = Query { text: request.message.clone(), ..Query::default() };
        let mut eyes = self.eyes_on(caller, &query.filter)?;
        eyes.closed.push(KNOWLEDGE_BASE.to_owned());
        let (mut hits, _) = self.found_or_of_its_time(&eyes, &query, Ranker::Operational, MEMORIES)?;
        let seen = |memory: &Memory| eyes.shows(memory) && policy::in_its_run(caller, memory);
        hits.retain(|hit| seen(&hit.memory) && !promotion_notice::is_notice(&hit.memory));
        Ok(hits)
    }

    fn shown_in_window(&self, settings: &ReceiptSettings, hit: Hit) -> Choice {
        let mut choice = self.passed_over(settings, hit, "in the window".to_owned());
        choice.considered.block = Some(block_of(settings, &choice.considered));
        choice.considered.content_tokens_max = MEMORY_TOKENS;
        choice.considered.tokens = render::entry_tokens(&show(&choice.considered, &choice.memory));
        choice
    }
}
