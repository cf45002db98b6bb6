//! Checks each connection for `doctor`: the entry is in the client's file, and what it names answers.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::clients::{CLIENTS, Client, SecretStyle};
use super::entry::{Addition, ServerAddress, Slot, build_additions, read_address};
use super::files::ConfigFile;
use super::manifest::Manifest;
use super::{SERVER_NAME, address, edit, handshake};
use crate::config::Environment;
use crate::error::Failure;

/// State of one connection.
pub enum ConnectionHealth {
    Good(String),
    /// It may work; detail and next step.
    Unknown(String, String),
    /// Detail and next step.
    Broken(String, String),
}

/// A place where a client has, or should have, our entry.
struct Candidate {
    client: &'static Client,
    project: Option<PathBuf>,
    file: PathBuf,
    path: Vec<String>,
    /// The entry that `connect` wrote there.
    recorded: Option<Value>,
}

/// Checks what `connect` wrote, and entries of our name that somebody wrote by hand. Each is contacted.
pub fn check_connections(home: &Path, environment: &Environment) -> Result<Vec<ConnectionHealth>, Failure> {
    let candidates = find_candidates(&Manifest::read(home)?, environment);
    Ok(candidates.iter().filter_map(|candidate| check_candidate(candidate, environment)).collect())
}

fn find_candidates(manifest: &Manifest, environment: &Environment) -> Vec<Candidate> {
    let servers = manifest.connections.iter().filter(|connection| !connection.is_hooks());
    let recorded = servers.filter_map(|connection| {
        Some(Candidate {
            client: Client::find(&connection.client)?,
            project: connection.project.clone(),
            file: connection.file.clone(),
            path: connection.additions.last()?.path.clone(),
            recorded: Some(connection.additions.last()?.value.clone()),
        })
    });
    let mut candidates: Vec<Candidate> = recorded.collect();
    let root = address::project_root().ok();
    for client in CLIENTS {
        for project in [None, root.clone()] {
            let path = client.config_path(project.as_deref(), environment);
            let Some(file) = path.and_then(|path| path.canonicalize().ok()) else { continue };
            if candidates.iter().any(|candidate| candidate.file == file) {
                continue;
            }
            let path = client.servers.iter().copied().chain([SERVER_NAME]).map(str::to_owned).collect();
            candidates.push(Candidate { client, project, file, path, recorded: None });
        }
    }
    candidates
}

/// `None` if there is nothing to check: no entry, and none recorded.
fn check_candidate(candidate: &Candidate, environment: &Environment) -> Option<ConnectionHealth> {
    let client = candidate.client;
    let place = format!("{} in {}", client.title, candidate.file.display());
    let again = || format!("`ingrain connect {}` writes it again, `ingrain disconnect` forgets it", client.id);
    let entry = Addition { path: candidate.path.clone(), slot: Slot::Value, fields: Vec::new() };
    let text = ConfigFile::read(&candidate.file).and_then(|file| match file.text {
        Some(text) => edit::find(client.format, &text, &entry).map_err(|why| format!("cannot be understood, {why}")),
        None => Ok(None),
    });
    match text {
        Err(why) if candidate.recorded.is_some() => {
            Some(ConnectionHealth::Broken(format!("{place}: the file {why}"), "correct the file".to_owned()))
        }
        Ok(None) if candidate.recorded.is_some() => {
            Some(ConnectionHealth::Broken(format!("{place}: the entry is gone"), again()))
        }
        Err(_) | Ok(None) => None,
        Ok(Some(value)) if !is_trusted(candidate, &value) => Some(ConnectionHealth::Unknown(
            format!("{place}: not contacted, because somebody else wrote the entry"),
            "read it before you start the client in this project".to_owned(),
        )),
        Ok(Some(value)) => match read_address(client, &value) {
            Some(server) => Some(contact(candidate, &place, &server, environment)),
            None => Some(ConnectionHealth::Broken(format!("{place}: the entry has no command and no URL"), again())),
        },
    }
}

/// Whether an entry may be started or given a key. What is in a project came with the project: a stranger's repository
/// must not make this command run programs or send keys.
fn is_trusted(candidate: &Candidate, value: &Value) -> bool {
    let usual = || {
        let additions = build_additions(candidate.client, SERVER_NAME, &address::project_command());
        additions.ok().and_then(|additions| Some(additions.last()?.value()))
    };
    candidate.project.is_none() || candidate.recorded.as_ref() == Some(value) || usual().as_ref() == Some(value)
}

fn contact(candidate: &Candidate, place: &str, server: &ServerAddress, environment: &Environment) -> ConnectionHealth {
    let counted = match server {
        ServerAddress::Command { program, arguments } => {
            handshake::shake_command(program, arguments, candidate.project.as_deref())
        }
        ServerAddress::Url { url, key_variable } => {
            let key = key_variable.as_deref().and_then(|name| environment.get(name)).filter(|key| !key.is_empty());
            let counted = handshake::shake_url(url, key);
            if let (Err(why), None) = (&counted, key)
                && why.contains("wants a key")
            {
                return missing_key(candidate.client, place, url, key_variable.as_deref());
            }
            counted
        }
    };
    match counted {
        Ok(tools) => ConnectionHealth::Good(format!("{place}: both protocol versions answer with {tools} tools")),
        Err(why) => {
            let hint = match server {
                ServerAddress::Command { .. } => {
                    format!("`ingrain connect {}` writes the command of this program", candidate.client.id)
                }
                ServerAddress::Url { url, .. } => format!("check that the server at {url} runs, and its key"),
            };
            ConnectionHealth::Broken(format!("{place}: {why}"), hint)
        }
    }
}

fn missing_key(client: &Client, place: &str, url: &str, variable: Option<&str>) -> ConnectionHealth {
    let hint = match (client.secret, variable) {
        (SecretStyle::Prompt, _) => format!("{} asks for the key itself and keeps it; look there", client.title),
        (_, Some(name)) => format!("`export {name}=…` in the shell that starts {} and this command", client.title),
        (_, None) => "connect again without `--no-key`".to_owned(),
    };
    ConnectionHealth::Unknown(format!("{place}: {url} answers, but wants a key that this shell does not have"), hint)
}
