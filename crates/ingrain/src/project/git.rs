//! Git repositories, read without running git: where the work tree begins and which remote it has.

use std::path::{Path, PathBuf};

/// A repository. The root is that of the main work tree, also for a worktree of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repository {
    pub root: PathBuf,
    /// URL of `origin`, else of the first remote.
    pub remote: Option<String>,
}

/// Largest file that is read: real ones have some kilobytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The repository that a folder is in.
pub fn find_repository(folder: &Path) -> Option<Repository> {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    let dot_git = root.join(".git");
    let git_dir = match dot_git.is_dir() {
        true => dot_git,
        // A worktree or submodule: the file names the folder.
        false => root.join(read_small(&dot_git)?.trim().strip_prefix("gitdir:")?.trim()),
    };
    let common = match read_small(&git_dir.join("commondir")) {
        Some(path) => git_dir.join(path.trim()),
        None => git_dir.clone(),
    };
    let common = common.canonicalize().unwrap_or(common);
    let remote = read_small(&common.join("config")).and_then(|text| remote_url(&text));
    // The folder around a `.git`; a bare repository is its own root.
    let main_root = match common.file_name() {
        Some(name) if name == ".git" => common.parent().unwrap_or(root).to_owned(),
        _ if git_dir.join("commondir").exists() => common,
        // A submodule has its own folder under `.git/modules`, and a work tree of its own.
        _ => root.to_owned(),
    };
    Some(Repository { root: main_root, remote })
}

fn read_small(path: &Path) -> Option<String> {
    let file = std::fs::metadata(path).ok()?;
    (file.is_file() && file.len() <= FILE_BYTES_MAX).then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// URL of `origin` in a git configuration, else of the remote that comes first.
fn remote_url(config: &str) -> Option<String> {
    let mut remote = None;
    let mut first = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            remote = section_remote(section);
        } else if let (Some(name), Some(url)) = (&remote, value_of(line, "url")) {
            if name == "origin" {
                return Some(url);
            }
            first = first.or(Some(url));
        }
    }
    first
}

/// Name of the remote in the rest of a section line, such as `remote "origin"]`.
fn section_remote(section: &str) -> Option<String> {
    let (kind, name) = section.split_once('"')?;
    let name = name.rsplit_once("\"]")?.0;
    kind.trim().eq_ignore_ascii_case("remote").then(|| name.to_owned())
}

/// Value of a line `key = value`, without quotes and comments.
fn value_of(line: &str, key: &str) -> Option<String> {
    let (name, value) = line.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case(key) {
        return None;
    }
    let value = value.trim();
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => value.split([';', '#']).next().unwrap_or_default().trim(),
    };
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_wins_over_other_remotes() {
        let config = "[core]\n\turl = no\n[remote \"fork\"]\n\turl = git@h:me/shop\n[Remote \"origin\"]\n\t\
                      fetch = +refs\n\tURL = \"https://h/acme/shop\" ; ours\n";
        assert_eq!(remote_url(config).as_deref(), Some("https://h/acme/shop"));
        assert_eq!(remote_url("[remote \"up\"]\n url = a # b\n").as_deref(), Some("a"));
        for nothing in ["", "[remote \"origin\"]\nurl =\n", "[remote origin]\nurl = x", "[branch \"a\"]\nurl = x"] {
            assert_eq!(remote_url(nothing), None, "{nothing}");
        }
    }
}
