//! `owners`: which reviewers decide on which paths.

use clap::{Args, Subcommand};
use engine::review::owners::{OwnerRule, PathOwners};
use serde_json::json;

use crate::commands::Job;
use crate::error::Failure;

#[derive(Debug, Args)]
pub struct OwnersArgs {
    #[command(subcommand)]
    command: OwnersCommand,
}

#[derive(Debug, Subcommand)]
enum OwnersCommand {
    /// List the owner rules of all stores
    List,
    /// Replace the owner rules of a store; the last matching pattern decides
    Set {
        /// Slug of the store
        #[arg(value_name = "STORE")]
        store: String,
        #[arg(long, value_name = "RULE", required = true, value_parser = parse_rule,
            help = "PATTERN=REVIEWER[,REVIEWER], for example 'nginx/**=reviewer:ana' (repeatable)")]
        rule: Vec<OwnerRule>,
    },
    /// Remove the owner rules of a store: every reviewer decides
    Clear {
        /// Slug of the store
        #[arg(value_name = "STORE")]
        store: String,
    },
}

fn parse_rule(text: &str) -> Result<OwnerRule, String> {
    let (pattern, reviewers) = text.split_once('=').ok_or("write PATTERN=REVIEWER[,REVIEWER]")?;
    let reviewers = reviewers.split(',').map(|name| name.trim().to_owned()).collect();
    Ok(OwnerRule { pattern: pattern.trim().to_owned(), reviewers })
}

impl OwnersArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let tables = match self.command {
            OwnersCommand::List => engine.owners(caller)?,
            OwnersCommand::Set { store, rule } => vec![engine.set_owners(caller, &store, rule)?],
            OwnersCommand::Clear { store } => vec![engine.set_owners(caller, &store, Vec::new())?],
        };
        job.output.print_answer(&json!({ "owners": tables }), || {
            let rows = |table: &PathOwners| {
                let store = table.store.clone();
                table
                    .rules
                    .clone()
                    .into_iter()
                    .map(move |rule| vec![store.clone(), rule.pattern, rule.reviewers.join(", ")])
            };
            job.output.render_table(&["store", "pattern", "reviewers"], tables.iter().flat_map(rows))
        })
    }
}
