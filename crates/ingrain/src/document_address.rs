//! Finds the document of a file: the one it was ingested into before, else the one at its default address.
//!
//! A file may be ingested alone, with its folder or with a parent folder, and stays one document. A matching end of the
//! path alone does not identify it: many projects have folders with the same names.

use std::collections::HashSet;
use std::path::Path;

use engine::Document;

/// A file whose document address is to be found.
pub struct AddressResolver<'a> {
    /// Address of the file if it was not ingested before.
    pub default_address: &'a str,
    /// Ends of its path, longest first.
    pub path_suffixes: &'a [String],
    /// Digest of its canonical path.
    pub source: Option<&'a str>,
    /// SHA-256 of its text.
    pub sha256: &'a str,
}

/// Ends of a path that can be its address: at least folder and name, longest first.
pub fn path_suffixes(file: &Path) -> Vec<String> {
    let Ok(whole) = file.canonicalize() else { return Vec::new() };
    // The first part is the root.
    let names: Vec<_> = whole.iter().skip(1).map(|name| name.to_string_lossy()).collect();
    (0..names.len().saturating_sub(1)).map(|from| names[from..].join("/")).collect()
}

impl AddressResolver<'_> {
    /// Address of the file, given the documents at its suffixes and the addresses taken by other files of this run.
    pub fn resolve_address(&self, documents: &[Document], taken: &HashSet<String>) -> String {
        let at = |address: &str| documents.iter().find(|document| document.path == address);
        let is_free = |address: &str| !taken.contains(address);
        // Old records have no source digest: equal text identifies the file.
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
        // Another file of this run took the address: use the shortest longer suffix that is free.
        let is_open = |suffix: &str| is_free(suffix) && at(suffix).is_none_or(|document| document.source.is_none());
        let longer =
            self.path_suffixes.iter().rev().find(|suffix| suffix.len() > self.default_address.len() && is_open(suffix));
        // The whole path at last, even if it is taken: nothing longer exists.
        longer.or(self.path_suffixes.first()).map_or(self.default_address, String::as_str).to_owned()
    }

    fn is_same_file(&self, document: &Document) -> bool {
        // Two unknown sources are not the same file.
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
    fn a_file_keeps_its_document_and_takes_no_other() {
        // The file is /p/docs/sub/a.md with the text `t`, ingested with the folder `docs`.
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
        // Ingested before, alone or with a parent folder.
        check(&[("sub/a.md", "mine", "old")], &[], "sub/a.md");
        check(&[("p/docs/sub/a.md", "mine", "old"), ("docs/sub/a.md", "other", "t")], &[], "p/docs/sub/a.md");
        // Another file's document is not used, even with equal text.
        check(&[("sub/a.md", "other", "old")], &[], "docs/sub/a.md");
        check(&[("sub/a.md", "other", "t")], &[], "docs/sub/a.md");
        // Document without a source: the own address first, then equal text.
        check(&[("sub/a.md", "", "old")], &[], "docs/sub/a.md");
        check(&[("sub/a.md", "", "t")], &[], "sub/a.md");
        check(&[("docs/sub/a.md", "", "old"), ("sub/a.md", "", "t")], &[], "docs/sub/a.md");
        check(&[("sub/a.md", "", "t")], &["sub/a.md"], "docs/sub/a.md");
        // The document at the default address is used.
        check(&[("docs/sub/a.md", "other", "old")], &[], "docs/sub/a.md");
        // Unless another file of this run took it.
        check(&[("docs/sub/a.md", "other", "old")], &["docs/sub/a.md"], "p/docs/sub/a.md");
        check(&[("p/docs/sub/a.md", "", "old")], &["docs/sub/a.md"], "p/docs/sub/a.md");
    }
}
