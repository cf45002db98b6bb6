//! `store`: lists, creates and archives stores.

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
    /// List all stores; some are created on first use
    List,
    /// Create a store (admins only)
    Create(CreateStoreArgs),
    /// Close a store to reads and writes; its memories are kept (admins only)
    Archive {
        /// Slug of the store
        store: String,
    },
}

#[derive(Debug, Args)]
struct CreateStoreArgs {
    /// Slug of the store: a-z, 0-9, `_` and `-`
    store: String,
    #[arg(long, help = "Title")]
    title: Option<String>,
    /// Scope of its memories: workspace, project, user, conversation, agent, pipeline, system or run
    #[arg(long, default_value = "workspace")]
    scope: ScopeKind,
    /// Ruleset: document, episodic, lesson, layered, note or one from the configuration
    #[arg(long, default_value = "document")]
    ruleset: String,
    /// Highest trust of its memories: agent_draft, user_authored, system_seeded or admin_approved
    #[arg(long, default_value = "admin_approved")]
    trust: Trust,
    /// Access mode: read_only, read_write or draft_write
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
                job.output.print_answer(&store, || {
                    format!("{} store {}", job.output.paint(Tone::Good, "created"), store.slug)
                })
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
            // An archived store is closed whatever its mode says.
            if store.archived_at.is_some() { "archived".to_owned() } else { store.access.to_string() },
        ]
    };
    output.render_table(&["store", "title", "scope", "ruleset", "trust", "access"], stores.iter().map(row))
}
