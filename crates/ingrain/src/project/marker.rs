//! `.ingrain.toml`: a file in a repository that names its project, so that a team shares one memory.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Failure;

pub const MARKER_FILE: &str = ".ingrain.toml";
/// Largest file that is read.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// A project named by a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marker {
    pub name: String,
    pub file: PathBuf,
}

/// Only the key `project` counts. Others are left alone: a newer version may know them.
#[derive(Deserialize)]
struct MarkerFields {
    #[serde(default)]
    project: String,
}

/// The nearest file in a folder or above it, below the home directory and the root.
pub fn find_marker(folder: &Path, user_home: Option<&Path>) -> Result<Option<Marker>, Failure> {
    let is_inside =
        |folder: &&Path| folder.parent().is_some() && user_home.is_none_or(|home| !home.starts_with(folder));
    for folder in folder.ancestors().take_while(is_inside) {
        let file = folder.join(MARKER_FILE);
        match std::fs::metadata(&file) {
            Ok(found) if found.is_file() && found.len() <= FILE_BYTES_MAX => return read_marker(file),
            _ => {}
        }
    }
    Ok(None)
}

fn read_marker(file: PathBuf) -> Result<Option<Marker>, Failure> {
    let unreadable = |why: String| Failure::user_error("config.project", format!("`{}`: {why}", file.display()));
    let text = std::fs::read_to_string(&file).map_err(|error| unreadable(error.to_string()))?;
    // The message only: the parser would quote the file.
    let fields: MarkerFields = toml::from_str(&text).map_err(|error| unreadable(error.message().to_owned()))?;
    let name = fields.project.trim().to_owned();
    Ok((!name.is_empty()).then_some(Marker { name, file }))
}
