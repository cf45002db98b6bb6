//! Skills on disk: SKILL.md files in folders, cached until a file changes, and their installation into the home.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use engine::model::error::Error;
use engine::{LoadedSkills, Skill, SkillSource, SkippedSkill};

use crate::config::Config;
use crate::error::Failure;
use crate::source_files;
use crate::text_io::read_text_file;

/// File name of every skill.
const SKILL_FILE: &str = "SKILL.md";
/// File next to an installed skill with the digest of its source path. Only that source may replace the skill.
const SOURCE_FILE: &str = ".source";
/// Largest skill, in bytes: every window contains it uncut.
const BYTES_MAX: u64 = 100_000;

/// Folder that `ingest --skills` installs into.
pub fn install_folder(config: &Config) -> PathBuf {
    config.home.join("skills")
}

/// Folders of skills with a cache of their content.
#[derive(Debug)]
pub struct SkillFolders {
    folders: Vec<PathBuf>,
    cache: Mutex<Option<CachedSkills>>,
}

#[derive(Debug)]
struct CachedSkills {
    files: Vec<FileStamp>,
    skills: LoadedSkills,
}

/// Path, size and modification time: the cache is valid while all stamps are equal.
#[derive(Clone, Debug, PartialEq)]
struct FileStamp {
    file: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
}

impl SkillFolders {
    pub fn from_config(config: &Config) -> SkillFolders {
        // The install folder comes first: of two skills with one name the first counts.
        let folders = std::iter::once(install_folder(config)).chain(config.skills.folders.iter().cloned()).collect();
        SkillFolders { folders, cache: Mutex::new(None) }
    }
}

impl std::fmt::Display for SkillFolders {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        out.write_str(&names.join(", "))
    }
}

impl SkillSource for SkillFolders {
    fn load_skills(&self) -> LoadedSkills {
        // Stamped before reading: a file that changes in between is read again at the next call.
        let files: Vec<FileStamp> = self.folders.iter().flat_map(|folder| stamp_skill_files(folder)).collect();
        // A panic of another thread cannot leave a partial cache: it is replaced as a whole.
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cache.as_ref().filter(|cached| cached.files == files) {
            return cached.skills.clone();
        }
        let loaded = LoadedSkills::from(load_skills(&files));
        // Logged once per change of the folders, not for every window.
        loaded.left_out.iter().for_each(|out| tracing::warn!("left out `{}`: {} [{}]", out.file, out.why, out.code));
        *cache = Some(CachedSkills { files, skills: loaded.clone() });
        loaded
    }
}

/// Reads the skills of one folder, without the cache.
pub fn read_folder(folder: &Path) -> Result<FoundSkills, Failure> {
    match folder.is_dir() {
        true => Ok(load_skills(&stamp_skill_files(folder))),
        false => Err(Failure::user_error("not_found", format!("`{}` is not a folder", folder.display()))),
    }
}

/// Skills with their files, and the files that were left out.
#[derive(Debug, Default)]
pub struct FoundSkills {
    pub skills: Vec<(PathBuf, Skill)>,
    pub left_out: Vec<SkippedSkill>,
}

impl From<FoundSkills> for LoadedSkills {
    fn from(found: FoundSkills) -> LoadedSkills {
        LoadedSkills { skills: found.skills.into_iter().map(|(_, skill)| skill).collect(), left_out: found.left_out }
    }
}

fn load_skills(files: &[FileStamp]) -> FoundSkills {
    let mut found = FoundSkills::default();
    for stamp in files {
        let skill = match read_skill(stamp) {
            Ok(skill) => skill,
            Err(error) => {
                found.left_out.push(build_left_out(&stamp.file, error.code(), error.to_string()));
                continue;
            }
        };
        match found.skills.iter().find(|(_, other)| other.name == skill.name) {
            None => found.skills.push((stamp.file.clone(), skill)),
            // An identical copy is not reported.
            Some((_, other)) if *other == skill => {}
            Some(_) => {
                let why = format!("another skill with the name `{}` comes first", skill.name);
                found.left_out.push(build_left_out(&stamp.file, NAME_TAKEN, why));
            }
        }
    }
    found
}

/// Error code of a second, different skill with the same name.
const NAME_TAKEN: &str = "skill.name_taken";

fn build_left_out(file: &Path, code: &'static str, why: String) -> SkippedSkill {
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    SkippedSkill { name: folder.to_string_lossy().into_owned(), file: file.display().to_string(), code, why }
}

/// Copies a skill into the install folder. If a different skill of the same name is there that another source installed
/// or a person wrote, nothing is changed and the new skill is returned as skipped.
pub fn install_skill(home: &Path, file: &Path, skill: &Skill) -> Result<Option<SkippedSkill>, Failure> {
    let source = source_files::path_digest(file);
    let installed =
        load_skills(&stamp_skill_files(home)).skills.into_iter().find(|(_, installed)| installed.name == skill.name);
    let folder = match installed {
        // The file is already in the install folder.
        Some((at, _)) if source_files::path_digest(&at) == source => return Ok(None),
        Some((at, installed)) => {
            let folder = at.parent().unwrap_or(home).to_owned();
            // A skill written by hand has no such file, and only an identical one replaces it.
            let came_from = std::fs::read_to_string(folder.join(SOURCE_FILE)).ok();
            if installed != *skill && came_from != source {
                let folder = folder.display();
                let why = format!("`{}` is already installed from another file: remove `{folder}` first", skill.name);
                return Ok(Some(build_left_out(file, NAME_TAKEN, why)));
            }
            folder
        }
        None => free_folder(home, &skill.name),
    };
    let unwritable = |error: std::io::Error| {
        Failure::system_error("ingest.unwritable", format!("cannot write `{}`: {error}", folder.display()))
    };
    std::fs::create_dir_all(&folder).map_err(unwritable)?;
    std::fs::write(folder.join(SKILL_FILE), read_text_file(file)?).map_err(unwritable)?;
    // If this fails, the skill counts as written by hand and stays safe from other sources.
    std::fs::write(folder.join(SOURCE_FILE), source.unwrap_or_default()).map_err(unwritable)?;
    Ok(None)
}

/// Unused folder for a new skill: its name with special characters replaced, numbered if taken.
fn free_folder(home: &Path, name: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let plain: String = name.chars().map(plain).collect();
    let numbered = (2..).map(|number| home.join(format!("{plain}-{number}")));
    let mut folders = std::iter::once(home.join(&plain)).chain(numbered);
    folders.find(|folder| !folder.join(SKILL_FILE).exists()).unwrap_or_else(|| home.join(&plain))
}

/// Skill files of a folder and its direct subfolders, sorted; none if the folder does not exist.
fn stamp_skill_files(folder: &Path) -> Vec<FileStamp> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let files = std::iter::once(folder.to_owned()).chain(folders).map(|at| at.join(SKILL_FILE));
    let stamp = |file: PathBuf| {
        // Regular files only: reading a named pipe would block.
        let metadata = std::fs::metadata(&file).ok().filter(std::fs::Metadata::is_file)?;
        Some(FileStamp { file, bytes: metadata.len(), changed: metadata.modified().ok() })
    };
    files.filter_map(stamp).collect()
}

fn read_skill(stamp: &FileStamp) -> Result<Skill, Error> {
    let invalid = |why: String| Error::invalid("skill.invalid", why);
    // By the stamp, so that a huge file is never read.
    if stamp.bytes > BYTES_MAX {
        return Err(invalid(format!("the file is larger than {BYTES_MAX} bytes")));
    }
    let text =
        std::fs::read_to_string(&stamp.file).map_err(|error| invalid(format!("the file cannot be read: {error}")))?;
    Skill::parse_checked(&text)
}
