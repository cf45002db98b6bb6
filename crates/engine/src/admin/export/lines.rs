//! An export line by line: each line stands alone, so that it can be made, sent and taken without holding the rest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::file::{json, known_format};
use super::{EXPORT_FORMAT, Exported};
use crate::model::error::Error;
use crate::text::decode_error;

/// The first line, the last, and a piece on each between.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    IngrainExport {
        format: u32,
        exported_at: Timestamp,
    },
    End(BTreeMap<String, u64>),
    #[serde(untagged)]
    Piece(Exported),
}

/// The line an export begins with.
pub(super) fn first(at: Timestamp) -> Result<String, Error> {
    told(&Line::IngrainExport { format: EXPORT_FORMAT, exported_at: at })
}

/// The line of one piece.
pub(super) fn piece(piece: &Exported) -> Result<String, Error> {
    told(piece)
}

/// The line without which an export broke off.
pub(super) fn last(counts: &BTreeMap<&'static str, u64>) -> Result<String, Error> {
    told(&Line::End(counts.iter().map(|(list, count)| ((*list).to_owned(), *count)).collect()))
}

fn told(line: &impl Serialize) -> Result<String, Error> {
    Ok(json(line)? + "\n")
}

/// Lines of an export on their way back. Some of them are as good as all: a large export is brought in parts.
#[derive(Debug, Default)]
pub struct ExportLines {
    read: u64,
    begun: bool,
    ended: bool,
}

impl ExportLines {
    /// The piece the next line holds, where it holds one.
    pub fn next(&mut self, line: &str) -> Result<Option<Exported>, Error> {
        self.read += 1;
        if line.trim().is_empty() {
            return Ok(None);
        }
        match serde_json::from_str(line).map_err(|_| self.misfit(line))? {
            Line::IngrainExport { format, .. } => {
                self.begun = true;
                known_format(format)?;
                Ok(None)
            }
            Line::End(_) => {
                self.ended = true;
                Ok(None)
            }
            Line::Piece(piece) => Ok(Some(piece)),
        }
    }

    /// Says what does not fit. Read anew as a piece: what may be one of several loses its place.
    fn misfit(&self, line: &str) -> Error {
        let words = match decode_error::from_slice::<Exported>(line.as_bytes()) {
            Err(words) => words.strip_prefix("at line 1, ").unwrap_or(&words).to_owned(),
            Ok(_) => "it is no line of an export".to_owned(),
        };
        Error::invalid("shape.export", format!("line {}, {words}", self.read))
    }

    /// Says where an export that began never ended.
    pub fn end(&self) -> Result<(), Error> {
        match self.begun && !self.ended {
            true => Err(Error::invalid("shape.export_broken_off", "the export breaks off: its last line is missing")),
            false => Ok(()),
        }
    }
}
