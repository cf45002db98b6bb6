//! `init`: creates the home, a commented config.toml and the database. A second run changes nothing.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use serde_json::{Value, json};

use crate::assemble::{Session, database_path};
use crate::config::LoadedConfig;
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

pub fn run(loaded: &LoadedConfig, output: &Output) -> Result<(), Failure> {
    let config = &loaded.config;
    let home = &config.home;
    let unwritable = |path: &Path, error: &std::io::Error| {
        Failure::system_error("init.unwritable", format!("cannot make `{}`: {error}", path.display()))
    };
    // The mode applies to new folders only; `doctor` warns of an existing one that is open to others.
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home).map_err(|error| unwritable(home, &error))?;
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
    let client = mcp_client_config(loaded)?;
    let view = json!({
        "status": if written { "created" } else { "unchanged" },
        "home": home,
        "config": loaded.file,
        "database": health.location,
        "mcp_client": client,
    });
    output.print_answer(&view, || {
        let (config, made) = (loaded.file.display(), if written { "written" } else { "exists, not changed" });
        let snippet = serde_json::to_string_pretty(&client).unwrap_or_default();
        let head = output.paint(Tone::Good, "ready");
        format!(
            "{head}\n  home      {}\n  settings  {config} ({made})\n  database  {}\n\nnext:\n  \
             ingrain remember 'the staging key rotates on mondays'    save a memory, then `ingrain search key`\n  \
             ingrain serve                                            REST, live events and /mcp; prints a key once\n  \
             ingrain doctor                                           check the installation\n  \
             configuration for an MCP client:\n{snippet}",
            home.display(),
            health.location,
        )
    })
}

/// Configuration of an MCP client, with absolute paths: the client starts the binary in another folder and without the
/// variables of this shell.
fn mcp_client_config(loaded: &LoadedConfig) -> Result<Value, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::system_error("init.program", format!("cannot find the path of this program: {error}"))
    })?;
    let mut arguments = vec![json!("mcp")];
    // The client finds the default home by itself.
    if loaded.is_set("home") {
        let home = std::path::absolute(&loaded.config.home).unwrap_or_else(|_| loaded.config.home.clone());
        arguments.extend([json!("--home"), json!(home)]);
    }
    if loaded.is_set("db") {
        // A Postgres URL is no path and stays as it is.
        let file = database_path(&loaded.config).ok().and_then(|path| std::path::absolute(path).ok());
        arguments.extend([json!("--db"), file.map_or_else(|| json!(loaded.config.db), |file| json!(file))]);
    }
    Ok(json!({ "mcpServers": { "ingrain": { "command": program, "args": arguments } } }))
}
