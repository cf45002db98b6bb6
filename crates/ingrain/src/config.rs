//! Typed settings with their origin. Later layers win: defaults, config.toml, environment variables, flags.

mod database;
mod setting_layers;
mod validate;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use engine::model::caller::{Grant, MemoryPermissions};
use engine::model::limits::Limits;
use engine::model::ruleset::Ruleset;
use engine::model::vocabulary::Role;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use server::ServerConfig;

use crate::cli::GlobalArgs;
use crate::error::Failure;
pub use database::{PostgresSettings, SqliteSettings};
pub use setting_layers::Setting;

/// Timeout of the embedding endpoint. Without a vector a search still works by words.
const ENDPOINT_TIMEOUT_MS: u64 = 5_000;

/// Timeout of the summary endpoint. The turn waits for it; on timeout the summary is extracted locally.
const SUMMARY_TIMEOUT_MS: u64 = 10_000;
/// Timeout of the classifier endpoint. The save waits for it; on timeout the rules decide alone.
const CLASSIFIER_TIMEOUT_MS: u64 = 2_000;

/// Time limit of a hook. Longer than the wait for a receipt on a busy disk (2 s), shorter than the least limit of a
/// client (3 s, Codex at the end of a session).
const HOOK_TIMEOUT_MS: u64 = 2_500;

/// All settings. An empty string means "not set".
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Directory of the database, skills and exports.
    pub home: PathBuf,
    /// Database: a path, `sqlite:PATH` or `postgres://…`. Empty: `ingrain.db` in `home`.
    pub db: String,
    // Caller of this process.
    pub tenant: String,
    /// `admin`, `reviewer[:ID]`, `user:ID`, `agent:NAME` or `service:NAME`.
    #[serde(rename = "as")]
    pub identity: String,
    /// Person that the caller is or acts for.
    pub user: String,
    /// Login name: owner of the notes that the local admin saves.
    pub operator: String,
    /// What the caller works on. `.`: the project of the working directory.
    pub project: String,
    pub conversation: String,
    pub session: String,
    pub run: String,
    pub pipeline: String,
    pub unattended: bool,
    /// Grants of this call: `system:ID=read` or `system:ID=manage`.
    pub grant: Vec<String>,
    /// Rules revoked for this call.
    pub revoke: Vec<String>,
    /// RFC 3339 time that fixes the clock, for tests and replays.
    pub now: String,
    // Sections of config.toml.
    pub memory: MemorySettings,
    /// SQLite: waiting for other processes, and the index in memory.
    pub sqlite: SqliteSettings,
    /// Postgres: connections and timeouts.
    pub postgres: PostgresSettings,
    pub embeddings: EmbeddingSettings,
    /// Endpoint for summaries of turns that no longer fit into a window.
    pub summaries: SummarySettings,
    /// Classifier endpoint for planted instructions.
    pub scanner: ScannerSettings,
    pub skills: SkillSettings,
    pub knowledge: KnowledgeSettings,
    /// Hooks of coding agents.
    pub hooks: HookSettings,
    pub limits: Limits,
    /// HTTP server.
    pub server: ServerConfig,
    // Permissions and rulesets; their keys are chosen by the user.
    /// Rules of each role.
    pub roles: BTreeMap<Role, RoleRules>,
    /// Permanent grants, by principal and system.
    pub grants: BTreeMap<String, BTreeMap<String, Grant>>,
    /// Rulesets besides the five built-in ones.
    pub rulesets: BTreeMap<String, Ruleset>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySettings {
    /// If false, reads work, writes are refused and no context is built.
    pub enabled: bool,
}

/// Path of the transformer's weights in the home; `scripts/model/install-minilm` writes it.
const MINILM_WEIGHTS: &str = "models/minilm.bin";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingSettings {
    /// `static` (built into the binary), `none` (words only), `minilm` (weights in a file) or `endpoint` (OpenAI API).
    pub model: String,
    /// File with the transformer's weights. Empty: `models/minilm.bin` in the home.
    pub weights: String,
    /// The endpoint, up to but without `/embeddings`.
    pub url: String,
    /// Model name to ask the endpoint for.
    pub name: String,
    /// The endpoint's key. Never shown.
    pub key: String,
    /// Dimensions to request from the endpoint; 0 for its default.
    pub dimensions: usize,
    /// Timeout of the endpoint, in milliseconds.
    pub timeout_ms: u64,
    /// Proxy to the endpoint. Never shown: the URL may contain a password.
    pub proxy: String,
}

/// OpenAI-compatible endpoint for summaries; without a URL they are extracted locally.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummarySettings {
    /// The endpoint, up to but without `/chat/completions`.
    pub url: String,
    /// Model name to ask the endpoint for.
    pub model: String,
    /// The endpoint's key. Never shown.
    pub key: String,
    /// Timeout of one attempt, in milliseconds.
    pub timeout_ms: u64,
    /// Further attempts if the endpoint is busy or does not answer.
    pub retries: u32,
    /// Whether the endpoint may be on loopback or a private network.
    pub private_endpoint: bool,
}

/// OpenAI-compatible endpoint that classifies planted instructions; without a URL the scanner's rules decide alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScannerSettings {
    /// The endpoint, up to but without `/chat/completions`.
    pub classifier_url: String,
    /// Model name to ask the endpoint for.
    pub classifier_model: String,
    /// The endpoint's key. Never shown.
    pub classifier_key: String,
    /// Timeout of the endpoint, in milliseconds; every save waits for it.
    pub classifier_timeout_ms: u64,
    /// Whether the endpoint may be on loopback or a private network.
    pub classifier_private_endpoint: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillSettings {
    /// Folders with SKILL.md files, in addition to `skills` in the home.
    pub folders: Vec<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnowledgeSettings {
    /// Document categories an agent may search, by agent name; an agent without an entry searches all.
    pub categories: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookSettings {
    /// Whether a new session is told what is known of its project.
    pub session_start: bool,
    /// Whether a prompt gets the memories that it asks for.
    pub prompt: bool,
    /// Whether the turns of sessions are kept as episodes of the project.
    pub capture: bool,
    /// Longest run of a hook, in milliseconds; then it gives up and the client goes on.
    pub timeout_ms: u64,
    /// Turns that one hook keeps at most; of more, the latest.
    pub turns_max: usize,
    /// Longest text of a kept turn, in bytes; the rest is cut.
    pub turn_bytes_max: usize,
    /// Longest kept answer of a tool, in bytes; the rest is cut.
    pub result_bytes_max: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleRules {
    pub rules: Vec<String>,
}

impl RoleRules {
    pub fn permissions(&self) -> MemoryPermissions {
        let holds = |rule: &str| self.rules.iter().any(|name| name == rule);
        MemoryPermissions { read: holds(RULE_READ), manage: holds(RULE_MANAGE) }
    }
}

/// Names of the two rules.
pub const RULE_READ: &str = "memory.read";
pub const RULE_MANAGE: &str = "memory.manage";

/// Snapshot of the process environment; tests pass their own.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    pub fn from_process() -> Environment {
        // No setting has a name that is not UTF-8, so such variables are dropped.
        let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        Environment(std::env::vars_os().filter_map(named).collect())
    }

    /// Value of a variable; `None` if it is not UTF-8. [`load_config`] rejects setting variables that are not UTF-8.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A setting variable that is not UTF-8. It must not count as unset: it may be the one that restricts the caller.
    fn unreadable_variable(&self) -> Option<&str> {
        let unreadable = |(name, value): &(&String, &OsString)| {
            setting_layers::is_setting_variable(name) && value.to_str().is_none()
        };
        self.0.iter().find(unreadable).map(|(name, _)| name.as_str())
    }

    pub fn get_path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Path of a program in `PATH`.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let is_program = |path: &PathBuf| {
            std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
        };
        std::env::split_paths(self.0.get("PATH")?).map(|folder| folder.join(name)).find(is_program)
    }

    #[cfg(test)]
    fn from_pairs(pairs: &[(&str, &str)]) -> Environment {
        Environment(pairs.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect())
    }
}

/// Effective settings and, for `config show`, the origin of each.
#[derive(Debug)]
pub struct LoadedConfig {
    pub config: Config,
    pub file: PathBuf,
    /// Whether a flag or a variable names the file.
    pub is_file_chosen: bool,
    layers: setting_layers::Layers,
}

impl LoadedConfig {
    /// All settings, sorted by name.
    pub fn settings(&self) -> Vec<Setting> {
        self.layers.settings()
    }

    /// Whether a layer above the defaults sets it, even to the default value.
    pub fn is_set(&self, key: &str) -> bool {
        self.layers.is_set(key)
    }

    /// Whether a flag or a variable of this call sets it.
    pub fn is_set_outside_file(&self, key: &str) -> bool {
        self.layers.is_set_outside_file(key)
    }
}

/// Loads and validates the four layers.
pub fn load_config(global: &GlobalArgs, environment: &Environment) -> Result<LoadedConfig, Failure> {
    // A file named by flag or variable must exist: a misspelt path must not fall back to the defaults.
    load_from(global, environment, is_file_chosen(global, environment))
}

/// [`load_config`] for `init`, which writes the file: it need not exist.
pub fn load_before_init(global: &GlobalArgs, environment: &Environment) -> Result<LoadedConfig, Failure> {
    load_from(global, environment, false)
}

fn is_file_chosen(global: &GlobalArgs, environment: &Environment) -> bool {
    global.config.is_some() || environment.get_path("INGRAIN_CONFIG").is_some()
}

fn load_from(global: &GlobalArgs, environment: &Environment, must_exist: bool) -> Result<LoadedConfig, Failure> {
    if let Some(name) = environment.unreadable_variable() {
        return Err(setting_layers::invalid_setting(name, "its value is not UTF-8"));
    }
    // The home comes first: the default path of config.toml depends on it.
    let home = home_folder(global, environment)?;
    let file = config_path(global, environment, &home);
    let defaults = Config::defaults(home, environment);
    let text = read_config_file(&file, must_exist)?;
    let layers = setting_layers::Layers::new(&defaults)?
        .with_file(&file, &text)?
        .with_environment(environment)?
        .with_flags(global)?;
    let config: Config =
        layers.deserialize_as().map_err(|message| setting_layers::invalid_setting("the settings", &message))?;
    validate::check_config(&config, &layers)?;
    Ok(LoadedConfig { config, file, is_file_chosen: is_file_chosen(global, environment), layers })
}

impl Config {
    /// Path of the transformer's weights: configured, or the installed default.
    pub fn transformer_weights(&self) -> PathBuf {
        match self.embeddings.weights.as_str() {
            "" => self.home.join(MINILM_WEIGHTS),
            named => PathBuf::from(named),
        }
    }

    fn defaults(home: PathBuf, environment: &Environment) -> Config {
        // `LOGNAME` is the POSIX name; some systems set only one of the two.
        let login = environment.get("USER").or_else(|| environment.get("LOGNAME")).filter(|name| !name.is_empty());
        let all_rules = || RoleRules { rules: vec![RULE_READ.to_owned(), RULE_MANAGE.to_owned()] };
        Config {
            home,
            db: String::new(),
            tenant: "default".to_owned(),
            identity: "admin".to_owned(),
            user: String::new(),
            operator: login.unwrap_or("operator").to_owned(),
            project: String::new(),
            conversation: String::new(),
            session: String::new(),
            run: String::new(),
            pipeline: String::new(),
            unattended: false,
            grant: Vec::new(),
            revoke: Vec::new(),
            now: String::new(),
            memory: MemorySettings { enabled: true },
            sqlite: SqliteSettings::from_options(&store::SqliteOptions::default()),
            postgres: PostgresSettings::from_options(&store::PostgresOptions::default()),
            embeddings: EmbeddingSettings {
                model: "static".to_owned(),
                weights: String::new(),
                url: String::new(),
                name: String::new(),
                key: String::new(),
                dimensions: 0,
                timeout_ms: ENDPOINT_TIMEOUT_MS,
                proxy: String::new(),
            },
            summaries: SummarySettings {
                url: String::new(),
                model: String::new(),
                key: String::new(),
                timeout_ms: SUMMARY_TIMEOUT_MS,
                retries: 1,
                private_endpoint: false,
            },
            scanner: ScannerSettings {
                classifier_url: String::new(),
                classifier_model: String::new(),
                classifier_key: String::new(),
                classifier_timeout_ms: CLASSIFIER_TIMEOUT_MS,
                classifier_private_endpoint: false,
            },
            skills: SkillSettings { folders: Vec::new() },
            knowledge: KnowledgeSettings { categories: BTreeMap::new() },
            hooks: HookSettings {
                session_start: true,
                prompt: true,
                capture: true,
                timeout_ms: HOOK_TIMEOUT_MS,
                turns_max: 60,
                turn_bytes_max: 4_000,
                result_bytes_max: 600,
            },
            limits: Limits::default(),
            server: ServerConfig::default(),
            roles: Role::ALL.iter().map(|role| (*role, all_rules())).collect(),
            grants: BTreeMap::new(),
            rulesets: BTreeMap::new(),
        }
    }

    /// Fixed time, if one is set.
    pub fn fixed_now(&self) -> Result<Option<Timestamp>, Failure> {
        let wrong =
            |_| Failure::user_error("config.now", format!("`INGRAIN_NOW` is `{}`, not an RFC 3339 time", self.now));
        (!self.now.is_empty()).then(|| self.now.parse()).transpose().map_err(wrong)
    }
}

/// Home: `--home`, `INGRAIN_HOME`, or the XDG data directory.
pub fn home_folder(global: &GlobalArgs, environment: &Environment) -> Result<PathBuf, Failure> {
    let xdg =
        || environment.get_path("XDG_DATA_HOME").filter(|path| path.is_absolute()).map(|path| path.join("ingrain"));
    let user = || environment.get_path("HOME").map(|path| path.join(".local/share/ingrain"));
    global.home.clone().or_else(|| environment.get_path("INGRAIN_HOME")).or_else(xdg).or_else(user).ok_or_else(|| {
        Failure::user_error("config.home", "no home directory: neither `INGRAIN_HOME` nor `HOME` is set")
            .with_hint("set `INGRAIN_HOME` or give `--home DIR`")
    })
}

/// Path of config.toml: in the home if that was chosen explicitly, else in the XDG configuration directory.
fn config_path(global: &GlobalArgs, environment: &Environment, home: &Path) -> PathBuf {
    let chosen_home = global.home.is_some() || environment.get_path("INGRAIN_HOME").is_some();
    // The XDG specification says to ignore relative paths.
    let xdg = environment.get_path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let user = || environment.get_path("HOME").map(|path| path.join(".config"));
    // The first that is given: flag, variable, home, XDG.
    let chosen = global.config.clone().or_else(|| environment.get_path("INGRAIN_CONFIG"));
    chosen.unwrap_or_else(|| match xdg.or_else(user) {
        Some(base) if !chosen_home => base.join("ingrain/config.toml"),
        _ => home.join("config.toml"),
    })
}

/// Text of the file; empty if it does not exist and need not.
fn read_config_file(file: &Path, must_exist: bool) -> Result<String, Failure> {
    match std::fs::read_to_string(file) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) && !must_exist => {
            Ok(String::new())
        }
        Err(error) => {
            Err(Failure::user_error("config.unreadable", format!("cannot read `{}`: {error}", file.display())))
        }
        Ok(text) => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(loaded: &LoadedConfig, key: &str) -> Setting {
        loaded.settings().into_iter().find(|setting| setting.key == key).expect("a setting")
    }

    #[test]
    fn later_layers_win_and_settings_name_their_origin() {
        let home = tempfile::tempdir().expect("a directory");
        std::fs::write(
            home.path().join("config.toml"),
            "tenant = 'file'\nconversation = 'file'\n[limits]\nresults_default = 9\n[memory]\nenabled = false\n",
        )
        .expect("written");
        let environment = Environment::from_pairs(&[
            ("INGRAIN_CONVERSATION", "env"),
            ("INGRAIN_LIMITS_LIST_DEFAULT", "7"),
            ("INGRAIN_ROLES_AGENT_RULES", "memory.read"),
            ("MEMORY_CONTEXT_TOKEN_BUDGET", "900"),
        ]);
        let flags = ["--conversation", "flag", "--home", home.path().to_str().expect("utf-8")];
        let loaded = load_config(&GlobalArgs::from_flags(&flags), &environment).expect("loads");
        let config = &loaded.config;
        assert_eq!((config.tenant.as_str(), config.conversation.as_str()), ("file", "flag"));
        assert_eq!((config.limits.results_default, config.limits.list_default), (9, 7));
        assert_eq!(config.limits.context_budget_tokens, 900);
        assert!(!config.memory.enabled);
        assert_eq!(config.roles[&Role::Agent].rules, ["memory.read"]);
        assert_eq!(config.roles[&Role::User].rules.len(), 2);
        assert!(origin(&loaded, "tenant").from.starts_with("file "));
        assert_eq!(origin(&loaded, "conversation").from, "flag --conversation");
        assert_eq!(origin(&loaded, "limits.context_budget_tokens").from, "env MEMORY_CONTEXT_TOKEN_BUDGET");
        assert_eq!(origin(&loaded, "limits.list_max").from, "default");
    }

    #[test]
    fn invalid_settings_are_named_in_the_error() {
        let check = |pairs: &[(&str, &str)], code: &str| {
            let home = [("HOME", "/nonexistent")];
            let environment = Environment::from_pairs(&[pairs, &home].concat());
            let failure = load_config(&GlobalArgs::from_flags(&[]), &environment).err().map(|failure| failure.code());
            assert_eq!(failure, Some(code), "{pairs:?}");
        };
        check(&[("INGRAIN_MEMORY_ENABLED", "perhaps")], "config.invalid");
        check(&[("INGRAIN_LIMITS_LIST_MAX", "many")], "config.invalid");
        check(&[("INGRAIN_LIMITS_LIST_MAX", "-1")], "config.invalid");
        check(&[("INGRAIN_SERVER_LIMITS_CALLS_MAX", "0")], "config.invalid");
        check(&[("INGRAIN_SQLITE_WAIT_MS", "9223372036854775807")], "config.invalid");
        check(&[("INGRAIN_LIMITS_LIST_MIX", "9")], "config.invalid");
        let words = |pairs: &[(&str, &str)]| {
            let environment = Environment::from_pairs(&[pairs, &[("HOME", "/nonexistent")]].concat());
            load_config(&GlobalArgs::from_flags(&[]), &environment).err().map(|failure| failure.message())
        };
        let message = words(&[("INGRAIN_LIMITS_LIST_MAX", "-1")]).expect("refused");
        assert_eq!(message, "INGRAIN_LIMITS_LIST_MAX: a whole number, 0 or more is expected, not `-1`");
        let message = words(&[("INGRAIN_SERVER_LIMITS_CALLS_MAX", "0")]).expect("refused");
        assert_eq!(message, "INGRAIN_SERVER_LIMITS_CALLS_MAX: a whole number from 1 to 10000 is expected, not `0`");
        // A misspelt role must be an error: the real role would keep its rules.
        assert!(words(&[("INGRAIN_ROLES_AGNT_RULES", "memory.read")]).is_some());
        // Variables that are no settings, and those that Kubernetes sets for services.
        for other in ["INGRAIN_TEST_LONG", "INGRAIN_POSTGRES_SERVICE_HOST", "INGRAIN_SERVER_PORT_4647_TCP_ADDR"] {
            assert_eq!(words(&[(other, "10.0.0.1")]), None, "{other}");
        }
        assert_eq!(words(&[("INGRAIN_SERVER_PORT", "tcp://10.0.0.1:4647")]), None);
        let nowhere =
            load_config(&GlobalArgs::from_flags(&[]), &Environment::default()).err().map(|failure| failure.code());
        assert_eq!(nowhere, Some("config.home"));
    }
}
