//! The files of checkpoints: the key that signs them and the lines that were written, both outside the database.

use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use engine::Checkpoint;

use crate::commands::serve::random_key_bytes;
use crate::error::Failure;

/// Name of the key in the home folder, made at first use.
const KEY_FILE: &str = "checkpoint.key";

/// A shorter key can be guessed from one checkpoint.
const KEY_BYTES_MIN: usize = 32;

pub struct CheckpointKey {
    pub text: String,
    /// Others may read the file.
    pub warning: Option<String>,
}

/// The key: from the named file, else from the one in the home folder, which is made with random bytes.
pub fn load_key(home: &Path, named: Option<&Path>) -> Result<CheckpointKey, Failure> {
    let path = named.map_or_else(|| home.join(KEY_FILE), Path::to_path_buf);
    let text = match std::fs::read_to_string(&path) {
        Ok(key) if key.trim().len() >= KEY_BYTES_MIN => key.trim().to_owned(),
        Ok(_) => {
            let message = format!("the key in `{}` is shorter than {KEY_BYTES_MIN} bytes", path.display());
            let hint = "write one with `openssl rand -hex 32`";
            return Err(Failure::user_error("checkpoint.key", message).with_hint(hint.to_owned()));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => make_key(&path)?,
        Err(error) => return Err(file_failure(&path, &error)),
    };
    let mode = std::fs::metadata(&path).map_err(|error| file_failure(&path, &error))?.permissions().mode();
    let is_open = mode & 0o077 != 0;
    let warning = is_open.then(|| {
        let path = path.display();
        format!("warning: other users may read the checkpoint key `{path}`: run `chmod 600 {path}`")
    });
    Ok(CheckpointKey { text, warning })
}

fn make_key(path: &Path) -> Result<String, Failure> {
    let key = engine::text::digest::to_hex(&random_key_bytes()?);
    write_private(path, &key, false)?;
    Ok(key)
}

/// The checkpoints of a file, oldest first; none where there is no file.
pub fn read_checkpoints(path: &Path) -> Result<Vec<Checkpoint>, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(file_failure(path, &error)),
    };
    let parse = |line: &str| {
        let invalid = || format!("`{}` has a line that is no checkpoint", path.display());
        serde_json::from_str(line).map_err(|_| Failure::user_error("checkpoint.invalid", invalid()))
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
}

pub fn append_checkpoint(path: &Path, checkpoint: &Checkpoint) -> Result<(), Failure> {
    write_private(path, &(to_line(checkpoint) + "\n"), true)
}

/// A checkpoint as one line of JSON.
pub fn to_line(checkpoint: &Checkpoint) -> String {
    // Plain values always serialise.
    serde_json::to_string(checkpoint).unwrap_or_default()
}

fn write_private(path: &Path, text: &str, append: bool) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    options.mode(0o600).create(true).append(append).write(true);
    let mut file = options.open(path).map_err(|error| file_failure(path, &error))?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|error| file_failure(path, &error))
}

fn file_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::system_error("checkpoint.file", format!("`{}`: {error}", path.display()))
}
