//! `init`: creates the home, a commented config.toml and the database, and offers to connect the clients it finds. A
//! second run changes nothing.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use serde_json::json;

use crate::assemble::Session;
use crate::commands::connect::{self, ConnectArgs, ConnectScope};
use crate::config::{Environment, LoadedConfig};
use crate::error::Failure;
use crate::output::{Output, Tone};

/// New config.toml: every setting is commented out and has its default.
const CONFIG_TEMPLATE: &str = "\
# Settings of ingrain. Flags and environment variables (INGRAIN_…) override this file; other settings have defaults.
# `ingrain config show` lists every setting with its value and origin.

# Database, instead of ingrain.db next to this file:
# db = \"postgres://ingrain_app@localhost/ingrain\"

# [memory]
# enabled = true                  # false: reads work, writes are refused

# [limits]
# context_budget_tokens = 2200    # maximum tokens of memory per turn

# [server]
# port = 4647

# [embeddings]
# model = \"static\"               # or: none, minilm, endpoint

# Rules of a role; by default it has both.
# [roles.agent]
# rules = [\"memory.read\", \"memory.manage\"]
";

pub fn run(loaded: &LoadedConfig, environment: &Environment, output: &Output) -> Result<(), Failure> {
    let config = &loaded.config;
    let home = &config.home;
    let unwritable = |path: &Path, error: &std::io::Error| {
        Failure::system_error("init.unwritable", format!("cannot make `{}`: {error}", path.display()))
    };
    // The mode applies to new folders only; `doctor` warns of an existing one that is open to others.
    let settings_folder = loaded.file.parent().filter(|folder| !folder.as_os_str().is_empty());
    for folder in std::iter::once(home.as_path()).chain(settings_folder) {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| unwritable(folder, &error))?;
    }
    // `create_new` is atomic: a file created by another process is not overwritten.
    let written = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&loaded.file) {
        Ok(mut file) => file.write_all(CONFIG_TEMPLATE.as_bytes()).map(|()| true),
        // An existing file is never changed.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    };
    let written = written.map_err(|error| unwritable(&loaded.file, &error))?;
    // Creates the database and the default tenant.
    let session = Session::open(config)?;
    let health = session.engine.database().health()?;
    let clients = connect::installed_clients(ConnectScope::User, environment);
    let found: Vec<&str> = clients.iter().map(|client| client.id).collect();
    let view = json!({
        "status": if written { "created" } else { "unchanged" },
        "home": home,
        "config": loaded.file,
        "database": health.location,
        "clients_found": found,
        "next": "ingrain connect",
    });
    output.print_answer(&view, || {
        let (config, made) = (loaded.file.display(), if written { "written" } else { "exists, not changed" });
        let head = output.paint(Tone::Good, "ready");
        let (home, database) = (home.display(), &health.location);
        format!("{head}\n  home      {home}\n  settings  {config} ({made})\n  database  {database}\n")
    })?;
    if output.json {
        return Ok(());
    }
    let titles: Vec<&str> = clients.iter().map(|client| client.title).collect();
    if !clients.is_empty() && connect::can_ask(output) {
        let question = format!("connect {}? [Y/n] ", titles.join(", "));
        if connect::ask(&question) {
            return ConnectArgs::for_init().run(loaded, environment, output);
        }
    }
    output.print_text(&next_steps(&titles))
}

/// What to type next.
fn next_steps(clients: &[&str]) -> String {
    let connect = match clients {
        [] => "ingrain connect --print    configuration for an MCP client; no known one was found here".to_owned(),
        found => format!("ingrain connect            connect {}", found.join(", ")),
    };
    format!(
        "\nnext:\n  {connect}\n  \
         ingrain remember 'TEXT'    save a memory, then `ingrain search WORDS`\n  \
         ingrain serve              REST, live events and /mcp; prints a key once\n  \
         ingrain doctor             check the installation and every connection\n"
    )
}
