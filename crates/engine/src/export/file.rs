//! The JSON of an export: written piece by piece, read back whole, the same at every door.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{EXPORT_FORMAT, Exported, Story};
use crate::ban::{Ban, BanKey};
use crate::container::Store;
use crate::error::Error;
use crate::owners::Owners;
use crate::review::Review;
use crate::run::Run;

/// An export on its way out: hands over the text of each piece, so that nobody holds all of it.
#[derive(Debug, Default)]
pub struct ExportText {
    list: &'static str,
    counts: BTreeMap<&'static str, u64>,
}

impl ExportText {
    pub fn start(at: Timestamp) -> String {
        format!("{{\"ingrain_export\":{EXPORT_FORMAT},\"exported_at\":\"{at}\"")
    }

    /// The text of the next piece. Pieces come list by list, as [`crate::Engine::export`] hands them over.
    pub fn piece(&mut self, piece: &Exported) -> Result<String, Error> {
        let (list, text) = match piece {
            Exported::Store(store) => ("stores", json(store)?),
            Exported::Memory(story) => ("memories", json(story)?),
            Exported::Review(review) => ("reviews", json(review)?),
            Exported::Owners(owners) => ("owners", json(owners)?),
            Exported::Run(run) => ("runs", json(run)?),
            Exported::BanKey(key) => ("ban_keys", json(key)?),
            Exported::Ban(ban) => ("bans", json(ban)?),
        };
        let opening = match self.list {
            same if same == list => ",\n".to_owned(),
            "" => format!(",\n\"{list}\":["),
            _ => format!("],\n\"{list}\":["),
        };
        self.list = list;
        *self.counts.entry(list).or_default() += 1;
        Ok(opening + &text)
    }

    /// The last words, and how many pieces there were of each sort.
    pub fn end(self) -> (&'static str, BTreeMap<&'static str, u64>) {
        (if self.list.is_empty() { "}\n" } else { "]}\n" }, self.counts)
    }
}

fn json(piece: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(piece).map_err(|error| Error::invalid("shape.export", error.to_string()))
}

/// An export as it comes back. Each list may be missing: a large one is brought in parts.
#[derive(Debug, Deserialize)]
pub struct ExportFile {
    ingrain_export: u32,
    #[serde(default)]
    stores: Vec<Store>,
    #[serde(default)]
    memories: Vec<Story>,
    #[serde(default)]
    reviews: Vec<Review>,
    #[serde(default)]
    owners: Vec<Owners>,
    #[serde(default)]
    runs: Vec<Run>,
    #[serde(default)]
    ban_keys: Vec<BanKey>,
    #[serde(default)]
    bans: Vec<Ban>,
}

impl ExportFile {
    /// Its pieces in the order an import wants them.
    pub fn pieces(self) -> Result<impl Iterator<Item = Exported>, Error> {
        if self.ingrain_export > EXPORT_FORMAT {
            let message =
                format!("the export is of format {}, this ingrain knows {EXPORT_FORMAT}", self.ingrain_export);
            return Err(Error::invalid("shape.export_newer", message));
        }
        Ok((self.stores.into_iter().map(Exported::Store))
            .chain(self.memories.into_iter().map(|story| Exported::Memory(Box::new(story))))
            .chain(self.reviews.into_iter().map(|review| Exported::Review(Box::new(review))))
            .chain(self.owners.into_iter().map(Exported::Owners))
            .chain(self.runs.into_iter().map(Exported::Run))
            .chain(self.ban_keys.into_iter().map(Exported::BanKey))
            .chain(self.bans.into_iter().map(Exported::Ban)))
    }
}
