//! `store`: list, create, archive.

use clap::{Args, Subcommand};
use engine::NewStore;
use engine::model::store::Store;
use engine::model::vocabulary::{Access, ScopeKind, Trust};
use serde::Serialize;

use crate::commands::Job;
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, Args)]
pub struct StoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Show all stores; some appear on first use
    List,
    /// Make a store (admins)
    Create(CreateStoreArgs),
    /// Close a store to reading and writing; nothing in it is deleted (admins)
    Archive {
        /// Slug of the store
        store: String,
    },
}

#[derive(Debug, Args)]
struct CreateStoreArgs {
    /// Slug: a-z, 0-9, `_` and `-`
    store: String,
    #[arg(long, help = "A title for people")]
    title: Option<String>,
    /// Where its memories live: workspace, user, conversation, agent, pipeline, system, run
    #[arg(long, default_value = "workspace")]
    scope: ScopeKind,
    /// document, episodic, lesson, layered, note, or one from the configuration
    #[arg(long, default_value = "document")]
    ruleset: String,
    /// The most trust its memories can have
    #[arg(long, default_value = "admin_approved")]
    trust: Trust,
    /// read_only, read_write or draft_write
    #[arg(long, default_value = "read_write")]
    access: Access,
}

#[derive(Serialize)]
struct StoresView {
    stores: Vec<Store>,
}

impl StoreArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.command {
            StoreCommand::List => {
                let view = StoresView { stores: engine.stores(caller)? };
                job.output.print_answer(&view, || render_stores(job.output, &view.stores))
            }
            StoreCommand::Create(create) => {
                let new = NewStore {
                    slug: create.store,
                    title: create.title,
                    scope: create.scope,
                    ruleset: create.ruleset,
                    default_trust: create.trust,
                    access: create.access,
                };
                let store = engine.create_store(caller, new)?;
                job.output
                    .print_answer(&store, || format!("{} store {}", job.output.paint(Tone::Good, "made"), store.slug))
            }
            StoreCommand::Archive { store } => {
                let store = engine.archive_store(caller, &store)?;
                job.output.print_answer(&store, || {
                    format!("{} store {}", job.output.paint(Tone::Good, "archived"), store.slug)
                })
            }
        }
    }
}

fn render_stores(output: &Output, stores: &[Store]) -> String {
    let row = |store: &Store| {
        vec![
            store.slug.clone(),
            store.title.clone(),
            store.scope.to_string(),
            store.ruleset.clone(),
            store.default_trust.to_string(),
            if store.archived_at.is_some() { "archived".to_owned() } else { store.access.to_string() },
        ]
    };
    output.render_table(&["store", "title", "scope", "ruleset", "trust", "access"], stores.iter().map(row))
}
