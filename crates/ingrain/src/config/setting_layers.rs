//! Merges the layers of settings into one table and remembers the origin of each value.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{Config, Environment, validate};
use crate::cli::GlobalArgs;
use crate::error::Failure;

/// Further environment variables of settings.
const ALIASES: &[(&str, &str)] = &[
    ("db", "DATABASE_URL"),
    ("memory.enabled", "MEMORY_ENABLED"),
    ("limits.context_budget_tokens", "MEMORY_CONTEXT_TOKEN_BUDGET"),
    ("limits.context_budget_tokens", "INGRAIN_MEMORY_CONTEXT_TOKEN_BUDGET"),
];
/// Prefix of the environment variables of settings.
const ENV_PREFIX: &str = "INGRAIN_";
/// Kubernetes sets `INGRAIN_SERVER_PORT=tcp://…` for a service named `ingrain-server`; such values are ignored.
const CLUSTER_ADDRESSES: &[&str] = &["tcp://", "udp://", "sctp://"];
/// Minimum similarity, 0 to 1, of a name suggested for a misspelt one.
const SIMILARITY_MIN: f32 = 0.8;
/// Settings whose values are never shown.
const SECRET_KEYS: &[&str] = &["embeddings.key", "embeddings.proxy", "summaries.key", "scanner.classifier_key"];

/// Whether the variable may set a setting.
pub(super) fn is_setting_variable(name: &str) -> bool {
    name.starts_with(ENV_PREFIX) || ALIASES.iter().any(|(_, alias)| *alias == name)
}

/// One setting as `config show` prints it.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    pub key: String,
    pub value: serde_json::Value,
    /// `default`, `file PATH`, `env NAME` or `flag --NAME`.
    pub from: String,
    /// The environment variable that sets it.
    pub variable: String,
}

#[derive(Debug)]
pub(super) struct Layers {
    merged: Table,
    origins: BTreeMap<String, String>,
}

impl Layers {
    pub(super) fn new(defaults: &Config) -> Result<Layers, Failure> {
        let merged = Table::try_from(defaults).map_err(|error| invalid_setting("the defaults", &error.to_string()))?;
        Ok(Layers { merged, origins: BTreeMap::new() })
    }

    pub(super) fn with_file(mut self, file: &Path, text: &str) -> Result<Layers, Failure> {
        let name = file.display().to_string();
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| invalid_setting(&name, &describe_toml_error(&error, text)))?;
        let known: BTreeMap<String, Value> = collect_leaves(&self.merged).into_iter().collect();
        for (key, value) in collect_leaves(&table) {
            // Checked before merging, to report the expected type in words instead of in terms of serde.
            if let Some(expected) = known.get(&key).and_then(|like| describe_mismatch(&key, like, &value)) {
                let instead =
                    if SECRET_KEYS.contains(&key.as_str()) { String::new() } else { format!(", not `{value}`") };
                return Err(invalid_setting(&name, &format!("`{key}`: {expected} is expected{instead}")));
            }
            self.set_value(&key, value, format!("file {name}"));
        }
        if table.is_empty() {
            return Ok(self);
        }
        // Deserialized here too, so that an error names the file and not a later layer.
        self.deserialize_as::<Config>().map_err(|message| invalid_setting(&name, &message))?;
        Ok(self)
    }

    pub(super) fn with_environment(mut self, environment: &Environment) -> Result<Layers, Failure> {
        // Usually no variable is set; skips the loop over all settings.
        if !environment.names().any(is_setting_variable) {
            return Ok(self);
        }
        let known = collect_leaves(&self.merged);
        let is_misspelt = |name: &&str| is_unknown_setting(name, &known) && !is_kubernetes_variable(name);
        if let Some(name) = environment.names().find(is_misspelt) {
            return Err(unknown_setting(name, &known));
        }
        // Only known keys are looked up: user-chosen names, such as grants, can be set in the file only.
        for (key, value) in known {
            let aliases = ALIASES.iter().filter(|(aliased, _)| *aliased == key).map(|(_, name)| (*name).to_owned());
            // The `INGRAIN_` name comes last, so that it wins over an alias.
            for name in aliases.chain([variable_name(&key)]) {
                let is_cluster_address = |text: &str| CLUSTER_ADDRESSES.iter().any(|scheme| text.starts_with(scheme));
                let Some(text) = environment.get(&name).filter(|text| !is_cluster_address(text)) else { continue };
                let parsed = parse_value(&value, text)
                    .ok_or_else(|| invalid_setting(&name, &format!("`{text}` is not {}", describe_type(&value))))?;
                if let Some(expected) = describe_mismatch(&key, &value, &parsed) {
                    return Err(invalid_setting(&name, &format!("{expected} is expected, not `{text}`")));
                }
                self.set_value(&key, parsed, format!("env {name}"));
            }
        }
        self.deserialize_as::<Config>().map_err(|message| invalid_setting("the environment", &message))?;
        Ok(self)
    }

    pub(super) fn with_flags(mut self, global: &GlobalArgs) -> Result<Layers, Failure> {
        for (key, value) in global.to_settings() {
            self.set_value(key, value, format!("flag --{key}"));
        }
        Ok(self)
    }

    /// The merged settings. The error is the message of the parser, without the origin of the setting.
    pub(super) fn deserialize_as<T: DeserializeOwned>(&self) -> Result<T, String> {
        Value::Table(self.merged.clone())
            .try_into()
            .map_err(|error: toml::de::Error| error.to_string().trim().to_owned())
    }

    pub(super) fn settings(&self) -> Vec<Setting> {
        // An empty secret is shown as empty, so that the user sees that it is not set.
        let setting = |(key, value): (String, Value)| {
            // A URL with user info may contain a password.
            let is_secret =
                |text: &str| SECRET_KEYS.contains(&key.as_str()) || text.contains("://") && text.contains('@');
            let hidden = value.as_str().is_some_and(|text| !text.is_empty() && is_secret(text));
            let value = if hidden { "(hidden)".into() } else { serde_json::to_value(value).unwrap_or_default() };
            let from = self.origins.get(&key).cloned().unwrap_or_else(|| "default".to_owned());
            Setting { variable: variable_name(&key), key, value, from }
        };
        collect_leaves(&self.merged).into_iter().map(setting).collect()
    }

    pub(super) fn is_set(&self, key: &str) -> bool {
        self.origins.contains_key(key)
    }

    pub(super) fn is_set_outside_file(&self, key: &str) -> bool {
        self.origins.get(key).is_some_and(|origin| !origin.starts_with("file "))
    }

    /// Origin of a setting, for error messages.
    pub(super) fn origin(&self, key: &str) -> &str {
        self.origins.get(key).map_or("the settings", String::as_str)
    }

    fn set_value(&mut self, key: &str, value: Value, from: String) {
        let mut table = &mut self.merged;
        let mut steps: Vec<&str> = split_key(key);
        let Some(last) = steps.pop() else { return };
        for step in steps {
            let entry = table.entry(step).or_insert_with(|| Value::Table(Table::new()));
            // A plain value in place of a section; deserialization reports it.
            if !entry.is_table() {
                *entry = Value::Table(Table::new());
            }
            let Value::Table(inner) = entry else { return };
            table = inner;
        }
        table.insert(last.to_owned(), value);
        self.origins.insert(key.to_owned(), from);
    }
}

/// Splits a dotted TOML key; quoted names may contain dots.
fn split_key(key: &str) -> Vec<&str> {
    let mut steps = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, c) in key.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => {
                steps.push(key[start..at].trim_matches('"'));
                start = at + 1;
            }
            _ => {}
        }
    }
    steps.push(key[start..].trim_matches('"'));
    steps
}

/// All values that are not tables, with their dotted keys, sorted.
fn collect_leaves(table: &Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        let is_bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let name = if is_bare { name.clone() } else { format!("\"{name}\"") };
        match value {
            Value::Table(inner) => {
                found.extend(collect_leaves(inner).into_iter().map(|(key, value)| (format!("{name}.{key}"), value)));
            }
            value => found.push((name, value.clone())),
        }
    }
    found
}

/// `limits.list_max` is `INGRAIN_LIMITS_LIST_MAX`.
fn variable_name(key: &str) -> String {
    let name = key.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    ENV_PREFIX.chars().chain(name).collect()
}

/// Parses a variable's text as the type of the setting.
fn parse_value(like: &Value, text: &str) -> Option<Value> {
    let text = text.trim();
    Some(match like {
        Value::Boolean(_) => Value::Boolean(match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" => false,
            _ => return None,
        }),
        Value::Integer(_) => Value::Integer(text.parse().ok()?),
        Value::Float(_) => Value::Float(text.parse().ok()?),
        // A list is written as in TOML or separated by commas.
        Value::Array(_) if text.starts_with('[') => {
            let mut table = format!("list = {text}").parse::<Table>().ok()?;
            table.remove("list").filter(Value::is_array)?
        }
        Value::Array(_) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
        }
        _ => Value::String(text.to_owned()),
    })
}

/// Line number and message of a TOML error. The line itself is left out: it may contain a password.
fn describe_toml_error(error: &toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("line {}: {}", before.matches('\n').count() + 1, error.message())
}

/// Description of the expected value, if the type or the range of the given one is wrong.
fn describe_mismatch(key: &str, like: &Value, value: &Value) -> Option<String> {
    match (like, value) {
        (Value::Integer(_), Value::Integer(number)) => validate::violated_bounds(key, *number),
        // `1` is a valid way to write `1.0`.
        (Value::Float(_), Value::Integer(_)) => None,
        _ => (!like.same_type(value)).then(|| describe_type(like).to_owned()),
    }
}

/// Whether the variable is named like a setting of a known section but sets nothing. Sections with user-chosen names
/// are exempt.
fn is_unknown_setting(name: &str, known: &[(String, Value)]) -> bool {
    // Sections whose keys the user chooses.
    const OPEN: &[&str] = &["RULESETS", "GRANTS", "KNOWLEDGE_CATEGORIES", "SERVER_TOKEN_ROLES"];
    let Some(rest) = name.strip_prefix(ENV_PREFIX) else { return false };
    let sections = known.iter().filter_map(|(key, _)| key.split_once('.')).map(|(section, _)| section);
    let within = |section: &str| rest.strip_prefix(section).is_some_and(|rest| rest.starts_with('_'));
    let in_section = sections.map(str::to_ascii_uppercase).any(|section| within(&section));
    let is_known =
        known.iter().any(|(key, _)| variable_name(key) == name) || ALIASES.iter().any(|(_, alias)| *alias == name);
    in_section && !is_known && !OPEN.iter().any(|open| within(open))
}

/// Whether Kubernetes sets the variable for a service named `ingrain-server` or `ingrain-postgres`.
fn is_kubernetes_variable(name: &str) -> bool {
    name.contains("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || name.contains("_PORT_")
        || name.ends_with("_PORT")
}

/// Error with the most similar setting as a suggestion.
fn unknown_setting(name: &str, known: &[(String, Value)]) -> Failure {
    let names: Vec<String> = known.iter().map(|(key, _)| variable_name(key)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = similar::get_close_matches(name, &names, 1, SIMILARITY_MIN);
    let suggestion = near.first().map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    Failure::user_error("config.invalid", format!("{name}: unknown setting"))
        .with_hint(format!("{suggestion}`ingrain config show` lists every setting with its variable"))
}

fn describe_type(like: &Value) -> &'static str {
    match like {
        Value::Boolean(_) => "true or false",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Array(_) => "a comma-separated list",
        _ => "a text",
    }
}

pub(super) fn invalid_setting(source: &str, message: &str) -> Failure {
    Failure::user_error("config.invalid", format!("{source}: {}", message.trim())).with_hint(
        "correct or remove it; `ingrain --config /dev/null config show` lists every setting with its default",
    )
}
