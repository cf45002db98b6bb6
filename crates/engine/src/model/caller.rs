//! Who asks. Comes from a key, a token or start-up flags, never from what a model says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::id::TenantId;
use crate::model::vocabulary::{Role, Trust};

/// What a caller may do with a system's memories.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    Read,
    /// Includes reading.
    Manage,
}

/// The two rules an admin can take from a role.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemoryPermissions {
    /// `memory.read`
    pub read: bool,
    /// `memory.manage`
    pub manage: bool,
}

impl Default for MemoryPermissions {
    fn default() -> Self {
        MemoryPermissions { read: true, manage: true }
    }
}

/// Who asks, and from where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Caller {
    pub tenant: TenantId,
    /// The name that stands in versions and events, such as `agent:triage`.
    pub principal: String,
    pub role: Role,
    #[serde(default)]
    pub agent: Option<String>,
    /// The person this caller is, or speaks for.
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub conversation: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub run: Option<String>,
    #[serde(default)]
    pub pipeline: Option<String>,
    /// No person watches this run: it saves little and deletes nothing.
    #[serde(default)]
    pub unattended: bool,
    /// The person this caller speaks for has confirmed this very deed. Doors set it from the person's own answer.
    #[serde(default)]
    pub confirmed: bool,
    #[serde(default)]
    pub grants: BTreeMap<String, Grant>,
    #[serde(default)]
    pub rules: MemoryPermissions,
}

impl Caller {
    fn new(tenant: TenantId, role: Role, principal: String) -> Caller {
        Caller {
            tenant,
            principal,
            role,
            agent: None,
            user: None,
            conversation: None,
            session: None,
            run: None,
            pipeline: None,
            unattended: false,
            confirmed: false,
            grants: BTreeMap::new(),
            rules: MemoryPermissions::default(),
        }
    }

    /// The operator at this machine's keyboard.
    pub fn admin(tenant: TenantId) -> Caller {
        Caller::new(tenant, Role::Admin, "admin".to_owned())
    }

    pub fn reviewer(tenant: TenantId, name: &str) -> Caller {
        Caller::new(tenant, Role::Reviewer, format!("reviewer:{name}"))
    }

    pub fn agent(tenant: TenantId, name: &str) -> Caller {
        let agent = Some(name.to_owned());
        Caller { agent, ..Caller::new(tenant, Role::Agent, format!("agent:{name}")) }
    }

    pub fn service(tenant: TenantId, name: &str) -> Caller {
        let agent = Some(name.to_owned());
        Caller { agent, ..Caller::new(tenant, Role::Service, format!("service:{name}")) }
    }

    pub fn user(tenant: TenantId, id: &str) -> Caller {
        let user = Some(id.to_owned());
        Caller { user, ..Caller::new(tenant, Role::User, format!("user:{id}")) }
    }

    pub fn in_conversation(mut self, conversation: &str) -> Caller {
        self.conversation = Some(conversation.to_owned());
        self
    }

    /// A program is at home with one person in one conversation: what it left there it sees there.
    pub(crate) fn is_in_same_conversation(&self, user: Option<&str>, conversation: Option<&str>) -> bool {
        self.user.as_deref() == user && self.conversation.as_deref() == conversation
    }

    /// The most trust this caller's writes can have: its role's, or its person's where that person confirmed.
    pub fn trust_ceiling(&self) -> Trust {
        match self.confirmed && self.user.is_some() {
            true => self.role.trust_ceiling().max(Trust::UserAuthored),
            false => self.role.trust_ceiling(),
        }
    }

    /// Whether this caller may do `needed` with the memories of `system`.
    pub fn has_grant(&self, system: &str, needed: Grant) -> bool {
        self.role == Role::Admin || self.grants.get(system).is_some_and(|grant| *grant >= needed)
    }
}
