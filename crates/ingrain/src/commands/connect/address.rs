//! The server that a client is told to reach: this binary with its settings, or the URL of a team server.

use std::path::{Path, PathBuf};

use super::ConnectScope;
use super::entry::ServerAddress;
use crate::assemble::database_path;
use crate::config::{Environment, LoadedConfig};
use crate::error::Failure;

/// The command of a local server.
///
/// For a user it has absolute paths and the settings of this call: the client starts it in another folder and without
/// the variables of this shell. In a project it is the plain name, because the file is committed.
pub fn local_command(
    loaded: &LoadedConfig,
    environment: &Environment,
    scope: ConnectScope,
) -> Result<ServerAddress, Failure> {
    if scope == ConnectScope::Project {
        return Ok(project_command());
    }
    let mut arguments = server_arguments();
    arguments.extend(settings_of_call(loaded)?);
    Ok(ServerAddress::Command { program: own_program(environment)?, arguments })
}

/// This program with the settings of this call, for hooks.
pub fn hook_command(
    loaded: &LoadedConfig,
    environment: &Environment,
    scope: ConnectScope,
) -> Result<ServerAddress, Failure> {
    match scope {
        ConnectScope::Project => Ok(ServerAddress::Command { program: "ingrain".to_owned(), arguments: Vec::new() }),
        ConnectScope::User => {
            let arguments = settings_of_call(loaded)?;
            Ok(ServerAddress::Command { program: own_program(environment)?, arguments })
        }
    }
}

/// Flags for the settings of this call that a client would not have.
fn settings_of_call(loaded: &LoadedConfig) -> Result<Vec<String>, Failure> {
    let mut arguments = Vec::new();
    let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    // Settings of config.toml are found again by the server; those of this call are not.
    if loaded.is_set_outside_file("home") {
        add("--home", absolute(&loaded.config.home));
    }
    if loaded.is_file_chosen {
        add("--config", absolute(&loaded.file));
    }
    if loaded.is_set_outside_file("db") {
        match database_path(&loaded.config) {
            Ok(path) => add("--db", absolute(&path)),
            Err(_) => check_no_password(&loaded.config.db).map(|()| add("--db", loaded.config.db.clone()))?,
        }
    }
    if loaded.is_set_outside_file("tenant") {
        add("--tenant", loaded.config.tenant.clone());
    }
    Ok(arguments)
}

/// The command in a project: the same on every machine.
pub fn project_command() -> ServerAddress {
    ServerAddress::Command { program: "ingrain".to_owned(), arguments: server_arguments() }
}

fn server_arguments() -> Vec<String> {
    vec!["mcp".to_owned()]
}

/// Absolute path of this program; the name in `PATH` if it leads here, because it survives an update.
fn own_program(environment: &Environment) -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::system_error("connect.program", format!("cannot find the path of this program: {error}"))
    })?;
    let in_path = environment.find_program("ingrain").filter(|found| {
        found.is_absolute() && found.canonicalize().ok().is_some_and(|found| Some(found) == program.canonicalize().ok())
    });
    Ok(in_path.unwrap_or(program).display().to_string())
}

fn check_no_password(url: &str) -> Result<(), Failure> {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest).split(['/', '?']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    match user.contains(':') || url.contains("password=") {
        true => Err(Failure::user_error("connect.password", "the database address holds a password")
            .with_hint("put it into config.toml as `db`: the clients' files get no secrets")),
        false => Ok(()),
    }
}

/// Checks the address of a team server. Without a path it is the server's MCP endpoint.
pub fn check_url(url: &str) -> Result<String, Failure> {
    let wrong = |why: &str| {
        Failure::user_error("connect.url", format!("`--url` {why}")).with_hint("as in `https://memory.example/mcp`")
    };
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let rest = rest.ok_or_else(|| wrong("does not begin with `https://` or `http://`"))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.is_empty() || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(wrong("names no server"));
    }
    if authority.contains('@') {
        return Err(wrong("holds a user or a password, which clients would store in clear"));
    }
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host).trim_matches(['[', ']']);
    let local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if url.starts_with("http://") && !local {
        return Err(wrong("is not encrypted: use `https://`, or `http://` on this machine only"));
    }
    Ok(if path.is_empty() { format!("{}/mcp", url.trim_end_matches('/')) } else { url.to_owned() })
}

/// Root of the project of the working directory: the folder with `.git`, else the directory itself.
pub fn project_root() -> Result<PathBuf, Failure> {
    let folder = std::env::current_dir().and_then(|folder| folder.canonicalize()).map_err(|error| {
        Failure::system_error("connect.folder", format!("cannot find the working directory: {error}"))
    })?;
    Ok(folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&folder).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers_are_checked() {
        let check = |url: &str, expected: Option<&str>| assert_eq!(check_url(url).ok().as_deref(), expected, "{url}");
        check("https://memory.example", Some("https://memory.example/mcp"));
        check("https://memory.example/", Some("https://memory.example/mcp"));
        check("https://memory.example/mcp?tools=core", Some("https://memory.example/mcp?tools=core"));
        check("http://127.0.0.1:4647", Some("http://127.0.0.1:4647/mcp"));
        check("http://[::1]:4647/mcp", Some("http://[::1]:4647/mcp"));
        for odd in ["memory.example", "ftp://a/mcp", "https://", "https://a b/mcp", "https://u:p@a/mcp", "http://a/mcp"]
        {
            check(odd, None);
        }
    }

    #[test]
    fn passwords_of_databases_stay_out_of_clients() {
        assert!(check_no_password("postgres://app@db/ingrain").is_ok());
        for url in ["postgres://app:secret@db/ingrain", "postgres://db/ingrain?password=secret"] {
            assert!(check_no_password(url).is_err(), "{url}");
        }
    }
}
