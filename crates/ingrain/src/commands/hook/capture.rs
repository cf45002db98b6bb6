//! Keeps the turns of a transcript as episodes of the project: each once, without secrets and private parts.

use std::path::{Path, PathBuf};

use engine::Remembered;
use engine::model::store::PROJECT_EPISODES;

use super::clients::{HookClient, TranscriptFormat};
use super::input::HookInput;
use super::log::Outcome;
use super::transcript;
use crate::assemble::Session;
use crate::config::{Environment, HookSettings};
use crate::error::Failure;

pub fn keep_turns(
    session: &Session,
    client: &HookClient,
    input: &HookInput,
    settings: &HookSettings,
    environment: &Environment,
    is_own_folder: &dyn Fn(&Path) -> bool,
) -> Result<Outcome, Failure> {
    if session.caller.project.is_none() {
        return Ok(Outcome::nothing("hook.no_project"));
    }
    let Some(id) = &input.session else { return Ok(Outcome::nothing("hook.no_session")) };
    let Some(path) = find_transcript(client, input, id, environment) else {
        return Ok(Outcome::nothing(transcript::NO_TRANSCRIPT));
    };
    let (engine, caller) = (&session.engine, &session.caller);
    let last = engine.last_turn(caller, PROJECT_EPISODES, id)?.unwrap_or(0);
    let tag_prefix = &engine.settings.limits.context_tag_prefix;
    let found = match transcript::read_turns(&path, client, last, tag_prefix, settings, is_own_folder) {
        Ok(found) => found,
        // A session in which nothing was said has none.
        Err(code) if code == transcript::NO_TRANSCRIPT => return Ok(Outcome::nothing(code)),
        Err(code) => return Ok(Outcome::failed(code)),
    };
    let answers = engine.remember_new_turns(caller, PROJECT_EPISODES, id, &found.turns)?;
    let refused = answers.iter().filter(|answer| matches!(answer, Remembered::Refused(_))).count();
    let kept = answers.len() - refused;
    let status = if kept > 0 { "kept" } else { "nothing" };
    Ok(Outcome { status, kept, refused, left_out: found.left_out, ..Outcome::default() })
}

/// The transcript that the client names. Cursor's command line names none and keeps it in a known place.
fn find_transcript(
    client: &HookClient,
    input: &HookInput,
    session: &str,
    environment: &Environment,
) -> Option<PathBuf> {
    if client.transcript != TranscriptFormat::Cursor || input.transcript.is_some() {
        return input.transcript.clone();
    }
    let folder = input.folder.as_ref()?.to_str()?;
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = folder.trim_start_matches('/').chars().map(plain).collect();
    let folder = environment.get_path("HOME")?.join(".cursor/projects").join(name).join("agent-transcripts");
    let file = format!("{session}.jsonl");
    [folder.join(&file), folder.join(session).join(&file)].into_iter().find(|path| path.is_file())
}
