//! Names of projects that folders of this machine use. A cloned repository may carry any `.ingrain.toml`: without this
//! list it could name another project and read its memories. The first folder that uses a name has it; others need
//! `ingrain project allow`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::commands::connect::files::write_private;
use crate::error::Failure;

/// The list, in a file of the data home.
#[derive(Clone, Debug)]
pub struct Claims {
    file: PathBuf,
}

/// By name: the folders that use it, each by the id it has without a `.ingrain.toml`.
type Owners = BTreeMap<String, BTreeSet<String>>;

impl Claims {
    pub fn in_home(home: &Path) -> Claims {
        Claims { file: home.join("projects.json") }
    }

    /// Whether a folder may use a name. The first one gets it.
    pub fn claim(&self, name: &str, folder: &str) -> bool {
        let Ok(mut owners) = self.read() else { return name == folder };
        match owners.get(name) {
            Some(known) if known.contains(folder) => return true,
            Some(_) if name != folder => return false,
            _ => {}
        }
        // A repository that has the name by itself comes before those that chose it: they need to be allowed again.
        owners.insert(name.to_owned(), BTreeSet::from([folder.to_owned()]));
        // Without the record, another folder's name is not taken.
        self.write(&owners).is_ok() || name == folder
    }

    /// Keeps folders from choosing a name that is used otherwise, such as by `--project`. Those that have it keep it.
    pub fn reserve(&self, name: &str) {
        let Ok(mut owners) = self.read() else { return };
        if !owners.contains_key(name) {
            owners.insert(name.to_owned(), BTreeSet::from([name.to_owned()]));
            // A home that cannot be written keeps no list: then no folder gets a name from it either.
            let _ = self.write(&owners);
        }
    }

    /// Lets a folder use a name that others have.
    pub fn allow(&self, name: &str, folder: &str) -> Result<(), Failure> {
        let unwritable = |error: std::io::Error| {
            Failure::system_error("config.project", format!("`{}`: {error}", self.file.display()))
        };
        let mut owners = self.read().map_err(unwritable)?;
        owners.entry(name.to_owned()).or_default().insert(folder.to_owned());
        self.write(&owners).map_err(unwritable)
    }

    fn read(&self) -> std::io::Result<Owners> {
        match std::fs::read(&self.file) {
            Ok(text) => serde_json::from_slice(&text).map_err(std::io::Error::other),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Owners::new()),
            Err(error) => Err(error),
        }
    }

    fn write(&self, owners: &Owners) -> std::io::Result<()> {
        write_private(&self.file, &serde_json::to_string_pretty(owners).map_err(std::io::Error::other)?)
    }
}
