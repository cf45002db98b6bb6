//! The planned change of one client's configuration, and carrying it out.

use std::path::{Path, PathBuf};

use engine::text::digest::content_sha256;
use jiff::Timestamp;

use super::clients::{Client, Format};
use super::entry::{Addition, Slot};
use super::files::ConfigFile;
use super::manifest::{Connection, Manifest, RecordedAddition};
use super::{ClientReport, edit, unified_diff};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanStatus {
    /// The entry is there as wanted.
    Unchanged,
    Change,
    Changed,
    /// The file is left alone; why.
    Failed(String),
}

/// What will happen to one client.
pub struct Plan {
    pub client: &'static Client,
    pub status: PlanStatus,
    project: Option<PathBuf>,
    /// The path as the client knows it; links are not followed.
    path: Option<PathBuf>,
    file: Option<ConfigFile>,
    additions: Vec<Addition>,
    after: String,
    /// Name of the copy of the file, once it is made.
    backup: Option<String>,
}

impl Plan {
    /// Plans the change. Nothing is written.
    pub fn new(
        client: &'static Client,
        project: Option<&Path>,
        path: Option<PathBuf>,
        wanted: Result<Vec<Addition>, String>,
        force: bool,
        manifest: &Manifest,
    ) -> Plan {
        let project = project.map(Path::to_owned);
        let mut plan = Plan {
            client,
            status: PlanStatus::Unchanged,
            project,
            path,
            file: None,
            additions: Vec::new(),
            after: String::new(),
            backup: None,
        };
        let planned = wanted.and_then(|additions| {
            plan.additions = additions;
            plan.plan_change(force, manifest)
        });
        plan.status = planned.unwrap_or_else(PlanStatus::Failed);
        plan
    }

    /// Plans the change of a file that another plan may have changed meanwhile.
    pub fn plan_again(&mut self, force: bool, manifest: &Manifest) {
        if self.status == PlanStatus::Change {
            self.status = self.plan_change(force, manifest).unwrap_or_else(PlanStatus::Failed);
        }
    }

    fn plan_change(&mut self, force: bool, manifest: &Manifest) -> Result<PlanStatus, String> {
        let path = self.path.as_ref().ok_or_else(|| match self.project {
            Some(_) => format!("{} has no configuration in a project", self.client.title),
            None => "the home directory is unknown: `HOME` is not set".to_owned(),
        })?;
        let file = ConfigFile::read(path).map_err(|why| format!("left alone: it {why}"))?;
        let before = file.text.clone().unwrap_or_default();
        let left_alone = |why: String| format!("left alone: it cannot be understood, {why}");
        let format = Format::of(&file.path);
        let mut entry_there = None;
        let mut as_wanted = true;
        for addition in &self.additions {
            let there = edit::find(format, &before, addition).map_err(left_alone)?;
            as_wanted &= match addition.slot {
                Slot::IfMissing => there.is_some(),
                Slot::Value | Slot::ListItem => there.as_ref() == Some(&addition.value()),
            };
            entry_there = there;
        }
        let (recorded, writable) = (self.record_position(&file, manifest).is_some(), file.check_writable());
        self.file = Some(file);
        if as_wanted {
            return Ok(PlanStatus::Unchanged);
        }
        // A hook that is there is ours: it calls this program.
        let is_server = self.additions.last().is_some_and(|entry| entry.slot == Slot::Value);
        if entry_there.is_some() && is_server && !recorded && !force {
            let name = self.additions.last().and_then(|entry| entry.path.last()).cloned().unwrap_or_default();
            return Err(format!(
                "left alone: it has another server named `{name}`; `--force` replaces it, `--name NAME` adds ours \
                 beside it"
            ));
        }
        writable.map_err(|why| format!("left alone: it {why}"))?;
        self.after = edit::add(format, &before, &self.additions).map_err(left_alone)?;
        Ok(PlanStatus::Change)
    }

    fn record_position(&self, file: &ConfigFile, manifest: &Manifest) -> Option<usize> {
        manifest.position(&file.path, &self.additions.last()?.path)
    }

    /// Writes the change: first the copy, then the record, then the file. A crash in between leaves a record whose file
    /// is as before, which `disconnect` recognises.
    pub fn apply(&mut self, manifest: &mut Manifest, at: Timestamp) {
        if self.status == PlanStatus::Change {
            self.status = match self.write(manifest, at) {
                Ok(()) => PlanStatus::Changed,
                Err(why) => PlanStatus::Failed(why),
            };
        }
    }

    fn write(&mut self, manifest: &mut Manifest, at: Timestamp) -> Result<(), String> {
        let file = self.file.as_ref().ok_or("the file was not read")?;
        let position = self.record_position(file, manifest);
        let known = position.map(|position| manifest.connections[position].clone());
        let before = self.text_before_connect(file, known.as_ref(), manifest)?;
        let backup = before.as_deref().map(|text| manifest.save_backup(text)).transpose()?;
        self.backup.clone_from(&backup);
        let made_parents = match (&known, self.additions.last()) {
            (Some(known), _) => known.made_parents,
            (None, Some(entry)) => {
                edit::count_missing_parents(Format::of(&file.path), file.text.as_deref().unwrap_or_default(), entry)?
            }
            (None, None) => 0,
        };
        let mut record = Connection {
            client: self.client.id.to_owned(),
            project: self.project.clone(),
            file: file.path.clone(),
            additions: self.recorded_additions(before.as_deref().unwrap_or_default()),
            made_parents,
            made_folders: known.map(|known| known.made_folders).unwrap_or_default(),
            before_sha256: before.as_deref().map(content_sha256),
            backup,
            after_sha256: content_sha256(&self.after),
            at,
        };
        let position = position.unwrap_or(manifest.connections.len());
        let recorded_before = manifest.connections.clone();
        put(&mut manifest.connections, position, record.clone());
        manifest.save()?;
        let made_folders = match file.replace(&self.after, self.project.is_none()) {
            Ok(made_folders) => made_folders,
            Err(why) => {
                // Nothing was changed, so nothing is to be undone.
                manifest.connections = recorded_before;
                manifest.save()?;
                return Err(format!("left alone: it {why}"));
            }
        };
        if !made_folders.is_empty() {
            record.made_folders = made_folders;
            put(&mut manifest.connections, position, record);
            manifest.save()?;
        }
        Ok(())
    }

    /// The additions without those that were there before.
    fn recorded_additions(&self, before: &str) -> Vec<RecordedAddition> {
        let format = self.file.as_ref().map_or(Format::Json, |file| Format::of(&file.path));
        let is_ours = |addition: &&Addition| {
            addition.slot != Slot::IfMissing || edit::find(format, before, addition).is_ok_and(|there| there.is_none())
        };
        self.additions.iter().filter(is_ours).map(RecordedAddition::new).collect()
    }

    /// The file without our entry: what `disconnect` brings back. `None` if there was no file.
    fn text_before_connect(
        &self,
        file: &ConfigFile,
        known: Option<&Connection>,
        manifest: &Manifest,
    ) -> Result<Option<String>, String> {
        let (Some(text), Some(known)) = (&file.text, known) else { return Ok(file.text.clone()) };
        let sha256 = content_sha256(text);
        match (&known.backup, &known.before_sha256) {
            // The last change was not carried out: the file is as it was.
            (_, Some(before)) if *before == sha256 => Ok(Some(text.clone())),
            // Nobody else changed it since: the first copy stands.
            (None, None) if known.after_sha256 == sha256 => Ok(None),
            (Some(name), _) if known.after_sha256 == sha256 && manifest.read_backup(name).is_some() => {
                Ok(manifest.read_backup(name))
            }
            _ => edit::remove(Format::of(&file.path), text, &known.additions(), known.made_parents).map(Some),
        }
    }

    /// What changed, or would.
    pub fn diff(&self) -> String {
        let before = self.file.as_ref().and_then(|file| file.text.as_deref()).unwrap_or_default();
        match self.status {
            PlanStatus::Change | PlanStatus::Changed => unified_diff(before, &self.after),
            _ => String::new(),
        }
    }

    pub fn shown_path(&self) -> String {
        self.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
    }

    pub fn report(&self, manifest: &Manifest, written: bool) -> ClientReport {
        let (status, reason) = match &self.status {
            PlanStatus::Unchanged => ("unchanged", Some("it is connected already".to_owned())),
            PlanStatus::Change if written => ("failed", None),
            PlanStatus::Change => ("planned", None),
            PlanStatus::Changed => ("connected", None),
            PlanStatus::Failed(why) => ("failed", Some(why.clone())),
        };
        let changed = matches!(self.status, PlanStatus::Change | PlanStatus::Changed);
        let note = self.client.project_note.filter(|_| self.project.is_some() && changed);
        ClientReport {
            client: self.client.id.to_owned(),
            scope: if self.project.is_some() { "project" } else { "user" },
            file: self.path.clone(),
            status,
            reason,
            note: note.map(str::to_owned),
            diff: self.diff(),
            backup: self.backup.as_deref().map(|name| manifest.backup_path(name)),
        }
    }
}

fn put(connections: &mut Vec<Connection>, position: usize, connection: Connection) {
    match connections.get_mut(position) {
        Some(slot) => *slot = connection,
        None => connections.push(connection),
    }
}
