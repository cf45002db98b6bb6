//! Tenants and their seeds: the stores and policy documents every tenant starts with. Seeding again changes nothing; a
//! deleted document stays deleted.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::gate::{VersionStamp, WriteIntent};
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::guard::{Guard, Place};
use crate::model::id::TenantId;
use crate::model::memory::Draft;
use crate::model::row::{RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::model::store::{BUILTIN_STORES, Store};
use crate::model::vocabulary::{Kind, Operation, Trust};
use crate::ports::change::{Change, Write};
use crate::ports::{Tenant, embedding, row};
use crate::tenant::stores::{self, checked_slug};
use crate::write::{SaveOutcome, clear, plan};

/// Record that a document was seeded once, so that it is not seeded again after it was deleted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct SeedRecord {
    path: String,
    at: Timestamp,
}

impl SideRecord for SeedRecord {
    const KIND: RowKind = RowKind::Seeds;
    fn row_id(&self) -> String {
        self.path.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
}

struct SeedDocument {
    path: &'static str,
    title: &'static str,
    content: &'static str,
}

const SEED_STORE: &str = "workspace_conventions";

const SEED_DOCUMENTS: &[SeedDocument] = &[
    SeedDocument {
        path: "policies/verification",
        title: "Verification Policy",
        content: "After every change, read the live state back with a tool that only reads, and compare it with what \
                  was intended. A change counts as done when that reading shows it, not when the command returned. If \
                  the reading disagrees, say so and stop.",
    },
    SeedDocument {
        path: "policies/mutation-approval",
        title: "Mutation Approval Policy",
        content: "Anything that changes a system waits for a person's approval. The engine that runs the tools \
                  enforces this; no memory, plan or earlier approval stands in for it. An approval covers the one \
                  change it was given for.",
    },
    SeedDocument {
        path: "policies/memory-writes",
        title: "Memory Write Policy",
        content: "Save what will still help next month: causes that were found, fixes that were verified, conventions, \
                  preferences a person stated. Leave out live state, guesses, raw logs, whole files and anything \
                  secret. Say with each memory what showed it. What others should rely on is proposed for promotion.",
    },
    SeedDocument {
        path: "policies/advisory-memory",
        title: "Advisory Memory Disclaimer",
        content: "A memory is a starting hypothesis about how things were, not proof of how they are. Check the live \
                  state before acting on it. Confidence that rests on memory alone stays below 90 percent and never \
                  justifies a change by itself.",
    },
];

impl Engine {
    /// Returns the tenant with this slug; creates it if there is none. Seeds what is missing either way.
    pub fn start_tenant(&self, slug: &str) -> Result<Tenant, Error> {
        let (tenant, _) = ensure_tenant(self, slug)?;
        self.seed(tenant.id)?;
        Ok(tenant)
    }

    /// Creates and seeds a tenant; a conflict if the slug is taken.
    pub fn create_tenant(&self, slug: &str) -> Result<Tenant, Error> {
        let (tenant, is_new) = ensure_tenant(self, slug)?;
        if !is_new {
            return Err(Error::conflict("conflict.tenant_exists", format!("tenant `{slug}` exists already")));
        }
        self.seed(tenant.id)?;
        Ok(tenant)
    }

    /// Creates missing seed stores, and the seed documents that were never created before.
    pub fn seed(&self, tenant: TenantId) -> Result<(), Error> {
        let caller = Caller::system(tenant);
        for builtin in BUILTIN_STORES.iter().filter(|builtin| builtin.seeded) {
            if self.backend.get_row(tenant, RowKind::Stores, builtin.slug)?.is_none() {
                stores::store_for_write(self, &caller, builtin.slug)?;
            }
        }
        let store: Option<Store> = row::get_record(&*self.backend, tenant, SEED_STORE)?;
        // An archived store is respected: its documents are not seeded.
        let Some(store) = store.filter(|store| store.archived_at.is_none()) else { return Ok(()) };
        for document in SEED_DOCUMENTS {
            if self.backend.get_row(tenant, RowKind::Seeds, document.path)?.is_none() {
                seed_document(self, &caller, &store, document)?;
            }
        }
        Ok(())
    }
}

/// The tenant with this slug, and whether this call created it.
fn ensure_tenant(engine: &Engine, slug: &str) -> Result<(Tenant, bool), Error> {
    checked_slug(slug)?;
    let id = TenantId(engine.clock.fresh_id());
    let tenant = engine.backend.ensure_tenant(&Tenant { id, slug: slug.to_owned(), created_at: engine.clock.now() })?;
    // The backend returns the stored row: another id means that another call created the tenant, perhaps just now.
    let is_new = tenant.id == id;
    Ok((tenant, is_new))
}

fn seed_document(engine: &Engine, caller: &Caller, store: &Store, document: &SeedDocument) -> Result<(), Error> {
    let draft = Draft {
        store: store.slug.clone(),
        path: Some(document.path.to_owned()),
        title: Some(document.title.to_owned()),
        kind: Some(Kind::WorkspaceConvention),
        content: document.content.to_owned(),
        ..Draft::default()
    };
    let place = Place { store: store.slug.clone(), scope: Scope::Workspace };
    let cleared = match clear::clear_draft_as(engine, caller, WriteIntent::SystemWrite, store, &place.scope, draft)? {
        Ok(cleared) => cleared,
        // Refused while memory is turned off: the next start with memory on seeds it.
        Err(_) => return Ok(()),
    };
    let now = engine.clock.now();
    let stamp = VersionStamp::new(caller, engine.fresh_version_id(), now, Some("first start".to_owned()));
    let entry = cleared.into_new_memory(
        engine.fresh_memory_id(),
        caller,
        stores::ruleset_of(engine, store)?,
        Operation::Seed,
        stamp,
    );
    debug_assert_eq!(entry.memory().trust, Trust::SystemSeeded);
    let embedding = embedding::embed_if_instant(engine, entry.memory());
    let change = Change::new(caller.tenant, now)
        .with_guard(Guard::RowInState { kind: RowKind::Seeds, id: document.path.to_owned(), state: None })
        .with_guard(Guard::PathFree { place, path: document.path.to_owned() })
        .with_write(Write::Row(SeedRecord { path: document.path.to_owned(), at: now }.to_row()));
    match engine.commit(plan::add_written_entry(
        engine,
        caller,
        change,
        entry.with_embedding(embedding),
        SaveOutcome::Created,
    )) {
        // Another process seeded it first, or a person has saved a memory at this path.
        Ok(_) | Err(StoreError::Guard(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
