//! The command line: what every command shares, and the list of commands.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use toml::Value;

use crate::caller::{Identity, SystemGrant};
use crate::commands::{
    bench, completions, config, context, copy, diagnose, episodes, events, export, forget, history, ingest, key,
    layers, list, mcp, memory, migrate, owners, patch, pin, pipeline, propose, quarantine, read, recall, receipt,
    redact, remember, review, rollback, run, scan, search, serve, store, tenant,
};

/// Governed memory for AI agents: what they learn, kept, reviewed, proven and forgotten.
#[derive(Debug, Parser)]
#[command(name = "ingrain", version, propagate_version = true, max_term_width = 110)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalArgs,
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// What a command line says. To make the definitions of every command costs an eighth of a whole search, so those
    /// that programs call again and again are tried alone; whatever else it may be, all of them tell.
    pub fn parse_arguments(arguments: &[OsString]) -> Result<Cli, clap::Error> {
        let may_be_frequent = arguments.iter().any(|argument| FREQUENT_COMMANDS.iter().any(|name| argument == name));
        let frequent = if may_be_frequent { FrequentCli::try_parse_from(arguments).ok() } else { None };
        match frequent {
            Some(FrequentCli { global, command }) => Ok(Cli { global, command: command.into() }),
            None => Cli::try_parse_from(arguments),
        }
    }
}

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
}

const FREQUENT_COMMANDS: [&str; 3] = ["remember", "search", "context"];

impl From<FrequentCommand> for Command {
    fn from(command: FrequentCommand) -> Command {
        match command {
            FrequentCommand::Remember(args) => Command::Remember(args),
            FrequentCommand::Search(args) => Command::Search(args),
            FrequentCommand::Context(args) => Command::Context(args),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make the home, a commented config.toml and the database, and say how to go on
    Init,
    /// Save what was learnt
    Remember(remember::RememberArgs),
    /// Find memories, best first; without words, by trust, kind and age
    Search(search::SearchArgs),
    /// What a model is shown before its turn: two blocks within a token budget, with a receipt
    Context(context::ContextArgs),
    /// What was injected, why, and the proof
    Receipt(receipt::ReceiptArgs),
    /// The memories that reached a run
    Blame(receipt::BlameArgs),
    /// The runs and conversations a memory touched
    Reach(receipt::ReachArgs),
    /// Turns and sessions of an agent
    Episodes(episodes::EpisodesArgs),
    /// Search an agent's four sources at once: episodes, audit log, workflow steps, documents
    Recall(recall::RecallArgs),
    /// Tell the audit log what was done
    Audit(recall::AuditArgs),
    /// Tell what steps of workflows came to
    Workflow(recall::WorkflowArgs),
    /// Take files and folders into the knowledge base
    Ingest(ingest::IngestArgs),
    /// Why a memory is, or is not, found and shown for a message
    WhyNot(diagnose::WhyNotArgs),
    /// What is kept of a session, and what its turns were shown
    Diagnose(diagnose::DiagnoseArgs),
    /// Show one memory
    Read(read::ReadArgs),
    /// List memories
    List(list::ListArgs),
    /// Show the versions of a memory, newest first, with what changed
    History(history::HistoryArgs),
    /// Replace a memory's content, if it is still what you read
    Patch(patch::PatchArgs),
    /// Take a memory out of use; its history stays
    Forget(forget::ForgetArgs),
    /// Propose that everybody should rely on a memory; a person decides
    Propose(propose::ProposeArgs),
    /// What waits for a decision, and the decision
    Review(review::ReviewArgs),
    /// Propose facts that should stand
    Profile(layers::ProfileArgs),
    /// Find semantic memories that say the same
    Semantic(layers::SemanticArgs),
    /// Find procedures of the same workflow
    Procedural(layers::ProceduralArgs),
    /// Take back what was activated
    Rollback(rollback::RollbackArgs),
    /// Open and close runs, with their working memory
    Run(run::RunArgs),
    /// Erase a memory's text; who, when and why stay
    Redact(redact::RedactArgs),
    /// Erase everything of a --user, a --pipeline or a --tenant
    Erase(redact::EraseArgs),
    /// Proofs of what was erased
    Certificate(redact::CertificateArgs),
    /// Hold back a bad memory, and what was made from it
    Quarantine(quarantine::QuarantineArgs),
    /// What a memory was made from, and what was made from it
    Lineage(quarantine::LineageArgs),
    /// Confirm that a memory still holds, and until when
    VerifyBy(quarantine::VerifyByArgs),
    /// What was forgotten and may not return
    Ban(quarantine::BanArgs),
    /// Who reviews which paths
    Owners(owners::OwnersArgs),
    /// One memory with its history, lineage and review
    Inspect(memory::InspectArgs),
    /// The same commands in the words of layered memory
    Memory(memory::MemoryArgs),
    /// Write everything into a file or folder
    Export(export::ExportArgs),
    /// Read an export back, through the gate
    Import(export::ImportArgs),
    /// Always give this memory to the model
    Pin(pin::PinArgs),
    /// Stop always giving this memory to the model
    Unpin(pin::PinArgs),
    /// List, create and archive stores
    Store(store::StoreArgs),
    /// Turn the memory of a pipeline's agents on and off
    Pipeline(pipeline::PipelineArgs),
    /// Look for secrets, planted orders and raw logs in any text
    Scan(scan::ScanArgs),
    /// Do what is due: expiry, missing vectors
    Upkeep,
    /// Show the log of what happened
    Events(events::EventsArgs),
    /// Check that nobody changed the log
    Verify,
    /// Answer over HTTP: REST, live events
    Serve(serve::ServeArgs),
    /// Make, list, rotate and revoke keys of the server
    Key(key::KeyArgs),
    /// Serve one agent over MCP on the standard streams, until it closes them
    Mcp(mcp::McpArgs),
    /// List and create tenants
    Tenant(tenant::TenantArgs),
    /// Prepare or update a Postgres database, with its owner's URL
    Migrate(migrate::MigrateArgs),
    /// Move everything to another database: all tenants, every state, the whole history
    Copy(copy::CopyArgs),
    /// Show every setting and where it comes from
    Config(config::ConfigArgs),
    /// Check the installation
    Doctor,
    /// A short guided tour on a throwaway database
    Demo,
    /// Measure this machine with a generated corpus
    Bench(bench::BenchArgs),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
    /// Write manual pages into a directory
    Man(completions::ManArgs),
}

/// Who asks, from where, and how to answer. Accepted before and after the command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Caller and output")]
pub struct GlobalArgs {
    /// Answer with one JSON value
    #[arg(long, global = true)]
    pub json: bool,
    /// The database: a path, `sqlite:PATH` or `postgres://…`
    #[arg(long, global = true, value_name = "URL")]
    db: Option<String>,
    /// Where data and config.toml live
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Another config.toml
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Slug of the tenant
    #[arg(long, global = true, value_name = "SLUG")]
    tenant: Option<String>,
    /// Who asks: admin, reviewer[:ID], user:ID, agent:NAME or service:NAME
    #[arg(long = "as", global = true, value_name = "WHO", value_parser = validate_flag::<Identity>)]
    identity: Option<String>,
    /// The person an agent speaks for
    #[arg(long, global = true, value_name = "ID")]
    user: Option<String>,
    #[arg(long, global = true, value_name = "ID", help = "The conversation this happens in")]
    conversation: Option<String>,
    #[arg(long, global = true, value_name = "ID", help = "The session this happens in")]
    session: Option<String>,
    #[arg(long, global = true, value_name = "ID", help = "The run this happens in")]
    run: Option<String>,
    #[arg(long, global = true, value_name = "NAME", help = "The pipeline the agent works in")]
    pipeline: Option<String>,
    /// The system to save to or look in
    #[arg(long, global = true, value_name = "ID")]
    pub system: Option<String>,
    /// A grant on a system: `system:ID=read` or `system:ID=manage`
    #[arg(long, global = true, value_name = "GRANT", value_parser = validate_flag::<SystemGrant>)]
    grant: Vec<String>,
    /// Do without a rule: `memory.read` or `memory.manage`
    #[arg(long, global = true, value_name = "RULE", value_parser = ["memory.read", "memory.manage"])]
    revoke: Vec<String>,
    /// Nobody watches this run: it saves little and deletes nothing
    #[arg(long, global = true)]
    unattended: bool,
}

/// Checks a flag while parsing, and keeps its text as the setting.
fn validate_flag<T: std::str::FromStr<Err = String>>(text: &str) -> Result<String, String> {
    text.parse::<T>().map(|_| text.to_owned())
}

impl GlobalArgs {
    /// The flags that were given, as settings.
    pub fn to_settings(&self) -> Vec<(&'static str, Value)> {
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

    /// The database named by flag, not by configuration.
    pub fn db_flag(&self) -> Option<&str> {
        self.db.as_deref()
    }

    /// What `erase` erases: the user, the pipeline and the tenant that were named.
    pub fn erase_targets(&self) -> (Option<String>, Option<String>, Option<String>) {
        (self.user.clone(), self.pipeline.clone(), self.tenant.clone())
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
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_is_tried_alone_means_the_same() {
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
        assert_eq!(names, FREQUENT_COMMANDS, "each that is tried is looked for");
    }

    #[test]
    fn shared_flags_stand_before_or_after_the_command() {
        for line in
            [["ingrain", "--json", "--as", "agent:a", "upkeep"], ["ingrain", "upkeep", "--as", "agent:a", "--json"]]
        {
            let global = Cli::try_parse_from(line).expect("parses").global;
            assert!(global.json && global.identity.as_deref() == Some("agent:a"));
        }
    }
}
