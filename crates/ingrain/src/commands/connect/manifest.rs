//! Record of what `connect` changed, with the backups: what `disconnect` undoes.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use engine::text::digest::content_sha256;
use jiff::Timestamp;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clients::Format;
use super::entry::{Addition, Slot};
use super::files::write_private;
use crate::error::Failure;
use crate::output::Output;

/// Version of the format of the manifest.
const MANIFEST_VERSION: u32 = 1;

/// One changed file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connection {
    /// Id of the client.
    pub client: String,
    /// Root of the project; `None` for the configuration of the user.
    pub project: Option<PathBuf>,
    /// The file, behind any symbolic links.
    pub file: PathBuf,
    /// What was added.
    pub additions: Vec<RecordedAddition>,
    /// Objects around the entry that were made for it.
    pub made_parents: usize,
    /// Folders that were made for the file, outermost first.
    pub made_folders: Vec<PathBuf>,
    /// SHA-256 of the file before; `None` if there was none.
    pub before_sha256: Option<String>,
    /// Name of the copy of the file as it was before.
    pub backup: Option<String>,
    pub after_sha256: String,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedAddition {
    pub path: Vec<String>,
    /// An item of the list at the path, else the value itself.
    pub list_item: bool,
    /// A plain value where there was none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub if_missing: bool,
    pub value: Value,
}

impl RecordedAddition {
    pub fn new(addition: &Addition) -> RecordedAddition {
        let (list_item, if_missing) = (addition.slot == Slot::ListItem, addition.slot == Slot::IfMissing);
        RecordedAddition { path: addition.path.clone(), list_item, if_missing, value: addition.value() }
    }

    pub fn to_addition(&self) -> Addition {
        let fields = self.value.as_object().cloned().unwrap_or_default().into_iter().collect();
        let (slot, fields) = match (self.list_item, self.if_missing) {
            (true, _) => (Slot::ListItem, fields),
            (_, true) => (Slot::IfMissing, vec![(String::new(), self.value.clone())]),
            _ => (Slot::Value, fields),
        };
        Addition { path: self.path.clone(), slot, fields }
    }
}

impl Connection {
    pub fn additions(&self) -> Vec<Addition> {
        self.additions.iter().map(RecordedAddition::to_addition).collect()
    }

    /// The entry of the server: the last addition.
    pub fn entry(&self) -> Option<Addition> {
        self.additions.last().map(RecordedAddition::to_addition)
    }

    /// By the file: a later version may record a client that this one does not know.
    pub fn format(&self) -> Format {
        Format::of(&self.file)
    }

    /// Whether it is about the hooks of the client, not about its server.
    pub fn is_hooks(&self) -> bool {
        self.additions.last().is_some_and(|last| last.list_item)
    }

    pub fn scope(&self) -> &'static str {
        if self.project.is_some() { "project" } else { "user" }
    }
}

#[derive(Default, Serialize, Deserialize)]
struct ManifestFile {
    version: u32,
    connections: Vec<Connection>,
}

/// The manifest, locked against other processes while it is held.
pub struct Manifest {
    folder: PathBuf,
    pub connections: Vec<Connection>,
    _lock: Option<File>,
}

impl Manifest {
    /// Opens the manifest to change it. Waits for another `connect` or `disconnect`.
    pub fn lock(home: &Path, output: &Output) -> Result<Manifest, Failure> {
        let folder = folder_of(home);
        let unwritable = |error: std::io::Error| {
            Failure::system_error("connect.manifest", format!("cannot write `{}`: {error}", folder.display()))
        };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(unwritable)?;
        let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join("lock"));
        let lock = lock.map_err(unwritable)?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            // It may wait for an answer in another terminal.
            output.print_note("waiting for another `ingrain connect` or `ingrain disconnect` to end");
            rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|error| unwritable(error.into()))?;
        }
        Ok(Manifest { connections: load(&folder)?, folder, _lock: Some(lock) })
    }

    /// Opens the manifest to look at it. Nothing is created.
    pub fn read(home: &Path) -> Result<Manifest, Failure> {
        let folder = folder_of(home);
        Ok(Manifest { connections: load(&folder)?, folder, _lock: None })
    }

    /// Position of the record of an entry in a file.
    pub fn position(&self, file: &Path, entry: &[String]) -> Option<usize> {
        let is_it = |connection: &Connection| {
            connection.file == file && connection.additions.last().is_some_and(|last| last.path == entry)
        };
        self.connections.iter().position(is_it)
    }

    pub fn save(&self) -> Result<(), String> {
        let file = ManifestFile { version: MANIFEST_VERSION, connections: self.connections.clone() };
        let text = serde_json::to_string_pretty(&file).map_err(|error| error.to_string())?;
        let path = self.folder.join("manifest.json");
        write_private(&path, &format!("{text}\n"))
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
    }

    /// Keeps a copy of a file. Its name is its content's, so the same copy is kept once.
    pub fn save_backup(&self, text: &str) -> Result<String, String> {
        let name = format!("{}.backup", content_sha256(text));
        let path = self.backup_path(&name);
        if self.read_backup(&name).as_deref() != Some(text) {
            write_private(&path, text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        }
        Ok(name)
    }

    pub fn backup_path(&self, name: &str) -> PathBuf {
        self.folder.join("backups").join(name)
    }

    /// The copy, if it is there and undamaged.
    pub fn read_backup(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.backup_path(name)).ok()?;
        (format!("{}.backup", content_sha256(&text)) == name).then_some(text)
    }

    /// Removes a copy that no record needs.
    pub fn drop_backup(&self, name: &str) {
        if !self.connections.iter().any(|connection| connection.backup.as_deref() == Some(name)) {
            // One that stays costs a few kilobytes.
            let _ = std::fs::remove_file(self.backup_path(name));
        }
    }
}

fn folder_of(home: &Path) -> PathBuf {
    let folder = home.join("connections");
    std::path::absolute(&folder).unwrap_or(folder)
}

fn load(folder: &Path) -> Result<Vec<Connection>, Failure> {
    let path = folder.join("manifest.json");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::unreadable_input(path.display(), &error)),
    };
    let file: ManifestFile = serde_json::from_str(&text).map_err(|error| unreadable(&path, &error.to_string()))?;
    match file.version {
        MANIFEST_VERSION => Ok(file.connections),
        other => Err(unreadable(&path, &format!("it has version {other}, this program knows {MANIFEST_VERSION}"))),
    }
}

fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::user_error("connect.manifest", format!("cannot read `{}`: {why}", path.display()))
        .with_hint("move it away; the backups beside it are whole copies of the files as they were before")
}
