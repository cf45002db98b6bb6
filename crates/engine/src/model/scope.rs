//! Scopes: the workspace, project, user, conversation, agent, pipeline, system or run that a memory belongs to.

use serde::{Deserialize, Serialize};

use crate::model::vocabulary::ScopeKind;

/// The owner of a memory: a scope kind with the names that identify it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Scope {
    Workspace,
    Project { project: String },
    User { user: String },
    Conversation { conversation: String },
    Agent { agent: String },
    Pipeline { pipeline: String, agent: String },
    System { system: String },
    Run { run: String },
}

impl Scope {
    pub const fn kind(&self) -> ScopeKind {
        match self {
            Scope::Workspace => ScopeKind::Workspace,
            Scope::Project { .. } => ScopeKind::Project,
            Scope::User { .. } => ScopeKind::User,
            Scope::Conversation { .. } => ScopeKind::Conversation,
            Scope::Agent { .. } => ScopeKind::Agent,
            Scope::Pipeline { .. } => ScopeKind::Pipeline,
            Scope::System { .. } => ScopeKind::System,
            Scope::Run { .. } => ScopeKind::Run,
        }
    }

    /// Whether it can be erased on its own: the log outlives it, and must not repeat what people, projects or pipelines
    /// named.
    pub const fn is_erasable(&self) -> bool {
        matches!(self, Scope::User { .. } | Scope::Project { .. } | Scope::Pipeline { .. })
    }

    /// The two name columns of the table `scopes`: the name and, for pipelines, the agent. Unused ones are empty.
    pub fn name_columns(&self) -> (&str, &str) {
        match self {
            Scope::Workspace => ("", ""),
            Scope::Project { project } => (project, ""),
            Scope::User { user } => (user, ""),
            Scope::Conversation { conversation } => (conversation, ""),
            Scope::Agent { agent } => (agent, ""),
            Scope::Pipeline { pipeline, agent } => (pipeline, agent),
            Scope::System { system } => (system, ""),
            Scope::Run { run } => (run, ""),
        }
    }

    pub(crate) fn names_mut(&mut self) -> Vec<&mut String> {
        match self {
            Scope::Workspace => Vec::new(),
            Scope::Project { project } => vec![project],
            Scope::User { user } => vec![user],
            Scope::Conversation { conversation } => vec![conversation],
            Scope::Agent { agent } => vec![agent],
            Scope::Pipeline { pipeline, agent } => vec![pipeline, agent],
            Scope::System { system } => vec![system],
            Scope::Run { run } => vec![run],
        }
    }

    /// The inverse of [`Scope::kind`] and [`Scope::name_columns`].
    pub fn from_name_columns(kind: ScopeKind, first: &str, second: &str) -> Scope {
        let first = first.to_owned();
        match kind {
            ScopeKind::Workspace => Scope::Workspace,
            ScopeKind::Project => Scope::Project { project: first },
            ScopeKind::User => Scope::User { user: first },
            ScopeKind::Conversation => Scope::Conversation { conversation: first },
            ScopeKind::Agent => Scope::Agent { agent: first },
            ScopeKind::Pipeline => Scope::Pipeline { pipeline: first, agent: second.to_owned() },
            ScopeKind::System => Scope::System { system: first },
            ScopeKind::Run => Scope::Run { run: first },
        }
    }
}

/// `workspace`, `user:ana`, `pipeline:ci/triage`. For messages and row columns; not parsed back.
impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name_columns() {
            ("", _) => write!(f, "{}", self.kind()),
            (first, "") => write!(f, "{}:{first}", self.kind()),
            (first, second) => write!(f, "{}:{first}/{second}", self.kind()),
        }
    }
}
