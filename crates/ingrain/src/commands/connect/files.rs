//! Reads and replaces configuration files: atomically, through symbolic links, keeping mode and owner.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Largest configuration that is edited; real ones have kilobytes, some a few megabytes.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A configuration as it was read.
pub struct ConfigFile {
    /// The file itself, behind any symbolic links.
    pub path: PathBuf,
    /// `None` if it does not exist.
    pub text: Option<String>,
    read_only: bool,
}

impl ConfigFile {
    /// Reads the file. The error completes the sentence "left alone: it …".
    pub fn read(path: &Path) -> Result<ConfigFile, String> {
        let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
        let path = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(ConfigFile { path: absolute_path(path), text: None, read_only: false });
            }
            Err(error) => return Err(unreadable(error)),
            Ok(_) => path.canonicalize().map_err(|error| match error.kind() {
                ErrorKind::NotFound => "is a symbolic link to a file that does not exist".to_owned(),
                _ => unreadable(error),
            })?,
        };
        let metadata = fs::metadata(&path).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err("is not a regular file".to_owned());
        }
        if metadata.len() > FILE_BYTES_MAX {
            return Err(format!("is larger than {FILE_BYTES_MAX} bytes"));
        }
        let bytes = fs::read(&path).map_err(unreadable)?;
        let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
        // By mode, not by a trial: root may write everywhere, but the owner asked for no changes.
        let read_only = metadata.permissions().mode() & 0o222 == 0;
        Ok(ConfigFile { path, text: Some(text), read_only })
    }

    /// Refuses a file that its owner made read-only.
    pub fn check_writable(&self) -> Result<(), String> {
        match self.read_only {
            true => Err("is read-only; make it writable or copy the output of `--print` into its source".to_owned()),
            false => Ok(()),
        }
    }

    /// Replaces the content. Returns the folders it had to make, outermost first.
    ///
    /// The new content is complete on disk before it gets the name, so a crash leaves the old or the new file.
    pub fn replace(&self, text: &str, private: bool) -> Result<Vec<PathBuf>, String> {
        let folder = self.path.parent().ok_or("has no folder")?;
        let made = make_folders(folder, private).map_err(|error| format!("cannot get its folder: {error}"))?;
        self.check_unchanged()?;
        let written = write_and_rename(&self.path, text, if private { 0o600 } else { 0o644 });
        written.map_err(|error| format!("cannot be written: {error}"))?;
        Ok(made)
    }

    /// Removes the file.
    pub fn delete(&self) -> Result<(), String> {
        self.check_unchanged()?;
        fs::remove_file(&self.path).map_err(|error| format!("cannot be removed: {error}"))
    }

    /// Clients write their files too: a change since it was read must not be lost.
    fn check_unchanged(&self) -> Result<(), String> {
        let now = match fs::read_to_string(&self.path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(format!("cannot be read: {error}")),
        };
        if now == self.text { Ok(()) } else { Err("changed meanwhile; run the command again".to_owned()) }
    }
}

/// Writes a file of the ingrain home: readable by its owner only, complete or not at all.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    path.parent().map_or(Ok(Vec::new()), |folder| make_folders(folder, true))?;
    write_and_rename(path, text, 0o600)
}

/// Removes folders if they are empty, innermost first.
pub fn remove_empty_folders(folders: &[PathBuf]) {
    // One that is not empty is in use, and so are those around it.
    let _ = folders.iter().rev().try_for_each(fs::remove_dir);
}

/// The path without links in its folder, so that one file has one name.
fn absolute_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (absolute.parent().and_then(|folder| folder.canonicalize().ok()), absolute.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => absolute,
    }
}

fn make_folders(folder: &Path, private: bool) -> std::io::Result<Vec<PathBuf>> {
    let missing = folder.ancestors().take_while(|path| !path.exists()).map(Path::to_owned);
    let mut missing: Vec<PathBuf> = missing.filter(|path| !path.as_os_str().is_empty()).collect();
    missing.reverse();
    DirBuilder::new().recursive(true).mode(if private { 0o700 } else { 0o755 }).create(folder)?;
    Ok(missing)
}

fn write_and_rename(path: &Path, text: &str, new_mode: u32) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut random = [0_u8; 8];
    // Without randomness the process id alone makes the name; `create_new` fails if it exists.
    let number = getrandom::fill(&mut random).map(|()| u64::from_le_bytes(random)).unwrap_or_default();
    let temporary = folder.join(format!(".ingrain-{}-{number:016x}.tmp", std::process::id()));
    let written = write_temporary(&temporary, path, text, new_mode).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
        return written;
    }
    // The name itself is on disk only with its folder. Some file systems cannot do this, which is no failure.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn write_temporary(temporary: &Path, path: &Path, text: &str, new_mode: u32) -> std::io::Result<()> {
    let replaced = fs::metadata(path).ok();
    // Never more open than the file it becomes.
    let mode = if replaced.is_some() { 0o600 } else { new_mode };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(temporary)?;
    file.write_all(text.as_bytes())?;
    if let Some(replaced) = replaced {
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
            // Works for root, as under sudo; others keep what they own.
            let _ = std::os::unix::fs::fchown(&file, Some(replaced.uid()), Some(replaced.gid()));
        }
        file.set_permissions(replaced.permissions())?;
    }
    file.sync_all()
}
