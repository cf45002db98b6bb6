//! `mcp`: MCP server for one client over stdin and stdout. Log messages go to stderr.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use engine::model::caller::Caller;
use engine::ports::Clock;
use server::mcp::{Door, DoorSetup, Toolset, WriteTools, serve_stdio};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::assemble::{Session, is_local_only};
use crate::clock::SystemClock;
use crate::commands::serve::without_protocol_library;
use crate::config::{Config, Environment, LoadedConfig};
use crate::error::Failure;
use crate::project::{self, ProjectFinder};
use crate::risks::find_risks;

/// Name of the agent if neither the operator nor its client gives one.
const AGENT_UNNAMED: &str = "mcp";

#[derive(Debug, Args)]
pub struct McpArgs {
    /// Toolsets to offer: core, lesson, note, episodic, anthropic (comma-separated)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "core")]
    tools: Vec<Toolset>,
    /// When to offer the tools that write: always, on-demand or never
    #[arg(long, value_name = "WHEN", default_value = "always")]
    write_tools: WriteTools,
    /// Name of the agent; default: the name its client sends
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// This client shows questions to the person and brings back their own answers: a yes counts as theirs
    #[arg(long)]
    may_confirm: bool,
    /// Work in no project: nothing of other sessions in this folder is read or kept
    #[arg(long)]
    no_project: bool,
}

impl McpArgs {
    pub fn run(self, loaded: &LoadedConfig, environment: &Environment) -> Result<(), Failure> {
        // Stdout carries the protocol, so the log goes to stderr; errors only.
        let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false);
        let log = log.with_filter(without_protocol_library(LevelFilter::ERROR));
        tracing_subscriber::registry().with(log).try_init().map_err(|error| mcp_failure(&error))?;
        // An explicit `--as` wins over the name that the client sends.
        let chosen = loaded.is_set("as");
        let named_by_client = self.agent.is_none() && !chosen;
        let mut config = agent_config(&loaded.config, self.agent, chosen);
        let named = !matches!(config.project.as_str(), "" | project::OF_FOLDER);
        if named {
            ProjectFinder::new(&config, environment).reserve(&config.project);
        }
        let finder = (!named && !self.no_project).then(|| ProjectFinder::new(&config, environment));
        if !named {
            config.project = finder.as_ref().and_then(find_own_project).unwrap_or_default();
        }
        let session = Session::open(&config)?;
        let health = session.engine.database().health()?;
        for risk in find_risks(&loaded.config, Some(&health), None, std::env::args_os()) {
            // As an error: the log of this command shows nothing less.
            tracing::error!(code = risk.code, next = risk.hint, "WARNING: {}", risk.message);
        }
        let setup = DoorSetup { toolsets: self.tools, write_tools: self.write_tools };
        let caller = Caller { may_confirm: self.may_confirm, ..session.caller.clone() };
        let mut door = Door::new(session.engine.clone(), caller, setup)
            .with_limits(&loaded.config.server.limits)
            .with_ordered_calls();
        if named_by_client {
            door = door.with_client_name();
        }
        if let Some(finder) = finder {
            // A client that names its folders may have been started elsewhere.
            let find = move |folder: &Path| finder.find(folder).ok().flatten().map(|found| found.name);
            door = door.with_project_finder(Arc::new(find));
        }
        // Without network calls a call is short enough to run on the protocol thread.
        if is_local_only(&loaded.config) {
            door = door.with_inline_calls();
        }
        let upkeep_every = Duration::from_secs(loaded.config.server.limits.upkeep_secs);
        // One thread: there is one client, and its calls are answered in order.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| mcp_failure(&error))?;
        let served = runtime.block_on(serve_stdio(door, upkeep_every));
        // A thread may still block on an open stdin; it must not keep the process alive. Acknowledged writes are
        // flushed below.
        runtime.shutdown_background();
        let closed = session.close();
        // Of two failures the first is reported: it is likely the cause of the other.
        served.map_err(|error| mcp_failure(&error)).and(closed)
    }
}

/// The project of the working directory. Why a name was refused goes to the log.
fn find_own_project(finder: &ProjectFinder) -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    let found = finder.find(&folder).unwrap_or_else(|failure| {
        // A broken file in a repository must not take the memory away.
        tracing::error!(code = failure.code(), "WARNING: {}", failure.message());
        finder.find_without_marker(&folder)
    });
    if let Some(refused) = found.as_ref().and_then(|found| found.refused.as_ref()) {
        // As an error: the log of this command shows nothing less.
        tracing::error!(
            code = "project.refused",
            "WARNING: {} names project {}, which other folders use; `ingrain project allow` lets it",
            refused.file.display(),
            refused.name
        );
    }
    found.map(|found| found.name)
}

/// The caller is an agent unless `--as` says otherwise, and acts for the user who started its client.
pub fn agent_config(config: &Config, agent: Option<String>, chosen: bool) -> Config {
    let mut config = config.clone();
    match agent {
        Some(agent) => config.identity = format!("agent:{agent}"),
        None if !chosen => config.identity = format!("agent:{AGENT_UNNAMED}"),
        None => {}
    }
    if config.user.is_empty() && config.identity.starts_with("agent:") {
        config.user = config.operator.clone();
    }
    if config.unattended && config.run.is_empty() {
        // Saves of unattended callers are limited per run; a session without a run id gets its own.
        config.run = SystemClock::new(None).fresh_id().to_string();
    }
    // Each session is its own conversation, so that drafts of different sessions stay apart.
    if config.conversation.is_empty() {
        config.conversation = SystemClock::new(None).fresh_id().to_string();
    }
    config
}

fn mcp_failure(error: &dyn std::fmt::Display) -> Failure {
    Failure::system_error("mcp.stopped", error.to_string())
}
