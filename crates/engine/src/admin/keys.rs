//! API keys: create, rotate, revoke, look up. Only a digest is stored; the text of a key is shown once.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};

use crate::Engine;
use crate::gate::{check_label, check_name};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Guard;
use crate::model::id::TenantId;
use crate::model::key::{Key, KeyRights, Settable};
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::vocabulary::Role;
use crate::policy::admins_only;
use crate::ports::change::{Change, Write};
use crate::ports::row;
use crate::text::digest::content_sha256;

/// Prefix of every key, by which people and secret scanners recognise one.
pub const KEY_MARK: &str = "ing_";
/// Random bytes of a key: 256 bits.
pub const KEY_RANDOM_BYTES: usize = 32;
/// Bytes of the tenant id in a key. It names the tenant, so that a key is found with one query.
const TENANT_BYTES: usize = 16;
/// Characters of a key shown in listings: enough to tell keys apart, too few to guess the rest.
const SHOWN_CHARS: usize = KEY_MARK.len() + 8;
/// Least seconds between two writes of a key's last use, so that not every call writes.
const LAST_USE_INTERVAL_SECS: i64 = 60;
/// Name of a key whose person was erased.
const ERASED_KEY_NAME: &str = "erased";
/// Most seconds a rotated key stays valid: thirty days, enough to replace it everywhere.
pub const OVERLAP_SECS_MAX: i64 = 30 * 86_400;

/// A new key with its text, which is not stored.
#[derive(Clone, Debug)]
pub struct IssuedKey {
    pub key: Key,
    pub text: String,
}

/// Input of [`Engine::create_key`].
#[derive(Clone, Debug)]
pub struct NewKey {
    pub name: String,
    pub rights: KeyRights,
    pub expires_at: Option<Timestamp>,
}

/// The text of a key: the prefix, then random bytes and tenant id in base64.
pub fn encode_key(tenant: TenantId, random: [u8; KEY_RANDOM_BYTES]) -> String {
    let mut bytes = [0; KEY_RANDOM_BYTES + TENANT_BYTES];
    bytes[..KEY_RANDOM_BYTES].copy_from_slice(&random);
    bytes[KEY_RANDOM_BYTES..].copy_from_slice(tenant.0.as_bytes());
    format!("{KEY_MARK}{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The tenant named in the text of a key; `None` if the text is not a key. Proves nothing about validity.
pub fn parse_key_tenant(text: &str) -> Option<TenantId> {
    let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(KEY_MARK)?).ok()?;
    let tenant: [u8; TENANT_BYTES] = bytes.get(KEY_RANDOM_BYTES..)?.try_into().ok()?;
    Some(TenantId(uuid::Uuid::from_bytes(tenant)))
}

impl Engine {
    /// Creates a key from random bytes, which the caller provides. Admins only.
    pub fn create_key(&self, caller: &Caller, new: NewKey, random: [u8; KEY_RANDOM_BYTES]) -> Result<IssuedKey, Error> {
        admins_only(caller)?;
        check_label("name of the key", &new.name, self.limits())?;
        check_key_rights(self, &new.rights)?;
        let now = self.clock.now();
        if new.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::invalid("shape.out_of_range", "the expiry of the key is in the past: name a later one"));
        }
        let issued = build_key(self, caller, new, random, None);
        let change = Change::new(caller.tenant, now).with_write(Write::Row(issued.key.to_row()));
        self.commit(change.with_event(key_event(self, EventName::KeyCreated, caller, &issued.key)))?;
        Ok(issued)
    }

    /// All keys of the tenant, newest first, without their texts. Admins only.
    pub fn keys(&self, caller: &Caller) -> Result<Vec<Key>, Error> {
        admins_only(caller)?;
        let filter = RowFilter { newest_first: true, limit: self.limits().list_max, ..RowFilter::default() };
        row::select_records(&*self.backend, caller.tenant, &filter)
    }

    /// Replaces a key by a new one with the same rights. The old key expires after `overlap`. Admins only.
    pub fn rotate_key(
        &self,
        caller: &Caller,
        id: &str,
        overlap: SignedDuration,
        random: [u8; KEY_RANDOM_BYTES],
    ) -> Result<IssuedKey, Error> {
        let old = load_key(self, caller, id)?;
        if overlap.as_secs() > OVERLAP_SECS_MAX {
            let message = format!("a rotated key stays valid for at most {OVERLAP_SECS_MAX} seconds");
            return Err(Error::invalid("shape.out_of_range", message));
        }
        let now = self.clock.now();
        if !old.is_valid(now) {
            return Err(Error::conflict("conflict.state", "the key has expired or was revoked"));
        }
        let new = NewKey { name: old.name.clone(), rights: old.rights.clone(), expires_at: old.expires_at };
        let issued = build_key(self, caller, new, random, Some(old.id.clone()));
        let end = now.checked_add(overlap).unwrap_or(now);
        // A rotation never makes a key last longer than it would have.
        let ending = Key { expires_at: Some(old.expires_at.map_or(end, |at| at.min(end))), ..old };
        let change = Change::new(caller.tenant, now)
            // A key that is revoked meanwhile must not come back as active.
            .with_guard(Guard::RowInState {
                kind: RowKind::Keys,
                id: ending.id.clone(),
                state: Some(ending.row_state()),
            })
            .with_write(Write::Row(ending.to_row()))
            .with_write(Write::Row(issued.key.to_row()))
            .with_event(
                key_event(self, EventName::KeyCreated, caller, &issued.key).with_field("rotated_from", &ending.id),
            );
        self.commit(change)?;
        Ok(issued)
    }

    /// Revokes a key at once. Revoking it again changes nothing. Admins only.
    pub fn revoke_key(&self, caller: &Caller, id: &str) -> Result<Key, Error> {
        let key = load_key(self, caller, id)?;
        if key.revoked_at.is_some() {
            return Ok(key);
        }
        let now = self.clock.now();
        let key = Key { revoked_at: Some(now), ..key };
        let event = key_event(self, EventName::KeyRevoked, caller, &key);
        self.commit(Change::new(caller.tenant, now).with_write(Write::Row(key.to_row())).with_event(event))?;
        Ok(key)
    }

    /// The valid key with this text, and its tenant.
    pub fn find_key_by_text(&self, text: &str) -> Result<Option<(TenantId, Key)>, Error> {
        let Some(tenant) = parse_key_tenant(text) else { return Ok(None) };
        let sha256 = content_sha256(text);
        let filter = RowFilter { subject: Some(sha256.clone()), limit: 1, ..RowFilter::default() };
        let found: Vec<Key> = row::select_records(&*self.backend, tenant, &filter)?;
        let now = self.clock.now();
        // The lookup by digest already compared; this comparison leaks no timing, whatever the backend does.
        let is_match = |key: &Key| equal_in_constant_time(&key.sha256, &sha256) && key.is_valid(now);
        Ok(found.into_iter().find(is_match).map(|key| (tenant, key)))
    }

    /// Digests of the valid keys of a tenant.
    pub fn key_digests(&self, tenant: TenantId) -> Result<HashSet<String>, Error> {
        let (now, mut digests) = (self.clock.now(), HashSet::new());
        row::for_each_row(self, &Caller::system(tenant), RowKind::Keys, |row| {
            digests.extend(Key::from_row(row.clone()).ok().filter(|key| key.is_valid(now)).map(|key| key.sha256));
        })?;
        Ok(digests)
    }

    /// Records the last use of a key, at most once a minute.
    pub fn record_key_use(&self, tenant: TenantId, key: &Key) {
        let now = self.clock.now();
        // A use at a time that is still to come was recorded by a clock that has been set back since.
        let is_recent = |at: Timestamp| (0..LAST_USE_INTERVAL_SECS).contains(&(now.as_second() - at.as_second()));
        if key.last_used_at.is_some_and(is_recent) {
            return;
        }
        let used = Key { last_used_at: Some(now), ..key.clone() };
        // This writes the whole row: the guard keeps it from undoing a revocation that was committed meanwhile.
        let guard = Guard::RowInState { kind: RowKind::Keys, id: key.id.clone(), state: Some(key.row_state()) };
        self.commit_later(Change::new(tenant, now).with_guard(guard).with_write(Write::TouchRow(used.to_row())));
    }
}

/// Adds the end of every key of a person to a change, also of those that act for the person. The names go: they are the
/// person's, and so do those of keys that ended before.
pub(crate) fn plan_person_key_ends(
    engine: &Engine,
    caller: &Caller,
    user: &str,
    mut change: Change,
) -> Result<Change, Error> {
    for key in list_keys(engine, caller)?.into_iter().filter(|key| key.rights.user.as_deref() == Some(user)) {
        let was_valid = key.revoked_at.is_none();
        let rights = KeyRights { user: None, ..key.rights };
        let revoked_at = key.revoked_at.or(Some(change.at));
        let ended = Key { name: ERASED_KEY_NAME.to_owned(), rights, revoked_at, ..key };
        change = change.with_write(Write::Row(ended.to_row()));
        if was_valid {
            change = change.with_event(key_event(engine, EventName::KeyRevoked, caller, &ended));
        }
    }
    Ok(change)
}

fn list_keys(engine: &Engine, caller: &Caller) -> Result<Vec<Key>, Error> {
    let mut keys: Vec<Key> = Vec::new();
    row::for_each_row(engine, caller, RowKind::Keys, |row| keys.extend(Key::from_row(row.clone()).ok()))?;
    Ok(keys)
}

/// Adds the revocation of every key of the tenant to a change.
pub(crate) fn plan_key_revocations(engine: &Engine, caller: &Caller, mut change: Change) -> Result<Change, Error> {
    for key in list_keys(engine, caller)?.into_iter().filter(|key| key.revoked_at.is_none()) {
        let key = Key { revoked_at: Some(change.at), ..key };
        change = change.with_write(Write::Row(key.to_row())).with_event(key_event(
            engine,
            EventName::KeyRevoked,
            caller,
            &key,
        ));
    }
    Ok(change)
}

fn load_key(engine: &Engine, caller: &Caller, id: &str) -> Result<Key, Error> {
    admins_only(caller)?;
    // The id is left out of the message: a caller may have passed the key itself.
    row::get_record(&*engine.backend, caller.tenant, id)?.ok_or_else(|| Error::not_found("key"))
}

fn build_key(
    engine: &Engine,
    caller: &Caller,
    new: NewKey,
    random: [u8; KEY_RANDOM_BYTES],
    rotated_from: Option<String>,
) -> IssuedKey {
    let text = encode_key(caller.tenant, random);
    let key = Key {
        id: engine.clock.fresh_id().to_string(),
        name: new.name,
        prefix: text.chars().take(SHOWN_CHARS).collect(),
        sha256: content_sha256(&text),
        rights: new.rights,
        created_by: caller.principal.clone(),
        created_at: engine.clock.now(),
        expires_at: new.expires_at,
        last_used_at: None,
        revoked_at: None,
        rotated_from,
    };
    IssuedKey { key, text }
}

/// A key must name the identity its role needs, or be allowed to set it on each call.
fn check_key_rights(engine: &Engine, rights: &KeyRights) -> Result<(), Error> {
    let names = [("agent", &rights.agent), ("user", &rights.user), ("pipeline", &rights.pipeline)];
    for (field, name) in names {
        name.as_ref().map(|name| check_name(field, name, engine.limits())).transpose()?;
    }
    rights.grants.keys().try_for_each(|system| check_name("system of a grant", system, engine.limits()))?;
    let may_set = |field| rights.may_set.contains(&field);
    match rights.role {
        // A header cannot name them: who decides must be one person whatever a call says.
        Role::Admin | Role::Reviewer if rights.user.is_none() => {
            let message = format!("a key of role `{}` must name its person: add `user` (`--user NAME`)", rights.role);
            Err(Error::invalid("key.person_missing", message))
        }
        Role::User if rights.user.is_none() && !may_set(Settable::User) => {
            Err(Error::invalid("scope.user_missing", "a key of role `user` must name a user or may set one"))
        }
        Role::Agent | Role::Service if rights.agent.is_none() && !may_set(Settable::Agent) => {
            Err(Error::invalid("scope.agent_missing", "a key of a program must name an agent or may set one"))
        }
        _ => Ok(()),
    }
}

fn key_event(engine: &Engine, name: EventName, caller: &Caller, key: &Key) -> EventBody {
    EventBody::new(name, caller, engine.clock.now())
        .with_field("key", &key.id)
        .with_field("name", &key.name)
        .with_field("role", key.rights.role)
}

/// Compares every byte, so that the time taken does not show where two texts differ.
fn equal_in_constant_time(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |bits, (a, b)| bits | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_tenant_and_nothing_else_does() {
        let tenant = TenantId(uuid::Uuid::from_u128(7));
        let text = encode_key(tenant, [9; KEY_RANDOM_BYTES]);
        assert_eq!(text.len(), KEY_MARK.len() + 64);
        assert_eq!(parse_key_tenant(&text), Some(tenant));
        for not_a_key in ["", "ing_", "ing_AAAA", "sk_AAAA", &text[1..], &format!("{text}A")] {
            assert_eq!(parse_key_tenant(not_a_key), None, "{not_a_key}");
        }
    }
}
