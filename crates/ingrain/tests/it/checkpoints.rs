//! Checkpoints: another database, another tenant, a weak key.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::world::{World, text};

fn filled() -> World {
    let world = World::on_file();
    world.json("remember", &["open the pump slowly"]);
    world
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a path")
}

/// A world with one checkpoint in the file.
fn with_checkpoint() -> (World, PathBuf) {
    let world = filled();
    let file = world.home().join("checkpoints");
    let first = world.json("verify --checkpoint", &[shown(&file)]);
    assert_eq!(first["checkpoints"]["new"]["slug"], "default");
    assert_eq!(first["checkpoints"]["new"]["seq"], first["entries"], "what was verified is signed");
    (world, file)
}

#[test]
fn another_database_contradicts_the_checkpoint() {
    let (world, file) = with_checkpoint();
    let before = std::fs::read_to_string(&file).expect("reads");
    let other = filled();
    let key = world.home().join("checkpoint.key");
    let arguments = ["--checkpoint", shown(&file), "--checkpoint-key", shown(&key)];
    for more in [None, Some("--add-tenant")] {
        let arguments: Vec<&str> = arguments.iter().copied().chain(more).collect();
        let refused = other.fails(1, "verify", &arguments);
        let why = text(&refused["checkpoints"]["contradictions"][0]);
        assert!(why.contains("`default`") && why.contains("replaced"), "{why}");
    }
    // A checkpoint from before names no tenant.
    let mut line: serde_json::Value = serde_json::from_str(&before).expect("JSON");
    line.as_object_mut().expect("an object").remove("slug");
    let old = world.home().join("old");
    std::fs::write(&old, line.to_string()).expect("writes");
    let arguments = ["--checkpoint", shown(&old), "--checkpoint-key", shown(&key)];
    assert_eq!(other.code(2, "verify", &arguments), "checkpoint.other_tenant");
    assert_eq!(std::fs::read_to_string(&file).expect("reads"), before, "nothing was added");
}

#[test]
fn a_new_tenant_enters_a_checkpoint_file_only_when_told() {
    let (world, file) = with_checkpoint();
    world.json("tenant create second", &[]);
    let arguments = ["--checkpoint", shown(&file)];
    assert_eq!(world.code(2, "verify --tenant second", &arguments), "checkpoint.other_tenant");
    world.json("verify --tenant second --add-tenant", &arguments);
    for tenant in ["second", "default"] {
        let proven = world.json(&format!("verify --tenant {tenant}"), &arguments);
        assert_eq!(proven["checkpoints"]["proven"], 1, "{tenant}");
    }
}

#[test]
fn a_verification_never_creates_a_database() {
    let world = World::on_file();
    let told = world.fails(2, "verify", &[]);
    assert!(text(&told["error"]).contains("no database"), "{told}");
    assert!(!world.database().exists());
}

#[test]
fn a_short_checkpoint_key_is_refused_and_an_open_one_is_told() {
    let (world, file) = with_checkpoint();
    let key = world.home().join("short.key");
    std::fs::write(&key, "secret").expect("writes");
    let arguments = ["--checkpoint", shown(&file), "--checkpoint-key", shown(&key)];
    assert_eq!(world.code(2, "verify", &arguments), "checkpoint.key");
    let key = world.home().join("checkpoint.key");
    assert!(world.run("verify", &["--checkpoint", shown(&file)]).stderr.is_empty());
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).expect("sets");
    let ran = world.run("verify", &["--checkpoint", shown(&file)]);
    assert!(ran.exit == 0 && ran.stderr.contains("chmod 600"), "{ran:?}");
}
