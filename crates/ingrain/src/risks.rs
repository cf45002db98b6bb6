//! Risks of an installation that works: a role that passes the walls, a line that is not encrypted, a password that
//! other users of the machine can read. Told at the start of `serve` and `mcp`, and by `doctor`.

use std::ffi::OsString;
use std::net::IpAddr;

use engine::ports::BackendHealth;
use store::Database;

use crate::assemble::parse_database;
use crate::config::Config;

/// A risk, in words for the operator. Never contains an address or a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Risk {
    pub code: &'static str,
    pub message: String,
    pub hint: &'static str,
}

/// All risks. `listens_at`: the address of the server, if it is one.
pub fn find_risks(
    config: &Config,
    health: Option<&BackendHealth>,
    listens_at: Option<IpAddr>,
    arguments: impl Iterator<Item = OsString>,
) -> Vec<Risk> {
    let mut risks = Vec::new();
    let mut add = |code, message: &str, hint| risks.push(Risk { code, message: message.to_owned(), hint });
    if health.is_some_and(|health| health.bypasses_walls) {
        add(
            "risk.superuser",
            "the database role bypasses row-level security: one mistake, and tenants are not kept apart",
            "connect as a role that is a member of `ingrain_app` and nothing else",
        );
    }
    let url = match parse_database(&config.db, &config.home) {
        Ok(Database::Postgres(url)) => Some(url),
        _ => None,
    };
    // A URL that cannot be parsed fails when the database is opened.
    if url.is_some_and(|url| store::allows_plaintext(&url).unwrap_or(false)) {
        add(
            "risk.plaintext_database",
            "the line to Postgres on another machine may be unencrypted: memories and the password can be read",
            "add `sslmode=verify-full` to the URL",
        );
    }
    if let Some(address) = listens_at.filter(|address| !address.is_loopback()) {
        add(
            "risk.plaintext_server",
            &format!("the server listens on {address} without TLS: keys and memories can be read on the network"),
            "listen on 127.0.0.1 behind a proxy that does TLS",
        );
    }
    if arguments.into_iter().any(|argument| holds_password(&argument.to_string_lossy())) {
        add(
            "risk.password_in_arguments",
            "a database password is on the command line, where every user of this machine can read it",
            "put the URL into DATABASE_URL or config.toml, and change the password",
        );
    }
    risks
}

/// Whether an argument holds a Postgres URL with a password.
fn holds_password(argument: &str) -> bool {
    let url = ["postgres://", "postgresql://"].iter().find_map(|scheme| argument.split_once(scheme));
    let Some((_, rest)) = url else { return false };
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = address.split('/').next().unwrap_or_default();
    let login = authority.rsplit_once('@').map_or("", |(login, _)| login);
    let in_login = login.split_once(':').is_some_and(|(_, password)| !password.is_empty());
    in_login || query.split('&').any(|pair| pair.strip_prefix("password=").is_some_and(|value| !value.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_on_the_command_line_are_noticed() {
        for (argument, expected) in [
            ("postgres://me:geheim@db/x", true),
            ("--db=postgresql://me:geheim@db/x?sslmode=require", true),
            ("postgres://db/x?user=me&password=geheim", true),
            ("postgres://me@db/x", false),
            ("postgres://me:@db/x", false),
            ("postgres://me@db:5432/x", false),
            ("postgres://db:5432/x", false),
            ("ingrain.db", false),
            ("a note about a:b@c", false),
        ] {
            assert_eq!(holds_password(argument), expected, "{argument}");
        }
    }
}
