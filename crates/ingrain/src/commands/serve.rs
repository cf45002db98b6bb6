//! `serve`: HTTP server for REST, MCP and live events, until SIGINT or SIGTERM.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use clap::Args;
use engine::Engine;
use engine::admin::keys::{KEY_RANDOM_BYTES, NewKey};
use engine::model::caller::{Caller, MemoryPermissions};
use engine::model::id::TenantId;
use engine::model::key::KeyRights;
use engine::model::vocabulary::Role;
use engine::ports::Clock;
use serde::Serialize;
use server::{App, ServerConfig};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::assemble::Session;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::error::Failure;
use crate::output::{Output, Tone};
use crate::risks::find_risks;
use crate::stderr_log::LogWriter;

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// IP address to listen on; default: the setting `server.host` (127.0.0.1)
    #[arg(long, value_name = "ADDRESS")]
    host: Option<IpAddr>,
    /// Port to listen on, 0 for any free one; default: the setting `server.port` (4647)
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Let callers on this machine in without a key; loopback addresses only
    #[arg(long)]
    local: bool,
}

/// Start message.
#[derive(Serialize)]
struct StartupInfo {
    address: String,
    docs: String,
    data: String,
    /// Key of the operator; only at the first start of a tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_key: Option<String>,
    local: bool,
}

impl ServeArgs {
    pub fn run(self, config: &Config, output: &Output) -> Result<(), Failure> {
        let settings = &config.server;
        let host = match self.host {
            Some(host) => host,
            None => settings.host.parse().map_err(|_| {
                Failure::user_error("config.host", format!("`server.host` is `{}`, not an address", settings.host))
            })?,
        };
        // Without keys the address is the only protection.
        if self.local && !host.is_loopback() {
            let message =
                format!("`--local` needs no key and is allowed on loopback addresses only, and `{host}` is not one");
            return Err(Failure::user_error("serve.local_elsewhere", message)
                .with_hint("omit `--local`, or listen on 127.0.0.1"));
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new(config.fixed_now()?));
        // Before the database is opened, so that messages of opening it are logged.
        log_to_stderr(settings, &clock)?;
        let Session { engine, caller } = Session::open(&cap_database_wait(config))?;
        // Loads the skills now, so that unreadable ones are logged at the start and not at the first turn.
        engine.skills();
        // With `--local` no key is needed, so none is created.
        let admin_key = if self.local { None } else { create_first_key(&engine, caller.tenant, &config.operator)? };
        let address = SocketAddr::new(host, self.port.unwrap_or(settings.port));
        let settings = ServerConfig {
            rules: rules_by_role(config),
            grants: config.grants.clone(),
            local: self.local.then_some(caller),
            ..settings.clone()
        };
        let health = engine.database().health()?;
        for risk in find_risks(config, Some(&health), Some(host), std::env::args_os()) {
            tracing::warn!(code = risk.code, next = risk.hint, "WARNING: {}", risk.message);
        }
        // Path or server of the database, for the start message.
        let data = health.location;
        let report_start = |bound: SocketAddr| {
            let docs = format!("http://{bound}/docs");
            let started = StartupInfo { address: format!("http://{bound}"), docs, data, admin_key, local: self.local };
            output.print_answer(&started, || render_startup(output, &started))
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(worker_thread_count()).enable_all().build();
        let (runtime, engine_handle) = (runtime.map_err(serve_failure)?, engine.clone());
        let served = runtime.block_on(serve_until_stopped(App::new(engine, settings), address, report_start));
        if served.is_err() {
            // Do not wait for hanging calls or for the writer thread: the leaked handle keeps the engine from being
            // dropped, which would join that thread.
            runtime.shutdown_background();
            std::mem::forget(engine_handle);
        }
        served
    }
}

/// Caps the SQLite wait at 5/6 of the request timeout, so that callers get `store.busy` instead of a timeout.
fn cap_database_wait(config: &Config) -> Config {
    let mut config = config.clone();
    config.sqlite.wait_ms = config.sqlite.wait_ms.min(config.server.limits.timeout_secs * 1_000 * 5 / 6);
    config
}

/// Worker threads for sockets: all cores but one, which the database writer uses. A surplus thread costs a single
/// request two useless wake-ups.
fn worker_thread_count() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() - 1).max(1)
}

async fn serve_until_stopped(
    app: App,
    address: SocketAddr,
    report_start: impl FnOnce(SocketAddr) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let bind_failure = |error| Failure::system_error("serve.address", format!("cannot listen on {address}: {error}"));
    // Before the start message: with port 0 only the bound socket knows its port.
    let listener = TcpListener::bind(address).await.map_err(bind_failure)?;
    // Registered before the start message: a supervisor may send SIGTERM right after it.
    let mut term = signal(SignalKind::terminate()).map_err(serve_failure)?;
    report_start(listener.local_addr().map_err(serve_failure)?)?;
    let stop_signal = async move {
        tokio::select! {
            // Registered at its first poll: an earlier Ctrl-C ends the process by default.
            _ = tokio::signal::ctrl_c() => {}
            _ = term.recv() => {}
        }
        tracing::info!("closing: finishing open requests");
    };
    server::serve(app, listener, stop_signal).await.map_err(serve_failure)
}

/// Creates the key of the operator if the tenant has no keys.
fn create_first_key(engine: &Engine, tenant: TenantId, operator: &str) -> Result<Option<String>, Failure> {
    let admin = Caller::admin(tenant);
    // Revoked keys count too, or revoking the last one would create another at the next start.
    if !engine.keys(&admin)?.is_empty() {
        return Ok(None);
    }
    let rights = KeyRights {
        operator: true,
        user: Some(operator.to_owned()),
        may_set: engine::model::key::Settable::ALL.to_vec(),
        ..KeyRights::for_role(Role::Admin)
    };
    let new = NewKey { name: "operator".to_owned(), rights, expires_at: None };
    Ok(Some(engine.create_key(&admin, new, random_key_bytes()?)?.text))
}

/// Random bytes for a new key.
pub fn random_key_bytes() -> Result<[u8; KEY_RANDOM_BYTES], Failure> {
    let mut random = [0; KEY_RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(|error| Failure::system_error("random", error.to_string()))?;
    Ok(random)
}

fn rules_by_role(config: &Config) -> std::collections::BTreeMap<Role, MemoryPermissions> {
    config.roles.iter().map(|(role, held)| (*role, held.permissions())).collect()
}

/// Sets up the log on stderr and, if configured, the OTLP exporter.
fn log_to_stderr(settings: &ServerConfig, clock: &Arc<dyn Clock>) -> Result<(), Failure> {
    let level: LevelFilter = settings.log_level.parse().map_err(|_| {
        Failure::user_error("config.log_level", format!("unknown log level `{}`", settings.log_level))
            .with_hint("one of: off, error, warn, info, debug")
    })?;
    let level = without_protocol_library(level);
    let log =
        tracing_subscriber::fmt::layer().with_writer(LogWriter { json: settings.log == "json" }).with_target(false);
    let log = match settings.log.as_str() {
        "json" => log.json().with_filter(level).boxed(),
        // The log usually goes to a file or a journal, where colours are noise.
        "text" => log.with_ansi(false).with_filter(level).boxed(),
        other => {
            let message = format!("unknown log format `{other}`");
            return Err(Failure::user_error("config.log", message).with_hint("one of: text, json"));
        }
    };
    let traces =
        otlp_layer(settings, clock)?.map(|otlp| otlp.with_filter(without_protocol_library(LevelFilter::TRACE)));
    let set = tracing_subscriber::registry().with(log).with(traces).try_init();
    set.map_err(|error| Failure::system_error("serve.log", error.to_string()))
}

/// Everything up to this level, except what the library of the MCP protocol says: that quotes its clients, whose words
/// may hold secrets.
pub fn without_protocol_library(level: LevelFilter) -> Targets {
    Targets::new().with_default(level).with_target("rmcp", LevelFilter::OFF)
}

#[cfg(feature = "otlp")]
fn otlp_layer(settings: &ServerConfig, clock: &Arc<dyn Clock>) -> Result<Option<server::Otlp>, Failure> {
    server::Otlp::new(settings, clock.clone()).map_err(|error| Failure::system_error("serve.otlp", error.to_string()))
}

#[cfg(not(feature = "otlp"))]
fn otlp_layer(
    settings: &ServerConfig,
    _: &Arc<dyn Clock>,
) -> Result<Option<tracing_subscriber::layer::Identity>, Failure> {
    match settings.otlp_endpoint.is_empty() {
        true => Ok(None),
        // An endpoint that is silently ignored would look like lost traces.
        false => Err(Failure::user_error("config.otlp", "this ingrain was built without the feature `otlp`")
            .with_hint("build with `--features otlp`, or unset `server.otlp_endpoint`")),
    }
}

fn render_startup(output: &Output, started: &StartupInfo) -> String {
    let mut text = format!("{} {}\n", output.paint(Tone::Good, "listening at"), started.address);
    text.push_str(&format!("API docs     {}\n", started.docs));
    text.push_str(&format!("data         {}\n", started.data));
    if started.local {
        text.push_str("callers on this machine need no key\n");
    }
    if let Some(key) = &started.admin_key {
        text.push_str(&format!(
            "your key     {key}\n             shown only once: store it safely; `ingrain key create` makes more\n"
        ));
    }
    text
}

fn serve_failure(error: impl std::fmt::Display) -> Failure {
    Failure::system_error("serve.failed", error.to_string())
}
