//! Rulesets: the type of a store, as data. Five are built in; configuration adds more.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::error::Error;
use crate::model::vocabulary::{Dedup, EvidenceRule, Kind, Layer, Ranker, ScopeKind, SecretAction, TtlClass};

/// The rules of one type of store: what may be saved, how duplicates are found, how hits are ranked, when it expires.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruleset {
    /// Allowed layers. With exactly one, it is also the default.
    pub layers: Vec<Layer>,
    /// Allowed kinds; empty means all.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// Kind of a save that states none; `None`: the scope decides or the caller must state it (see `gate`).
    #[serde(default)]
    pub default_kind: Option<Kind>,
    pub dedup: Dedup,
    pub secrets: SecretAction,
    pub evidence: EvidenceRule,
    /// A larger save is refused.
    pub content_bytes_max: u64,
    /// A larger save gets a warning.
    #[serde(default)]
    pub content_bytes_soft: Option<u64>,
    /// Active memories per place; a save beyond it archives the least important one.
    #[serde(default)]
    pub live_max: Option<u64>,
    /// Saves per unattended run.
    #[serde(default)]
    pub unattended_saves_max: Option<u32>,
    pub ranker: Ranker,
    /// Days until expiry by TTL class; a class without an entry never expires.
    #[serde(default)]
    pub ttl_days: BTreeMap<TtlClass, u32>,
    /// Days until an agent's drafts in a conversation expire, counted from the conversation's last activity.
    #[serde(default)]
    pub conversation_draft_days: Option<u32>,
    /// Whether importance is estimated at save and decays.
    #[serde(default)]
    pub importance: bool,
}

impl Ruleset {
    /// Layer of a save that states none: the only one allowed, else `profile` for a user's store, else the kind's own.
    pub fn default_layer(&self, kind: Kind, scope: ScopeKind) -> Layer {
        match self.layers.as_slice() {
            [only] => *only,
            // Before the kind: what a user's store holds is about the user, even a runbook.
            layers if scope == ScopeKind::User && layers.contains(&Layer::Profile) => Layer::Profile,
            layers if layers.contains(&kind.default_layer()) => kind.default_layer(),
            [first, ..] => *first,
            [] => kind.default_layer(),
        }
    }

    pub fn allows_kind(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Built-in and configured rulesets by name.
#[derive(Clone, Debug)]
pub struct Rulesets(BTreeMap<String, Ruleset>);

impl Rulesets {
    pub fn get(&self, name: &str) -> Option<&Ruleset> {
        self.0.get(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds rulesets from configuration. A built-in one cannot be replaced, so that its name means the same everywhere.
    pub fn add_configured(&mut self, more: BTreeMap<String, Ruleset>) -> Result<(), Error> {
        for (name, ruleset) in more {
            if self.0.contains_key(&name) {
                let message = format!("ruleset `{name}` is built in; choose another name");
                return Err(Error::invalid("config.ruleset_taken", message));
            }
            if let Some(invalid) = ruleset.out_of_bounds() {
                let message = format!("`rulesets.{name}.{}`: {} is expected", invalid.field, invalid.expected);
                return Err(Error::invalid("config.ruleset", message));
            }
            self.0.insert(name, ruleset);
        }
        Ok(())
    }
}

impl Default for Rulesets {
    fn default() -> Self {
        let named = |(name, ruleset): (&str, Ruleset)| (name.to_owned(), ruleset);
        let all = [
            ("document", document_ruleset()),
            ("episodic", episodic_ruleset()),
            ("lesson", lesson_ruleset()),
            ("layered", layered_ruleset()),
            ("note", note_ruleset()),
        ];
        Rulesets(all.into_iter().map(named).collect())
    }
}

/// Defaults of the built-in rulesets: secrets refused, 25 kB, no quota, no expiry.
fn base_ruleset() -> Ruleset {
    Ruleset {
        layers: Layer::ALL.to_vec(),
        kinds: Vec::new(),
        default_kind: None,
        dedup: Dedup::None,
        secrets: SecretAction::Block,
        evidence: EvidenceRule::Optional,
        content_bytes_max: 25_000,
        content_bytes_soft: None,
        live_max: None,
        unattended_saves_max: None,
        ranker: Ranker::Operational,
        ttl_days: BTreeMap::new(),
        conversation_draft_days: None,
        importance: false,
    }
}

/// `document`: operational documents addressed by path.
fn document_ruleset() -> Ruleset {
    Ruleset {
        dedup: Dedup::Path,
        evidence: EvidenceRule::Required,
        content_bytes_max: 100_000,
        content_bytes_soft: Some(25_000),
        conversation_draft_days: Some(30),
        ..base_ruleset()
    }
}

/// `episodic`: episodes of an agent, which decay and expire.
fn episodic_ruleset() -> Ruleset {
    // `remember` has no entry, so it never expires.
    let ttl_days =
        [(TtlClass::Routine, 7), (TtlClass::TaskCompletion, 30), (TtlClass::Decision, 90), (TtlClass::Error, 14)];
    Ruleset {
        layers: vec![Layer::Episodic],
        default_kind: Some(Kind::Turn),
        content_bytes_max: 16_000,
        live_max: Some(10_000),
        ranker: Ranker::Episodic,
        ttl_days: ttl_days.into_iter().collect(),
        importance: true,
        ..base_ruleset()
    }
}

/// `lesson`: short lessons of a pipeline's agent, deduplicated by content.
fn lesson_ruleset() -> Ruleset {
    Ruleset {
        layers: vec![Layer::Semantic],
        default_kind: Some(Kind::Lesson),
        dedup: Dedup::Exact,
        evidence: EvidenceRule::None,
        content_bytes_max: 4_096,
        ranker: Ranker::Lesson,
        ..base_ruleset()
    }
}

/// `layered`: all five layers; changes to the same key go through review.
fn layered_ruleset() -> Ruleset {
    Ruleset { default_kind: Some(Kind::Note), dedup: Dedup::Key, ranker: Ranker::Layered, ..base_ruleset() }
}

/// `note`: short notes about a person or a system, found by their recall hint. Secrets are redacted, not refused.
fn note_ruleset() -> Ruleset {
    Ruleset {
        layers: vec![Layer::Semantic, Layer::Profile],
        default_kind: Some(Kind::Note),
        dedup: Dedup::Hint,
        secrets: SecretAction::Redact,
        evidence: EvidenceRule::None,
        content_bytes_max: 4_096,
        // Without a person who watches, a confused agent must not fill the store.
        unattended_saves_max: Some(3),
        ranker: Ranker::Hint,
        ..base_ruleset()
    }
}
