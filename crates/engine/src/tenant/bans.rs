//! What was forgotten on purpose stays forgotten: a keyed digest of the value, per scope, that no disguise gets past.

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
use crate::policy::admins_only;
use crate::ports::change::{Change, Write};
use crate::ports::row;
use crate::text::normalize;
use crate::{safety, vocabulary};

vocabulary! {
    /// The deed that banned a value.
    BanCause ("cause of a ban") {
        Forget = "forget",
        Redact = "redact",
        Erase = "erase",
        /// Held back, not gone: lifted with the quarantine.
        Quarantine = "quarantine",
    }
}

/// A value that may not come back to a scope. The value itself is not here.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ban {
    /// Keyed digest of the scope and the normalised value.
    pub digest: String,
    pub scope: Scope,
    /// Sentences the value has, so that it is also recognised inside a longer text.
    pub sentences: usize,
    pub cause: BanCause,
    pub memory: MemoryId,
    pub by: String,
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

/// The key of a tenant's digests: without it, a digest cannot be compared with a guess.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BanKey {
    pub key: String,
    pub at: Timestamp,
}

const BAN_STATE: &str = "ban";
const BAN_KEY_STATE: &str = "key";

impl SideRecord for BanKey {
    const KIND: RowKind = RowKind::Bans;
    fn row_id(&self) -> String {
        format!("key-{}", &crate::text::digest::content_sha256(&self.key)[..16])
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        BAN_KEY_STATE.to_owned()
    }
}

/// Why a value may be banned: what to write into the ban.
#[derive(Clone, Debug)]
pub(crate) struct BanReason<'a> {
    pub cause: BanCause,
    pub by: &'a str,
    pub why: Option<&'a str>,
    pub at: Timestamp,
}

/// Bans of one scope compared in memory, with one query; beyond, each digest is asked for on its own.
const BANS_IN_MEMORY_MAX: usize = 2_000;
/// Keys one tenant can have: its own and those of imports.
pub(crate) const KEYS_MAX: usize = 16;
/// Digests asked for one by one where a scope has more bans than fit in memory.
const DIGEST_LOOKUPS_MAX: usize = 64;

impl Engine {
    /// What may not return, newest first.
    pub fn bans(&self, caller: &Caller) -> Result<Vec<Ban>, Error> {
        admins_only(caller)?;
        let (state, limit) = (Some(BAN_STATE.to_owned()), self.limits().list_max);
        let filter = RowFilter { state, newest_first: true, limit, ..RowFilter::default() };
        row::select_records(&*self.backend, caller.tenant, &filter)
    }

    /// Lets a value return.
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

pub(crate) fn load_ban_keys(engine: &Engine, tenant: TenantId) -> Result<Vec<BanKey>, Error> {
    let filter = RowFilter { state: Some(BAN_KEY_STATE.to_owned()), limit: KEYS_MAX, ..RowFilter::default() };
    row::select_records(&*engine.backend, tenant, &filter)
}

/// As [`Engine::ban_keys`], as last read.
pub(crate) fn cached_ban_keys(engine: &Engine, tenant: TenantId) -> Result<Arc<[BanKey]>, Error> {
    if let Some(keys) = engine.tenant_cache.ban_keys(tenant) {
        return Ok(keys);
    }
    let keys: Arc<[BanKey]> = load_ban_keys(engine, tenant)?.into();
    engine.tenant_cache.cache_ban_keys(tenant, &keys);
    Ok(keys)
}

/// The tenant's own key. Made on its own, before the deed that needs it: a deed over many memories, or many deeds at
/// once, must not make one each.
pub(crate) fn ensure_ban_key(engine: &Engine, tenant: TenantId) -> Result<BanKey, Error> {
    if let Some(key) = load_ban_keys(engine, tenant)?.into_iter().next() {
        return Ok(key);
    }
    // Two fresh ids hold some 140 bits of chance, more than a digest can be searched for.
    let key = format!("{}{}", engine.clock.fresh_id().simple(), engine.clock.fresh_id().simple());
    let key = BanKey { key, at: engine.clock.now() };
    let change = Change::new(tenant, key.at).with_guard(ban_key_count_guard(&[])).with_write(Write::Row(key.to_row()));
    match engine.commit(change) {
        Ok(_) => Ok(key),
        // Somebody else made it meanwhile.
        Err(error @ StoreError::Guard(_)) => {
            load_ban_keys(engine, tenant)?.into_iter().next().ok_or_else(|| error.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Why these texts may not be written here, and what must still hold when they are.
pub(crate) fn check_bans(
    engine: &Engine,
    tenant: TenantId,
    keys: &[BanKey],
    scope: &Scope,
    draft: &Draft,
) -> Result<BanCheck, Error> {
    if keys.is_empty() {
        return Ok(BanCheck::default());
    }
    let filter = RowFilter { parent: Some(scope.to_string()), limit: BANS_IN_MEMORY_MAX, ..RowFilter::default() };
    let bans: Vec<Ban> = row::select_records(&*engine.backend, tenant, &filter)?;
    let mut banned = BanCheck::default();
    let whole = normalize::normalise_text(&draft.content);
    banned.guards = keys
        .iter()
        .map(|key| Guard::RowInState { kind: RowKind::Bans, id: ban_digest(&key.key, scope, &whole), state: None })
        .collect();
    let digests = |values: &[String]| -> Vec<String> {
        values.iter().flat_map(|value| keys.iter().map(move |key| ban_digest(&key.key, scope, value))).collect()
    };
    if bans.len() < BANS_IN_MEMORY_MAX {
        if bans.is_empty() {
            return Ok(banned);
        }
        let lengths: std::collections::BTreeSet<usize> = bans.iter().map(|ban| ban.sentences).collect();
        let said = digests(&normalized_values(draft, lengths.into_iter()));
        banned.ban = bans.into_iter().find(|ban| said.contains(&ban.digest));
    } else {
        for digest in digests(&normalized_values(draft, 1..=1)).into_iter().take(DIGEST_LOOKUPS_MAX) {
            banned.ban = banned.ban.or(row::get_record(&*engine.backend, tenant, &digest)?);
        }
    }
    Ok(banned)
}

/// The rows that keep these values from coming back to a scope.
pub(crate) fn plan_bans<'a>(
    engine: &Engine,
    tenant: TenantId,
    scope: &Scope,
    values: impl Iterator<Item = (MemoryId, &'a str)>,
    why: &BanReason<'_>,
) -> Result<Vec<Write>, Error> {
    let key = ensure_ban_key(engine, tenant)?;
    let mut writes = Vec::new();
    for (memory, content) in values.filter(|(_, content)| !content.is_empty()) {
        let ban = Ban {
            digest: ban_digest(&key.key, scope, &normalize::normalise_text(content)),
            scope: scope.clone(),
            sentences: normalize::normalised_sentences(content).len(),
            cause: why.cause,
            memory,
            by: why.by.to_owned(),
            why: why.why.map(|why| safety::without_secrets(why.to_owned())),
            at: why.at,
        };
        // A quarantine ends one day; it must not take the place of a ban that does not.
        let held = why.cause == BanCause::Quarantine;
        if !held || engine.backend.get_row(tenant, RowKind::Bans, &ban.digest)?.is_none() {
            writes.push(Write::Row(ban.to_row()));
        }
    }
    Ok(writes)
}

/// No other key was made or brought.
pub(crate) fn ban_key_count_guard(keys: &[BanKey]) -> Guard {
    Guard::RowCountIs { kind: RowKind::Bans, state: BAN_KEY_STATE, count: keys.len() as u64 }
}

/// What [`Engine::banned`] found.
#[derive(Debug, Default)]
pub(crate) struct BanCheck {
    pub ban: Option<Ban>,
    pub guards: Vec<Guard>,
}

impl Ban {
    /// Says when and why, never what.
    pub fn to_refusal(&self) -> Refusal {
        let day = self.at.to_string();
        let day = day.get(..10).unwrap_or(&day).to_owned();
        let why = self.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let deed = match self.cause {
            BanCause::Forget => "forgotten",
            BanCause::Redact => "redacted",
            BanCause::Erase => "erased",
            BanCause::Quarantine => "quarantined",
        };
        let message = format!("this was {deed} on {day} by {}{why}; it may not return to {}", self.by, self.scope);
        Refusal::new("policy.forgotten", message)
            .with_hint("leave it out; whoever forgot it can lift that with `ingrain ban lift`")
    }
}

/// The normalised values a draft says: its fields, and its sentences in runs of these lengths.
fn normalized_values(draft: &Draft, lengths: impl Iterator<Item = usize>) -> Vec<String> {
    let profile = draft.metadata.as_ref().and_then(|metadata| metadata.get("value")).and_then(|value| value.as_str());
    let fields = [Some(draft.content.as_str()), draft.title.as_deref(), draft.recall_hint.as_deref(), profile];
    let mut values: Vec<String> = fields.into_iter().flatten().map(normalize::normalise_text).collect();
    let sentences = normalize::normalised_sentences(&draft.content);
    for length in lengths.filter(|length| *length > 0) {
        values.extend(sentences.windows(length).map(|run| run.concat()).filter(|run| normalize::is_distinctive(run)));
    }
    values.sort();
    values.dedup();
    values
}

fn ban_digest(key: &str, scope: &Scope, value: &str) -> String {
    let scope = serde_json::to_string(scope).unwrap_or_default();
    normalize::hmac_sha256_hex(key, &[&scope, value])
}
