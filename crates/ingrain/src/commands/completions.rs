//! `completions` and `man`: generated from the command-line definitions.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::Failure;
use crate::output::Output;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell: bash, zsh, fish, elvish or powershell
    shell: Shell,
}

impl CompletionsArgs {
    pub fn run(self, output: &Output) -> Result<(), Failure> {
        // Into memory first: `generate` panics on a closed pipe.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "ingrain", &mut script);
        output.print_text(&String::from_utf8_lossy(&script))
    }
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Directory for the pages
    directory: PathBuf,
}

impl ManArgs {
    pub fn run(self, output: &Output) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.directory)
            .and_then(|()| clap_mangen::generate_to(Cli::command(), &self.directory))
            .map_err(|error| Failure::system_error("output.write", format!("cannot write manual pages: {error}")))?;
        output.print_note(&format!("manual pages are in {}", self.directory.display()));
        Ok(())
    }
}
