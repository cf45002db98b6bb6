//! API keys as stored: a hash, a name and rights. The key itself is never stored.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::caller::{Caller, Grant, MemoryPermissions};
use crate::model::id::TenantId;
use crate::model::row::{RowKind, SideRecord};
use crate::model::vocabulary::Role;
use crate::vocabulary;

vocabulary! {
    /// Caller fields that the holder of a key may set per call in HTTP headers, if the key allows it.
    Settable ("header") {
        Agent = "agent",
        User = "user",
        Project = "project",
        Conversation = "conversation",
        Session = "session",
        Run = "run",
        Pipeline = "pipeline",
    }
}

/// Role and rights of a key's holder. The fields become those of [`Caller`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeyRights {
    pub role: Role,
    #[serde(default)]
    pub agent: Option<String>,
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default)]
    pub pipeline: Option<String>,
    #[serde(default)]
    pub unattended: bool,
    #[serde(default)]
    pub rules: MemoryPermissions,
    #[serde(default)]
    pub grants: BTreeMap<String, Grant>,
    #[serde(default)]
    pub may_set: Vec<Settable>,
    /// The client of this key shows questions to its user and brings back that person's own answers.
    #[serde(default)]
    pub may_confirm: bool,
    /// May create tenants. Granted only on the command line of the server's machine.
    #[serde(default)]
    pub operator: bool,
}

impl KeyRights {
    pub fn for_role(role: Role) -> KeyRights {
        KeyRights {
            role,
            agent: None,
            user: None,
            project: None,
            pipeline: None,
            unattended: false,
            rules: MemoryPermissions::default(),
            grants: BTreeMap::new(),
            may_set: Vec::new(),
            may_confirm: false,
            operator: false,
        }
    }
}

/// A stored key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Key {
    pub id: String,
    pub name: String,
    /// The first characters of the key, so that people can recognise it.
    pub prefix: String,
    /// SHA-256 of the whole key, by which a call's key is looked up.
    pub sha256: String,
    pub rights: KeyRights,
    pub created_by: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// Id of the key that this one replaced in a rotation.
    pub rotated_from: Option<String>,
}

impl SideRecord for Key {
    const KIND: RowKind = RowKind::Keys;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.created_at
    }
    fn row_state(&self) -> String {
        if self.revoked_at.is_some() { "revoked" } else { "active" }.to_owned()
    }
    fn row_subject(&self) -> String {
        self.sha256.clone()
    }
}

impl Key {
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| at > now)
    }

    /// The caller of a call with this key, before headers are applied.
    pub fn to_caller(&self, tenant: TenantId) -> Caller {
        let rights = &self.rights;
        // A key bound to a person or agent acts under that name: its principal survives a rotation of the key, and two
        // keys of one person are one person.
        let name = match rights.role {
            Role::User | Role::Admin | Role::Reviewer => rights.user.as_deref(),
            Role::Agent | Role::Service => rights.agent.as_deref(),
        };
        let person = rights.user.clone().filter(|_| !rights.role.is_program());
        Caller {
            principal: format!("{}:{}", rights.role, name.unwrap_or(&self.name)),
            role: rights.role,
            agent: rights.agent.clone(),
            user: rights.user.clone(),
            person,
            project: rights.project.clone(),
            pipeline: rights.pipeline.clone(),
            unattended: rights.unattended,
            may_confirm: rights.may_confirm,
            grants: rights.grants.clone(),
            rules: rights.rules,
            // Only for the fields that a key does not set; role and principal are set above.
            ..Caller::admin(tenant)
        }
    }
}
