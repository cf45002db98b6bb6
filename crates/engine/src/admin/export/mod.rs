//! Export: everything the caller may see, in every state, with history.

mod file;
mod lines;
pub mod markdown;

pub use file::{ExportFile, ExportText, Layout};
pub use lines::ExportLines;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::VersionId;
use crate::model::memory::{Evidence, Memory, Version};
use crate::model::store::Store;
use crate::model::vocabulary::{Operation, Role, State};
use crate::ports::row::{Kept, RowKind};
use crate::ports::{Filter, Order, Page};
use crate::review::Review;
use crate::review::owners::Owners;
use crate::sources::runs::Run;
use crate::tenant::bans::{Ban, BanKey};

/// Version of the export's shape.
pub const EXPORT_FORMAT: u32 = 1;

/// One piece of an export.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exported {
    Store(Store),
    Memory(Box<Story>),
    Review(Box<Review>),
    Ban(Ban),
    BanKey(BanKey),
    Owners(Owners),
    Run(Run),
}

/// A memory as it stands, and how it came to that.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Story {
    #[serde(flatten)]
    pub memory: Memory,
    pub content: String,
    /// Oldest first.
    pub versions: Vec<StoryVersion>,
}

/// One entry of a memory's log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StoryVersion {
    pub operation: Operation,
    /// All fields as they stood.
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

impl From<Version> for StoryVersion {
    fn from(version: Version) -> StoryVersion {
        StoryVersion {
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

/// Memories read at once.
const PAGE: usize = 500;

impl Engine {
    /// Hands over every piece in the order an import wants them: stores, memories, reviews, then what keeps others out.
    pub fn export<E: From<Error>>(
        &self,
        caller: &Caller,
        stores: &[String],
        mut take: impl FnMut(Exported) -> Result<(), E>,
    ) -> Result<(), E> {
        let eyes = self.eyes(caller)?;
        self.stores_stand(caller, &eyes, stores)?;
        let wanted = |slug: &str| stores.is_empty() || stores.iter().any(|store| store == slug);
        for store in self.stores(caller)?.into_iter().filter(|store| wanted(&store.slug)) {
            take(Exported::Store(store))?;
        }
        let filter = Filter { stores: stores.to_vec(), states: State::ALL.to_vec(), ..Filter::default() };
        let mut after = None;
        loop {
            let page = Page { order: Order::Oldest, after, limit: PAGE };
            let found = self.backend.list(&eyes, &filter, &page).map_err(Error::from)?;
            let last = found.len() < PAGE;
            after = found.last().and_then(|memory| crate::recall::read::cursor(Order::Oldest, memory));
            self.were_read(caller, found.iter().filter(|memory| eyes.shows(memory)));
            for memory in found.into_iter().filter(|memory| eyes.shows(memory)) {
                take(Exported::Memory(Box::new(self.story(caller, memory)?)))?;
            }
            if last {
                break;
            }
        }
        // The rest concerns everybody's memories.
        if caller.role == Role::Admin {
            self.export_rows(caller, &mut take, |review: Review| Exported::Review(Box::new(review)))?;
            self.export_rows(caller, &mut take, Exported::Owners)?;
            self.export_rows(caller, &mut take, Exported::Run)?;
            for key in self.ban_keys(caller.tenant)? {
                take(Exported::BanKey(key))?;
            }
            self.export_rows(caller, &mut take, Exported::Ban)?;
        }
        Ok(())
    }

    fn story(&self, caller: &Caller, memory: Memory) -> Result<Story, Error> {
        let mut versions: Vec<StoryVersion> =
            self.every_version(caller, memory.id)?.into_iter().map(Into::into).collect();
        versions.reverse();
        Ok(Story { content: memory.content.clone(), memory, versions })
    }

    fn export_rows<T: Kept, E: From<Error>>(
        &self,
        caller: &Caller,
        take: &mut impl FnMut(Exported) -> Result<(), E>,
        wrap: impl Fn(T) -> Exported,
    ) -> Result<(), E> {
        let mut rows = Vec::new();
        self.each_row(caller, T::KIND, |row| rows.push(row.clone()))?;
        // Keys of bans stand in the same table and are handed over apart.
        for row in rows.into_iter().filter(|row| T::KIND != RowKind::Bans || row.state == "ban") {
            take(wrap(T::from_row(row)?))?;
        }
        Ok(())
    }
}
