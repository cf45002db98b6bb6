//! Stores: named containers of memories, each of one scope kind and one ruleset.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::id::StoreId;
use crate::model::vocabulary::{Access, ScopeKind, Trust};

/// A named container. One store holds many scopes of its kind, each caller seeing only its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Store {
    pub id: StoreId,
    pub slug: String,
    pub title: String,
    pub scope: ScopeKind,
    pub ruleset: String,
    pub default_trust: Trust,
    pub access: Access,
    pub owner: String,
    pub created_at: Timestamp,
    pub archived_at: Option<Timestamp>,
}

/// A store that exists without being made: the seeded ones, and those that appear on first use.
pub struct BuiltinStore {
    pub slug: &'static str,
    pub title: &'static str,
    pub scope: ScopeKind,
    pub ruleset: &'static str,
    pub default_trust: Trust,
    pub access: Access,
    /// Made when a tenant starts; the others on first use.
    pub seeded: bool,
}

const fn builtin_store(
    slug: &'static str,
    title: &'static str,
    scope: ScopeKind,
    ruleset: &'static str,
    default_trust: Trust,
    access: Access,
    seeded: bool,
) -> BuiltinStore {
    BuiltinStore { slug, title, scope, ruleset, default_trust, access, seeded }
}

/// Every store the product knows by name.
#[rustfmt::skip]
pub const BUILTIN_STORES: &[BuiltinStore] = &[
    builtin_store("workspace_conventions", "How we work here", ScopeKind::Workspace, "document", Trust::SystemSeeded, Access::ReadOnly, true),
    builtin_store("workspace_runbooks", "Approved runbooks", ScopeKind::Workspace, "document", Trust::AdminApproved, Access::ReadOnly, true),
    builtin_store("conversation_memory", "Drafts of conversations", ScopeKind::Conversation, "document", Trust::AgentDraft, Access::ReadWrite, true),
    builtin_store("user_memory", "What a person prefers", ScopeKind::User, "document", Trust::UserAuthored, Access::ReadWrite, false),
    builtin_store("lessons", "Lessons of pipelines", ScopeKind::Pipeline, "lesson", Trust::AgentDraft, Access::ReadWrite, false),
    builtin_store("user_notes", "Private notes", ScopeKind::User, "note", Trust::UserAuthored, Access::ReadWrite, false),
    builtin_store("system_notes", "Facts about systems", ScopeKind::System, "note", Trust::UserAuthored, Access::ReadWrite, false),
    builtin_store("episodes", "What agents went through", ScopeKind::Agent, "episodic", Trust::UserAuthored, Access::ReadWrite, false),
    builtin_store("layers", "Reviewed layers", ScopeKind::Workspace, "layered", Trust::AdminApproved, Access::ReadOnly, false),
    builtin_store("agent_files", "Files agents keep", ScopeKind::Agent, "document", Trust::AgentDraft, Access::ReadWrite, false),
    builtin_store("agent_layers", "What an agent knows how to do", ScopeKind::Agent, "layered", Trust::AgentDraft, Access::ReadWrite, false),
    builtin_store("working_memory", "Scratch of open runs", ScopeKind::Run, "layered", Trust::AgentDraft, Access::ReadWrite, false),
    builtin_store(KNOWLEDGE_BASE, "What is written down", ScopeKind::Workspace, "document", Trust::AdminApproved, Access::ReadOnly, false),
    builtin_store(KNOWLEDGE_DRAFTS, "Documents not yet published", ScopeKind::Workspace, "document", Trust::AdminApproved, Access::ReadOnly, false),
    builtin_store(AUDIT_LOG, "What was done", ScopeKind::Workspace, "document", Trust::AgentDraft, Access::ReadOnly, false),
    builtin_store(WORKFLOW_STEPS, "What workflows came to", ScopeKind::Workspace, "document", Trust::AgentDraft, Access::ReadOnly, false),
];

/// Chunks of published documents.
pub const KNOWLEDGE_BASE: &str = "knowledge_base";
/// Chunks of drafts: for those who decide, and only where they ask for this store.
pub const KNOWLEDGE_DRAFTS: &str = "knowledge_drafts";
/// Entries of the audit log that came from outside.
pub const AUDIT_LOG: &str = "audit_log";
/// Outputs of workflow steps.
pub const WORKFLOW_STEPS: &str = "workflow_steps";

/// Stores that are looked into only by name or by the verbs made for them: logs would crowd out what was learnt.
pub const STORES_BY_NAME_ONLY: &[&str] = &[KNOWLEDGE_DRAFTS, AUDIT_LOG, WORKFLOW_STEPS];

/// Logs are appended to by their own verbs and changed by nobody; redaction and erasure keep their promises there too.
const LOG_STORES: &[&str] = &[AUDIT_LOG, WORKFLOW_STEPS];

impl Store {
    pub fn is_log(&self) -> bool {
        LOG_STORES.contains(&self.slug.as_str())
    }
}

pub fn find_builtin_store(slug: &str) -> Option<&'static BuiltinStore> {
    BUILTIN_STORES.iter().find(|builtin| builtin.slug == slug)
}

impl BuiltinStore {
    pub fn to_store(&self, id: StoreId, now: Timestamp) -> Store {
        Store {
            id,
            slug: self.slug.to_owned(),
            title: self.title.to_owned(),
            scope: self.scope,
            ruleset: self.ruleset.to_owned(),
            default_trust: self.default_trust,
            access: self.access,
            owner: "ingrain".to_owned(),
            created_at: now,
            archived_at: None,
        }
    }
}
