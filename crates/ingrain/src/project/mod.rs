//! The project of a folder, in this order: a `.ingrain.toml` found upwards, the git remote, the git root, the folder.
//! Worktrees and clones of one remote are one project.

mod claims;
mod git;
mod marker;
mod remote;

use std::path::{Path, PathBuf};

use engine::gate::check_name;
use engine::model::limits::Limits;
use engine::safety;
use engine::text::digest::content_sha256;
use serde::Serialize;

use crate::config::{Config, Environment};
use crate::error::Failure;
pub use claims::Claims;

/// Value of `--project` for the project of the working directory.
pub const OF_FOLDER: &str = ".";
/// Length of the part that tells folders of one name apart, in hexadecimal digits.
const DIGEST_CHARS: usize = 12;
/// Longest part of a folder's name in an id, in characters.
const NAME_CHARS_MAX: usize = 40;

/// Where a project's id comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectSource {
    /// `.ingrain.toml`
    Marker,
    GitRemote,
    GitRoot,
    Folder,
}

/// The project of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FoundProject {
    pub name: String,
    pub source: ProjectSource,
    /// The file or folder that names it.
    pub path: PathBuf,
    /// A name in a `.ingrain.toml` that does not count, because other folders of this machine use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedName>,
}

/// A name that a `.ingrain.toml` claims and that belongs to other folders.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RefusedName {
    pub name: String,
    pub file: PathBuf,
}

/// Finds the projects of folders on this machine.
#[derive(Clone, Debug)]
pub struct ProjectFinder {
    /// The home directory: it and the folders around it are no project.
    user_home: Option<PathBuf>,
    claims: Claims,
    limits: Limits,
}

impl ProjectFinder {
    pub fn new(config: &Config, environment: &Environment) -> ProjectFinder {
        let user_home = environment.get_path("HOME").and_then(|home| home.canonicalize().ok());
        ProjectFinder { user_home, claims: Claims::in_home(&config.home), limits: config.limits.clone() }
    }

    /// The project of a folder; `None` where the folder says nothing about the work: the home directory, the folders
    /// around it and the root, where editors start their servers.
    pub fn find(&self, folder: &Path) -> Result<Option<FoundProject>, Failure> {
        let Some(derived) = self.derive(folder) else { return Ok(None) };
        let folder = canonical(folder);
        let named = marker::find_marker(&folder, self.user_home.as_deref())?;
        let Some(marker::Marker { name, file }) = named.filter(|marker| marker.name != derived.name) else {
            self.claims.claim(&derived.name, &derived.name);
            return Ok(Some(derived));
        };
        // A file of a repository: checked before its name is kept anywhere.
        check_name("project", &name, &self.limits)?;
        Ok(Some(match self.claims.claim(&name, &derived.name) {
            true => FoundProject { name, source: ProjectSource::Marker, path: file, refused: None },
            false => FoundProject { refused: Some(RefusedName { name, file }), ..derived },
        }))
    }

    /// Lets the `.ingrain.toml` of a folder name a project that other folders use. `None`: there is no such file.
    pub fn allow_marker(&self, folder: &Path) -> Result<Option<FoundProject>, Failure> {
        let Some(derived) = self.derive(folder) else { return Ok(None) };
        let Some(marker) = marker::find_marker(&canonical(folder), self.user_home.as_deref())? else { return Ok(None) };
        check_name("project", &marker.name, &self.limits)?;
        self.claims.allow(&marker.name, &derived.name)?;
        self.find(folder)
    }

    /// Keeps folders from naming this project in their `.ingrain.toml`: it is used under a name that a person chose.
    pub fn reserve(&self, name: &str) {
        self.claims.reserve(name);
    }

    /// As [`ProjectFinder::find`], as if there were no `.ingrain.toml`.
    pub fn find_without_marker(&self, folder: &Path) -> Option<FoundProject> {
        self.derive(folder)
    }

    /// The project by git or by the folder alone.
    fn derive(&self, folder: &Path) -> Option<FoundProject> {
        let folder = canonical(folder);
        let repository = git::find_repository(&folder);
        let root = repository.as_ref().map_or(folder.as_path(), |repository| repository.root.as_path());
        if root.parent().is_none() || self.user_home.as_ref().is_some_and(|home| home.starts_with(root)) {
            return None;
        }
        let found = |name, source, path: &Path| FoundProject { name, source, path: path.to_owned(), refused: None };
        let remote = repository.as_ref().and_then(|repository| repository.remote.as_deref());
        match remote.map(|url| remote::parse_remote(url, root)) {
            Some(remote::Remote::Hosted(id)) if check_name("project", &id, &self.limits).is_ok() => {
                Some(found(id, ProjectSource::GitRemote, root))
            }
            Some(remote::Remote::Local(path)) => {
                Some(found(folder_id(&canonical(&path)), ProjectSource::GitRemote, root))
            }
            _ if repository.is_some() => Some(found(folder_id(root), ProjectSource::GitRoot, root)),
            _ => Some(found(folder_id(root), ProjectSource::Folder, root)),
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Id of a folder: its name, and a digest of its path, which others on a shared server must not read.
fn folder_id(folder: &Path) -> String {
    let digest: String = content_sha256(&folder.to_string_lossy()).chars().take(DIGEST_CHARS).collect();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.trim_end_matches(".git").chars().take(NAME_CHARS_MAX).map(plain).collect();
    // A name that looks like a key would be refused; the digest alone is an id too.
    let name = if safety::find_token_format(&name).is_some() { "unnamed".to_owned() } else { name };
    format!("{name}-{digest}")
}

#[cfg(test)]
mod tests;
