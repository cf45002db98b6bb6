use std::fs;

use engine::model::limits::Limits;

use super::*;

/// A home with folders in it.
struct Machine {
    place: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        Machine { place: tempfile::tempdir().expect("a folder") }
    }

    fn home(&self) -> PathBuf {
        self.place.path().canonicalize().expect("a path").join("ann")
    }

    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.home().join(name);
        fs::create_dir_all(&folder).expect("made");
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.home().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    }

    fn clone_of(&self, name: &str, url: &str) -> PathBuf {
        self.write(&format!("{name}/.git/config"), &format!("[remote \"origin\"]\n\turl = {url}\n"));
        self.folder(name)
    }

    fn finder(&self) -> ProjectFinder {
        ProjectFinder {
            user_home: Some(self.home()),
            claims: Claims::in_home(&self.home().join("data")),
            limits: Limits::default(),
        }
    }

    fn found(&self, folder: &Path) -> Option<FoundProject> {
        self.finder().find(folder).expect("found")
    }

    fn name(&self, folder: &Path) -> String {
        self.found(folder).map_or_else(|| "none".to_owned(), |found| found.name)
    }
}

#[test]
fn clones_and_worktrees_of_one_remote_are_one_project() {
    let machine = Machine::new();
    let shop = machine.clone_of("work/shop", "git@github.com:acme/shop.git");
    let again = machine.clone_of("tmp/shop-2", "https://github.com/Acme/shop");
    machine.write("work/shop/.git/worktrees/fix/commondir", "../..\n");
    let git_dir = shop.join(".git/worktrees/fix");
    machine.write("work/fix/.git", &format!("gitdir: {}\n", git_dir.display()));
    for folder in [shop, machine.folder("work/shop/src/deep"), again, machine.folder("work/fix")] {
        assert_eq!(machine.name(&folder), "github.com/acme/shop", "{}", folder.display());
    }
}

#[test]
fn without_a_remote_the_path_is_hashed_and_worktrees_share_it() {
    let machine = Machine::new();
    machine.folder("work/shop/.git");
    let name = machine.name(&machine.folder("work/shop/src"));
    assert!(name.starts_with("shop-") && !name.contains("ann"), "{name}");
    machine.write("work/shop/.git/worktrees/fix/commondir", "../..");
    machine.write("work/fix/.git", "gitdir: ../shop/.git/worktrees/fix");
    assert_eq!(machine.name(&machine.folder("work/fix")), name);
    let plain = machine.name(&machine.folder("work/plain"));
    assert!(plain.starts_with("plain-") && plain != machine.name(&machine.folder("work/other/plain")));
    let local = machine.clone_of("work/clone", "/srv/git/shop.git");
    assert!(machine.name(&local).starts_with("shop-"));
    // A name that looks like a key is left out.
    let odd = machine.folder(&format!("work/{}{}", "AKIA", "Q3ZT7WGLB5XKPN2M"));
    assert!(machine.name(&odd).starts_with("unnamed-"));
}

#[test]
fn the_home_and_the_root_are_no_project() {
    let machine = Machine::new();
    machine.write(".git/config", "[remote \"origin\"]\n url = git@h:ann/dotfiles");
    machine.write(".ingrain.toml", "project = \"everything\"");
    for folder in [machine.home(), machine.place.path().to_owned(), PathBuf::from("/")] {
        assert_eq!(machine.found(&folder), None, "{}", folder.display());
    }
}

#[test]
fn a_file_names_the_project_of_a_team() {
    let machine = Machine::new();
    let shop = machine.clone_of("work/shop", "git@github.com:acme/shop.git");
    machine.write("work/shop/.ingrain.toml", "project = \"acme-platform\"\n[later]\nx = 1\n");
    let found = machine.found(&shop.join(".git")).expect("a project");
    assert_eq!((found.name.as_str(), found.source), ("acme-platform", ProjectSource::Marker));
    machine.write("work/shop/web/.ingrain.toml", "project = 'acme-web'");
    assert_eq!(machine.name(&machine.folder("work/shop/web/src")), "acme-web");
    machine.write("work/empty/.ingrain.toml", "# nothing\n");
    assert!(machine.name(&machine.folder("work/empty")).starts_with("empty-"));
    machine.write("work/broken/.ingrain.toml", "project = [secret");
    let error = machine.finder().find(&machine.folder("work/broken")).expect_err("a broken file");
    assert!(error.message().contains(".ingrain.toml") && !error.message().contains("secret"), "{}", error.message());
}

#[test]
fn a_cloned_file_cannot_name_a_project_that_other_folders_use() {
    let machine = Machine::new();
    let secret = machine.clone_of("work/secret", "git@github.com:acme/secret.git");
    assert_eq!(machine.name(&secret), "github.com/acme/secret");
    let evil = machine.clone_of("tmp/evil", "https://github.com/evil/evil");
    machine.write("tmp/evil/.ingrain.toml", "project = \"github.com/acme/secret\"");
    let found = machine.found(&evil).expect("a project");
    assert_eq!(found.name, "github.com/evil/evil");
    assert_eq!(found.refused.map(|refused| refused.name).as_deref(), Some("github.com/acme/secret"));
    // A person allows it, for this folder.
    let allowed = machine.finder().allow_marker(&evil).expect("allowed").expect("a project");
    assert_eq!((allowed.name.as_str(), allowed.refused), ("github.com/acme/secret", None));
    assert_eq!(machine.name(&evil), "github.com/acme/secret");
}

#[test]
fn a_name_that_a_person_uses_cannot_be_chosen_by_a_file() {
    let machine = Machine::new();
    machine.finder().reserve("wages");
    let evil = machine.clone_of("tmp/evil", "https://github.com/evil/evil");
    machine.write("tmp/evil/.ingrain.toml", "project = \"wages\"");
    assert_eq!(machine.name(&evil), "github.com/evil/evil");
    // One that had it before keeps it.
    let shop = machine.clone_of("work/shop", "git@github.com:acme/shop.git");
    machine.write("work/shop/.ingrain.toml", "project = \"acme\"");
    assert_eq!(machine.name(&shop), "acme");
    machine.finder().reserve("acme");
    assert_eq!(machine.name(&shop), "acme");
}

#[test]
fn the_repository_itself_comes_before_those_that_took_its_name() {
    let machine = Machine::new();
    let evil = machine.clone_of("tmp/evil", "https://github.com/evil/evil");
    machine.write("tmp/evil/.ingrain.toml", "project = \"github.com/acme/secret\"");
    assert_eq!(machine.name(&evil), "github.com/acme/secret");
    let secret = machine.clone_of("work/secret", "git@github.com:acme/secret.git");
    assert_eq!(machine.name(&secret), "github.com/acme/secret");
    assert_eq!(machine.name(&evil), "github.com/evil/evil");
}
