//! Stores: named containers of memories, each with one scope kind and one ruleset; and the table of built-in ones.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::id::StoreId;
use crate::model::vocabulary::{Access, ScopeKind, Trust};

/// A named container of memories. One store holds many scopes of its kind; a caller sees only its own.
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

/// A store that no admin has to create: seeded with the tenant, or created on first use.
pub struct BuiltinStore {
    pub slug: &'static str,
    pub title: &'static str,
    pub scope: ScopeKind,
    pub ruleset: &'static str,
    pub default_trust: Trust,
    pub access: Access,
    /// Created with the tenant; the others on first use.
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

/// All built-in stores: slug, title, scope kind, ruleset, default trust, access, seeded.
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

/// Store of the chunks of published documents.
pub const KNOWLEDGE_BASE: &str = "knowledge_base";
/// Store of the chunks of unpublished documents. Visible to admins and reviewers, and only when named in the query.
pub const KNOWLEDGE_DRAFTS: &str = "knowledge_drafts";
/// Store of audit entries recorded by clients. The engine's own events are in the event log.
pub const AUDIT_LOG: &str = "audit_log";
/// Store of outputs of workflow steps.
pub const WORKFLOW_STEPS: &str = "workflow_steps";

/// Stores left out of a search unless the query names them: their many entries would crowd out other memories.
pub const STORES_BY_NAME_ONLY: &[&str] = &[KNOWLEDGE_DRAFTS, AUDIT_LOG, WORKFLOW_STEPS];

/// Append-only stores: written by their own methods, never changed. Redaction and erasure still apply.
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
