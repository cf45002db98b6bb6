//! Versioned entries: a memory with its new version, ready to be written; built from a cleared draft or a transition.

use jiff::{Timestamp, ToSpan as _};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::ClearedDraft;
use crate::model::caller::Caller;
use crate::model::guard::Guard;
use crate::model::id::{MemoryId, VersionId};
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::ruleset::Ruleset;
use crate::model::trust_flow::{Field, FieldTrust};
use crate::model::vector::Embedding;
use crate::model::vocabulary::{Kind, Layer, Operation, ScopeKind, State, Trust};
use crate::text::digest::content_sha256;
use crate::text::entities;
use crate::text::words::{self, IndexedFields, IndexedWords};
use crate::{policy, safety};

/// A memory and the version to append. Made from a [`ClearedDraft`], or from a stored memory with unchanged content, so
/// content cannot reach a backend without passing the gate.
#[derive(Debug, Clone)]
pub struct VersionedEntry {
    memory: Memory,
    previous: Option<VersionId>,
    operation: Operation,
    stamp: VersionStamp,
    evidence: Vec<Evidence>,
    words: IndexedWords,
    embedding: Option<Embedding>,
    guards: Vec<Guard>,
}

/// Author, time and reason of a version.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionStamp {
    pub version: VersionId,
    pub at: Timestamp,
    pub actor: String,
    pub run: Option<String>,
    pub conversation: Option<String>,
    pub reason: Option<String>,
}

impl VersionStamp {
    pub fn new(caller: &Caller, version: VersionId, at: Timestamp, reason: Option<String>) -> VersionStamp {
        VersionStamp {
            version,
            at,
            actor: caller.principal.clone(),
            run: caller.run.clone(),
            conversation: caller.conversation.clone(),
            // Only the reason of a draft passes the gate; those of forgetting, pinning and so on are cleaned here.
            reason: reason.and_then(|reason| safety::clean_reason(reason, caller.role.is_program())),
        }
    }

    /// Doors refuse names that are secrets. What comes another way, such as an import, is redacted.
    fn without_secrets(self) -> VersionStamp {
        VersionStamp {
            actor: safety::redact_identifier(self.actor),
            run: self.run.map(safety::redact_identifier),
            conversation: self.conversation.map(safety::redact_identifier),
            ..self
        }
    }
}

impl VersionedEntry {
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn previous(&self) -> Option<VersionId> {
        self.previous
    }

    pub fn operation(&self) -> Operation {
        self.operation
    }

    pub fn stamp(&self) -> &VersionStamp {
        &self.stamp
    }

    pub fn evidence(&self) -> &[Evidence] {
        &self.evidence
    }

    pub fn words(&self) -> &IndexedWords {
        &self.words
    }

    /// Vector to store. `None` keeps the stored vector if the content is unchanged, else deletes it.
    pub fn embedding(&self) -> Option<&Embedding> {
        self.embedding.as_ref()
    }

    pub fn with_embedding(mut self, embedding: Option<Embedding>) -> VersionedEntry {
        self.embedding = embedding;
        self
    }

    /// Guards that the gate's checks rely on, such as "this text is not banned".
    pub(crate) fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// For an imported version that is followed by a newer one in the same change: the newest carries the guards.
    pub(crate) fn without_guards(mut self) -> VersionedEntry {
        self.guards = Vec::new();
        self
    }

    /// Sets the time of the last update. For changes that readers should not see as an update, such as an extended
    /// expiry.
    pub(crate) fn with_updated_at(mut self, updated_at: Timestamp) -> VersionedEntry {
        self.memory.updated_at = updated_at;
        self
    }

    pub(crate) fn with_supersedes(mut self, superseded: Vec<MemoryId>) -> VersionedEntry {
        self.memory.supersedes = superseded;
        self
    }

    /// A new version with other state, trust, links or flags, and the same content, which has passed the gate before.
    /// `written_trust`: of fields whose value changes.
    pub fn from_transition(
        current: &Memory,
        operation: Operation,
        stamp: VersionStamp,
        evidence: Vec<Evidence>,
        written_trust: Trust,
        alter: impl FnOnce(&mut Memory),
    ) -> VersionedEntry {
        let mut memory = current.clone();
        alter(&mut memory);
        // INVARIANT: content enters through the gate only, whatever `alter` does.
        memory.content.clone_from(&current.content);
        memory.sha256.clone_from(&current.sha256);
        redact_altered_text(&mut memory, current);
        // INVARIANT: a field is as trusted as the author of its current value, whatever `alter` does.
        for field in Field::ALL.iter().filter(|field| !memory.same_value(current, **field)).collect::<Vec<_>>() {
            memory.set_field_trust(*field, written_trust);
        }
        VersionedEntry::next_version(memory, Some(current), operation, stamp, evidence)
    }

    /// Numbers and dates the version, links it to the previous one and indexes its words.
    fn next_version(
        mut memory: Memory,
        previous: Option<&Memory>,
        operation: Operation,
        stamp: VersionStamp,
        evidence: Vec<Evidence>,
    ) -> VersionedEntry {
        let stamp = stamp.without_secrets();
        memory.version = stamp.version;
        memory.version_number = previous.map_or(1, |memory| memory.version_number + 1);
        memory.updated_at = stamp.at;
        let words = index_memory(&memory);
        let (previous, embedding, guards) = (previous.map(|m| m.version), None, Vec::new());
        VersionedEntry { memory, previous, operation, stamp, evidence, words, embedding, guards }
    }
}

impl ClearedDraft {
    /// A new memory.
    pub fn into_new_memory(
        self,
        id: MemoryId,
        author: &Caller,
        ruleset: &Ruleset,
        operation: Operation,
        stamp: VersionStamp,
    ) -> VersionedEntry {
        let expires_at = compute_expiry(&self, ruleset, stamp.at);
        let ClearedDraft { draft, scope, kind, layer, permit, flags, guards, .. } = self;
        let memory = Memory {
            id,
            tenant: author.tenant,
            store: draft.store,
            scope,
            layer,
            kind,
            path: draft.path,
            title: draft.title,
            recall_hint: draft.recall_hint,
            sha256: content_sha256(&draft.content),
            size_bytes: draft.content.len() as u64,
            content: draft.content,
            tags: draft.tags.unwrap_or_default(),
            // Set by `with_entities` below.
            entities: Vec::new(),
            metadata: draft.metadata.unwrap_or_default(),
            state: permit.state,
            trust: permit.trust,
            // One author wrote all of it.
            field_trust: FieldTrust::default(),
            confidence: draft.confidence.unwrap_or(DEFAULT_CONFIDENCE),
            importance: draft.importance.unwrap_or(DEFAULT_IMPORTANCE),
            always_inject: draft.always_inject.unwrap_or(false),
            expires_at,
            archived_at: None,
            verify_by: draft.verify_by,
            last_recalled_at: None,
            recall_count: 0,
            supersedes: Vec::new(),
            superseded_by: None,
            derived_from: draft.derived_from,
            role: draft.role,
            session: draft.session,
            turn: draft.turn,
            speaker: draft.speaker,
            flags,
            author: author.principal.clone(),
            was_persons: false,
            version: stamp.version,
            version_number: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        let entry = VersionedEntry::next_version(with_entities(memory), None, operation, stamp, draft.evidence);
        VersionedEntry { guards, ..entry }
    }

    /// A new version of `current`. Fields that the draft does not state keep their value and their trust; settings that
    /// a less trusted author made are dropped.
    pub fn into_revision(
        self,
        current: &Memory,
        ruleset: &Ruleset,
        operation: Operation,
        stamp: VersionStamp,
    ) -> VersionedEntry {
        let expires_at = compute_expiry(&self, ruleset, stamp.at);
        let ClearedDraft { draft, kind, layer, permit, flags, is_approved, guards, .. } = self;
        let kept = kept_fields(&draft);
        // Writing again does not activate a constrained memory; only an approval does.
        let state = if is_approved || current.state == State::Active { permit.state } else { current.state };
        // A decision on a candidate adds no words; a candidate stays its proposer's.
        let keeps_author = operation == Operation::Confirm || state == State::Constrained;
        let author = if keeps_author { current.author.clone() } else { stamp.actor.clone() };
        let was_persons = current.was_persons || policy::is_persons_text(current);
        let old = match permit.trust > current.trust && operation != Operation::Confirm {
            true => without_settings(current.clone(), kind, layer),
            false => current.clone(),
        };
        let mut memory = Memory {
            // A new kind may imply a new layer.
            layer: if draft.layer.is_some() || draft.kind.is_some() { layer } else { old.layer },
            kind: if draft.kind.is_some() { kind } else { old.kind },
            path: draft.path.or(old.path),
            title: draft.title.or(old.title),
            recall_hint: draft.recall_hint.or(old.recall_hint),
            sha256: content_sha256(&draft.content),
            size_bytes: draft.content.len() as u64,
            content: draft.content,
            tags: draft.tags.unwrap_or(old.tags),
            metadata: draft.metadata.unwrap_or(old.metadata),
            state,
            trust: permit.trust,
            field_trust: FieldTrust::default(),
            confidence: draft.confidence.unwrap_or(old.confidence),
            importance: draft.importance.unwrap_or(old.importance),
            always_inject: draft.always_inject.unwrap_or(old.always_inject),
            // An expiry in the past is dropped: an update makes the memory current again.
            expires_at: expires_at.or(old.expires_at.filter(|at| *at > stamp.at)),
            verify_by: draft.verify_by.or(old.verify_by),
            derived_from: if draft.derived_from.is_empty() { old.derived_from } else { draft.derived_from },
            role: draft.role.or(old.role),
            session: draft.session.or(old.session),
            turn: draft.turn.or(old.turn),
            speaker: draft.speaker.or(old.speaker),
            // Flags are of the new text; those of the old one do not carry over.
            flags,
            author,
            was_persons,
            ..old
        };
        for field in kept {
            memory.set_field_trust(field, current.trust_of(field));
        }
        let entry =
            VersionedEntry::next_version(with_entities(memory), Some(current), operation, stamp, draft.evidence);
        VersionedEntry { guards, ..entry }
    }

    /// A version from an export: times and links are the snapshot's, the text is what passed the gate. `redacted`: the
    /// text was already erased where it was exported, so it stays empty under its original hash and size.
    pub(crate) fn into_imported_version(
        self,
        snapshot: &Memory,
        previous: Option<&Memory>,
        operation: Operation,
        stamp: VersionStamp,
        redacted: bool,
    ) -> VersionedEntry {
        let ClearedDraft { draft, scope, kind, layer, permit, flags, guards, .. } = self;
        let unless_redacted = |text: Option<String>| text.filter(|_| !redacted);
        let content = unless_redacted(Some(draft.content)).unwrap_or_default();
        let memory = Memory {
            store: draft.store,
            scope,
            kind,
            layer,
            path: draft.path,
            title: unless_redacted(draft.title),
            recall_hint: unless_redacted(draft.recall_hint),
            sha256: if redacted { snapshot.sha256.clone() } else { content_sha256(&content) },
            size_bytes: if redacted { snapshot.size_bytes } else { content.len() as u64 },
            content,
            tags: draft.tags.filter(|_| !redacted).unwrap_or_default(),
            metadata: draft.metadata.filter(|_| !redacted).unwrap_or_default(),
            session: draft.session,
            speaker: draft.speaker,
            author: safety::redact_identifier(snapshot.author.clone()),
            state: permit.state,
            trust: permit.trust,
            flags,
            ..snapshot.clone()
        };
        let mut memory = if redacted { Memory { entities: Vec::new(), ..memory } } else { with_entities(memory) };
        memory.forget_empty_fields();
        // `next_version` would set the time of the import.
        let updated_at = memory.updated_at;
        let mut entry = VersionedEntry::next_version(memory, previous, operation, stamp, draft.evidence);
        entry.memory.updated_at = updated_at;
        VersionedEntry { guards, ..entry }
    }
}

/// The memory without what decides how long and as what its content is used: that was set for another text, by a less
/// trusted author.
fn without_settings(memory: Memory, kind: Kind, layer: Layer) -> Memory {
    Memory {
        kind,
        layer,
        confidence: DEFAULT_CONFIDENCE,
        importance: DEFAULT_IMPORTANCE,
        expires_at: None,
        verify_by: None,
        derived_from: Vec::new(),
        ..memory
    }
}

/// Fields that the draft does not state.
fn kept_fields(draft: &Draft) -> impl Iterator<Item = Field> + use<> {
    let stated = [
        (Field::Path, draft.path.is_some()),
        (Field::Title, draft.title.is_some()),
        (Field::RecallHint, draft.recall_hint.is_some()),
        (Field::Tags, draft.tags.is_some()),
        (Field::Metadata, draft.metadata.is_some()),
        (Field::AlwaysInject, draft.always_inject.is_some()),
        (Field::Session, draft.session.is_some()),
        (Field::Speaker, draft.speaker.is_some()),
    ];
    stated.into_iter().filter(|(_, stated)| !stated).map(|(field, _)| field)
}

/// Redacts secrets in the text that a transition has changed; the rest has passed the gate, and so has a new path.
fn redact_altered_text(memory: &mut Memory, current: &Memory) {
    let fields = [
        (&mut memory.title, &current.title),
        (&mut memory.recall_hint, &current.recall_hint),
        (&mut memory.session, &current.session),
        (&mut memory.speaker, &current.speaker),
    ];
    for (altered, _) in fields.into_iter().filter(|(altered, before)| altered != before) {
        *altered = altered.take().map(safety::without_secrets);
    }
    if memory.tags != current.tags {
        memory.tags = std::mem::take(&mut memory.tags).into_iter().map(safety::without_secrets).collect();
    }
}

/// Confidence of a save that states none.
const DEFAULT_CONFIDENCE: f64 = 0.8;
/// Importance of a save that states none: the middle of the range.
const DEFAULT_IMPORTANCE: f64 = 0.5;

/// Extracts entities (services, hosts, files) from content, title, hint and path, in this order, each once.
fn with_entities(mut memory: Memory) -> Memory {
    let mut found = entities::extract(&memory.content);
    for text in [memory.title.as_deref(), memory.recall_hint.as_deref(), memory.path.as_deref()].into_iter().flatten() {
        for entity in entities::extract(text) {
            if !found.contains(&entity) {
                found.push(entity);
            }
        }
    }
    memory.entities = found;
    memory
}

/// The searched fields of a memory. The only mapping from memory to words: a field added here is searched in current
/// and in `as_of` queries.
pub fn searched_fields(memory: &Memory) -> IndexedFields<'_> {
    IndexedFields {
        title: memory.title.as_deref(),
        hint: memory.recall_hint.as_deref(),
        content: &memory.content,
        tags: &memory.tags,
        path: memory.path.as_deref(),
        speaker: memory.speaker.as_deref(),
    }
}

/// The words that a memory is found by, with their frequencies.
pub fn index_memory(memory: &Memory) -> IndexedWords {
    words::index_fields(&searched_fields(memory))
}

/// The text that a memory's vector is computed from: title, recall hint and content, in Unicode form NFC.
pub fn embedding_text(memory: &Memory) -> String {
    let mut text = String::with_capacity(memory.content.len() + 64);
    for part in [memory.title.as_deref(), memory.recall_hint.as_deref()].into_iter().flatten() {
        push_nfc(part, &mut text);
        text.push('\n');
    }
    push_nfc(&memory.content, &mut text);
    text
}

/// Appends in NFC. The quick check avoids the slow normalisation for most texts.
fn push_nfc(part: &str, text: &mut String) {
    match part.is_ascii() || is_nfc_quick(part.chars()) == IsNormalized::Yes {
        true => text.push_str(part),
        false => text.extend(part.nfc()),
    }
}

/// Expiry of a new version: stated, else by TTL class, else by scope and trust (an agent's drafts in a conversation).
fn compute_expiry(cleared: &ClearedDraft, ruleset: &Ruleset, now: Timestamp) -> Option<Timestamp> {
    // Days of 24 hours: calendar days depend on a time zone.
    let in_days = |days: u32| now.checked_add((i64::from(days) * 24).hours()).ok();
    if cleared.draft.expires_at.is_some() {
        return cleared.draft.expires_at;
    }
    if let Some(class) = cleared.draft.ttl {
        return ruleset.ttl_days.get(&class).and_then(|days| in_days(*days));
    }
    match (cleared.scope.kind(), cleared.permit.trust) {
        (ScopeKind::Conversation, Trust::AgentDraft) => ruleset.conversation_draft_days.and_then(in_days),
        _ => None,
    }
}
