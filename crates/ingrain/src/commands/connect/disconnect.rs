//! `disconnect`: restores the configurations that `connect` changed.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use engine::text::digest::content_sha256;

use super::clients::CLIENTS;
use super::files::{ConfigFile, remove_empty_folders};
use super::manifest::{Connection, Manifest};
use super::{ClientReport, ConnectScope, Report, ask, can_ask, edit, paint_diff, render_client, unified_diff};
use crate::config::LoadedConfig;
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, Args)]
pub struct DisconnectArgs {
    /// Clients to disconnect; default: all that `connect` connected
    #[arg(value_name = "CLIENT", value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.id)))]
    clients: Vec<String>,
    /// Only the configurations of the user, or only those in projects
    #[arg(long, value_enum)]
    scope: Option<ConnectScope>,
    /// Show the changes and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask before writing; without a terminal nothing is asked
    #[arg(long, short)]
    yes: bool,
}

/// How a configuration gets back to what it was.
enum Restoration {
    /// Byte for byte: the copy from before, or no file.
    Copy(Option<String>),
    /// Somebody else changed the file since: only our entry is removed.
    WithoutEntry(String),
    /// Nothing to do; why.
    Done(&'static str),
    /// The file is left alone; why.
    Failed(String),
}

impl DisconnectArgs {
    pub fn run(&self, loaded: &LoadedConfig, output: &Output) -> Result<(), Failure> {
        let mut manifest = match self.dry_run {
            true => Manifest::read(&loaded.config.home)?,
            false => Manifest::lock(&loaded.config.home, output)?,
        };
        let (chosen, kept): (Vec<Connection>, Vec<Connection>) =
            manifest.connections.iter().cloned().partition(|connection| self.chooses(connection));
        if chosen.is_empty() {
            let report = Report { status: "unchanged", clients: Vec::new(), hooks: Vec::new() };
            return output
                .print_answer(&report, || "nothing to disconnect: `ingrain connect` changed no such file".to_owned());
        }
        let write = !self.dry_run && self.confirm(&chosen, &manifest, output)?;
        let mut reports = Vec::new();
        manifest.connections = kept;
        let mut used_copies = Vec::new();
        // Last change first: two entries in one file come off in reverse order.
        for connection in chosen.into_iter().rev() {
            let (file, restoration) = plan_restoration(&connection, &manifest);
            let is_hooks = connection.is_hooks();
            let report = restore(&connection, file.as_ref(), &restoration, write, &manifest);
            if !write || report.status == "failed" {
                manifest.connections.push(connection);
            } else if let (Some(name), Restoration::Copy(_)) = (&connection.backup, &restoration) {
                used_copies.push(name.clone());
            }
            reports.push((is_hooks, report));
        }
        // Only now: two files that were alike share a copy.
        used_copies.iter().for_each(|name| manifest.drop_backup(name));
        if write {
            manifest.save().map_err(|why| Failure::system_error("connect.manifest", why))?;
        }
        self.report(reports, write, output)
    }

    fn chooses(&self, connection: &Connection) -> bool {
        let client = self.clients.is_empty() || self.clients.contains(&connection.client);
        let scope = match self.scope {
            None => true,
            Some(scope) => (scope == ConnectScope::Project) == connection.project.is_some(),
        };
        client && scope
    }

    fn confirm(&self, chosen: &[Connection], manifest: &Manifest, output: &Output) -> Result<bool, Failure> {
        if self.yes || !can_ask(output) {
            return Ok(true);
        }
        for connection in chosen {
            let (file, restoration) = plan_restoration(connection, manifest);
            let head = output.paint(Tone::Strong, &connection.file.display().to_string());
            output.print_text(&format!("{head}\n{}", paint_diff(output, &diff(file.as_ref(), &restoration))))?;
        }
        Ok(ask("write these changes? [Y/n] "))
    }

    /// Reports what happened; each report says whether it is about hooks.
    fn report(&self, reports: Vec<(bool, ClientReport)>, written: bool, output: &Output) -> Result<(), Failure> {
        let (hooks, clients): (Vec<_>, Vec<_>) = reports.into_iter().partition(|(is_hooks, _)| *is_hooks);
        let reports_of = |pairs: Vec<(bool, ClientReport)>| pairs.into_iter().map(|(_, report)| report).collect();
        let (hooks, clients): (Vec<ClientReport>, Vec<ClientReport>) = (reports_of(hooks), reports_of(clients));
        let failed = clients.iter().chain(&hooks).any(|client| client.status == "failed");
        let status = match (failed, self.dry_run, written) {
            (true, ..) => "failed",
            (_, true, _) => "dry_run",
            (_, _, true) => "disconnected",
            _ => "unchanged",
        };
        let report = Report { status, clients, hooks };
        let asked = can_ask(output) && !self.yes && !self.dry_run;
        output.print_answer(&report, || {
            let all = report.clients.iter().chain(&report.hooks);
            all.map(|client| render_client(output, client, !asked)).collect()
        })?;
        if failed { Err(Failure::AlreadyReported(1)) } else { Ok(()) }
    }
}

fn plan_restoration(connection: &Connection, manifest: &Manifest) -> (Option<ConfigFile>, Restoration) {
    match ConfigFile::read(&connection.file) {
        Err(why) => (None, Restoration::Failed(format!("left alone: it {why}"))),
        Ok(file) => {
            let restoration = choose_restoration(connection, &file, manifest);
            (Some(file), restoration)
        }
    }
}

fn choose_restoration(connection: &Connection, file: &ConfigFile, manifest: &Manifest) -> Restoration {
    let Some(text) = &file.text else { return Restoration::Done("the file is gone") };
    let sha256 = content_sha256(text);
    if connection.before_sha256.as_ref() == Some(&sha256) {
        return Restoration::Done("the file is as it was before");
    }
    if let Err(why) = file.check_writable() {
        return Restoration::Failed(format!("left alone: it {why}"));
    }
    if sha256 == connection.after_sha256 {
        match &connection.backup {
            None => return Restoration::Copy(None),
            // A damaged copy is no copy: the entry is removed instead.
            Some(name) => {
                if let Some(copy) = manifest.read_backup(name) {
                    return Restoration::Copy(Some(copy));
                }
            }
        }
    }
    let entry = connection.entry().map(|entry| edit::find(connection.format(), text, &entry));
    match entry {
        Some(Ok(None)) | None => Restoration::Done("somebody else removed the entry already"),
        Some(Err(why)) => Restoration::Failed(describe_broken(connection, manifest, &why)),
        Some(Ok(Some(_))) => {
            let removed = edit::remove(connection.format(), text, &connection.additions(), connection.made_parents);
            removed.map_or_else(
                |why| Restoration::Failed(describe_broken(connection, manifest, &why)),
                Restoration::WithoutEntry,
            )
        }
    }
}

fn describe_broken(connection: &Connection, manifest: &Manifest, why: &str) -> String {
    let backup = connection.backup.as_deref().map(|name| manifest.backup_path(name));
    let copy = backup.map(|path| format!("; a copy from before `connect` is `{}`", path.display()));
    format!("left alone: somebody else changed it, and it cannot be understood, {why}{}", copy.unwrap_or_default())
}

fn diff(file: Option<&ConfigFile>, restoration: &Restoration) -> String {
    let before = file.and_then(|file| file.text.as_deref()).unwrap_or_default();
    match restoration {
        Restoration::Copy(copy) => unified_diff(before, copy.as_deref().unwrap_or_default()),
        Restoration::WithoutEntry(after) => unified_diff(before, after),
        Restoration::Done(_) | Restoration::Failed(_) => String::new(),
    }
}

fn restore(
    connection: &Connection,
    file: Option<&ConfigFile>,
    restoration: &Restoration,
    write: bool,
    manifest: &Manifest,
) -> ClientReport {
    let private = connection.project.is_none();
    let written = match (file, restoration, write) {
        (Some(file), Restoration::Copy(Some(copy)), true) => file.replace(copy, private).map(|_| ()),
        (Some(file), Restoration::Copy(None), true) => file.delete(),
        (Some(file), Restoration::WithoutEntry(after), true) => file.replace(after, private).map(|_| ()),
        _ => Ok(()),
    };
    let (status, reason) = match (written, restoration) {
        (Err(why), _) => ("failed", Some(format!("left alone: it {why}"))),
        (_, Restoration::Failed(why)) => ("failed", Some(why.clone())),
        (_, Restoration::Done(why)) => ("unchanged", Some((*why).to_owned())),
        (Ok(()), _) if !write => ("planned", None),
        (Ok(()), Restoration::Copy(_)) => ("restored", Some("byte for byte".to_owned())),
        (Ok(()), Restoration::WithoutEntry(_)) => {
            ("removed", Some("somebody else changed the file since: only our entry was removed".to_owned()))
        }
    };
    if write && status != "failed" && !connection.file.exists() {
        remove_empty_folders(&connection.made_folders);
    }
    // The copy of a file that others changed is kept and named.
    let kept = matches!(restoration, Restoration::WithoutEntry(_)).then(|| connection.backup.clone()).flatten();
    ClientReport {
        client: connection.client.clone(),
        scope: connection.scope(),
        file: Some(connection.file.clone()),
        status,
        reason,
        note: None,
        diff: diff(file, restoration),
        backup: kept.map(|name| -> PathBuf { manifest.backup_path(&name) }),
    }
}
