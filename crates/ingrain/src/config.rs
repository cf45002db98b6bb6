//! Settings: defaults < config.toml < environment < flags, typed, each with where it came from.

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

/// Longest wait for an embedding endpoint: a search that waits longer is better answered by words alone.
const ENDPOINT_TIMEOUT_MS: u64 = 5_000;

/// Longest wait for a summary: a turn waits for it, and one made here is ready at once.
const SUMMARY_TIMEOUT_MS: u64 = 10_000;
/// A save waits for it; one that takes longer is judged by the rules alone.
const CLASSIFIER_TIMEOUT_MS: u64 = 2_000;

/// Every setting. An empty text means "not set".
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where data lives when nothing else is said.
    pub home: PathBuf,
    /// The database: a path, `sqlite:PATH` or `postgres://…`. Empty: `ingrain.db` in `home`.
    pub db: String,
    pub tenant: String,
    /// `admin`, `reviewer[:ID]`, `user:ID`, `agent:NAME` or `service:NAME`.
    #[serde(rename = "as")]
    pub identity: String,
    /// The person a caller is or speaks for.
    pub user: String,
    /// The person at the keyboard: whose notes the local admin's are.
    pub operator: String,
    pub conversation: String,
    pub session: String,
    pub run: String,
    pub pipeline: String,
    pub unattended: bool,
    /// Grants of this call: `system:ID=read` or `system:ID=manage`.
    pub grant: Vec<String>,
    /// Rules this call does without.
    pub revoke: Vec<String>,
    /// RFC 3339; fixes the time, for tests and replays.
    pub now: String,
    pub memory: MemorySettings,
    /// How this process shares a file with others.
    pub sqlite: SqliteSettings,
    /// How this process uses a server of memories.
    pub postgres: PostgresSettings,
    pub embeddings: EmbeddingSettings,
    /// Summaries of turns that no longer fit into a window.
    pub summaries: SummarySettings,
    /// A second opinion on planted orders.
    pub scanner: ScannerSettings,
    pub skills: SkillSettings,
    pub knowledge: KnowledgeSettings,
    pub limits: Limits,
    /// The HTTP door.
    pub server: ServerConfig,
    /// The rules each role holds.
    pub roles: BTreeMap<Role, RoleRules>,
    /// Standing grants: principal, then system.
    pub grants: BTreeMap<String, BTreeMap<String, Grant>>,
    /// Rulesets beyond the built-in five.
    pub rulesets: BTreeMap<String, Ruleset>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySettings {
    /// Off: reads work, writes are refused, no context is prepared.
    pub enabled: bool,
}

/// Where `scripts/model/install-minilm` puts the transformer's weights, within the home.
const MINILM_WEIGHTS: &str = "models/minilm.bin";

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingSettings {
    /// `static` (in the binary), `none` (words only), `minilm` (weights in a file) or `endpoint` (OpenAI-compatible).
    pub model: String,
    /// File of the transformer's weights; empty: `models/minilm.bin` in the home, where `scripts/model/install-minilm` puts it.
    pub weights: String,
    /// The endpoint, up to but without `/embeddings`.
    pub url: String,
    /// Model name to ask the endpoint for.
    pub name: String,
    /// The endpoint's key. Never shown.
    pub key: String,
    /// Dimensions to ask the endpoint for; 0 takes its own.
    pub dimensions: usize,
    /// Longest wait for the endpoint, in milliseconds.
    pub timeout_ms: u64,
    /// A proxy on the way to the endpoint. Never shown: it may hold a password.
    pub proxy: String,
}

/// An OpenAI-compatible endpoint; without a URL summaries are extracted here.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummarySettings {
    /// The endpoint, up to but without `/chat/completions`.
    pub url: String,
    /// Model name to ask the endpoint for.
    pub model: String,
    /// The endpoint's key. Never shown.
    pub key: String,
    /// Longest wait for one attempt, in milliseconds.
    pub timeout_ms: u64,
    /// Attempts after the first, where the endpoint was busy or did not answer.
    pub retries: u32,
    /// Whether the endpoint may be on loopback or a private network.
    pub private_endpoint: bool,
}

/// An OpenAI-compatible endpoint that is asked about planted orders; without a URL the rules decide alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScannerSettings {
    /// The endpoint, up to but without `/chat/completions`.
    pub classifier_url: String,
    /// Model name to ask the endpoint for.
    pub classifier_model: String,
    /// The endpoint's key. Never shown.
    pub classifier_key: String,
    /// Longest wait of a save for the endpoint, in milliseconds.
    pub classifier_timeout_ms: u64,
    /// Whether the endpoint may be on loopback or a private network.
    pub classifier_private_endpoint: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillSettings {
    /// Folders of SKILL.md files, besides `skills` in `home`.
    pub folders: Vec<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnowledgeSettings {
    /// Categories an agent looks into, by its name; an agent that is not named sees all.
    pub categories: BTreeMap<String, Vec<String>>,
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

/// The two rules by name.
pub const RULE_READ: &str = "memory.read";
pub const RULE_MANAGE: &str = "memory.manage";

/// The process environment, read once, so that settings have one source and tests need no globals.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, OsString>);

impl Environment {
    pub fn from_process() -> Environment {
        let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        Environment(std::env::vars_os().filter_map(named).collect())
    }

    /// The variable's text. What is not UTF-8 is none; of ours, [`load_config`] refuses it before anything is read.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A variable of ours that cannot be read: it may be what takes rights away, so it never counts as not set.
    fn unreadable_variable(&self) -> Option<&str> {
        let unreadable = |(name, value): &(&String, &OsString)| {
            setting_layers::is_setting_variable(name) && value.to_str().is_none()
        };
        self.0.iter().find(unreadable).map(|(name, _)| name.as_str())
    }

    fn get_path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    #[cfg(test)]
    fn from_pairs(pairs: &[(&str, &str)]) -> Environment {
        Environment(pairs.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect())
    }
}

/// The settings in force and, for `config show`, where each came from.
#[derive(Debug)]
pub struct LoadedConfig {
    pub config: Config,
    pub file: PathBuf,
    layers: setting_layers::Layers,
}

impl LoadedConfig {
    /// Every setting, in the order of their names.
    pub fn settings(&self) -> Vec<Setting> {
        self.layers.settings()
    }

    /// Whether somebody set it, to whatever value.
    pub fn is_set(&self, key: &str) -> bool {
        self.layers.is_set(key)
    }
}

/// Puts the four layers together.
pub fn load_config(global: &GlobalArgs, environment: &Environment) -> Result<LoadedConfig, Failure> {
    // A misspelt name would otherwise run with other settings than those meant.
    let named = global.config.is_some() || environment.get_path("INGRAIN_CONFIG").is_some();
    load_from(global, environment, named)
}

/// As [`load_config`], where the file is about to be written: it need not be there.
pub fn load_before_init(global: &GlobalArgs, environment: &Environment) -> Result<LoadedConfig, Failure> {
    load_from(global, environment, false)
}

fn load_from(global: &GlobalArgs, environment: &Environment, must_exist: bool) -> Result<LoadedConfig, Failure> {
    if let Some(name) = environment.unreadable_variable() {
        return Err(setting_layers::invalid_setting(name, "its value is not UTF-8"));
    }
    let home = resolve_home(global, environment)?;
    let file = config_path(global, environment, &home);
    let defaults = Config::defaults(home, environment);
    let text = read_config_file(&file, must_exist)?;
    let layers = setting_layers::Layers::new(&defaults)?
        .with_file(&file, &text)?
        .with_environment(environment)?
        .with_flags(global)?;
    let config: Config = layers.deserialize_as()?;
    validate::check_config(&config, &layers)?;
    Ok(LoadedConfig { config, file, layers })
}

impl Config {
    /// The file of the transformer's weights, named or where they are installed.
    pub fn transformer_weights(&self) -> PathBuf {
        match self.embeddings.weights.as_str() {
            "" => self.home.join(MINILM_WEIGHTS),
            named => PathBuf::from(named),
        }
    }

    fn defaults(home: PathBuf, environment: &Environment) -> Config {
        let login = environment.get("USER").or_else(|| environment.get("LOGNAME")).filter(|name| !name.is_empty());
        let all_rules = || RoleRules { rules: vec![RULE_READ.to_owned(), RULE_MANAGE.to_owned()] };
        Config {
            home,
            db: String::new(),
            tenant: "default".to_owned(),
            identity: "admin".to_owned(),
            user: String::new(),
            operator: login.unwrap_or("operator").to_owned(),
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
            limits: Limits::default(),
            server: ServerConfig::default(),
            roles: Role::ALL.iter().map(|role| (*role, all_rules())).collect(),
            grants: BTreeMap::new(),
            rulesets: BTreeMap::new(),
        }
    }

    /// The fixed time, where one is set.
    pub fn fixed_now(&self) -> Result<Option<Timestamp>, Failure> {
        let wrong =
            |_| Failure::user_error("config.now", format!("`INGRAIN_NOW` is `{}`, not an RFC 3339 time", self.now));
        (!self.now.is_empty()).then(|| self.now.parse()).transpose().map_err(wrong)
    }
}

/// `--home`, `INGRAIN_HOME`, or the data directory of the XDG convention.
fn resolve_home(global: &GlobalArgs, environment: &Environment) -> Result<PathBuf, Failure> {
    let xdg =
        || environment.get_path("XDG_DATA_HOME").filter(|path| path.is_absolute()).map(|path| path.join("ingrain"));
    let user = || environment.get_path("HOME").map(|path| path.join(".local/share/ingrain"));
    global.home.clone().or_else(|| environment.get_path("INGRAIN_HOME")).or_else(xdg).or_else(user).ok_or_else(|| {
        Failure::user_error("config.home", "there is no place for data: neither INGRAIN_HOME nor HOME is set")
            .with_hint("set INGRAIN_HOME or give `--home DIR`")
    })
}

/// A chosen home keeps its own config.toml; otherwise the XDG configuration directory does.
fn config_path(global: &GlobalArgs, environment: &Environment, home: &Path) -> PathBuf {
    let chosen_home = global.home.is_some() || environment.get_path("INGRAIN_HOME").is_some();
    let xdg = environment.get_path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let user = || environment.get_path("HOME").map(|path| path.join(".config"));
    let chosen = global.config.clone().or_else(|| environment.get_path("INGRAIN_CONFIG"));
    chosen.unwrap_or_else(|| match xdg.or_else(user) {
        Some(base) if !chosen_home => base.join("ingrain/config.toml"),
        _ => home.join("config.toml"),
    })
}

/// A file that is not there is empty, unless it has to be there.
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
    fn later_layers_win_and_say_so() {
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
    fn odd_settings_are_named() {
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
        // A misspelt role would keep the rules it was to lose.
        assert!(words(&[("INGRAIN_ROLES_AGNT_RULES", "memory.read")]).is_some());
        // What is no setting, and what Kubernetes tells of services.
        for other in ["INGRAIN_TEST_LONG", "INGRAIN_POSTGRES_SERVICE_HOST", "INGRAIN_SERVER_PORT_4647_TCP_ADDR"] {
            assert_eq!(words(&[(other, "10.0.0.1")]), None, "{other}");
        }
        assert_eq!(words(&[("INGRAIN_SERVER_PORT", "tcp://10.0.0.1:4647")]), None);
        let nowhere =
            load_config(&GlobalArgs::from_flags(&[]), &Environment::default()).err().map(|failure| failure.code());
        assert_eq!(nowhere, Some("config.home"));
    }
}
