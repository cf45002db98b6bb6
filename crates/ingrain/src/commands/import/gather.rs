//! Finds and reads the files of an import, and recognises their formats.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::Failure;
use crate::import_formats::{
    FILE_BYTES_MAX, FILES_MAX, FOLDER_DEPTH_MAX, InputFile, SourceFormat, recognise_markdown, recognise_records,
};
use crate::text_io::read_text_file;

/// Files with instructions for agents in the root of a repository; links count, `AGENTS.md` is often one.
const INSTRUCTION_FILES: &[&str] = &[
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
];
const CURSOR_RULES: &str = ".cursor/rules";
const MEMORY_INDEX: &str = "MEMORY.md";

/// Files of an import.
#[derive(Default)]
pub struct GatheredSources {
    /// Exports of Ingrain, which have a reader of their own.
    pub own: Vec<PathBuf>,
    pub foreign: Vec<(SourceFormat, Vec<InputFile>)>,
    /// Files that were left out, in words.
    pub notes: Vec<String>,
    files: usize,
}

impl GatheredSources {
    /// Adds a file or folder. `forced`: the format, instead of recognising it.
    pub fn add_path(&mut self, path: &Path, forced: Option<SourceFormat>) -> Result<(), Failure> {
        let whole = path.canonicalize().map_err(|error| Failure::unreadable_input(path.display(), &error))?;
        match (forced, whole.is_dir()) {
            (Some(SourceFormat::Ingrain), _) => self.own.push(path.to_owned()),
            (_, true) => self.add_folder(path, &whole, forced)?,
            (_, false) => self.add_file(path, &whole, forced)?,
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, whole: &Path, forced: Option<SourceFormat>) -> Result<(), Failure> {
        // A path of the command line is named as it was given: a link may have another name than its target.
        let file_name = path.file_name().or(whole.file_name()).unwrap_or_default().to_string_lossy().into_owned();
        let is_large = std::fs::metadata(whole).is_ok_and(|metadata| metadata.len() > FILE_BYTES_MAX);
        if forced.is_none() && is_large && names_own_export(whole) {
            self.own.push(path.to_owned());
            return Ok(());
        }
        let text = read_bounded(whole)?;
        let format = forced.unwrap_or_else(|| match is_records(&file_name, &text) {
            true => recognise_records(&text),
            false => recognise_markdown(&file_name, &text),
        });
        match format {
            SourceFormat::Ingrain => self.own.push(path.to_owned()),
            // The index alone says little; its topic files are beside it.
            SourceFormat::ClaudeMemory if forced.is_none() && file_name == MEMORY_INDEX => {
                let folder = whole.parent().unwrap_or(whole);
                self.add_folder(folder, folder, Some(SourceFormat::ClaudeMemory))?;
            }
            format => {
                let name = match is_records(&file_name, &text) {
                    true => file_name,
                    false => name_in_repository(whole, &file_name),
                };
                self.push(format, vec![InputFile { name, text }])?;
            }
        }
        Ok(())
    }

    fn add_folder(&mut self, path: &Path, whole: &Path, forced: Option<SourceFormat>) -> Result<(), Failure> {
        let folder_name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(format) = forced {
            let files = self.read_folder(whole, &folder_name, extensions_of(format))?;
            return self.push_or_nothing(path, format, files);
        }
        if whole.join(MEMORY_INDEX).is_file() {
            let files = self.read_folder(whole, &folder_name, &["md"])?;
            return self.push_or_nothing(path, SourceFormat::ClaudeMemory, files);
        }
        if self.add_instruction_files(whole)? {
            return Ok(());
        }
        let rules = self.read_folder(whole, &folder_name, &["mdc"])?;
        if !rules.is_empty() {
            return self.push(SourceFormat::CursorRules, rules);
        }
        let notes = self.read_folder(whole, &folder_name, &["md", "markdown"])?;
        let formats: Vec<SourceFormat> =
            notes.iter().map(|file| recognise_markdown(last_part(&file.name), &file.text)).collect();
        // One format for all: a folder is one tool's.
        let has = |format| formats.contains(&format);
        match () {
            () if has(SourceFormat::Ingrain) => {
                self.own.push(path.to_owned());
                Ok(())
            }
            () if has(SourceFormat::BasicMemory) => self.push(SourceFormat::BasicMemory, notes),
            () if !notes.is_empty() => self.push(SourceFormat::Markdown, notes),
            () => {
                let records = self.read_folder(whole, &folder_name, &["json", "jsonl", "ndjson"])?;
                let is_foreign = |file: &InputFile| recognise_records(&file.text) != SourceFormat::Ingrain;
                let records: Vec<InputFile> = records.into_iter().filter(is_foreign).collect();
                if records.is_empty() {
                    return Err(nothing_found(path));
                }
                let mut by_format: HashMap<SourceFormat, Vec<InputFile>> = HashMap::new();
                for file in records {
                    by_format.entry(recognise_records(&file.text)).or_default().push(file);
                }
                by_format.into_iter().try_for_each(|(format, files)| self.push(format, files))
            }
        }
    }

    /// Adds the instruction files of a repository; whether there was one.
    fn add_instruction_files(&mut self, folder: &Path) -> Result<bool, Failure> {
        let mut is_repository = false;
        for name in INSTRUCTION_FILES {
            let file = folder.join(name);
            if file.is_file() {
                is_repository = true;
                let (text, name) = (read_bounded(&file)?, name_in_repository(&file, name));
                self.push(recognise_markdown(last_part(&name), &text), vec![InputFile { name, text }])?;
            }
        }
        let rules = folder.join(CURSOR_RULES);
        if rules.is_dir() {
            is_repository = true;
            let name = name_in_repository(&rules, CURSOR_RULES);
            let files = self.read_folder(&rules, &name, &["mdc"])?;
            self.push(SourceFormat::CursorRules, files)?;
        }
        Ok(is_repository)
    }

    fn push(&mut self, format: SourceFormat, files: Vec<InputFile>) -> Result<(), Failure> {
        self.files += files.len();
        if self.files > FILES_MAX {
            return Err(too_many());
        }
        self.foreign.push((format, files));
        Ok(())
    }

    fn push_or_nothing(&mut self, path: &Path, format: SourceFormat, files: Vec<InputFile>) -> Result<(), Failure> {
        if files.is_empty() { Err(nothing_found(path)) } else { self.push(format, files) }
    }

    /// Files below a folder with one of these extensions, in order. Hidden files and links are passed over.
    fn read_folder(&mut self, folder: &Path, name: &str, extensions: &[&str]) -> Result<Vec<InputFile>, Failure> {
        let mut paths = Vec::new();
        self.list_folder(folder, extensions, 0, &mut paths)?;
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            let below = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            match read_bounded(&path) {
                Ok(text) => files.push(InputFile { name: format!("{name}/{below}"), text }),
                Err(failure) => self.notes.push(format!("left out: {}", failure.message())),
            }
        }
        Ok(files)
    }

    fn list_folder(
        &mut self,
        folder: &Path,
        extensions: &[&str],
        depth: usize,
        paths: &mut Vec<PathBuf>,
    ) -> Result<(), Failure> {
        if depth > FOLDER_DEPTH_MAX {
            self.notes.push(format!("left out: `{}` is more than {FOLDER_DEPTH_MAX} folders down", folder.display()));
            return Ok(());
        }
        let unreadable = |error: std::io::Error| Failure::unreadable_input(folder.display(), &error);
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let has_extension =
                path.extension().and_then(|end| end.to_str()).is_some_and(|end| extensions.contains(&end));
            match () {
                () if is_hidden || entry.file_name() == "node_modules" => {}
                () if kind.is_dir() => self.list_folder(&path, extensions, depth + 1, paths)?,
                () if kind.is_file() && has_extension => paths.push(path),
                () => {}
            }
            if paths.len() > FILES_MAX {
                return Err(too_many());
            }
        }
        Ok(())
    }
}

fn too_many() -> Failure {
    Failure::user_error("import.too_many_files", format!("more than {FILES_MAX} files: import the folder in parts"))
}

fn nothing_found(path: &Path) -> Failure {
    Failure::user_error("not_found", format!("nothing to import in `{}`", path.display()))
        .with_hint("`ingrain import --help` lists the formats")
}

fn extensions_of(format: SourceFormat) -> &'static [&'static str] {
    match format {
        SourceFormat::CursorRules => &["mdc"],
        SourceFormat::McpMemory | SourceFormat::Mem0 | SourceFormat::Jsonl => &["json", "jsonl", "ndjson"],
        _ => &["md", "markdown"],
    }
}

fn is_records(file_name: &str, text: &str) -> bool {
    let extension = file_name.rsplit_once('.').map(|(_, end)| end.to_lowercase()).unwrap_or_default();
    let is_markdown = ["md", "mdc", "markdown", "txt", "cursorrules"].contains(&extension.as_str());
    !is_markdown
        && (text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) || extension.starts_with("json"))
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a file that is too large to read at once begins like an export of Ingrain.
fn names_own_export(file: &Path) -> bool {
    let mut start = String::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(4096).read_to_string(&mut start));
    read.is_ok() && start.contains("ingrain_export")
}

fn read_bounded(file: &Path) -> Result<String, Failure> {
    let metadata = std::fs::metadata(file).map_err(|error| Failure::unreadable_input(file.display(), &error))?;
    // A pipe or device could block.
    if !metadata.is_file() {
        return Err(Failure::user_error("input.unreadable", format!("`{}` is not a file", file.display())));
    }
    if metadata.len() > FILE_BYTES_MAX {
        let message = format!("`{}` is larger than {FILE_BYTES_MAX} bytes", file.display());
        return Err(Failure::user_error("shape.too_large", message));
    }
    read_text_file(file)
}

/// Name of a file below the root of its git repository, so that the CLAUDE.md of two folders stay apart; outside of one
/// the given name.
fn name_in_repository(file: &Path, name: &str) -> String {
    let Ok(folder) = file.parent().unwrap_or(file).canonicalize() else { return name.to_owned() };
    let Some(root) = folder.ancestors().find(|folder| folder.join(".git").exists()) else { return name.to_owned() };
    let below = folder.strip_prefix(root).unwrap_or(Path::new("")).join(last_part(name));
    below.to_string_lossy().into_owned()
}
