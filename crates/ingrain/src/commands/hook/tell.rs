//! What a hook tells the model: at the start what is known of the project, before a turn what its prompt asks for.

use engine::text::plural::format_count;
use engine::{ContextRequest, SessionStart, SessionStartRequest};

use super::clean;
use super::input::HookInput;
use super::log::Outcome;
use crate::assemble::Session;
use crate::error::Failure;

/// Shorter prompts ("ok", "go on") say nothing that could be searched for.
const PROMPT_WORDS_MIN: usize = 3;

pub fn tell_session_start(session: &Session, input: &HookInput) -> Result<Outcome, Failure> {
    let request = SessionStartRequest { session: input.session.clone(), ..SessionStartRequest::default() };
    let start = session.engine.session_start(&session.caller, &request)?;
    let head = session.caller.project.as_ref().map(|_| render_head(&start));
    let text: Vec<String> = head.into_iter().chain(Some(start.context.text)).filter(|text| !text.is_empty()).collect();
    Ok(told(text.join("\n\n"), &start.context.candidates, start.context.tokens))
}

pub fn tell_turn(session: &Session, input: &HookInput) -> Result<Outcome, Failure> {
    let prompt = clean::visible_text(&input.prompt, &session.engine.settings.limits.context_tag_prefix);
    // A command of the client is not for the model.
    if prompt.split_whitespace().count() < PROMPT_WORDS_MIN || prompt.starts_with('/') {
        return Ok(Outcome::nothing("hook.short_prompt"));
    }
    let request = ContextRequest { message: prompt, ..ContextRequest::default() };
    let context = session.engine.context(&session.caller, &request)?;
    Ok(told(context.text, &context.candidates, context.tokens))
}

fn told(text: String, candidates: &[engine::receipts::receipt::ConsideredMemory], tokens: usize) -> Outcome {
    let memories = candidates.iter().filter(|considered| considered.block.is_some()).count();
    match text.is_empty() {
        true => Outcome { status: "nothing", ..Outcome::default() },
        false => Outcome { status: "told", text: Some(text), memories, tokens, ..Outcome::default() },
    }
}

/// Numbers and dates only: no word of a memory is outside the blocks.
fn render_head(start: &SessionStart) -> String {
    let known = format_count(start.known as usize, "memory", "memories");
    let changed = match start.last_session {
        Some(last) => {
            format!(", {} new or changed since the last session ({})", start.changed, last.strftime("%F %R UTC"))
        }
        None => String::new(),
    };
    format!(
        "Ingrain keeps a memory of this project: {known}{changed}. Look things up with `memory_search`; save lessons \
         that will still hold next week with `memory_remember`."
    )
}
