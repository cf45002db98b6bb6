//! JSON Lines of an export: each line is a document of its own, so that it is written, sent and read without the rest.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::json::{check_format_version, serialize_json};
use super::{EXPORT_FORMAT, ExportPiece};
use crate::model::error::Error;
use crate::text::decode_error;

/// A line: the header, the footer, or a piece between them.
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

/// The first line of an export.
pub(super) fn header_line(at: Timestamp) -> Result<String, Error> {
    json_line(&ExportLine::IngrainExport { format: EXPORT_FORMAT, exported_at: at })
}

/// The line of one piece.
pub(super) fn piece_line(piece: &ExportPiece) -> Result<String, Error> {
    json_line(piece)
}

/// The last line of an export, with the counts. Without it the export is incomplete.
pub(super) fn footer_line(counts: &BTreeMap<&'static str, u64>) -> Result<String, Error> {
    json_line(&ExportLine::End(counts.iter().map(|(list, count)| ((*list).to_owned(), *count)).collect()))
}

fn json_line(line: &impl Serialize) -> Result<String, Error> {
    Ok(serialize_json(line)? + "\n")
}

/// Reads an export line by line. A part without header and footer is accepted too: a large export may be sent in parts.
#[derive(Debug, Default)]
pub struct ExportLineReader {
    line_number: u64,
    has_header: bool,
    has_footer: bool,
}

impl ExportLineReader {
    /// The piece in the next line; `None` for a blank line, the header and the footer.
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
            // The counts are for people: a part of an export has others.
            ExportLine::End(_) => {
                self.has_footer = true;
                Ok(None)
            }
            ExportLine::Piece(piece) => Ok(Some(piece)),
        }
    }

    /// Error of a line that does not parse. Parsed again as a piece: serde loses the position of errors in untagged
    /// enums.
    fn decode_error(&self, line: &str) -> Error {
        let message = match decode_error::from_slice::<ExportPiece>(line.as_bytes()) {
            Err(message) => message.strip_prefix("line 1, ").unwrap_or(&message).to_owned(),
            Ok(_) => "it is not a line of an export".to_owned(),
        };
        Error::invalid("shape.export", format!("line {}, {message}", self.line_number))
    }

    /// Error if there was a header but no footer.
    pub fn check_complete(&self) -> Result<(), Error> {
        match self.has_header && !self.has_footer {
            true => {
                Err(Error::invalid("shape.export_broken_off", "the export is incomplete: its last line is missing"))
            }
            false => Ok(()),
        }
    }
}
