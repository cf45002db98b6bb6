//! A private temporary home with its own database, for `demo` and `bench`.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::config::{Config, EmbeddingSettings};
use crate::error::Failure;

/// A directory readable by its owner only, removed on drop.
pub struct TempHome(PathBuf);

impl TempHome {
    pub fn new(purpose: &str) -> Result<TempHome, Failure> {
        let mut random = [0_u8; 8];
        // Without randomness the process id alone makes the name; `create` fails if it exists.
        let name = getrandom::fill(&mut random).map(|()| u64::from_le_bytes(random)).unwrap_or_default();
        let path = std::env::temp_dir().join(format!("ingrain-{purpose}-{}-{name:016x}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(|error| {
            Failure::system_error("store.unwritable", format!("cannot create `{}`: {error}", path.display()))
        })?;
        Ok(TempHome(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The given settings, with the database in this directory.
    pub fn redirect_config(&self, config: &Config) -> Config {
        // Resolved before the home changes: the weights stay in the user's home.
        let weights = config.transformer_weights().display().to_string();
        Config {
            home: self.0.clone(),
            // Empty selects a file in this home, even if a server is configured.
            db: String::new(),
            // A configured tenant would not exist in the new database.
            tenant: "default".to_owned(),
            embeddings: EmbeddingSettings { weights, ..config.embeddings.clone() },
            ..config.clone()
        }
    }
}

impl Drop for TempHome {
    fn drop(&mut self) {
        // A failure leaves files in the temporary directory, which the system cleans up.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
