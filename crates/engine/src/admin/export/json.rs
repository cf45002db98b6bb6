//! JSON of an export: a writer that works piece by piece, and the type that an import reads. REST and CLI use both.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{EXPORT_FORMAT, ExportPiece, ExportedMemory, json_lines};
use crate::model::error::Error;
use crate::model::review::Review;
use crate::model::run::Run;
use crate::model::store::Store;
use crate::review::owners::PathOwners;
use crate::tenant::bans::{Ban, BanKey};

/// Layout of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportLayout {
    /// One JSON document with a list for each kind of piece.
    #[default]
    Document,
    /// JSON Lines: one piece a line.
    Lines,
}

/// Writes an export piece by piece, so that the whole text is never in memory.
#[derive(Debug, Default)]
pub struct ExportWriter {
    layout: ExportLayout,
    current_list: &'static str,
    counts: BTreeMap<&'static str, u64>,
}

impl ExportWriter {
    pub fn new(layout: ExportLayout) -> ExportWriter {
        ExportWriter { layout, ..ExportWriter::default() }
    }

    /// The text before the first piece.
    pub fn write_header(&self, at: Timestamp) -> Result<String, Error> {
        match self.layout {
            // The object stays open: the pieces add the lists, the footer closes it.
            ExportLayout::Document => Ok(format!("{{\"ingrain_export\":{EXPORT_FORMAT},\"exported_at\":\"{at}\"")),
            ExportLayout::Lines => json_lines::header_line(at),
        }
    }

    /// The text of the next piece. Pieces of one list must follow each other, as [`crate::Engine::export`] passes them.
    pub fn write_piece(&mut self, piece: &ExportPiece) -> Result<String, Error> {
        let list = list_name(piece);
        *self.counts.entry(list).or_default() += 1;
        if self.layout == ExportLayout::Lines {
            return json_lines::piece_line(piece);
        }
        let text = match piece {
            ExportPiece::Store(store) => serialize_json(store)?,
            ExportPiece::Memory(memory) => serialize_json(memory)?,
            ExportPiece::Review(review) => serialize_json(review)?,
            ExportPiece::Owners(owners) => serialize_json(owners)?,
            ExportPiece::Run(run) => serialize_json(run)?,
            ExportPiece::BanKey(key) => serialize_json(key)?,
            ExportPiece::Ban(ban) => serialize_json(ban)?,
        };
        // Pieces of one kind follow each other, so a new list name closes the list before.
        let separator = match self.current_list {
            same if same == list => ",\n".to_owned(),
            "" => format!(",\n\"{list}\":["),
            _ => format!("],\n\"{list}\":["),
        };
        self.current_list = list;
        Ok(separator + &text)
    }

    /// The text after the last piece, and the number of pieces in each list.
    pub fn write_footer(self) -> Result<(String, BTreeMap<&'static str, u64>), Error> {
        let text = match self.layout {
            ExportLayout::Document if self.current_list.is_empty() => "}\n".to_owned(),
            ExportLayout::Document => "]}\n".to_owned(),
            ExportLayout::Lines => json_lines::footer_line(&self.counts)?,
        };
        Ok((text, self.counts))
    }
}

/// Field of the JSON document that lists this kind of piece.
fn list_name(piece: &ExportPiece) -> &'static str {
    match piece {
        ExportPiece::Store(_) => "stores",
        ExportPiece::Memory(_) => "memories",
        ExportPiece::Review(_) => "reviews",
        ExportPiece::Owners(_) => "owners",
        ExportPiece::Run(_) => "runs",
        ExportPiece::BanKey(_) => "ban_keys",
        ExportPiece::Ban(_) => "bans",
    }
}

pub(super) fn serialize_json(piece: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(piece).map_err(|error| Error::invalid("shape.export", error.to_string()))
}

/// Error if the format is newer than this build reads.
pub(super) fn check_format_version(format: u32) -> Result<(), Error> {
    match format > EXPORT_FORMAT {
        true => {
            let message =
                format!("the export has format {format}, but this version reads up to {EXPORT_FORMAT}; update ingrain");
            Err(Error::invalid("shape.export_newer", message))
        }
        false => Ok(()),
    }
}

/// A JSON export to import. Each list may be missing, because a large export may be sent in parts.
#[derive(Debug, Deserialize)]
pub struct ExportFile {
    ingrain_export: u32,
    #[serde(default)]
    stores: Vec<Store>,
    #[serde(default)]
    memories: Vec<ExportedMemory>,
    #[serde(default)]
    reviews: Vec<Review>,
    #[serde(default)]
    owners: Vec<PathOwners>,
    #[serde(default)]
    runs: Vec<Run>,
    #[serde(default)]
    ban_keys: Vec<BanKey>,
    #[serde(default)]
    bans: Vec<Ban>,
}

impl ExportFile {
    /// Its pieces in the order an import needs.
    pub fn into_pieces(self) -> Result<impl Iterator<Item = ExportPiece>, Error> {
        check_format_version(self.ingrain_export)?;
        Ok((self.stores.into_iter().map(ExportPiece::Store))
            .chain(self.memories.into_iter().map(|memory| ExportPiece::Memory(Box::new(memory))))
            .chain(self.reviews.into_iter().map(|review| ExportPiece::Review(Box::new(review))))
            .chain(self.owners.into_iter().map(ExportPiece::Owners))
            .chain(self.runs.into_iter().map(ExportPiece::Run))
            .chain(self.ban_keys.into_iter().map(ExportPiece::BanKey))
            .chain(self.bans.into_iter().map(ExportPiece::Ban)))
    }
}
