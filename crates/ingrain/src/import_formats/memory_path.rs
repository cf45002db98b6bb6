//! Paths of imported memories, made from file names and headings.

use std::collections::HashSet;

use engine::text::digest::content_sha256;

/// Longest part of a path, in characters.
const PART_CHARS_MAX: usize = 60;
/// Longest path, in bytes; the engine takes 1,024.
const PATH_BYTES_MAX: usize = 800;
/// Most parts of a path; the engine takes 20.
const PARTS_MAX: usize = 18;

/// Lower-case letters and digits of any script, with `-` between words.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        match c.is_alphanumeric() {
            true => slug.push(c),
            false if slug.is_empty() || slug.ends_with('-') => {}
            false => slug.push('-'),
        }
    }
    let cut: String = slug.chars().take(PART_CHARS_MAX).collect();
    match cut.trim_end_matches('-') {
        "" => "part".to_owned(),
        slug => slug.to_owned(),
    }
}

/// Path of a memory: the parts of the file's name, then the headings.
pub fn join<'a>(file: &'a str, parts: impl IntoIterator<Item = &'a str>) -> String {
    let parts = file.split('/').filter(|part| !part.is_empty()).chain(parts).map(slug).collect::<Vec<_>>();
    // The last parts tell memories of one file apart.
    parts[parts.len().saturating_sub(PARTS_MAX)..].join("/")
}

/// Paths that are taken in this import.
#[derive(Clone, Debug, Default)]
pub struct PathSet(HashSet<String>);

impl PathSet {
    /// The path, shortened if it is too long and numbered if it is taken.
    pub fn claim(&mut self, path: &str) -> String {
        let path = match path.len() <= PATH_BYTES_MAX {
            true => path.to_owned(),
            false => {
                let end = (0..=PATH_BYTES_MAX).rev().find(|end| path.is_char_boundary(*end)).unwrap_or(0);
                format!("{}-{}", path[..end].trim_end_matches(['/', '-']), &content_sha256(path)[..8])
            }
        };
        let free = |path: &String| !self.0.contains(path);
        let numbered = (2..).map(|number| format!("{path}-{number}"));
        // Never empty: the numbers do not end.
        let path = std::iter::once(path.clone()).chain(numbered).find(free).unwrap_or(path);
        self.0.insert(path.clone());
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_from_file_and_headings() {
        let check = |file: &str, parts: &[&str], path: &str| assert_eq!(join(file, parts.iter().copied()), path);
        check("CLAUDE.md", &["Commands", "Build & test"], "claude-md/commands/build-test");
        check("apps/api/AGENTS.md", &["Überblick"], "apps/api/agents-md/überblick");
        check("x.md", &["../..", "\u{202e}"], "x-md/part/part");
        let mut paths = PathSet::default();
        assert_eq!((paths.claim("a"), paths.claim("a")), ("a".to_owned(), "a-2".to_owned()));
    }
}
