//! Skills on disk: SKILL.md files of some folders, read again when one of them changes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use engine::error::Error;
use engine::{Shelf, Skill};

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
    skills: Vec<Skill>,
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
    fn skills(&self) -> Result<Vec<Skill>, Error> {
        let mut files = Vec::new();
        for folder in &self.folders {
            files.extend(stamps(folder)?);
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = seen.as_ref().filter(|seen| seen.files == files) {
            return Ok(seen.skills.clone());
        }
        let skills: Vec<Skill> = files.iter().map(|stamp| read(&stamp.file)).collect::<Result<_, _>>()?;
        *seen = Some(Seen { files, skills: skills.clone() });
        Ok(skills)
    }
}

/// The skills of one folder, for a command that names it.
pub fn of_folder(folder: &Path) -> Result<Vec<(PathBuf, Skill)>, Failure> {
    if !folder.is_dir() {
        return Err(Failure::wrong("not_found", format!("`{}` is not a folder", folder.display())));
    }
    let files = stamps(folder)?;
    Ok(files.into_iter().map(|stamp| Ok((stamp.file.clone(), read(&stamp.file)?))).collect::<Result<_, Error>>()?)
}

/// The skill files of a folder and of the folders in it, in order. A folder that is not there has none.
fn stamps(folder: &Path) -> Result<Vec<Stamp>, Error> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let files = std::iter::once(folder.to_owned()).chain(folders).map(|at| at.join(FILE));
    let mut stamps = Vec::new();
    for file in files {
        let Ok(about) = std::fs::metadata(&file) else { continue };
        if about.len() > BYTES_MAX {
            return Err(invalid(&file, &format!("is larger than {BYTES_MAX} bytes")));
        }
        stamps.push(Stamp { file, bytes: about.len(), changed: about.modified().ok() });
    }
    Ok(stamps)
}

fn read(file: &Path) -> Result<Skill, Error> {
    let text = std::fs::read_to_string(file).map_err(|error| invalid(file, &format!("cannot be read: {error}")))?;
    Skill::parse(&text).map_err(|error| invalid(file, &error.to_string()))
}

fn invalid(file: &Path, why: &str) -> Error {
    Error::invalid("skill.invalid", format!("`{}`: {why}", file.display()))
}
