//! Command-line definition: the global flags and the list of commands. Doc comments of fields are the help texts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use toml::Value;

use crate::caller::{Identity, SystemGrant};
use crate::commands::{
    bench, completions, config, connect, context, copy, diagnose, doctor, episodes, events, export, forget, history,
    hook, import, ingest, key, layers, list, mcp, memory, migrate, owners, patch, pin, pipeline, project, propose,
    quarantine, read, recall, receipt, redact, remember, repair, review, rollback, run, scan, search, serve, store,
    tenant, verify,
};

/// Governed memory for AI agents: save, search, review, prove and forget what they learn
#[derive(Debug, Parser)]
#[command(name = "ingrain", version, propagate_version = true, max_term_width = 110)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// Parses the command line. Building the definitions of all commands takes an eighth of the time of a search, so
    /// the commands that programs call most are tried alone first. Any failure falls back to the full definition.
    pub fn parse_arguments(arguments: &[OsString]) -> Result<Cli, clap::Error> {
        // A cheap test: the name may also be a value, as in `read search`. The full definition then decides.
        let may_be_frequent = arguments.iter().any(|argument| FREQUENT_COMMANDS.iter().any(|name| argument == name));
        let frequent = if may_be_frequent { FrequentCli::try_parse_from(arguments).ok() } else { None };
        match frequent {
            Some(FrequentCli { global, command }) => Ok(Cli { global, command: command.into() }),
            None => Cli::try_parse_from(arguments),
        }
    }
}

/// [`Cli`] with the frequent commands only.
#[derive(Debug, Parser)]
struct FrequentCli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: FrequentCommand,
}

#[derive(Debug, Subcommand)]
enum FrequentCommand {
    Remember(remember::RememberArgs),
    Search(search::SearchArgs),
    Context(context::ContextArgs),
    Hook(hook::HookArgs),
}

// Names of the variants of `FrequentCommand`; a test compares them.
const FREQUENT_COMMANDS: [&str; 4] = ["remember", "search", "context", "hook"];

impl From<FrequentCommand> for Command {
    fn from(command: FrequentCommand) -> Command {
        match command {
            FrequentCommand::Remember(args) => Command::Remember(args),
            FrequentCommand::Search(args) => Command::Search(args),
            FrequentCommand::Context(args) => Command::Context(args),
            FrequentCommand::Hook(args) => Command::Hook(args),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    // Set-up, saving and searching. The order here is the order of the help.
    /// Create the home directory, a commented config.toml and the database
    Init,
    /// Connect coding agents: Claude Code, Codex, Gemini CLI, Cursor, VS Code, Windsurf, Zed, OpenCode
    ///
    /// Adds this memory to the clients' own configuration files and shows each change. Comments, order and other
    /// servers stay; a copy of every file is kept, and `disconnect` restores it byte for byte.
    Connect(connect::ConnectArgs),
    /// Undo `connect`: restore the clients' configuration files as they were
    Disconnect(connect::disconnect::DisconnectArgs),
    /// Called by the hooks of coding agents; `hook log` shows what they did
    ///
    /// Tells a new session what is known, finds the memories for a prompt, and keeps what happened. `connect` installs
    /// the hooks.
    Hook(hook::HookArgs),
    /// Save a memory
    Remember(remember::RememberArgs),
    /// Search memories, best match first; without a query, rank by trust, kind and age
    Search(search::SearchArgs),
    /// Build the memory block for a model's next turn within a token budget, with a receipt
    Context(context::ContextArgs),
    // Receipts: what was shown to whom.
    /// List, show and replay receipts: the memories a turn was given, and why
    Receipt(receipt::ReceiptArgs),
    /// List the memories that reached a run
    Blame(receipt::BlameArgs),
    /// List the runs and conversations that a memory reached
    Reach(receipt::ReachArgs),
    // Sources besides memories.
    /// List and save the turns of an agent, by session
    Episodes(episodes::EpisodesArgs),
    /// Search episodes, audit log, workflow steps and documents at once
    Recall(recall::RecallArgs),
    /// Add entries to the audit log
    Audit(recall::AuditArgs),
    /// Save the outputs of workflow steps
    Workflow(recall::WorkflowArgs),
    /// Add files and folders to the knowledge base; without arguments, list its documents
    Ingest(ingest::IngestArgs),
    // Diagnosis; writes nothing.
    /// Explain why a memory is found and shown for a query, or why not
    WhyNot(diagnose::WhyNotArgs),
    /// Show the memories of a session and the receipts of its turns
    Diagnose(diagnose::DiagnoseArgs),
    // Single memories.
    /// Show one memory
    Read(read::ReadArgs),
    /// List memories, a page at a time
    List(list::ListArgs),
    /// Show the versions of a memory, newest first, as diffs
    History(history::HistoryArgs),
    /// Replace the content of a memory unless it changed since you read it
    Patch(patch::PatchArgs),
    /// Forget a memory and refuse the same text from now on; its history is kept
    Forget(forget::ForgetArgs),
    // Proposals, reviews and their undo.
    /// Propose a memory for the whole workspace; a reviewer decides
    Propose(propose::ProposeArgs),
    /// List proposals, and approve or reject them
    Review(review::ReviewArgs),
    /// Propose profile facts
    Profile(layers::ProfileArgs),
    /// Find semantic memories that say the same
    Semantic(layers::SemanticArgs),
    /// Find procedures of the same workflow
    Procedural(layers::ProceduralArgs),
    /// Undo the activation of a memory
    Rollback(rollback::RollbackArgs),
    // Runs.
    /// Open, close and list runs and their working memory
    Run(run::RunArgs),
    // Removal and its limits.
    /// Erase the text of a memory; author, time and reason are kept
    Redact(redact::RedactArgs),
    /// Erase all data of a --user, a --project, a --pipeline or a --tenant
    Erase(redact::EraseArgs),
    /// List, show and verify certificates of redaction and erasure
    Certificate(redact::CertificateArgs),
    /// Hold back a bad memory and, with --derived, everything derived from it
    Quarantine(quarantine::QuarantineArgs),
    /// Show the sources of a memory and the memories derived from it
    Lineage(quarantine::LineageArgs),
    /// Confirm a memory and set when it must be verified again
    VerifyBy(quarantine::VerifyByArgs),
    /// List and lift bans: forgotten values that may not be saved again
    Ban(quarantine::BanArgs),
    /// List and set which reviewers decide on which paths
    Owners(owners::OwnersArgs),
    /// Show one memory with its history, lineage and review
    Inspect(memory::InspectArgs),
    /// Commands for layered memory in one group
    Memory(memory::MemoryArgs),
    // Transfer.
    /// Export all memories to a file or folder
    Export(export::ExportArgs),
    /// Import memories of other tools (CLAUDE.md, AGENTS.md, Cursor, mem0 …), or an export of Ingrain
    ///
    /// Recognises the format, shows what would be saved, and asks. Every memory passes the checks of a save; an import
    /// can be undone as a whole.
    Import(import::ImportArgs),
    // Administration.
    /// Include a memory in every context
    Pin(pin::PinArgs),
    /// Include a memory in a context only if it ranks high enough
    Unpin(pin::PinArgs),
    /// List, create and archive stores
    Store(store::StoreArgs),
    /// List, rename, merge and delete projects
    Project(project::ProjectArgs),
    /// Turn memory on and off for a pipeline's agents
    Pipeline(pipeline::PipelineArgs),
    /// Scan texts for secrets, planted instructions and raw logs
    Scan(scan::ScanArgs),
    /// Run upkeep now: expire and archive memories, add missing vectors, delete old receipts
    Upkeep,
    /// Show the event log
    Events(events::EventsArgs),
    Verify(verify::VerifyArgs),
    Repair(repair::RepairArgs),
    // Server.
    /// Serve REST, MCP and live events over HTTP
    Serve(serve::ServeArgs),
    /// Create, list, rotate and revoke keys of the server
    Key(key::KeyArgs),
    /// Serve one MCP client over stdin and stdout until it closes them
    Mcp(mcp::McpArgs),
    /// List and create tenants
    Tenant(tenant::TenantArgs),
    // Databases, settings and this machine.
    /// Create or update the schema of a Postgres database; needs its owner's URL
    Migrate(migrate::MigrateArgs),
    /// Copy all tenants with their whole history to another database
    ///
    /// Run it again to continue a copy that was interrupted; a complete copy is only compared. Stop all writers of the
    /// source first: later writes are not copied.
    Copy(copy::CopyArgs),
    /// Show every setting and where it comes from
    Config(config::ConfigArgs),
    Doctor(doctor::DoctorArgs),
    /// Run a short guided tour on a temporary database
    Demo,
    /// Measure this machine with generated data
    ///
    /// Uses a temporary SQLite file, or the empty database named by `--db`, which keeps the generated memories.
    Bench(bench::BenchArgs),
    /// Print the completion script of a shell
    Completions(completions::CompletionsArgs),
    /// Write manual pages into a directory
    Man(completions::ManArgs),
}

/// Flags for the caller, the configuration and the output. Accepted before and after the command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Caller and output")]
pub struct GlobalArgs {
    /// Print one JSON value
    #[arg(long, global = true)]
    pub json: bool,
    /// Database: a path, `sqlite:PATH` or `postgres://…`; default: ingrain.db in the home
    #[arg(long, global = true, value_name = "URL")]
    db: Option<String>,
    /// Home directory of data and config.toml; default: the XDG data directory
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Configuration file; default: config.toml in the home or the XDG configuration directory
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Slug of the tenant; default: default
    #[arg(long, global = true, value_name = "SLUG")]
    tenant: Option<String>,
    // `help` instead of a doc comment: rustdoc would read `[:ID]` as a link.
    #[arg(long = "as", global = true, value_name = "WHO", value_parser = validate_flag::<Identity>,
        help = "Caller: admin (default), reviewer[:ID], user:ID, agent:NAME or service:NAME")]
    identity: Option<String>,
    /// Person that the caller is or acts for
    #[arg(long, global = true, value_name = "ID")]
    user: Option<String>,
    /// Project of this call, for example github.com/acme/shop; `.` is that of the working directory
    #[arg(long, global = true, value_name = "NAME")]
    project: Option<String>,
    #[arg(long, global = true, value_name = "ID", help = "Conversation of this call")]
    conversation: Option<String>,
    #[arg(long, global = true, value_name = "ID", help = "Session of this call")]
    session: Option<String>,
    #[arg(long, global = true, value_name = "ID", help = "Run of this call")]
    run: Option<String>,
    #[arg(long, global = true, value_name = "NAME", help = "Pipeline of the calling agent")]
    pipeline: Option<String>,
    /// System to save to or to search
    #[arg(long, global = true, value_name = "ID")]
    pub system: Option<String>,
    /// Grant on a system: `system:ID=read` or `system:ID=manage` (repeatable)
    #[arg(long, global = true, value_name = "GRANT", value_parser = validate_flag::<SystemGrant>)]
    grant: Vec<String>,
    /// Revoke a rule for this call: `memory.read` or `memory.manage` (repeatable)
    #[arg(long, global = true, value_name = "RULE", value_parser = ["memory.read", "memory.manage"])]
    revoke: Vec<String>,
    /// Unattended run: at most three notes saved, nothing deleted
    #[arg(long, global = true)]
    unattended: bool,
}

/// Validates a flag at parse time but keeps its text: settings are layered as text and parsed once at the end.
fn validate_flag<T: std::str::FromStr<Err = String>>(text: &str) -> Result<String, String> {
    text.parse::<T>().map(|_| text.to_owned())
}

/// Flags of a call that `key create` keeps in the key.
#[derive(Clone, Copy, Debug)]
pub struct KeyFlags<'a> {
    pub user: Option<&'a str>,
    pub project: Option<&'a str>,
    pub pipeline: Option<&'a str>,
    pub unattended: bool,
    pub revoke: &'a [String],
}

impl GlobalArgs {
    /// The given flags as settings, the topmost configuration layer.
    pub fn to_settings(&self) -> Vec<(&'static str, Value)> {
        // Keys are those of `Config`. `--json` and `--config` are no settings, `--system` is an argument of the call.
        let text = |key, value: &Option<String>| value.clone().map(|value| (key, Value::String(value)));
        let list = |key, values: &[String]| {
            let items = values.iter().cloned().map(Value::String).collect();
            (!values.is_empty()).then_some((key, Value::Array(items)))
        };
        let home = self.home.as_ref().map(|home| home.display().to_string());
        [
            text("home", &home),
            text("db", &self.db),
            text("tenant", &self.tenant),
            text("as", &self.identity),
            text("user", &self.user),
            text("project", &self.project),
            text("conversation", &self.conversation),
            text("session", &self.session),
            text("run", &self.run),
            text("pipeline", &self.pipeline),
            list("grant", &self.grant),
            list("revoke", &self.revoke),
            self.unattended.then_some(("unattended", Value::Boolean(true))),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Value of `--db`, ignoring configuration.
    pub fn db_flag(&self) -> Option<&str> {
        self.db.as_deref()
    }

    /// Targets of `erase`: values of `--user`, `--project`, `--pipeline` and `--tenant`, ignoring configuration.
    pub fn erase_targets(&self) -> [Option<&str>; 4] {
        [&self.user, &self.project, &self.pipeline, &self.tenant].map(|name| name.as_deref())
    }

    /// Rights of a new key that are named like the caller's own: `--user`, `--project`, `--pipeline`, `--unattended`
    /// and `--revoke`,
    /// ignoring configuration.
    pub fn key_flags(&self) -> KeyFlags<'_> {
        let [user, project, pipeline, _] = self.erase_targets();
        KeyFlags { user, project, pipeline, unattended: self.unattended, revoke: &self.revoke }
    }

    #[cfg(test)]
    pub fn from_flags(flags: &[&str]) -> GlobalArgs {
        let arguments = ["ingrain", "upkeep"].iter().chain(flags);
        Cli::parse_from(arguments).global
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn clap_accepts_all_definitions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn frequent_commands_parse_like_the_full_definition() {
        for (line, alone) in [
            ("search why --json", true),
            ("--as agent:a --conversation c1 search why --limit 3", true),
            ("remember --store s --path p --kind note text", true),
            ("context --as agent:t --run r1 latest", true),
            ("search --limit", false),
            ("search --help", false),
            ("read search", false),
            ("search why --wrong", false),
            ("list --store search", false),
        ] {
            let arguments: Vec<OsString> = ["ingrain"].into_iter().chain(line.split(' ')).map(Into::into).collect();
            assert_eq!(FrequentCli::try_parse_from(&arguments).is_ok(), alone, "{line}");
            let (quick, whole) = (Cli::parse_arguments(&arguments), Cli::try_parse_from(&arguments));
            let outcome =
                |cli: Result<Cli, clap::Error>| cli.map_or_else(|error| error.to_string(), |cli| format!("{cli:?}"));
            assert_eq!(outcome(quick), outcome(whole), "{line}");
        }
        let names: Vec<String> =
            FrequentCli::command().get_subcommands().map(|one| one.get_name().to_owned()).collect();
        assert_eq!(names, FREQUENT_COMMANDS, "FREQUENT_COMMANDS lists every variant");
    }

    #[test]
    fn global_flags_are_accepted_before_and_after_the_command() {
        for line in
            [["ingrain", "--json", "--as", "agent:a", "upkeep"], ["ingrain", "upkeep", "--as", "agent:a", "--json"]]
        {
            let global = Cli::try_parse_from(line).expect("parses").global;
            assert!(global.json && global.identity.as_deref() == Some("agent:a"));
        }
    }
}
