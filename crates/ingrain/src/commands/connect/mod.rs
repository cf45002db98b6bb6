//! `connect` and `disconnect`: add the memory server to the configuration of coding agents, and take it out again.

mod address;
mod change;
pub mod check;
pub mod clients;
pub mod disconnect;
mod edit;
mod edit_json;
mod edit_toml;
pub mod entry;
pub mod files;
pub mod handshake;
pub mod hooks;
pub mod manifest;

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use engine::safety;
use serde::Serialize;
use similar::TextDiff;

use self::change::{Plan, PlanStatus};
use self::clients::{CLIENTS, Client, GENERIC};
use self::entry::{ServerAddress, build_additions, render_alone};
use self::hooks::HookFile;
use self::manifest::Manifest;
use crate::clock::SystemClock;
use crate::config::{Environment, LoadedConfig};
use crate::error::Failure;
use crate::output::{Output, Tone};
use crate::text_io::escape_controls;

/// Name of the server in the clients' configurations.
const SERVER_NAME: &str = "ingrain";
/// Variable that holds the key of a team server.
const KEY_VARIABLE: &str = "INGRAIN_KEY";

#[derive(Clone, Debug, Args)]
pub struct ConnectArgs {
    /// Clients to connect; default: all that are found on this machine
    #[arg(value_name = "CLIENT", value_parser = client_names())]
    clients: Vec<String>,
    /// Whose configuration to change: the user's, or the one in this project for everybody who works in it
    #[arg(long, value_enum, default_value_t = ConnectScope::User)]
    scope: ConnectScope,
    /// Server of a team, instead of a process on this machine: its address, as in `https://memory.example/mcp`
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Environment variable that holds the key of the server; the key itself is never written
    #[arg(long, value_name = "NAME", default_value = KEY_VARIABLE, requires = "url")]
    key_variable: String,
    /// The server of `--url` needs no key
    #[arg(long, requires = "url", conflicts_with = "key_variable")]
    no_key: bool,
    /// Only the server: leave out the hooks that tell sessions what is known and keep what happened
    #[arg(long)]
    no_hooks: bool,
    /// Name of the server in the clients
    #[arg(long, value_name = "NAME", default_value = SERVER_NAME, value_parser = parse_server_name)]
    name: String,
    /// Replace an entry of that name that `connect` did not write
    #[arg(long)]
    force: bool,
    /// Show the changes and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the configuration to copy into a client, and change nothing
    #[arg(long, conflicts_with_all = ["dry_run", "force", "yes"])]
    print: bool,
    /// Do not ask before writing; without a terminal nothing is asked
    #[arg(long, short)]
    yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConnectScope {
    User,
    Project,
}

/// What happened to one client; also the form of `--json`.
#[derive(Serialize)]
pub struct ClientReport {
    client: String,
    scope: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    status: &'static str,
    clients: Vec<ClientReport>,
    /// The clients whose hooks were changed.
    hooks: Vec<ClientReport>,
}

fn client_names() -> PossibleValuesParser {
    PossibleValuesParser::new(CLIENTS.iter().map(|client| client.id))
}

fn parse_server_name(name: &str) -> Result<String, String> {
    // The names that every client accepts, and that need no quotes in TOML.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !name.is_empty() && name.len() <= 64 && name.chars().all(plain) {
        true => Ok(name.to_owned()),
        false => Err("write letters, digits, `-` and `_`".to_owned()),
    }
}

impl ConnectArgs {
    /// What `init` offers: every client that is found, for this user.
    pub fn for_init() -> ConnectArgs {
        ConnectArgs {
            clients: Vec::new(),
            scope: ConnectScope::User,
            url: None,
            key_variable: KEY_VARIABLE.to_owned(),
            no_key: false,
            no_hooks: false,
            name: SERVER_NAME.to_owned(),
            force: false,
            dry_run: false,
            print: false,
            yes: false,
        }
    }

    pub fn run(&self, loaded: &LoadedConfig, environment: &Environment, output: &Output) -> Result<(), Failure> {
        let address = self.address(loaded, environment)?;
        if self.print {
            return self.print_configuration(&address, environment, output);
        }
        let project = (self.scope == ConnectScope::Project).then(address::project_root).transpose()?;
        let targets = self.targets(environment);
        if targets.is_empty() {
            let known: Vec<&str> = CLIENTS.iter().map(|client| client.id).collect();
            return Err(Failure::user_error("connect.none_found", "no known client is installed on this machine")
                .with_hint(format!("name one ({}), or use `--print` for any other", known.join(", "))));
        }
        // Locked from reading to writing: two commands at once must not lose each other's records.
        let mut manifest = match self.dry_run {
            true => Manifest::read(&loaded.config.home)?,
            false => Manifest::lock(&loaded.config.home, output)?,
        };
        let mut plans: Vec<Plan> = targets
            .iter()
            .map(|client| self.plan(client, project.as_deref(), &address, environment, &manifest))
            .collect();
        let first_hook = plans.len();
        let hooks = self.hook_address(loaded, environment)?;
        let is_connected = |plan: &Plan| !matches!(plan.status, PlanStatus::Failed(_));
        // A client whose own file is left alone gets no hooks either.
        let hooked: Vec<&'static Client> =
            plans.iter().filter(|plan| is_connected(plan)).map(|plan| plan.client).collect();
        for client in hooked {
            plans.extend(self.plan_hooks(client, project.as_deref(), hooks.as_ref(), environment, &manifest));
        }
        let changes = plans.iter().any(|plan| plan.status == PlanStatus::Change);
        let write = changes && !self.dry_run && self.confirm(&plans, output)?;
        if write {
            let at = engine::ports::Clock::now(&SystemClock::new(loaded.config.fixed_now()?));
            for (index, plan) in plans.iter_mut().enumerate() {
                // A client may keep its server and its hooks in one file.
                if index >= first_hook {
                    plan.plan_again(self.force, &manifest);
                }
                plan.apply(&mut manifest, at);
            }
        }
        self.report(plans.split_at(first_hook), &manifest, &address, write, environment, output)
    }

    /// The command of hooks; `None` without hooks. A server elsewhere has none: a hook must be quick, and works on the
    /// database that this machine reaches.
    fn hook_address(&self, loaded: &LoadedConfig, environment: &Environment) -> Result<Option<ServerAddress>, Failure> {
        let wanted = !self.no_hooks && self.url.is_none();
        wanted.then(|| address::hook_command(loaded, environment, self.scope)).transpose()
    }

    fn plan_hooks(
        &self,
        client: &'static Client,
        project: Option<&Path>,
        address: Option<&ServerAddress>,
        environment: &Environment,
        manifest: &Manifest,
    ) -> Option<Plan> {
        let file = HookFile::find(client.id)?;
        let wanted = file.build_additions(address?);
        Some(Plan::new(client, project, file.path(project, environment), wanted, self.force, manifest))
    }

    /// The clients named, else those found.
    fn targets(&self, environment: &Environment) -> Vec<&'static Client> {
        let named = |client: &&Client| self.clients.iter().any(|name| name == client.id);
        match self.clients.is_empty() {
            false => CLIENTS.iter().filter(named).collect(),
            true => installed_clients(self.scope, environment),
        }
    }

    fn address(&self, loaded: &LoadedConfig, environment: &Environment) -> Result<ServerAddress, Failure> {
        match &self.url {
            None => address::local_command(loaded, environment, self.scope),
            Some(url) => {
                let key_variable = (!self.no_key).then(|| self.key_variable.clone());
                Ok(ServerAddress::Url { url: address::check_url(url)?, key_variable })
            }
        }
    }

    fn plan(
        &self,
        client: &'static Client,
        project: Option<&Path>,
        address: &ServerAddress,
        environment: &Environment,
        manifest: &Manifest,
    ) -> Plan {
        let path = client.config_path(project, environment);
        let wanted = build_additions(client, &self.name, address);
        Plan::new(client, project, path, wanted, self.force, manifest)
    }

    /// Asks in a terminal; elsewhere the command itself is the decision.
    fn confirm(&self, plans: &[Plan], output: &Output) -> Result<bool, Failure> {
        if self.yes || !can_ask(output) {
            return Ok(true);
        }
        for plan in plans.iter().filter(|plan| plan.status == PlanStatus::Change) {
            let head = output.paint(Tone::Strong, &format!("{}  {}", plan.client.title, plan.shown_path()));
            output.print_text(&format!("{head}\n{}", paint_diff(output, &plan.diff())))?;
        }
        Ok(ask("write these changes? [Y/n] "))
    }

    fn report(
        &self,
        (servers, hooks): (&[Plan], &[Plan]),
        manifest: &Manifest,
        address: &ServerAddress,
        written: bool,
        environment: &Environment,
        output: &Output,
    ) -> Result<(), Failure> {
        let clients: Vec<ClientReport> = servers.iter().map(|plan| plan.report(manifest, written)).collect();
        let mut hooks: Vec<ClientReport> = hooks.iter().map(|plan| plan.report(manifest, written)).collect();
        for report in &mut hooks {
            let is_new = matches!(report.status, "connected" | "planned");
            report.note =
                HookFile::find(&report.client).and_then(|file| file.note).filter(|_| is_new).map(str::to_owned);
        }
        let failed = clients.iter().chain(&hooks).any(|client| client.status == "failed");
        let status = match (failed, self.dry_run, written) {
            (true, ..) => "failed",
            (_, true, _) => "dry_run",
            (_, _, true) => "connected",
            _ => "unchanged",
        };
        let report = Report { status, clients, hooks };
        let asked = can_ask(output) && !self.yes && !self.dry_run;
        output.print_answer(&report, || {
            let mut text: String = report.clients.iter().map(|client| render_client(output, client, !asked)).collect();
            if !report.hooks.is_empty() {
                text += "hooks\n";
                text.extend(report.hooks.iter().map(|client| render_client(output, client, !asked)));
            }
            text += &next_steps(address, written, environment);
            text
        })?;
        if failed { Err(Failure::AlreadyReported(1)) } else { Ok(()) }
    }

    fn print_configuration(
        &self,
        address: &ServerAddress,
        environment: &Environment,
        output: &Output,
    ) -> Result<(), Failure> {
        let clients = match self.clients.is_empty() {
            true => vec![&GENERIC],
            false => self.targets(environment),
        };
        let project = (self.scope == ConnectScope::Project).then(address::project_root).transpose()?;
        let mut printed = Vec::new();
        for client in clients {
            let refused = |why: String| Failure::user_error("connect.no_key_style", why);
            let additions = build_additions(client, &self.name, address).map_err(refused)?;
            let text = render_alone(client, &additions).map_err(refused)?;
            let path = client.config_path(project.as_deref(), environment);
            printed.push((client, path, text));
        }
        let view: Vec<serde_json::Value> = printed
            .iter()
            .map(|(client, path, text)| serde_json::json!({ "client": client.id, "file": path, "configuration": text }))
            .collect();
        if let [(_, path, text)] = printed.as_slice()
            && !output.json
        {
            // The configuration alone on stdout, so that it can be piped; where it belongs on stderr.
            if let Some(path) = path {
                output.print_note(&format!("for {}", path.display()));
            }
            return output.print_text(text);
        }
        output.print_answer(&view, || {
            let part = |(client, path, text): &(&Client, Option<PathBuf>, String)| {
                let place = path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
                format!("{}  {place}\n{text}\n", client.title)
            };
            printed.iter().map(part).collect()
        })
    }
}

/// Clients that are installed and have a configuration of that scope.
pub fn installed_clients(scope: ConnectScope, environment: &Environment) -> Vec<&'static Client> {
    let has_scope = |client: &&Client| scope == ConnectScope::User || !client.project.is_empty();
    CLIENTS.iter().filter(has_scope).filter(|client| client.is_installed(environment)).collect()
}

/// Whether a person can be asked: both streams of the dialogue are terminals and the answer is not for a program.
pub fn can_ask(output: &Output) -> bool {
    !output.json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Asks on the terminal; Enter means yes, the end of input no.
pub fn ask(question: &str) -> bool {
    read_answer(question).is_some_and(|answer| matches!(answer.as_str(), "" | "y" | "yes"))
}

/// The answer from the terminal, in lower case; `None` at the end of input.
pub fn read_answer(question: &str) -> Option<String> {
    let mut line = String::new();
    let shown = write!(std::io::stderr(), "{question}").and_then(|()| std::io::stderr().flush());
    let read = shown.and_then(|()| std::io::stdin().lock().read_line(&mut line));
    read.is_ok_and(|bytes| bytes > 0).then(|| line.trim().to_lowercase())
}

/// Unified diff of a configuration. Secrets in its neighbourhood are redacted: the diff ends up in logs.
pub fn unified_diff(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let text = diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
    let text = text.replace(['\r', '\u{feff}'], "");
    safety::redact_secrets(&text, &safety::inspect(&text))
}

fn paint_diff(output: &Output, diff: &str) -> String {
    let mut text = String::new();
    for line in diff.lines().filter(|line| !line.starts_with("@@")) {
        let shown = escape_controls(line);
        text += "    ";
        text += &match line.chars().next() {
            Some('+') => output.paint(Tone::Good, &shown),
            Some('-') => output.paint(Tone::Bad, &shown),
            _ => shown,
        };
        text.push('\n');
    }
    text
}

fn render_client(output: &Output, report: &ClientReport, with_diff: bool) -> String {
    let title = Client::find(&report.client).map_or(report.client.as_str(), |client| client.title);
    let tone = if report.status == "failed" { Tone::Bad } else { Tone::Good };
    let file = report.file.as_ref().map(|file| format!("  {}", file.display())).unwrap_or_default();
    let mut text = format!("{} {title}{file}\n", output.paint(tone, report.status));
    for (label, line) in [("", &report.reason), ("note: ", &report.note)] {
        text += &line.as_ref().map(|line| format!("  {label}{line}\n")).unwrap_or_default();
    }
    if let Some(backup) = &report.backup {
        text += &format!("  backup: {}\n", backup.display());
    }
    if with_diff {
        text += &paint_diff(output, &report.diff);
    }
    text
}

fn next_steps(address: &ServerAddress, written: bool, environment: &Environment) -> String {
    if !written {
        return String::new();
    }
    let key = match address {
        ServerAddress::Url { key_variable: Some(name), .. } if environment.get(name).is_none_or(str::is_empty) => {
            format!("  export {name}=…      the key of the server, in the shell that starts the client\n")
        }
        _ => String::new(),
    };
    format!(
        "\nnext:\n{key}  restart the client, then ask it to remember something\n  \
         ingrain hook log        what the hooks did\n  \
         ingrain doctor          checks each connection with a real handshake\n  \
         ingrain disconnect      restores the files as they were\n"
    )
}
