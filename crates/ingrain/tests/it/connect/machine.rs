//! A machine of a new user: an own `HOME`, a project, and the built binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{Ran, finished};

pub struct Machine {
    place: TempDir,
}

impl Machine {
    pub fn new() -> Machine {
        let place = tempfile::tempdir().expect("a temporary directory");
        let machine = Machine { place };
        fs::create_dir_all(machine.project().join(".git")).expect("a project");
        fs::create_dir_all(machine.home()).expect("a home");
        machine
    }

    pub fn home(&self) -> PathBuf {
        self.place.path().canonicalize().expect("a path").join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.place.path().canonicalize().expect("a path").join("shop")
    }

    /// The binary in the project, with a fresh `HOME` and nothing else of the outside.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ingrain"));
        command
            .env_clear()
            .env("HOME", self.home())
            .env("USER", "ann")
            .env("PATH", self.place.path().join("bin"))
            .current_dir(self.project())
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, line: &str) -> Ran {
        finished(self.command(line).spawn().expect("the binary starts"))
    }

    pub fn json(&self, line: &str) -> Value {
        self.ends(0, line)
    }

    /// The JSON of a command that ends with this exit code.
    pub fn ends(&self, exit: i32, line: &str) -> Value {
        let ran = self.run(&format!("{line} --json"));
        assert_eq!(ran.exit, exit, "{line}: {ran:?}");
        ran.json()
    }

    /// Puts a file below `HOME`.
    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let file = self.home().join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, bytes).expect("written");
        file
    }

    /// A program in `PATH`, which makes a client installed.
    pub fn install(&self, program: &str) {
        use std::os::unix::fs::PermissionsExt;
        let file = self.place.path().join("bin").join(program);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, "#!/bin/sh\n").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
    }

    /// Every file of the home and the project except Ingrain's own, with mode and content; links as their target.
    pub fn snapshot(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.home(), &mut found);
        collect(&self.project(), &mut found);
        found
    }
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, u32, Vec<u8>)>) {
    use std::os::unix::fs::PermissionsExt;
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("readable").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries.into_iter().filter(|path| !path.ends_with(".local")) {
        let metadata = fs::symlink_metadata(&path).expect("there");
        let content = match (metadata.is_symlink(), metadata.is_dir()) {
            (true, _) => fs::read_link(&path).expect("a link").to_string_lossy().into_owned().into_bytes(),
            (false, true) => Vec::new(),
            (false, false) => fs::read(&path).expect("readable"),
        };
        found.push((path.clone(), metadata.permissions().mode(), content));
        if metadata.is_dir() {
            collect(&path, found);
        }
    }
}
