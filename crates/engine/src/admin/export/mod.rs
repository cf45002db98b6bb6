//! Export: all memories the caller may see, in every state, with history; for admins also reviews, bans and other
//! records.

mod json;
mod json_lines;
pub mod markdown;

pub use json::{ExportFile, ExportLayout, ExportWriter};
pub use json_lines::ExportLineReader;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::VersionId;
use crate::model::memory::{Evidence, Memory, Version};
use crate::model::review::Review;
use crate::model::row::{RowKind, SideRecord};
use crate::model::run::Run;
use crate::model::store::Store;
use crate::model::vocabulary::{Operation, Role, State};
use crate::ports::{Filter, PageRequest, SortOrder, row};
use crate::recall::{usage, visibility};
use crate::removal::redact;
use crate::review::owners::PathOwners;
use crate::tenant::bans::{Ban, BanKey};
use crate::tenant::{bans, stores};

/// Version of the export format.
pub const EXPORT_FORMAT: u32 = 1;

/// One piece of an export.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportPiece {
    Store(Store),
    Memory(Box<ExportedMemory>),
    Review(Box<Review>),
    Ban(Ban),
    BanKey(BanKey),
    Owners(PathOwners),
    Run(Run),
}

/// A memory with all of its versions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExportedMemory {
    #[serde(flatten)]
    pub memory: Memory,
    pub content: String,
    /// Oldest first.
    pub versions: Vec<ExportedVersion>,
}

/// One version of a memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ExportedVersion {
    pub operation: Operation,
    /// All fields of this version.
    pub memory: Memory,
    pub content: String,
    #[serde(default)]
    pub previous: Option<VersionId>,
    pub actor: String,
    #[serde(default)]
    pub run: Option<String>,
    #[serde(default)]
    pub conversation: Option<String>,
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    pub at: Timestamp,
    #[serde(default)]
    pub redacted_at: Option<Timestamp>,
}

impl From<Version> for ExportedVersion {
    fn from(version: Version) -> ExportedVersion {
        ExportedVersion {
            operation: version.operation,
            content: version.memory.content.clone(),
            memory: version.memory,
            previous: version.previous,
            actor: version.actor,
            run: version.run,
            conversation: version.conversation,
            reason: version.reason,
            evidence: version.evidence,
            at: version.at,
            redacted_at: version.redacted_at,
        }
    }
}

/// Memories read in one query.
const PAGE_SIZE: usize = 500;

impl Engine {
    /// Passes every piece to `take`, in the order an import needs: stores, memories, reviews, owners, runs, bans.
    pub fn export<E: From<Error>>(
        &self,
        caller: &Caller,
        stores: &[String],
        mut take: impl FnMut(ExportPiece) -> Result<(), E>,
    ) -> Result<(), E> {
        let readable = visibility::visible_to(self, caller)?;
        stores::ensure_stores_readable(self, caller, &readable, stores)?;
        let wanted = |slug: &str| stores.is_empty() || stores.iter().any(|store| store == slug);
        for store in self.stores(caller)?.into_iter().filter(|store| wanted(&store.slug)) {
            take(ExportPiece::Store(store))?;
        }
        let filter = Filter { stores: stores.to_vec(), states: State::ALL.to_vec(), ..Filter::default() };
        let mut after = None;
        loop {
            let page = PageRequest { order: SortOrder::Oldest, after, limit: PAGE_SIZE };
            let found = self.backend.list_memories(&readable, &filter, &page).map_err(Error::from)?;
            let last = found.len() < PAGE_SIZE;
            after = found.last().and_then(|memory| crate::recall::read::cursor_after(SortOrder::Oldest, memory));
            usage::record_reads(self, caller, found.iter().filter(|memory| readable.shows_memory(memory)));
            for memory in found.into_iter().filter(|memory| readable.shows_memory(memory)) {
                memory.ensure_intact().map_err(Error::from)?;
                take(ExportPiece::Memory(Box::new(build_exported_memory(self, caller, memory)?)))?;
            }
            if last {
                break;
            }
        }
        // These records are about memories of all callers.
        if caller.role == Role::Admin {
            export_rows(self, caller, &mut take, |review: Review| ExportPiece::Review(Box::new(review)))?;
            export_rows(self, caller, &mut take, ExportPiece::Owners)?;
            export_rows(self, caller, &mut take, ExportPiece::Run)?;
            for key in bans::load_ban_keys(self, caller.tenant)? {
                take(ExportPiece::BanKey(key))?;
            }
            export_rows(self, caller, &mut take, ExportPiece::Ban)?;
        }
        Ok(())
    }
}

fn build_exported_memory(engine: &Engine, caller: &Caller, memory: Memory) -> Result<ExportedMemory, Error> {
    let versions = redact::list_all_versions(engine, caller, memory.id)?;
    versions.iter().filter(|version| version.redacted_at.is_none()).try_for_each(|v| v.memory.ensure_intact())?;
    let mut versions: Vec<ExportedVersion> = versions.into_iter().map(Into::into).collect();
    // Listed newest first, exported oldest first.
    versions.reverse();
    Ok(ExportedMemory { content: memory.content.clone(), memory, versions })
}

fn export_rows<T: SideRecord, E: From<Error>>(
    engine: &Engine,
    caller: &Caller,
    take: &mut impl FnMut(ExportPiece) -> Result<(), E>,
    wrap: impl Fn(T) -> ExportPiece,
) -> Result<(), E> {
    let mut rows = Vec::new();
    row::for_each_row(engine, caller, T::KIND, |row| rows.push(row.clone()))?;
    // Keys of bans are rows of the same kind and are exported on their own.
    for row in rows.into_iter().filter(|row| T::KIND != RowKind::Bans || row.state == "ban") {
        take(wrap(T::from_row(row)?))?;
    }
    Ok(())
}
