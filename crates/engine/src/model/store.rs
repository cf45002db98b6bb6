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

const fn store(
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
pub const BUILTIN_STORES: &[BuiltinStore] = {
    use Access::{ReadOnly, ReadWrite};
    use ScopeKind::{Agent, Conversation, Pipeline, Project, Run, System, User, Workspace};
    use Trust::{AdminApproved, AgentDraft, SystemSeeded, UserAuthored};
    &[
        // Seeded with every tenant.
        store("workspace_conventions", "How we work here", Workspace, "document", SystemSeeded, ReadOnly, true),
        store("workspace_runbooks", "Approved runbooks", Workspace, "document", AdminApproved, ReadOnly, true),
        store("conversation_memory", "Drafts of conversations", Conversation, "document", AgentDraft, ReadWrite, true),
        // Created on first use.
        store(PROJECT_MEMORY, "What a project knows", Project, "document", UserAuthored, ReadWrite, false),
        store(PROJECT_EPISODES, "What happened in a project", Project, "episodic", AgentDraft, ReadWrite, false),
        store("user_memory", "What a person prefers", User, "document", UserAuthored, ReadWrite, false),
        store("lessons", "Lessons of pipelines", Pipeline, "lesson", AgentDraft, ReadWrite, false),
        store("user_notes", "Private notes", User, "note", UserAuthored, ReadWrite, false),
        store("system_notes", "Facts about systems", System, "note", UserAuthored, ReadWrite, false),
        store("episodes", "What agents went through", Agent, "episodic", UserAuthored, ReadWrite, false),
        store("layers", "Reviewed layers", Workspace, "layered", AdminApproved, ReadOnly, false),
        store("agent_files", "Files agents keep", Agent, "document", AgentDraft, ReadWrite, false),
        store("agent_layers", "What an agent knows how to do", Agent, "layered", AgentDraft, ReadWrite, false),
        store("working_memory", "Scratch of open runs", Run, "layered", AgentDraft, ReadWrite, false),
        // Written through their own methods: documents and logs.
        store(KNOWLEDGE_BASE, "What is written down", Workspace, "document", AdminApproved, ReadOnly, false),
        store(KNOWLEDGE_DRAFTS, "Documents not yet published", Workspace, "document", AdminApproved, ReadOnly, false),
        store(AUDIT_LOG, "What was done", Workspace, "document", AgentDraft, ReadOnly, false),
        store(WORKFLOW_STEPS, "What workflows came to", Workspace, "document", AgentDraft, ReadOnly, false),
    ]
};

/// Store that agents in a project share over sessions and clients.
pub const PROJECT_MEMORY: &str = "project_memory";
/// Store of the turns of sessions in a project, kept by hooks. Nobody has vouched for their words.
pub const PROJECT_EPISODES: &str = "project_episodes";
/// Store of the drafts of one conversation.
pub const CONVERSATION_MEMORY: &str = "conversation_memory";
/// Store of the chunks of published documents.
pub const KNOWLEDGE_BASE: &str = "knowledge_base";
/// Store of the chunks of unpublished documents. Visible to admins and reviewers, and only when named in the query.
pub const KNOWLEDGE_DRAFTS: &str = "knowledge_drafts";
/// Store of audit entries recorded by clients. The engine's own events are in the event log.
pub const AUDIT_LOG: &str = "audit_log";
/// Store of outputs of workflow steps.
pub const WORKFLOW_STEPS: &str = "workflow_steps";

/// Stores left out of a search unless the query names them: their many entries would crowd out other memories.
pub const STORES_BY_NAME_ONLY: &[&str] = &[KNOWLEDGE_DRAFTS, AUDIT_LOG, WORKFLOW_STEPS, PROJECT_EPISODES];

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
