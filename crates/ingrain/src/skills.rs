//! Skills on disk: SKILL.md files of some folders, read again when one of them changes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use engine::error::Error;
use engine::{LeftOut, Shelf, Shelved, Skill};

use crate::config::Config;
use crate::error::Failure;

/// The name every skill's file has.
pub const FILE: &str = "SKILL.md";
/// Largest skill: it goes into every window whole.
const BYTES_MAX: u64 = 100_000;

/// The folder `ingest --skills` installs into.
pub fn home(config: &Config) -> PathBuf {
    config.home.join("skills")
}

/// Folders of skills, and what they held when last looked at.
#[derive(Debug)]
pub struct Folders {
    folders: Vec<PathBuf>,
    seen: Mutex<Option<Seen>>,
}

#[derive(Debug)]
struct Seen {
    files: Vec<Stamp>,
    held: Shelved,
}

/// What tells a changed file.
#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    file: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Folders {
    pub fn of(config: &Config) -> Folders {
        let folders = std::iter::once(home(config)).chain(config.skills.folders.iter().cloned()).collect();
        Folders { folders, seen: Mutex::new(None) }
    }
}

impl std::fmt::Display for Folders {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        out.write_str(&names.join(", "))
    }
}

impl Shelf for Folders {
    fn skills(&self) -> Shelved {
        let files: Vec<Stamp> = self.folders.iter().flat_map(|folder| stamps(folder)).collect();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = seen.as_ref().filter(|seen| seen.files == files) {
            return seen.held.clone();
        }
        let held = Shelved::from(found(&files));
        // Once for each state of the folders, not at every window.
        held.left_out.iter().for_each(|out| tracing::warn!("left out `{}`: {} [{}]", out.file, out.why, out.code));
        *seen = Some(Seen { files, held: held.clone() });
        held
    }
}

/// The skills of one folder, for a command that names it.
pub fn of_folder(folder: &Path) -> Result<Found, Failure> {
    match folder.is_dir() {
        true => Ok(found(&stamps(folder))),
        false => Err(Failure::wrong("not_found", format!("`{}` is not a folder", folder.display()))),
    }
}

/// What files hold, each skill with its file.
#[derive(Debug, Default)]
pub struct Found {
    pub skills: Vec<(PathBuf, Skill)>,
    pub left_out: Vec<LeftOut>,
}

impl From<Found> for Shelved {
    fn from(found: Found) -> Shelved {
        Shelved { skills: found.skills.into_iter().map(|(_, skill)| skill).collect(), left_out: found.left_out }
    }
}

fn found(files: &[Stamp]) -> Found {
    let mut found = Found::default();
    for stamp in files {
        match read(stamp) {
            Ok(skill) => found.skills.push((stamp.file.clone(), skill)),
            Err(error) => {
                let folder = stamp.file.parent().and_then(Path::file_name).unwrap_or_default();
                let (name, file) = (folder.to_string_lossy().into_owned(), stamp.file.display().to_string());
                found.left_out.push(LeftOut { name, file, code: error.code(), why: error.to_string() });
            }
        }
    }
    found
}

/// The skill files of a folder and of the folders in it, in order. A folder that is not there has none.
fn stamps(folder: &Path) -> Vec<Stamp> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let files = std::iter::once(folder.to_owned()).chain(folders).map(|at| at.join(FILE));
    let stamp = |file: PathBuf| {
        // A pipe would be waited for.
        let about = std::fs::metadata(&file).ok().filter(std::fs::Metadata::is_file)?;
        Some(Stamp { file, bytes: about.len(), changed: about.modified().ok() })
    };
    files.filter_map(stamp).collect()
}

fn read(stamp: &Stamp) -> Result<Skill, Error> {
    let invalid = |why: String| Error::invalid("skill.invalid", why);
    if stamp.bytes > BYTES_MAX {
        return Err(invalid(format!("it is larger than {BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(&stamp.file).map_err(|error| invalid(format!("it cannot be read: {error}")))?;
    Skill::admitted(&text)
}
