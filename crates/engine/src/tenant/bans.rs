//! Bans: forgotten, redacted, erased or quarantined values may not be saved again in their scope.
//!
//! A ban stores a keyed digest of the normalised value, so it holds no text and also recognises other case, spacing,
//! punctuation and look-alike letters.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::{Error, StoreError};
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Guard;
use crate::model::id::{MemoryId, TenantId};
use crate::model::memory::Draft;
use crate::model::refusal::Refusal;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::model::vocabulary::Role;
use crate::policy::{admins_only, is_program_name};
use crate::ports::change::{Change, Write};
use crate::ports::row;
use crate::text::normalize;
use crate::{safety, vocabulary};

vocabulary! {
    /// Operation that banned a value.
    BanCause ("cause of a ban") {
        Forget = "forget",
        Redact = "redact",
        Erase = "erase",
        /// Temporary: lifted with the quarantine.
        Quarantine = "quarantine",
    }
}

/// A value that may not be saved again in a scope. Only its digest is stored, never the value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ban {
    /// Keyed digest of the scope and the normalised value.
    pub digest: String,
    pub scope: Scope,
    /// Number of sentences of the value. Runs of this many sentences of a draft are compared with it, so the value is
    /// also recognised inside a longer text.
    pub sentences: usize,
    pub cause: BanCause,
    /// The memory that held the value.
    pub memory: MemoryId,
    pub by: String,
    /// Role of that caller. Bans of older versions have none; there the name tells.
    #[serde(default)]
    pub role: Option<Role>,
    pub why: Option<String>,
    pub at: Timestamp,
}

impl SideRecord for Ban {
    const KIND: RowKind = RowKind::Bans;
    fn row_id(&self) -> String {
        self.digest.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        BAN_STATE.to_owned()
    }
    fn row_subject(&self) -> String {
        self.memory.to_string()
    }
    fn row_parent(&self) -> String {
        self.scope.to_string()
    }
}

/// A tenant's secret key for ban and allow digests. Without it, a digest cannot be compared with a guessed value.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BanKey {
    pub key: String,
    pub at: Timestamp,
}

// Bans and ban keys share one table; the state tells them apart.
const BAN_STATE: &str = "ban";
const BAN_KEY_STATE: &str = "key";

impl SideRecord for BanKey {
    const KIND: RowKind = RowKind::Bans;
    fn row_id(&self) -> String {
        // A digest: ids appear in messages, the key must not.
        format!("key-{}", &crate::text::digest::content_sha256(&self.key)[..16])
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        BAN_KEY_STATE.to_owned()
    }
}

/// Cause, author, reason and time of new bans.
#[derive(Clone, Debug)]
pub(crate) struct BanReason<'a> {
    pub cause: BanCause,
    pub by: &'a str,
    pub role: Role,
    pub why: Option<&'a str>,
    pub at: Timestamp,
}

impl<'a> BanReason<'a> {
    pub(crate) fn new(cause: BanCause, caller: &'a Caller, why: Option<&'a str>, at: Timestamp) -> BanReason<'a> {
        BanReason { cause, by: &caller.principal, role: caller.role, why, at }
    }
}

/// Bans of one scope that are loaded with one query and compared in memory. With more, each digest of the draft is
/// looked up by itself.
const BANS_IN_MEMORY_MAX: usize = 2_000;
/// Keys per tenant: its own and those that came with imports.
pub(crate) const KEYS_MAX: usize = 16;
/// Most single look-ups per draft, in a scope with more than [`BANS_IN_MEMORY_MAX`] bans. Bounds the cost of a save;
/// further values of a long draft (in alphabetical order) are not checked.
const DIGEST_LOOKUPS_MAX: usize = 64;

impl Engine {
    /// The bans of the tenant, newest first, at most `list_max`. Admins only.
    pub fn bans(&self, caller: &Caller) -> Result<Vec<Ban>, Error> {
        admins_only(caller)?;
        let (state, limit) = (Some(BAN_STATE.to_owned()), self.limits().list_max);
        let filter = RowFilter { state, newest_first: true, limit, ..RowFilter::default() };
        row::select_records(&*self.backend, caller.tenant, &filter)
    }

    /// Lifts a ban by its digest. Admins only.
    pub fn lift_ban(&self, caller: &Caller, digest: &str) -> Result<Ban, Error> {
        admins_only(caller)?;
        let missing = || Error::not_found(format!("ban `{digest}`"));
        let found = self.backend.get_row(caller.tenant, RowKind::Bans, digest)?.filter(|row| row.state == BAN_STATE);
        let ban = Ban::from_row(found.ok_or_else(missing)?)?;
        let now = self.clock.now();
        let event = EventBody::new(EventName::AuditRecorded, caller, now)
            .with_scope(Some(ban.scope.clone()))
            .with_field("action", "ban.lifted")
            .with_field("ban", digest);
        let change = Change::new(caller.tenant, now)
            .with_guard(Guard::RowInState { kind: RowKind::Bans, id: ban.row_id(), state: Some(ban.row_state()) })
            .with_write(Write::DeleteRow { kind: RowKind::Bans, id: ban.row_id() })
            .with_event(event);
        self.commit(change)?;
        Ok(ban)
    }
}

/// The keys of a tenant, oldest first.
pub(crate) fn load_ban_keys(engine: &Engine, tenant: TenantId) -> Result<Vec<BanKey>, Error> {
    let filter = RowFilter { state: Some(BAN_KEY_STATE.to_owned()), limit: KEYS_MAX, ..RowFilter::default() };
    row::select_records(&*engine.backend, tenant, &filter)
}

/// As [`load_ban_keys`], from the cache. A write that relies on it needs [`ban_key_count_guard`].
pub(crate) fn cached_ban_keys(engine: &Engine, tenant: TenantId) -> Result<Arc<[BanKey]>, Error> {
    if let Some(keys) = engine.tenant_cache.ban_keys(tenant) {
        return Ok(keys);
    }
    let keys: Arc<[BanKey]> = load_ban_keys(engine, tenant)?.into();
    engine.tenant_cache.cache_ban_keys(tenant, &keys);
    Ok(keys)
}

/// The tenant's own key, created if there is none. Committed in a transaction of its own, before the change that needs
/// it, so that concurrent changes do not each create a key.
pub(crate) fn ensure_ban_key(engine: &Engine, tenant: TenantId) -> Result<BanKey, Error> {
    if let Some(key) = load_ban_keys(engine, tenant)?.into_iter().next() {
        return Ok(key);
    }
    // Two UUIDv7 hold about 140 random bits, too many for a brute-force search.
    let key = format!("{}{}", engine.clock.fresh_id().simple(), engine.clock.fresh_id().simple());
    let key = BanKey { key, at: engine.clock.now() };
    let change = Change::new(tenant, key.at).with_guard(ban_key_count_guard(&[])).with_write(Write::Row(key.to_row()));
    match engine.commit(change) {
        Ok(_) => Ok(key),
        // Another process created it first.
        Err(error @ StoreError::Guard(_)) => {
            load_ban_keys(engine, tenant)?.into_iter().next().ok_or_else(|| error.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whose word a text is saved on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// A person writes it, has confirmed it or approves it.
    Persons,
    Programs,
}

impl Word {
    pub(crate) fn of(caller: &Caller) -> Word {
        if caller.role.is_program() { Word::Programs } else { Word::Persons }
    }
}

/// Checks a draft against the bans of its scope. Also returns guards that no ban of the whole content is added before
/// the commit.
pub(crate) fn check_bans(
    engine: &Engine,
    tenant: TenantId,
    word: Word,
    keys: &[BanKey],
    scope: &Scope,
    draft: &Draft,
) -> Result<BanCheck, Error> {
    // Without a key, nothing was ever banned in this tenant.
    if keys.is_empty() {
        return Ok(BanCheck::default());
    }
    let filter = RowFilter { parent: Some(scope.to_string()), limit: BANS_IN_MEMORY_MAX, ..RowFilter::default() };
    let bans: Vec<Ban> = row::select_records(&*engine.backend, tenant, &filter)?;
    let mut check = BanCheck::default();
    let whole = normalize::normalise_text(&draft.content);
    check.guards = keys
        .iter()
        .map(|key| Guard::RowInState { kind: RowKind::Bans, id: ban_digest(&key.key, scope, &whole), state: None })
        .collect();
    let digests = |values: &[String]| -> Vec<String> {
        values.iter().flat_map(|value| keys.iter().map(move |key| ban_digest(&key.key, scope, value))).collect()
    };
    if bans.len() < BANS_IN_MEMORY_MAX {
        if bans.is_empty() {
            return Ok(check);
        }
        let lengths: std::collections::BTreeSet<usize> = bans.iter().map(|ban| ban.sentences).collect();
        let draft_digests = digests(&normalized_values(draft, lengths.into_iter()));
        let (binding, ignored): (Vec<Ban>, Vec<Ban>) =
            bans.into_iter().filter(|ban| draft_digests.contains(&ban.digest)).partition(|ban| ban.binds(word));
        check.ban = binding.into_iter().next();
        check.ignore(&ignored);
    } else {
        // The sentence counts of all bans are unknown here, so only single sentences and whole fields are checked.
        for digest in digests(&normalized_values(draft, 1..=1)).into_iter().take(DIGEST_LOOKUPS_MAX) {
            let found: Option<Ban> = row::get_record(&*engine.backend, tenant, &digest)?;
            match found {
                Some(ban) if ban.binds(word) => check.ban = check.ban.or(Some(ban)),
                Some(ban) => check.ignore(&[ban]),
                None => {}
            }
        }
    }
    Ok(check)
}

/// Plans bans of these values in a scope.
pub(crate) fn plan_bans<'a>(
    engine: &Engine,
    tenant: TenantId,
    scope: &Scope,
    values: impl Iterator<Item = (MemoryId, &'a str)>,
    reason: &BanReason<'_>,
) -> Result<Vec<Write>, Error> {
    let key = ensure_ban_key(engine, tenant)?;
    let mut writes = Vec::new();
    for (memory, content) in values.filter(|(_, content)| !content.is_empty()) {
        let ban = Ban {
            digest: ban_digest(&key.key, scope, &normalize::normalise_text(content)),
            scope: scope.clone(),
            sentences: normalize::normalised_sentences(content).len(),
            cause: reason.cause,
            memory,
            by: reason.by.to_owned(),
            role: Some(reason.role),
            why: reason.why.and_then(|why| safety::clean_reason(why.to_owned(), reason.role.is_program())),
            at: reason.at,
        };
        // The ban of a quarantine is lifted with it, and a program's does not bind people, so neither overwrites a
        // ban of the same value.
        let is_weaker = reason.cause == BanCause::Quarantine || reason.role.is_program();
        if !is_weaker || engine.backend.get_row(tenant, RowKind::Bans, &ban.digest)?.is_none() {
            writes.push(Write::Row(ban.to_row()));
        }
    }
    Ok(writes)
}

/// Guard that no key was created or imported since these were read.
pub(crate) fn ban_key_count_guard(keys: &[BanKey]) -> Guard {
    Guard::RowCountIs { kind: RowKind::Bans, state: BAN_KEY_STATE, count: keys.len() as u64 }
}

/// Result of [`check_bans`]: the matching ban, if any, and the guards for the write.
#[derive(Debug, Default)]
pub(crate) struct BanCheck {
    pub ban: Option<Ban>,
    pub guards: Vec<Guard>,
}

impl BanCheck {
    /// Expects these bans to be there: they do not bind the caller.
    fn ignore(&mut self, ignored: &[Ban]) {
        for guard in &mut self.guards {
            if let Guard::RowInState { id, state, .. } = guard
                && ignored.iter().any(|ban| ban.digest == *id)
            {
                *state = Some(BAN_STATE.to_owned());
            }
        }
    }
}

impl Ban {
    /// Whether the ban holds for a text. What a program made forgotten does not bind people.
    fn binds(&self, word: Word) -> bool {
        word == Word::Programs || !self.is_by_program()
    }

    fn is_by_program(&self) -> bool {
        self.role.map_or_else(|| is_program_name(&self.by), Role::is_program)
    }

    /// The refusal of a draft that matches this ban. Names time, author and a person's reason, not the value. A
    /// program's reason would speak to every agent that saves the text.
    pub fn to_refusal(&self) -> Refusal {
        let day = self.at.to_string();
        let day = day.get(..10).unwrap_or(&day).to_owned();
        let why = self.why.as_deref().filter(|_| !self.is_by_program());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let operation = match self.cause {
            BanCause::Forget => "forgotten",
            BanCause::Redact => "redacted",
            BanCause::Erase => "erased",
            BanCause::Quarantine => "quarantined",
        };
        let message = format!("this was {operation} on {day} by {}{why}; it may not return to {}", self.by, self.scope);
        Refusal::new("policy.forgotten", message)
            .with_hint("leave it out, or ask an admin to lift the ban with `ingrain ban lift`")
    }
}

/// The normalised values of a draft to compare with bans: whole fields, and runs of so many sentences of the content.
fn normalized_values(draft: &Draft, lengths: impl Iterator<Item = usize>) -> Vec<String> {
    // Profile memories keep their value in metadata.
    let profile = draft.metadata.as_ref().and_then(|metadata| metadata.get("value")).and_then(|value| value.as_str());
    let fields = [Some(draft.content.as_str()), draft.title.as_deref(), draft.recall_hint.as_deref(), profile];
    let mut values: Vec<String> = fields.into_iter().flatten().map(normalize::normalise_text).collect();
    let sentences = normalize::normalised_sentences(&draft.content);
    for length in lengths.filter(|length| *length > 0) {
        // Short runs, such as "ok", occur everywhere and do not identify a value.
        values.extend(sentences.windows(length).map(|run| run.concat()).filter(|run| normalize::is_distinctive(run)));
    }
    values.sort();
    values.dedup();
    values
}

/// Keyed digest of scope and value. The scope is part of it, so equal values in two scopes cannot be linked.
fn ban_digest(key: &str, scope: &Scope, value: &str) -> String {
    let scope = serde_json::to_string(scope).unwrap_or_default();
    normalize::hmac_sha256_hex(key, &[&scope, value])
}
