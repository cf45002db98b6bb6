//! The clients that `connect` knows: where each keeps its MCP servers, and in which words. Data only.

use std::path::{Path, PathBuf};

use crate::config::Environment;

/// One client and its configuration format.
pub struct Client {
    /// Name on the command line.
    pub id: &'static str,
    pub title: &'static str,
    /// Programs that show that it is installed.
    pub programs: &'static [&'static str],
    /// Files and folders that show that it is installed.
    pub marks: &'static [Place],
    /// Configuration of the user: the first existing one, else the last.
    pub user: &'static [Place],
    /// Configuration in a project, relative to its root: the first existing one, else the last. Empty: it has none.
    pub project: &'static [&'static str],
    pub format: Format,
    /// Keys that lead to the map of servers.
    pub servers: &'static [&'static str],
    pub command: CommandShape,
    /// Key and value of the transport for a command, where the client wants one.
    pub command_type: Option<(&'static str, &'static str)>,
    pub url_key: &'static str,
    pub url_type: Option<(&'static str, &'static str)>,
    pub secret: SecretStyle,
    /// What the person must know or do after connecting in a project.
    pub project_note: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSON with comments and trailing commas.
    Json,
    Toml,
}

impl Format {
    /// Format of a configuration, by the end of its name.
    pub fn of(file: &Path) -> Format {
        match file.extension().is_some_and(|extension| extension == "toml") {
            true => Format::Toml,
            false => Format::Json,
        }
    }
}

/// How a client writes a command.
#[derive(Clone, Copy)]
pub enum CommandShape {
    /// `command` is the program, `args` its arguments.
    ProgramAndArgs,
    /// `command` lists the program and its arguments.
    OneList,
}

/// How a client refers to a key that is not in the file.
#[derive(Clone, Copy)]
pub enum SecretStyle {
    /// A header with a reference to an environment variable: text before and after its name.
    Header { before: &'static str, after: &'static str },
    /// A setting that names the variable of a bearer token.
    VariableName(&'static str),
    /// The client asks once and keeps the answer: an item of `inputs`.
    Prompt,
    /// Only in clear: no key is written.
    None,
}

/// A path in the user's home. A variable, if set, replaces `base`.
#[derive(Debug)]
pub struct Place {
    pub variable: Option<&'static str>,
    /// Path below the folder that the variable names.
    pub below_variable: &'static str,
    pub base: Base,
    pub path: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub enum Base {
    Home,
    /// `XDG_CONFIG_HOME` or `~/.config`.
    Config,
    /// Application data of editors: `~/Library/Application Support` on macOS, else as [`Base::Config`].
    Application,
}

pub const fn at(base: Base, path: &'static str) -> Place {
    Place { variable: None, below_variable: "", base, path }
}

pub const fn at_variable(variable: &'static str, below_variable: &'static str, path: &'static str) -> Place {
    Place { variable: Some(variable), below_variable, base: Base::Home, path }
}

const SHELL_REFERENCE: SecretStyle = SecretStyle::Header { before: "${", after: "}" };
const EDITOR_REFERENCE: SecretStyle = SecretStyle::Header { before: "${env:", after: "}" };

/// Sources of these facts: the documentation of each client; Claude Code, Codex, Gemini CLI and OpenCode were run.
pub const CLIENTS: &[Client] = &[
    Client {
        id: "claude-code",
        title: "Claude Code",
        programs: &["claude"],
        marks: &[at_variable("CLAUDE_CONFIG_DIR", "", ".claude"), at(Base::Home, ".claude.json")],
        user: &[at_variable("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json")],
        project: &[".mcp.json"],
        format: Format::Json,
        servers: &["mcpServers"],
        command: CommandShape::ProgramAndArgs,
        command_type: Some(("type", "stdio")),
        url_key: "url",
        url_type: Some(("type", "http")),
        secret: SHELL_REFERENCE,
        project_note: Some("Claude Code asks each person once before it starts a server of `.mcp.json`"),
    },
    Client {
        id: "codex",
        title: "Codex",
        programs: &["codex"],
        marks: &[at_variable("CODEX_HOME", "", ".codex")],
        user: &[at_variable("CODEX_HOME", "config.toml", ".codex/config.toml")],
        project: &[".codex/config.toml"],
        format: Format::Toml,
        servers: &["mcp_servers"],
        command: CommandShape::ProgramAndArgs,
        command_type: None,
        url_key: "url",
        url_type: None,
        secret: SecretStyle::VariableName("bearer_token_env_var"),
        project_note: Some("Codex reads `.codex/config.toml` only in projects that the person trusts"),
    },
    Client {
        id: "gemini",
        title: "Gemini CLI",
        programs: &["gemini"],
        marks: &[at_variable("GEMINI_CLI_HOME", ".gemini", ".gemini")],
        user: &[at_variable("GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json")],
        project: &[".gemini/settings.json"],
        format: Format::Json,
        servers: &["mcpServers"],
        command: CommandShape::ProgramAndArgs,
        command_type: None,
        url_key: "httpUrl",
        url_type: None,
        secret: SHELL_REFERENCE,
        project_note: Some("Gemini CLI starts servers only in folders that the person trusts"),
    },
    Client {
        id: "cursor",
        title: "Cursor",
        programs: &["cursor", "cursor-agent"],
        marks: &[at(Base::Home, ".cursor")],
        user: &[at(Base::Home, ".cursor/mcp.json")],
        project: &[".cursor/mcp.json"],
        format: Format::Json,
        servers: &["mcpServers"],
        command: CommandShape::ProgramAndArgs,
        command_type: Some(("type", "stdio")),
        url_key: "url",
        url_type: None,
        secret: EDITOR_REFERENCE,
        project_note: None,
    },
    Client {
        id: "vscode",
        title: "VS Code (Copilot)",
        programs: &["code"],
        marks: &[at(Base::Application, "Code/User")],
        user: &[at(Base::Application, "Code/User/mcp.json")],
        project: &[".vscode/mcp.json"],
        format: Format::Json,
        servers: &["servers"],
        command: CommandShape::ProgramAndArgs,
        command_type: Some(("type", "stdio")),
        url_key: "url",
        url_type: Some(("type", "http")),
        secret: SecretStyle::Prompt,
        project_note: Some("VS Code asks for trust when it first starts the server"),
    },
    Client {
        id: "windsurf",
        title: "Windsurf",
        programs: &["windsurf"],
        marks: &[at(Base::Home, ".codeium/windsurf")],
        user: &[at(Base::Home, ".codeium/windsurf/mcp_config.json")],
        project: &[],
        format: Format::Json,
        servers: &["mcpServers"],
        command: CommandShape::ProgramAndArgs,
        command_type: None,
        url_key: "serverUrl",
        url_type: None,
        secret: EDITOR_REFERENCE,
        project_note: None,
    },
    Client {
        id: "zed",
        title: "Zed",
        programs: &["zed", "zeditor"],
        marks: &[at(Base::Config, "zed")],
        user: &[at(Base::Config, "zed/settings.json")],
        project: &[".zed/settings.json"],
        format: Format::Json,
        servers: &["context_servers"],
        command: CommandShape::ProgramAndArgs,
        command_type: Some(("source", "custom")),
        url_key: "url",
        url_type: Some(("source", "custom")),
        secret: SecretStyle::None,
        project_note: None,
    },
    Client {
        id: "opencode",
        title: "OpenCode",
        programs: &["opencode"],
        marks: &[at(Base::Config, "opencode")],
        user: &[at(Base::Config, "opencode/opencode.jsonc"), at(Base::Config, "opencode/opencode.json")],
        project: &["opencode.jsonc", "opencode.json"],
        format: Format::Json,
        servers: &["mcp"],
        command: CommandShape::OneList,
        command_type: Some(("type", "local")),
        url_key: "url",
        url_type: Some(("type", "remote")),
        secret: SecretStyle::Header { before: "{env:", after: "}" },
        project_note: None,
    },
];

/// Format of `--print` without a client: what most other clients read.
pub const GENERIC: Client = Client {
    id: "other",
    title: "another client",
    programs: &[],
    marks: &[],
    user: &[],
    project: &[],
    format: Format::Json,
    servers: &["mcpServers"],
    command: CommandShape::ProgramAndArgs,
    command_type: None,
    url_key: "url",
    url_type: Some(("type", "http")),
    secret: SHELL_REFERENCE,
    project_note: None,
};

impl Client {
    pub fn find(id: &str) -> Option<&'static Client> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// Path of its configuration; `None` if it has none of that scope or there is no home directory.
    pub fn config_path(&self, project: Option<&Path>, environment: &Environment) -> Option<PathBuf> {
        let paths: Vec<PathBuf> = match project {
            Some(root) => self.project.iter().map(|path| root.join(path)).collect(),
            None => self.user.iter().filter_map(|place| place.resolve(environment)).collect(),
        };
        paths.iter().find(|path| path.symlink_metadata().is_ok()).or(paths.last()).cloned()
    }

    pub fn is_installed(&self, environment: &Environment) -> bool {
        let marked = self.marks.iter().filter_map(|place| place.resolve(environment)).any(|path| path.exists());
        marked || self.programs.iter().any(|program| environment.find_program(program).is_some())
    }
}

impl Place {
    pub fn resolve(&self, environment: &Environment) -> Option<PathBuf> {
        let folder = self.variable.and_then(|name| environment.get_path(name));
        if let Some(folder) = folder {
            // Joining an empty path would add a slash.
            return Some(if self.below_variable.is_empty() { folder } else { folder.join(self.below_variable) });
        }
        let home = environment.get_path("HOME")?;
        let config = || {
            let xdg = environment.get_path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
            xdg.unwrap_or_else(|| home.join(".config"))
        };
        let base = match self.base {
            Base::Home => home,
            Base::Application if cfg!(target_os = "macos") => home.join("Library/Application Support"),
            Base::Config | Base::Application => config(),
        };
        Some(base.join(self.path))
    }
}
