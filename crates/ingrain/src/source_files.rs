//! Collects the files under a path for `ingest`, and the folders and links that are left out.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use engine::text::chunks::DocumentFormat;
use engine::text::digest::content_sha256;

use crate::error::Failure;
use crate::pdf;
use crate::text_io::read_text_file;

/// A file and the default address of its document.
#[derive(Debug)]
pub struct SourceFile {
    pub file: PathBuf,
    pub address: String,
    pub format: DocumentFormat,
    is_pdf: bool,
    /// Named on the command line itself, not found in a folder.
    pub is_explicit: bool,
}

impl SourceFile {
    pub fn read_text(&self) -> Result<String, Failure> {
        if self.is_pdf { pdf::extract_text(&self.file) } else { read_text_file(&self.file) }
    }
}

/// Files found under the given paths.
#[derive(Debug, Default)]
pub struct GatheredFiles {
    pub sources: Vec<SourceFile>,
    /// Folders that cannot be read, with the error.
    pub unreadable: Vec<(String, Failure)>,
    /// Symbolic links to documents or folders; not followed.
    pub links: Vec<String>,
}

/// Digest of the canonical path: identifies the file without storing its path. `None` if it does not exist.
pub fn path_digest(file: &Path) -> Option<String> {
    file.canonicalize().ok().map(|whole| content_sha256(&whole.to_string_lossy()))
}

impl GatheredFiles {
    /// Adds the files under a path, sorted. Addresses begin with the name of the given folder, or of the folder of a
    /// single file.
    pub fn add_path(&mut self, path: &Path) -> Result<(), Failure> {
        let unreadable = |error: std::io::Error| {
            Failure::user_error("not_found", format!("cannot read `{}`: {error}", path.display()))
        };
        // Resolved for the names: `.` and `..` have none.
        let whole = path.canonicalize().map_err(unreadable)?;
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        if path.is_dir() {
            let entries = read_folder(path)?;
            self.add_entries(entries, &name(&whole).unwrap_or_default());
            return Ok(());
        }
        let folder = whole.parent().and_then(name);
        let address = folder.into_iter().chain(name(&whole)).collect::<Vec<_>>().join("/");
        // A file named on the command line is ingested whatever its extension.
        let format = document_format(path).unwrap_or(DocumentFormat::Text);
        let (file, is_pdf) = (path.to_owned(), is_pdf(path));
        self.sources.push(SourceFile { file, address, format, is_pdf, is_explicit: true });
        Ok(())
    }

    /// Adds the entries of a folder. A subfolder that cannot be read is recorded and skipped.
    fn add_entries(&mut self, entries: Vec<DirEntry>, folder: &str) {
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let (file, address) = (entry.path(), format!("{folder}/{name}"));
            // Hidden files are skipped; so are pipes and devices, which could block.
            match entry.file_type() {
                _ if name.starts_with('.') => {}
                Ok(kind) if kind.is_dir() => match read_folder(&file) {
                    Ok(entries) => self.add_entries(entries, &address),
                    Err(failure) => self.unreadable.push((address, failure)),
                },
                Ok(kind) if kind.is_file() => {
                    let is_pdf = is_pdf(&file);
                    let source = |format| SourceFile { file, address, format, is_pdf, is_explicit: false };
                    self.sources.extend(document_format(Path::new(&name)).map(source));
                }
                // Links could form a cycle or leave the folder. A link to a file that is no document is not reported.
                Ok(kind) if kind.is_symlink() && (!file.is_file() || document_format(&file).is_some()) => {
                    self.links.push(address)
                }
                Ok(_) => {}
                Err(error) => self.unreadable.push((address, read_failure(&file, &error))),
            }
        }
    }
}

/// Entries of a folder, sorted by name.
fn read_folder(folder: &Path) -> Result<Vec<DirEntry>, Failure> {
    let read = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<DirEntry>>>);
    let mut entries = read.map_err(|error| read_failure(folder, &error))?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

fn read_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::system_error("ingest.unreadable", format!("cannot read `{}`: {error}", path.display()))
}

fn is_pdf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf"))
}

/// Format by file name; `None` if it is not a document.
fn document_format(path: &Path) -> Option<DocumentFormat> {
    if is_pdf(path) { Some(DocumentFormat::Text) } else { DocumentFormat::from_path(path.to_str()?) }
}
