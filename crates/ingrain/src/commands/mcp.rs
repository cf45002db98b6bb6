//! `mcp`: one agent's door on the standard streams. Stdout carries protocol only; words for people go to stderr.

use std::time::Duration;

use clap::Args;
use engine::ports::Clock;
use server::mcp::{Door, DoorSetup, Toolset, WriteTools, serve_stdio};
use tracing_subscriber::filter::LevelFilter;

use crate::assemble::{Session, is_local_only};
use crate::clock::SystemClock;
use crate::config::{Config, LoadedConfig};
use crate::error::Failure;

/// What an agent is called whose client does not say.
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
}

impl McpArgs {
    pub fn run(self, loaded: &LoadedConfig) -> Result<(), Failure> {
        let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(LevelFilter::ERROR);
        log.with_ansi(false).with_target(false).try_init().map_err(|error| mcp_failure(&error))?;
        let chosen = loaded.is_set("as");
        let named_by_client = self.agent.is_none() && !chosen;
        let session = Session::open(&agent_config(&loaded.config, self.agent, chosen))?;
        let setup = DoorSetup { toolsets: self.tools, write_tools: self.write_tools };
        let mut door = Door::new(session.engine.clone(), session.caller.clone(), setup).with_ordered_calls();
        if named_by_client {
            door = door.with_client_name();
        }
        if is_local_only(&loaded.config) {
            door = door.with_inline_calls();
        }
        let upkeep_every = Duration::from_secs(loaded.config.server.limits.upkeep_secs);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| mcp_failure(&error))?;
        let served = runtime.block_on(serve_stdio(door, upkeep_every));
        // A reader still waiting on an open stdin must not keep the process; what was acknowledged is flushed below.
        runtime.shutdown_background();
        let closed = session.close();
        served.map_err(|error| mcp_failure(&error)).and(closed)
    }
}

/// A model is an agent unless the operator says otherwise, and speaks for the person who started its client.
fn agent_config(config: &Config, agent: Option<String>, chosen: bool) -> Config {
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
        // What an unattended run may save is counted by run: a session that names none is one.
        config.run = SystemClock::new(None).fresh_id().to_string();
    }
    if config.conversation.is_empty() {
        config.conversation = SystemClock::new(None).fresh_id().to_string();
    }
    config
}

fn mcp_failure(error: &dyn std::fmt::Display) -> Failure {
    Failure::system_error("mcp.stopped", error.to_string())
}
