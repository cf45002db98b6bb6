//! An export line by line: each line stands alone, so that it can be made, sent and taken without holding the rest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::json::{check_format_version, serialize_json};
use super::{EXPORT_FORMAT, ExportPiece};
use crate::model::error::Error;
use crate::text::decode_error;

/// The first line, the last, and a piece on each between.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExportLine {
    IngrainExport {
        format: u32,
        exported_at: Timestamp,
    },
    End(BTreeMap<String, u64>),
    #[serde(untagged)]
    Piece(ExportPiece),
}

/// The line an export begins with.
pub(super) fn header_line(at: Timestamp) -> Result<String, Error> {
    json_line(&ExportLine::IngrainExport { format: EXPORT_FORMAT, exported_at: at })
}

/// The line of one piece.
pub(super) fn piece_line(piece: &ExportPiece) -> Result<String, Error> {
    json_line(piece)
}

/// The line without which an export broke off.
pub(super) fn footer_line(counts: &BTreeMap<&'static str, u64>) -> Result<String, Error> {
    json_line(&ExportLine::End(counts.iter().map(|(list, count)| ((*list).to_owned(), *count)).collect()))
}

fn json_line(line: &impl Serialize) -> Result<String, Error> {
    Ok(serialize_json(line)? + "\n")
}

/// Lines of an export on their way back. Some of them are as good as all: a large export is brought in parts.
#[derive(Debug, Default)]
pub struct ExportLineReader {
    line_number: u64,
    has_header: bool,
    has_footer: bool,
}

impl ExportLineReader {
    /// The piece the next line holds, where it holds one.
    pub fn parse_line(&mut self, line: &str) -> Result<Option<ExportPiece>, Error> {
        self.line_number += 1;
        if line.trim().is_empty() {
            return Ok(None);
        }
        match serde_json::from_str(line).map_err(|_| self.decode_error(line))? {
            ExportLine::IngrainExport { format, .. } => {
                self.has_header = true;
                check_format_version(format)?;
                Ok(None)
            }
            ExportLine::End(_) => {
                self.has_footer = true;
                Ok(None)
            }
            ExportLine::Piece(piece) => Ok(Some(piece)),
        }
    }

    /// Says what does not fit. Read anew as a piece: what may be one of several loses its place.
    fn decode_error(&self, line: &str) -> Error {
        let words = match decode_error::from_slice::<ExportPiece>(line.as_bytes()) {
            Err(words) => words.strip_prefix("at line 1, ").unwrap_or(&words).to_owned(),
            Ok(_) => "it is no line of an export".to_owned(),
        };
        Error::invalid("shape.export", format!("line {}, {words}", self.line_number))
    }

    /// Says where an export that began never ended.
    pub fn check_complete(&self) -> Result<(), Error> {
        match self.has_header && !self.has_footer {
            true => Err(Error::invalid("shape.export_broken_off", "the export breaks off: its last line is missing")),
            false => Ok(()),
        }
    }
}
