//! The binary: command line, configuration, wiring.

mod assemble;
mod caller;
mod cli;
mod clock;
mod commands;
mod config;
mod document_address;
mod error;
mod json_views;
mod output;
#[cfg(test)]
mod parity;
mod pdf;
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

/// Exit code of a command line that is not one.
const USAGE_EXIT_CODE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // A program that asked for JSON gets JSON for its usage errors too.
    let json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    let environment = Environment::from_process();
    let output = Output::new(json, &environment);
    let done = match Cli::parse_arguments(&arguments) {
        Ok(cli) => commands::run(cli, &environment, &output),
        Err(shown) if !shown.use_stderr() => output.print_text(&shown.to_string()),
        // Half a command is a question: the help is the answer, not an error message.
        Err(help) if !json && help.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output.print_note(help.render().to_string().trim_end());
            Err(Failure::AlreadyReported(USAGE_EXIT_CODE))
        }
        Err(usage) => Err(Failure::from_clap_error(&usage)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.report_failure(&failure),
    }
}
