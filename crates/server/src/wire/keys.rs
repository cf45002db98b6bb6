//! API keys.

use std::collections::BTreeMap;

use engine::admin::keys::{IssuedKey, NewKey};
use engine::model::caller::{Grant, MemoryPermissions};
use engine::model::key::{Key, KeyRights, Settable};
use engine::model::vocabulary::Role;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::deserialize::{deserialize_bounded, deserialize_optional_moment};
use super::schema_words::{Id, Moment, RoleWord, SettableWord};

/// `read`, or `manage`, which includes it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Grant")]
pub enum GrantWord {
    Read,
    Manage,
}

/// Permissions of a key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rules")]
pub struct RulesBody {
    pub read: bool,
    pub manage: bool,
}

/// A key to create.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewKey")]
pub struct NewKeyBody {
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    #[schemars(with = "RoleWord")]
    pub role: Role,
    /// Agent that owns the key.
    #[serde(default)]
    pub agent: Option<String>,
    /// User that owns the key, or on whose behalf it acts.
    #[serde(default)]
    pub user: Option<String>,
    /// Project that it works in, such as `github.com/acme/shop`.
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub pipeline: Option<String>,
    /// For runs without supervision, which may save little and delete nothing.
    #[serde(default)]
    pub unattended: bool,
    #[serde(default)]
    pub rules: Option<RulesBody>,
    /// Grants by system.
    #[serde(default)]
    pub grants: BTreeMap<String, GrantWord>,
    /// Identity headers the key may set.
    #[serde(default)]
    #[schemars(with = "Vec<SettableWord>")]
    pub may_set: Vec<Settable>,
    /// Its client shows questions to the user and brings back that person's own answers.
    #[serde(default)]
    pub may_confirm: bool,
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub expires_at: Option<Timestamp>,
}

impl From<NewKeyBody> for NewKey {
    fn from(body: NewKeyBody) -> NewKey {
        let grant = |(system, word)| {
            let grant = match word {
                GrantWord::Read => Grant::Read,
                GrantWord::Manage => Grant::Manage,
            };
            (system, grant)
        };
        let rights = KeyRights {
            agent: body.agent,
            user: body.user,
            project: body.project,
            pipeline: body.pipeline,
            unattended: body.unattended,
            rules: body
                .rules
                .map_or_else(MemoryPermissions::default, |r| MemoryPermissions { read: r.read, manage: r.manage }),
            grants: body.grants.into_iter().map(grant).collect(),
            may_set: body.may_set,
            may_confirm: body.may_confirm,
            // `operator` stays false: REST cannot create keys for operators.
            ..KeyRights::for_role(body.role)
        };
        NewKey { name: body.name, rights, expires_at: body.expires_at }
    }
}

/// A key, without its text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Key")]
pub struct KeyView {
    #[schemars(with = "Id")]
    pub id: String,
    pub name: String,
    /// The first characters, to tell keys apart.
    pub prefix: String,
    #[schemars(with = "RoleWord")]
    pub role: Role,
    pub agent: Option<String>,
    pub user: Option<String>,
    pub project: Option<String>,
    pub pipeline: Option<String>,
    pub unattended: bool,
    pub rules: RulesBody,
    pub grants: BTreeMap<String, GrantWord>,
    #[schemars(with = "Vec<SettableWord>")]
    pub may_set: Vec<Settable>,
    pub may_confirm: bool,
    pub created_by: String,
    #[schemars(with = "Moment")]
    pub created_at: Timestamp,
    #[schemars(with = "Option<Moment>")]
    pub expires_at: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    pub last_used_at: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    pub revoked_at: Option<Timestamp>,
    #[schemars(with = "Option<Id>")]
    pub rotated_from: Option<String>,
}

impl From<Key> for KeyView {
    fn from(key: Key) -> KeyView {
        let rights = key.rights;
        let word = |(system, grant)| {
            let word = match grant {
                Grant::Read => GrantWord::Read,
                Grant::Manage => GrantWord::Manage,
            };
            (system, word)
        };
        KeyView {
            id: key.id,
            name: key.name,
            // Only the prefix: of the rest the server keeps a hash.
            prefix: key.prefix,
            role: rights.role,
            agent: rights.agent,
            user: rights.user,
            project: rights.project,
            pipeline: rights.pipeline,
            unattended: rights.unattended,
            rules: RulesBody { read: rights.rules.read, manage: rights.rules.manage },
            grants: rights.grants.into_iter().map(word).collect(),
            may_set: rights.may_set,
            may_confirm: rights.may_confirm,
            created_by: key.created_by,
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            revoked_at: key.revoked_at,
            rotated_from: key.rotated_from,
        }
    }
}

/// A new key. Its text is shown only now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "IssuedKey")]
pub struct IssuedKeyView {
    /// The key itself. Store it: it cannot be shown again.
    pub text: String,
    pub key: KeyView,
}

impl From<IssuedKey> for IssuedKeyView {
    fn from(issued: IssuedKey) -> IssuedKeyView {
        IssuedKeyView { text: issued.text, key: issued.key.into() }
    }
}

/// A rotation of a key.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RotateKey")]
pub struct RotateBody {
    /// Seconds for which the old key stays valid.
    #[serde(deserialize_with = "deserialize_bounded::<_, 0, 2_592_000>")]
    #[schemars(range(min = 0, max = 2_592_000))]
    pub overlap_seconds: Option<usize>,
}
