//! The JSON of an export: written piece by piece, read back whole, the same at every door.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{EXPORT_FORMAT, Exported, Story, lines};
use crate::model::error::Error;
use crate::model::store::Store;
use crate::review::Review;
use crate::review::owners::Owners;
use crate::sources::runs::Run;
use crate::tenant::bans::{Ban, BanKey};

/// How an export is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One JSON document with a list of each sort.
    #[default]
    Document,
    /// JSON Lines: a piece a line.
    Lines,
}

/// An export on its way out: hands over the text of each piece, so that nobody holds all of it.
#[derive(Debug, Default)]
pub struct ExportText {
    layout: Layout,
    list: &'static str,
    counts: BTreeMap<&'static str, u64>,
}

impl ExportText {
    pub fn new(layout: Layout) -> ExportText {
        ExportText { layout, ..ExportText::default() }
    }

    /// The first words.
    pub fn start(&self, at: Timestamp) -> Result<String, Error> {
        match self.layout {
            Layout::Document => Ok(format!("{{\"ingrain_export\":{EXPORT_FORMAT},\"exported_at\":\"{at}\"")),
            Layout::Lines => lines::first(at),
        }
    }

    /// The text of the next piece. Pieces come list by list, as [`crate::Engine::export`] hands them over.
    pub fn piece(&mut self, piece: &Exported) -> Result<String, Error> {
        let list = list_of(piece);
        *self.counts.entry(list).or_default() += 1;
        if self.layout == Layout::Lines {
            return lines::piece(piece);
        }
        let text = match piece {
            Exported::Store(store) => json(store)?,
            Exported::Memory(story) => json(story)?,
            Exported::Review(review) => json(review)?,
            Exported::Owners(owners) => json(owners)?,
            Exported::Run(run) => json(run)?,
            Exported::BanKey(key) => json(key)?,
            Exported::Ban(ban) => json(ban)?,
        };
        let opening = match self.list {
            same if same == list => ",\n".to_owned(),
            "" => format!(",\n\"{list}\":["),
            _ => format!("],\n\"{list}\":["),
        };
        self.list = list;
        Ok(opening + &text)
    }

    /// The last words, and how many pieces there were of each sort.
    pub fn end(self) -> Result<(String, BTreeMap<&'static str, u64>), Error> {
        let text = match self.layout {
            Layout::Document if self.list.is_empty() => "}\n".to_owned(),
            Layout::Document => "]}\n".to_owned(),
            Layout::Lines => lines::last(&self.counts)?,
        };
        Ok((text, self.counts))
    }
}

fn list_of(piece: &Exported) -> &'static str {
    match piece {
        Exported::Store(_) => "stores",
        Exported::Memory(_) => "memories",
        Exported::Review(_) => "reviews",
        Exported::Owners(_) => "owners",
        Exported::Run(_) => "runs",
        Exported::BanKey(_) => "ban_keys",
        Exported::Ban(_) => "bans",
    }
}

pub(super) fn json(piece: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(piece).map_err(|error| Error::invalid("shape.export", error.to_string()))
}

/// Refuses an export of a format that is yet to come.
pub(super) fn known_format(format: u32) -> Result<(), Error> {
    match format > EXPORT_FORMAT {
        true => {
            let message = format!("the export is of format {format}, this ingrain knows {EXPORT_FORMAT}");
            Err(Error::invalid("shape.export_newer", message))
        }
        false => Ok(()),
    }
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
        known_format(self.ingrain_export)?;
        Ok((self.stores.into_iter().map(Exported::Store))
            .chain(self.memories.into_iter().map(|story| Exported::Memory(Box::new(story))))
            .chain(self.reviews.into_iter().map(|review| Exported::Review(Box::new(review))))
            .chain(self.owners.into_iter().map(Exported::Owners))
            .chain(self.runs.into_iter().map(Exported::Run))
            .chain(self.ban_keys.into_iter().map(Exported::BanKey))
            .chain(self.bans.into_iter().map(Exported::Ban)))
    }
}
