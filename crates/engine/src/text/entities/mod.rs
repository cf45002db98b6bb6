//! Entities of operations that a text names: namespaces, resources, environments and services. Read by word tables
//! (`tables`), without a model.
mod lexicon;
mod tables;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use lexicon::lookup_sense;
use tables::SERVICE_WORDS;

/// Kind of a named thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntityKind {
    Namespace,
    Resource,
    Environment,
    Service,
}

/// A named thing. Its text form is `namespace:prod`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Entity {
    pub kind: EntityKind,
    /// Lower case.
    pub name: String,
}

/// Entities kept per text. A manifest pasted whole names more and is about none of them in particular.
pub const ENTITIES_MAX: usize = 32;
/// Bytes of a name, at most: the length of the longest DNS name.
const NAME_BYTES_MAX: usize = 253;
/// Share of a name that both texts use for different kinds (`service/web`, `deployment/web`).
const OTHER_KIND_SHARE: f64 = 0.5;

/// The entities of a text, sorted, each once. Linear in the text.
pub fn extract(text: &str) -> Vec<Entity> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || is_separator(letter))
        .map(trim_punctuation)
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or_default();
        let after = words.get(at + 1).copied().unwrap_or_default();
        // Nearly all words are plain letters; none of these four forms is.
        if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            read_flag(word, after, &mut found);
            read_resource_path(word, &mut found);
            read_domain(word, &mut found);
            read_service_suffix(word, &mut found);
        }
        read_phrase(before, word, after, &mut found);
        read_known_names(word, before, after, &mut found);
    }
    found.sort_unstable();
    found
}

/// Share of the query's entities that the memory names, 0 to 1. A name used for another kind counts half.
pub fn query_coverage(query: &[Entity], memory: &[Entity]) -> f64 {
    if query.is_empty() {
        return 0.0;
    }
    let share = |wanted: &Entity| match () {
        () if memory.contains(wanted) => 1.0,
        () if memory.iter().any(|known| known.name == wanted.name) => OTHER_KIND_SHARE,
        () => 0.0,
    };
    query.iter().map(share).sum::<f64>() / query.len() as f64
}

fn is_separator(letter: char) -> bool {
    matches!(letter, ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | '`' | '<' | '>' | '|')
        || matches!(letter, '，' | '。' | '、' | '「' | '」')
}

fn trim_punctuation(word: &str) -> &str {
    word.trim_end_matches(['.', ':', '!', '?', '*']).trim_start_matches('*')
}

fn add_entity(kind: EntityKind, name: &str, found: &mut Vec<Entity>) {
    let name = name.trim_matches(|letter: char| !letter.is_alphanumeric());
    let entity = Entity { kind, name: name.to_owned() };
    if !name.is_empty() && name.len() <= NAME_BYTES_MAX && found.len() < ENTITIES_MAX && !found.contains(&entity) {
        found.push(entity);
    }
}

fn add_namespace(name: &str, found: &mut Vec<Entity>) {
    add_entity(EntityKind::Namespace, name, found);
}

/// Reads flags and assignments: `-n prod`, `--namespace=prod`, `env=prod`.
fn read_flag(word: &str, after: &str, found: &mut Vec<Entity>) {
    let (name, value) = word.split_once('=').unwrap_or((word, after));
    let Some(kind) = lookup_sense(name).flag else { return };
    // A bare word such as `env` is a flag only with its `=`.
    if name.starts_with('-') || word.contains('=') {
        match kind {
            EntityKind::Environment => add_entity(kind, canonical_environment(value).unwrap_or(value), found),
            _ => add_entity(kind, value, found),
        }
        // A namespace called `prod` says the environment too.
        if kind == EntityKind::Namespace
            && let Some(environment) = canonical_environment(value)
        {
            add_entity(EntityKind::Environment, environment, found);
        }
    }
}

/// Reads resource paths: `deployment/web`, `deployment.apps/web`, `svc/web:8080`.
fn read_resource_path(word: &str, found: &mut Vec<Entity>) {
    let Some((kind, name)) = word.split_once('/') else {
        return;
    };
    let kind = kind.split('.').next().unwrap_or_default();
    let name = name.split(['/', ':']).next().unwrap_or_default();
    add_named_kind(kind, name, found);
}

/// Adds a name by the word for its kind. A Kubernetes service is a service and a resource.
fn add_named_kind(kind: &str, name: &str, found: &mut Vec<Entity>) {
    let kind = lookup_sense(kind);
    match () {
        () if kind.is_namespace => add_namespace(name, found),
        () if kind.is_service => {
            add_entity(EntityKind::Service, service_name(name), found);
            add_entity(EntityKind::Resource, name, found);
        }
        () if kind.is_resource => add_entity(EntityKind::Resource, name, found),
        () => {}
    }
}

/// Reads cluster DNS names and systemd units: `web.prod.svc.cluster.local`, `nginx.service`.
fn read_domain(word: &str, found: &mut Vec<Entity>) {
    let host =
        word.split(['/', ':']).rfind(|part| part.contains(".svc") || part.ends_with(".service")).unwrap_or_default();
    if let Some(unit) = host.strip_suffix(".service") {
        return add_entity(EntityKind::Service, unit, found);
    }
    let mut labels = host.split('.');
    if let (Some(service), Some(space), Some("svc")) = (labels.next(), labels.next(), labels.next()) {
        add_entity(EntityKind::Service, service_name(service), found);
        add_namespace(space, found);
    }
}

/// Reads names that end in a word for a service: `checkout-service`.
fn read_service_suffix(word: &str, found: &mut Vec<Entity>) {
    if service_name(word) != word && !word.contains('/') {
        add_entity(EntityKind::Service, service_name(word), found);
    }
}

/// Reads phrases of a kind and a name: `namespace prod`, `the checkout service`, `pod web-7f9`.
fn read_phrase(before: &str, word: &str, after: &str, found: &mut Vec<Entity>) {
    let one = word.strip_suffix('s').filter(|one| lookup_sense(one).is_resource || lookup_sense(one).is_namespace);
    let kind = one.unwrap_or(word);
    let sense = lookup_sense(kind);
    if sense.is_kind_word() {
        // After the kind only an identifier counts ("pod web-7f9", not "pod restarts"); before it any name does ("the
        // checkout service").
        if is_identifier_like(after) || (sense.is_namespace && canonical_environment(after).is_some()) {
            add_named_kind(kind, after, found);
        } else if is_name_like(before) && !lookup_sense(before).is_resource && !lookup_sense(before).is_service {
            add_named_kind(kind, before, found);
        }
    }
}

/// Reads known names, also as parts of a word: `nginx`, `prod`, `web-prod`. Ambiguous words (`test`) count only beside
/// "environment" or "cluster".
fn read_known_names(word: &str, before: &str, after: &str, found: &mut Vec<Entity>) {
    let beside = || lookup_sense(before).is_environment || lookup_sense(after).is_environment;
    for part in word.split(['-', '_', '/', ':', '.', '=']) {
        let sense = lookup_sense(part);
        if let Some((name, plain)) = sense.environment
            && (plain || beside())
        {
            add_entity(EntityKind::Environment, name, found);
        }
        if let Some(name) = sense.software {
            add_entity(EntityKind::Service, name, found);
        }
    }
}

fn canonical_environment(word: &str) -> Option<&'static str> {
    lookup_sense(word).environment.map(|(name, _)| name)
}

/// The name without a word for a service: `checkout-service` and "the checkout service" are the same.
fn service_name(name: &str) -> &str {
    SERVICE_WORDS
        .iter()
        .find_map(|word| name.strip_suffix(word)?.strip_suffix('-'))
        .filter(|name| !name.is_empty())
        .unwrap_or(name)
}

/// Whether the word is an identifier by its form: a letter first, and a dash, an underscore or a digit.
fn is_identifier_like(word: &str) -> bool {
    let marked = word.contains(['-', '_']) || word.bytes().any(|byte| byte.is_ascii_digit());
    marked && word.starts_with(|letter: char| letter.is_alphabetic()) && !word.contains('=')
}

/// Whether the word can be a name where one is expected.
fn is_name_like(word: &str) -> bool {
    const LETTERS_MIN: usize = 2;
    word.len() >= LETTERS_MIN
        && word.starts_with(|letter: char| letter.is_alphanumeric())
        && word.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'))
        && !lookup_sense(word).is_no_name
}

impl EntityKind {
    const ALL: [EntityKind; 4] =
        [EntityKind::Namespace, EntityKind::Resource, EntityKind::Environment, EntityKind::Service];

    pub fn as_str(self) -> &'static str {
        match self {
            EntityKind::Namespace => "namespace",
            EntityKind::Resource => "resource",
            EntityKind::Environment => "environment",
            EntityKind::Service => "service",
        }
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}:{}", self.kind.as_str(), self.name)
    }
}

/// Error of a text that is not an entity.
#[derive(Debug, thiserror::Error)]
#[error("an entity reads `kind:name`, with kind one of `namespace`, `resource`, `environment`, `service`")]
pub struct NotAnEntity;

impl FromStr for Entity {
    type Err = NotAnEntity;

    fn from_str(text: &str) -> Result<Self, NotAnEntity> {
        let (kind, name) = text.split_once(':').ok_or(NotAnEntity)?;
        let kind = EntityKind::ALL.into_iter().find(|known| known.as_str() == kind).ok_or(NotAnEntity)?;
        if name.is_empty() { Err(NotAnEntity) } else { Ok(Entity { kind, name: name.to_lowercase() }) }
    }
}

impl TryFrom<String> for Entity {
    type Error = NotAnEntity;

    fn try_from(text: String) -> Result<Self, NotAnEntity> {
        text.parse()
    }
}

impl Serialize for Entity {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

#[cfg(test)]
mod tests;
