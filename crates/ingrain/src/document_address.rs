//! Which document a file is: the one it was read into before, or the one at its own address.
//!
//! A file may come alone, with its folder or with one further up, and is one document each time. That another document's
//! address ends as its path does is no reason to take it for that one: folders of one name are everywhere.

use std::collections::HashSet;
use std::path::Path;

use engine::Document;

/// A file that looks for its document.
pub struct AddressResolver<'a> {
    /// The address it gets where nothing else is known.
    pub default_address: &'a str,
    /// What its path ends in, the longest first.
    pub path_suffixes: &'a [String],
    /// Which file it is.
    pub source: Option<&'a str>,
    /// Of its text.
    pub sha256: &'a str,
}

/// The ends of a file's path that could be its address: a name alone says too little about which file it was.
pub fn path_suffixes(file: &Path) -> Vec<String> {
    let Ok(whole) = file.canonicalize() else { return Vec::new() };
    let names: Vec<_> = whole.iter().skip(1).map(|name| name.to_string_lossy()).collect();
    (0..names.len().saturating_sub(1)).map(|from| names[from..].join("/")).collect()
}

impl AddressResolver<'_> {
    /// The file's address, given the documents at its ends and the addresses that other files of this run took.
    pub fn resolve_address(&self, documents: &[Document], taken: &HashSet<String>) -> String {
        let at = |address: &str| documents.iter().find(|document| document.path == address);
        let is_free = |address: &str| !taken.contains(address);
        // Records from before sources were kept: the same text says that it is the same file.
        let is_alike = |document: &&Document| {
            document.source.is_none() && document.sha256 == self.sha256 && is_free(&document.path)
        };
        if let Some(read_before) = documents.iter().find(|document| self.is_same_file(document)) {
            return read_before.path.clone();
        }
        if is_free(self.default_address) {
            let alike = || documents.iter().find(is_alike);
            return at(self.default_address)
                .or_else(alike)
                .map_or(self.default_address, |document| document.path.as_str())
                .to_owned();
        }
        // Another file of this run has that name: more folders are named, until they say which of the two this is.
        let is_open = |suffix: &str| is_free(suffix) && at(suffix).is_none_or(|document| document.source.is_none());
        let longer =
            self.path_suffixes.iter().rev().find(|suffix| suffix.len() > self.default_address.len() && is_open(suffix));
        longer.or(self.path_suffixes.first()).map_or(self.default_address, String::as_str).to_owned()
    }

    fn is_same_file(&self, document: &Document) -> bool {
        self.source.is_some() && document.source.as_deref() == self.source
    }
}

#[cfg(test)]
mod tests {
    use engine::DocumentStatus;

    use super::*;

    fn document((path, source, sha256): &(&str, &str, &str)) -> Document {
        Document {
            path: (*path).to_owned(),
            title: String::new(),
            category: None,
            status: DocumentStatus::Published,
            sha256: (*sha256).to_owned(),
            chunks: 1,
            ingested_at: jiff::Timestamp::UNIX_EPOCH,
            ingested_by: String::new(),
            source: Some((*source).to_owned()).filter(|source| !source.is_empty()),
        }
    }

    #[test]
    fn a_document_is_taken_for_a_file_only_where_it_is_known_to_be_its() {
        // The file is /p/docs/sub/a.md with the text `t`, asked for with the folder `docs`.
        let suffixes = ["p/docs/sub/a.md", "docs/sub/a.md", "sub/a.md"].map(str::to_owned);
        let resolver = AddressResolver {
            default_address: "docs/sub/a.md",
            path_suffixes: &suffixes,
            source: Some("mine"),
            sha256: "t",
        };
        let check = |known: &[(&str, &str, &str)], taken: &[&str], expected: &str| {
            let documents: Vec<Document> = known.iter().map(document).collect();
            let taken = taken.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(resolver.resolve_address(&documents, &taken), expected, "{known:?} {taken:?}");
        };
        check(&[], &[], "docs/sub/a.md");
        // It came before, alone or with a folder further up.
        check(&[("sub/a.md", "mine", "old")], &[], "sub/a.md");
        check(&[("p/docs/sub/a.md", "mine", "old"), ("docs/sub/a.md", "other", "t")], &[], "p/docs/sub/a.md");
        // Another file's document, whatever its text.
        check(&[("sub/a.md", "other", "old")], &[], "docs/sub/a.md");
        check(&[("sub/a.md", "other", "t")], &[], "docs/sub/a.md");
        // Nobody knows whose: its own address first, then the same text.
        check(&[("sub/a.md", "", "old")], &[], "docs/sub/a.md");
        check(&[("sub/a.md", "", "t")], &[], "sub/a.md");
        check(&[("docs/sub/a.md", "", "old"), ("sub/a.md", "", "t")], &[], "docs/sub/a.md");
        check(&[("sub/a.md", "", "t")], &["sub/a.md"], "docs/sub/a.md");
        // The same address is the same document.
        check(&[("docs/sub/a.md", "other", "old")], &[], "docs/sub/a.md");
        // But not in one run.
        check(&[("docs/sub/a.md", "other", "old")], &["docs/sub/a.md"], "p/docs/sub/a.md");
        check(&[("p/docs/sub/a.md", "", "old")], &["docs/sub/a.md"], "p/docs/sub/a.md");
    }
}
