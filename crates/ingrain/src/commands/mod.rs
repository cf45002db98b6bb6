//! One file per command. Commands translate flags into engine calls and answers into output; they make no decisions.

pub mod allow_list;
pub mod bench;
pub mod completions;
pub mod config;
pub mod connect;
pub mod context;
pub mod copy;
mod demo;
pub mod diagnose;
pub mod doctor;
pub mod episodes;
pub mod events;
pub mod export;
mod filter_args;
pub mod forget;
pub mod history;
pub mod hook;
pub mod import;
pub mod ingest;
mod init;
mod instruction_file;
pub mod key;
pub mod layers;
pub mod list;
pub mod mcp;
pub mod memory;
pub mod migrate;
pub mod owners;
mod page_args;
pub mod patch;
pub mod pin;
pub mod pipeline;
pub mod project;
pub mod propose;
pub mod quarantine;
pub mod read;
pub mod read_first;
pub mod recall;
pub mod receipt;
pub mod redact;
pub mod remember;
pub mod repair;
mod rescan;
pub mod review;
pub mod rollback;
pub mod run;
pub mod scan;
pub mod search;
pub mod serve;
pub mod store;
mod temp_home;
pub mod tenant;
mod upkeep;
pub mod verify;

use crate::assemble::Session;
use crate::cli::{Cli, Command, GlobalArgs};
use crate::config::{Config, Environment, LoadedConfig, load_before_init, load_config};
use crate::error::Failure;
use crate::output::Output;
use crate::project::{OF_FOLDER, ProjectFinder, ProjectSource};

/// Context of a running command.
pub struct Job<'a> {
    pub session: Session,
    pub global: &'a GlobalArgs,
    pub output: &'a Output,
    /// Folder of installed skills.
    pub skills_folder: std::path::PathBuf,
    /// Folder of settings and keys.
    pub home: std::path::PathBuf,
}

/// Runs the parsed command.
pub fn run(cli: Cli, environment: &Environment, output: &Output) -> Result<(), Failure> {
    let Cli { global, command } = cli;
    // These need neither settings nor a database, and must work with a broken configuration.
    match command {
        Command::Completions(command) => return command.run(output),
        Command::Man(command) => return command.run(output),
        Command::Hook(command) => return command.run(&global, environment, output),
        Command::Scan(command) if !command.needs_database() => return command.run(output),
        _ => {}
    }
    let loaded = match command {
        // `--config` may name the file that `init` is about to write.
        Command::Init => load_before_init(&global, environment)?,
        _ => load_config(&global, environment)?,
    };
    // These open the database themselves, or not at all.
    match command {
        Command::Config(command) => command.run(&loaded, output),
        Command::Init => init::run(&loaded, environment, output),
        Command::Connect(command) => command.run(&loaded, environment, output),
        Command::Disconnect(command) => command.run(&loaded, output),
        Command::Doctor(command) => command.run(&loaded, environment, output),
        Command::Demo => demo::run(&loaded.config, output),
        Command::Bench(command) => command.run(&loaded.config, &global, output),
        Command::Tenant(command) => command.run(&loaded.config, output),
        Command::Migrate(command) => command.run(&loaded.config, output),
        Command::Copy(command) => command.run(&loaded.config, output),
        Command::Serve(command) => command.run(&loaded.config, output),
        Command::Mcp(command) => command.run(&loaded, environment),
        command => run_with_session(command, &loaded, &global, environment, output),
    }
}

/// The project of a call: as set, or that of the folder it is about. Files of a repository belong to its project.
fn project_of_call(command: &Command, config: &Config, environment: &Environment) -> Result<String, Failure> {
    let finder = ProjectFinder::new(config, environment);
    let (folder, named_only) = match (config.project.as_str(), command) {
        (OF_FOLDER, _) => (std::env::current_dir().ok(), false),
        ("", Command::Import(import)) => (import.folder(), true),
        ("", Command::Export(export)) => (export.folder(), true),
        ("", _) => return Ok(String::new()),
        (named, _) => {
            finder.reserve(named);
            return Ok(named.to_owned());
        }
    };
    let found = folder.map_or(Ok(None), |folder| finder.find(&folder))?;
    // A folder that is no repository and names no project is just where the file happens to be.
    let found = found.filter(|found| !named_only || found.source != ProjectSource::Folder);
    Ok(found.map_or_else(String::new, |found| found.name))
}

fn run_with_session(
    command: Command,
    loaded: &LoadedConfig,
    global: &GlobalArgs,
    environment: &Environment,
    output: &Output,
) -> Result<(), Failure> {
    let skills = crate::skills::install_folder(&loaded.config);
    let mut config = loaded.config.clone();
    config.project = project_of_call(&command, &config, environment)?;
    if matches!(command, Command::Search(_) | Command::Context(_)) {
        // The process answers one query and ends: building the index in memory would not pay off.
        config.sqlite.index_mib = 0;
    }
    let session = match command {
        Command::Verify(_) => Session::open_existing(&config)?,
        _ => Session::open(&config)?,
    };
    let job = Job { session, global, output, skills_folder: skills, home: config.home.clone() };
    let done = match command {
        Command::Remember(command) => command.run(&job),
        Command::Search(command) => command.run(&job),
        Command::Context(command) => command.run(&job),
        Command::Receipt(command) => command.run(&job),
        Command::Blame(command) => command.run(&job),
        Command::Reach(command) => command.run(&job),
        Command::Episodes(command) => command.run(&job),
        Command::Recall(command) => command.run(&job),
        Command::Audit(command) => command.run(&job),
        Command::Workflow(command) => command.run(&job),
        Command::Ingest(command) => command.run(&job),
        Command::WhyNot(command) => command.run(&job),
        Command::Diagnose(command) => command.run(&job),
        Command::Read(command) => command.run(&job),
        Command::List(command) => command.run(&job),
        Command::History(command) => command.run(&job),
        Command::Patch(command) => command.run(&job),
        Command::Forget(command) => command.run(&job),
        Command::Propose(command) => command.run(&job),
        Command::Review(command) => command.run(&job),
        Command::Profile(command) => command.run(&job),
        Command::Semantic(command) => command.run(&job),
        Command::Procedural(command) => command.run(&job),
        Command::Rollback(command) => command.run(&job),
        Command::Run(command) => command.run(&job),
        Command::Redact(command) => command.run(&job),
        Command::Erase(command) => command.run(&job),
        Command::Certificate(command) => command.run(&job),
        Command::Quarantine(command) => command.run(&job),
        Command::Lineage(command) => command.run(&job),
        Command::VerifyBy(command) => command.run(&job),
        Command::Ban(command) => command.run(&job),
        Command::Owners(command) => command.run(&job),
        Command::Inspect(command) => command.run(&job),
        Command::Memory(command) => command.run(&job, &loaded.config.home),
        Command::Export(command) => command.run(&job, &loaded.config.home),
        Command::Import(command) => command.run(&job),
        Command::Pin(command) => command.run(&job, true),
        Command::Unpin(command) => command.run(&job, false),
        Command::Store(command) => command.run(&job),
        Command::Key(command) => command.run(&job),
        Command::Project(command) => command.run(&job, &config, environment),
        Command::Pipeline(command) => command.run(&job),
        Command::Upkeep => upkeep::run(&job),
        Command::Events(command) => command.run(&job),
        Command::Verify(command) => command.run(&job),
        Command::Repair(command) => command.run(&job),
        Command::Scan(command) => command.run_on_database(&job),
        // Handled by `run`; listed so that the compiler asks about every new command.
        Command::Tenant(_)
        | Command::Migrate(_)
        | Command::Copy(_)
        | Command::Serve(_)
        | Command::Mcp(_)
        | Command::Config(_)
        | Command::Init
        | Command::Connect(_)
        | Command::Disconnect(_)
        | Command::Hook(_)
        | Command::Doctor(_)
        | Command::Demo
        | Command::Bench(_)
        | Command::Completions(_)
        | Command::Man(_) => Ok(()),
    };
    // Deferred writes of a recall are flushed even if the reader of stdout is gone. Their failure is only a note: the
    // answer is printed and correct without them.
    if let (Ok(()), Err(failure)) = (&done, job.session.close()) {
        output.print_note(&format!("the receipt and counters of this recall were not saved: {}", failure.message()));
    }
    done
}
