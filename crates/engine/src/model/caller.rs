//! The caller: the identity of one call. Set by a key, a token or start-up flags, never by a model's arguments.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::id::TenantId;
use crate::model::scope::Scope;
use crate::model::vocabulary::Role;

/// The person behind all credentials of people that name nobody.
pub(crate) const UNNAMED_PERSON: &str = "(unnamed)";

/// The person that a principal names, such as `ana` in `reviewer:ana`. `None` for programs.
pub(crate) fn person_of_principal(principal: &str) -> Option<&str> {
    match principal.split_once(':') {
        Some(("user" | "reviewer" | "admin", name)) => Some(name),
        Some(_) => None,
        None => Some(UNNAMED_PERSON),
    }
}

/// Permission of a caller on one system's memories. Ordered: `Manage` includes `Read`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    Read,
    Manage,
}

/// The rules `memory.read` and `memory.manage`. Both are on by default; configuration, a key or a token revokes them.
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

/// Identity and context of one call. Every access decision is a function of this struct.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Caller {
    pub tenant: TenantId,
    /// The name recorded in versions and events, such as `agent:triage`.
    pub principal: String,
    pub role: Role,
    // Own scopes of the caller; each selects at most one scope of its kind.
    #[serde(default)]
    pub agent: Option<String>,
    /// The person this caller is, or acts for.
    #[serde(default)]
    pub user: Option<String>,
    /// The person behind the credential, see [`Caller::person`]. Unlike `user`, no header changes it for those who
    /// decide.
    #[serde(default)]
    pub person: Option<String>,
    /// What the caller works on, such as `github.com/acme/shop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Former names of the project, and projects that were merged into it: filled by
    /// [`crate::Engine::resolve_project`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged_projects: Vec<String>,
    #[serde(default)]
    pub conversation: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub run: Option<String>,
    #[serde(default)]
    pub pipeline: Option<String>,
    /// No person watches this run: saves are capped (`unattended_saves_max`) and deleting is refused.
    #[serde(default)]
    pub unattended: bool,
    /// The caller's client shows questions to its user and brings back that person's own answers. A right of the key
    /// or the start flags; without it, an answer raises no trust.
    #[serde(default)]
    pub may_confirm: bool,
    /// By system name.
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
            person: None,
            project: None,
            merged_projects: Vec::new(),
            conversation: None,
            session: None,
            run: None,
            pipeline: None,
            unattended: false,
            may_confirm: false,
            grants: BTreeMap::new(),
            rules: MemoryPermissions::default(),
        }
    }

    /// The operator at the command line of this machine.
    pub fn admin(tenant: TenantId) -> Caller {
        Caller::new(tenant, Role::Admin, "admin".to_owned())
    }

    /// The product itself, for writes that no caller asked for: upkeep, seeding, expiry of reviews. An admin whose
    /// principal `ingrain` tells these entries apart in versions and events.
    pub fn system(tenant: TenantId) -> Caller {
        Caller::new(tenant, Role::Admin, "ingrain".to_owned())
    }

    pub fn reviewer(tenant: TenantId, name: &str) -> Caller {
        let person = Some(name.to_owned());
        Caller { person, ..Caller::new(tenant, Role::Reviewer, format!("reviewer:{name}")) }
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
        Caller { person: user.clone(), user, ..Caller::new(tenant, Role::User, format!("user:{id}")) }
    }

    /// The person this caller is: the identity that proposes and decides, the same with every key and token of that
    /// person. `None` for programs. People without a name (keys older than names) count as one and the same person.
    pub fn person(&self) -> Option<&str> {
        let name = self.person.as_deref().unwrap_or(UNNAMED_PERSON);
        (!self.role.is_program()).then_some(name)
    }

    pub fn in_project(mut self, project: &str) -> Caller {
        self.project = Some(project.to_owned());
        self
    }

    pub fn in_conversation(mut self, conversation: &str) -> Caller {
        self.conversation = Some(conversation.to_owned());
        self
    }

    /// Whether the caller acts for this user in this conversation of this project. Agents and services see their own
    /// proposals only there.
    pub(crate) fn is_in_same_conversation(
        &self,
        user: Option<&str>,
        project: Option<&str>,
        conversation: Option<&str>,
    ) -> bool {
        self.user.as_deref() == user && self.conversation.as_deref() == conversation && self.is_in_project(project)
    }

    /// Whether this is the caller's project, or one that was merged into it. `None`: outside of projects.
    pub fn is_in_project(&self, project: Option<&str>) -> bool {
        self.project.as_deref() == project
            || project.is_some_and(|name| self.merged_projects.iter().any(|merged| merged == name))
    }

    /// Scope of an event about what the caller does: the conversation, else the project.
    pub(crate) fn activity_scope(&self) -> Option<Scope> {
        let project = || self.project.clone().map(|project| Scope::Project { project });
        self.conversation.clone().map(|conversation| Scope::Conversation { conversation }).or_else(project)
    }

    /// Whether the caller has at least this grant on a system. Admins have every grant.
    pub fn has_grant(&self, system: &str, needed: Grant) -> bool {
        self.role == Role::Admin || self.grants.get(system).is_some_and(|grant| *grant >= needed)
    }
}
