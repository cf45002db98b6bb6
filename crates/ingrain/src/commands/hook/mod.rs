//! `hook`: called by coding agents at the start of a session, before a turn, before a compaction and at the end. It
//! tells the agent what is known and keeps what happened.
//!
//! A hook must never harm its client: it exits with 0 whatever happens, prints one JSON value or nothing, ends within
//! a time limit, and leaves one line in a log ([`log`]).

mod answer;
mod capture;
mod clean;
mod clients;
mod deadline;
mod input;
mod log;
mod tell;
mod transcript;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};

use self::answer::write_answer;
pub use self::clients::{ALL_CLIENTS, HookClient, HookEvent};
use self::deadline::Deadline;
use self::input::HookInput;
use self::log::{HookLog, LogEntry, Outcome};
use crate::assemble::{Session, database_path};
use crate::cli::GlobalArgs;
use crate::config::{Config, Environment, LoadedConfig, home_folder, load_config};
use crate::error::Failure;
use crate::output::Output;
use crate::project::{self, ProjectFinder};

#[derive(Debug, Args)]
pub struct HookArgs {
    #[command(subcommand)]
    command: HookCommand,
}

#[derive(Debug, Subcommand)]
enum HookCommand {
    /// Called by Claude Code
    ClaudeCode(EventArgs),
    /// Called by Codex
    Codex(EventArgs),
    /// Called by Cursor
    Cursor(EventArgs),
    /// Called by Gemini CLI
    Gemini(EventArgs),
    /// Show what each hook did, latest last
    Log(log::LogArgs),
}

#[derive(Debug, Args)]
struct EventArgs {
    /// What happened in the client; its input is read from stdin
    #[arg(value_enum)]
    event: HookEvent,
}

/// Whether a command line calls a hook. A client may block the person for any exit code but 0, also for one that says
/// that this version does not know the event.
pub fn is_hook_call(arguments: &[OsString]) -> bool {
    let is_client = |name: &OsString| ALL_CLIENTS.iter().any(|client| name == client.id);
    arguments.windows(2).any(|pair| pair[0] == "hook" && is_client(&pair[1]))
}

impl HookArgs {
    pub fn run(self, global: &GlobalArgs, environment: &Environment, output: &Output) -> Result<(), Failure> {
        let (client, event) = match self.command {
            HookCommand::Log(command) => return command.run(&load_config(global, environment)?.config.home, output),
            HookCommand::ClaudeCode(EventArgs { event }) => (&clients::CLAUDE_CODE, event),
            HookCommand::Codex(EventArgs { event }) => (&clients::CODEX, event),
            HookCommand::Cursor(EventArgs { event }) => (&clients::CURSOR, event),
            HookCommand::Gemini(EventArgs { event }) => (&clients::GEMINI, event),
        };
        answer_hook(client, event, global, environment);
        Ok(())
    }
}

/// The story of one hook. Nothing in it may fail or print anything but the answer.
fn answer_hook(client: &'static HookClient, event: HookEvent, global: &GlobalArgs, environment: &Environment) {
    let begun = Instant::now();
    let Ok(home) = home_folder(global, environment) else { return };
    let log = HookLog::in_home(&home);
    let loaded = load_config(global, environment);
    let limit_ms = loaded.as_ref().map_or(DEFAULT_LIMIT_MS, |loaded| loaded.config.hooks.timeout_ms);
    let entry = LogEntry::new(client.id, event.as_str());
    // A panic is a bug, and the log says so; the client must not see it.
    std::panic::set_hook(Box::new(|_| {}));
    let deadline = Deadline::start(Duration::from_millis(limit_ms), log.clone(), entry.clone());
    let outcome = match loaded {
        Err(failure) => Outcome::failed(failure.code()),
        Ok(loaded) => {
            let call = HookCall { client, event, loaded: &loaded, environment, deadline: &deadline };
            catch_unwind(AssertUnwindSafe(|| call.run())).unwrap_or_else(|_| Outcome::failed("hook.panic"))
        }
    };
    deadline.finish(|| log.append(&entry.ended(&outcome, begun.elapsed())));
}

/// Time limit while the settings cannot be read.
const DEFAULT_LIMIT_MS: u64 = 2_500;
/// Longest wait for the write lock of another process: a part of the time limit, so that the log can tell why.
const LOCK_WAIT_SHARE: u64 = 3;

/// One call of a hook, with all it needs.
struct HookCall<'a> {
    client: &'static HookClient,
    event: HookEvent,
    loaded: &'a LoadedConfig,
    environment: &'a Environment,
    deadline: &'a Deadline,
}

impl HookCall<'_> {
    fn run(&self) -> Outcome {
        let config = &self.loaded.config;
        if !config.memory.enabled || !self.event.is_on(&config.hooks) {
            return Outcome::off();
        }
        let input = match HookInput::read(std::io::stdin().lock()) {
            Ok(input) => input,
            Err(code) => return Outcome::failed(code),
        };
        // A hook reads what is there; it is `init` and the server that make a database.
        if database_path(config).is_ok_and(|path| std::fs::metadata(path).map_or(0, |file| file.len()) == 0) {
            return Outcome::nothing("hook.no_database");
        }
        self.answer(&input).unwrap_or_else(|failure| Outcome::failed(failure.code()))
    }

    fn answer(&self, input: &HookInput) -> Result<Outcome, Failure> {
        let session = Session::open(&self.config_for(input)?)?;
        let outcome = match self.event {
            HookEvent::SessionStart => tell::tell_session_start(&session, input)?,
            HookEvent::Prompt => tell::tell_turn(&session, input)?,
            HookEvent::PreCompact | HookEvent::Stop | HookEvent::SessionEnd => {
                let is_own = |folder: &Path| self.is_own_folder(&session, folder);
                let hooks = &self.loaded.config.hooks;
                capture::keep_turns(&session, self.client, input, hooks, self.environment, &is_own)?
            }
        };
        if let Some(text) = &outcome.text {
            self.deadline.while_answering(|| write_answer(self.client, self.event, text));
        }
        // The answer is out: a receipt that cannot be written changes nothing for the client.
        let closed = session.close();
        Ok(match closed {
            Err(failure) if outcome.code.is_none() => Outcome { code: Some(failure.code()), ..outcome },
            _ => outcome,
        })
    }

    /// Whether work in a folder belongs to the project of this call. A session may move from one project to another.
    fn is_own_folder(&self, session: &Session, folder: &Path) -> bool {
        if !matches!(self.loaded.config.project.as_str(), "" | project::OF_FOLDER) {
            return true;
        }
        let finder = ProjectFinder::new(&self.loaded.config, self.environment);
        let found = finder.find(folder).ok().flatten();
        found.is_some_and(|found| {
            let caller = engine::model::caller::Caller { project: Some(found.name), ..session.caller.clone() };
            session.engine.resolve_project(caller).is_ok_and(|caller| caller.project == session.caller.project)
        })
    }

    /// The settings of the call: an agent of the client's name that works in the folder of the session.
    fn config_for(&self, input: &HookInput) -> Result<Config, Failure> {
        let agent = (!self.loaded.is_set("as")).then(|| self.client.id.to_owned());
        let mut config = super::mcp::agent_config(&self.loaded.config, agent, self.loaded.is_set("as"));
        if let Some(session) = &input.session {
            config.session.clone_from(session);
        }
        if matches!(config.project.as_str(), "" | project::OF_FOLDER) {
            let finder = ProjectFinder::new(&config, self.environment);
            let found = input.folder.as_ref().map_or(Ok(None), |folder| finder.find(folder))?;
            config.project = found.map(|found| found.name).unwrap_or_default();
        } else {
            ProjectFinder::new(&config, self.environment).reserve(&config.project);
        }
        // One question, then the process ends: an index in memory would not pay off.
        config.sqlite.index_mib = 0;
        config.sqlite.wait_ms = config.sqlite.wait_ms.min(config.hooks.timeout_ms / LOCK_WAIT_SHARE);
        Ok(config)
    }
}
