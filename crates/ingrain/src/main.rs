//! The `ingrain` binary: parses the command line, runs the command, maps failures to exit codes.

mod assemble;
mod caller;
mod checkpoints;
mod cli;
mod clock;
mod commands;
mod config;
mod document_address;
mod error;
mod import_formats;
mod json_views;
mod output;
#[cfg(test)]
mod parity;
mod pdf;
mod project;
mod risks;
mod skills;
mod source_files;
mod stderr_log;
mod text_io;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::config::Environment;
use crate::error::Failure;
use crate::output::Output;

/// Exit code of a usage error.
const USAGE_EXIT_CODE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Looked up before parsing, so that usage errors are JSON too. After `--` it is text, not a flag.
    let json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    let environment = Environment::from_process();
    let output = Output::new(json, &environment);
    let done = match Cli::parse_arguments(&arguments) {
        Ok(cli) => commands::run(cli, &environment, &output),
        // `--help` and `--version` are errors to clap, but answers to the user.
        Err(shown) if !shown.use_stderr() => output.print_text(&shown.to_string()),
        // A command without its subcommand prints the help, not an error message.
        Err(help) if !json && help.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output.print_note(help.render().to_string().trim_end());
            Err(Failure::AlreadyReported(USAGE_EXIT_CODE))
        }
        // For a client, any other exit code may mean "stop".
        Err(_) if commands::hook::is_hook_call(&arguments) => Ok(()),
        Err(usage) => Err(Failure::from_clap_error(&usage)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.report_failure(&failure),
    }
}
