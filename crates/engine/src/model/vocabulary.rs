//! The closed word lists of the product: each word is spelt once, here, for every door and table.

/// Declares an enum whose variants have one stable spelling, used in JSON, SQL, flags and messages.
#[macro_export]
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident ($what:literal) { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every word of this list, in its order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stable spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::model::error::Error;
            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::model::error::Error::unknown_word($what, word, &[$($word),+])),
                }
            }
        }
    };
}

vocabulary! {
    /// What a memory is for: ranking and policy read it.
    Kind ("kind") {
        Runbook = "runbook",
        VerificationChecklist = "verification_checklist",
        IncidentLesson = "incident_lesson",
        WorkspaceConvention = "workspace_convention",
        ServiceContext = "service_context",
        ToolUsageLesson = "tool_usage_lesson",
        UserPreference = "user_preference",
        DreamSummary = "dream_summary",
        ConversationNote = "conversation_note",
        Lesson = "lesson",
        Note = "note",
        Turn = "turn",
        TaskCompletion = "task_completion",
        Decision = "decision",
        Error = "error",
    }
}

vocabulary! {
    /// The sort of knowledge a memory holds.
    Layer ("layer") {
        Profile = "profile",
        Episodic = "episodic",
        Semantic = "semantic",
        Procedural = "procedural",
        Working = "working",
    }
}

impl Kind {
    /// The layer a document of this kind belongs to when nobody says otherwise.
    pub const fn default_layer(self) -> Layer {
        match self {
            Kind::Runbook | Kind::VerificationChecklist | Kind::ToolUsageLesson => Layer::Procedural,
            Kind::UserPreference => Layer::Profile,
            Kind::WorkspaceConvention | Kind::ServiceContext | Kind::DreamSummary | Kind::Lesson | Kind::Note => {
                Layer::Semantic
            }
            Kind::IncidentLesson
            | Kind::ConversationNote
            | Kind::Turn
            | Kind::TaskCompletion
            | Kind::Decision
            | Kind::Error => Layer::Episodic,
        }
    }
}

vocabulary! {
    /// Where a memory stands in its life. History is never deleted by a change of state.
    State ("state") {
        Active = "active",
        /// Waiting for review: seen by its proposer and by reviewers only.
        Constrained = "constrained",
        Superseded = "superseded",
        Archived = "archived",
        Tombstoned = "tombstoned",
    }
}

impl State {
    /// Whether the memory still holds its place (path, hash) in its scope.
    pub const fn is_live(self) -> bool {
        matches!(self, State::Active)
    }

    /// Active, or waiting for review: what can still be changed.
    pub const fn is_changeable(self) -> bool {
        matches!(self, State::Active | State::Constrained)
    }
}

vocabulary! {
    /// How far a memory may be believed, lowest first. Raised only by a person.
    Trust ("trust level") {
        AgentDraft = "agent_draft",
        UserAuthored = "user_authored",
        SystemSeeded = "system_seeded",
        AdminApproved = "admin_approved",
    }
}

vocabulary! {
    /// What a caller is.
    Role ("role") {
        Admin = "admin",
        Reviewer = "reviewer",
        User = "user",
        Agent = "agent",
        Service = "service",
    }
}

impl Role {
    /// The most trust this role's own writes can have.
    pub const fn trust_ceiling(self) -> Trust {
        match self {
            Role::Admin => Trust::AdminApproved,
            Role::Reviewer | Role::User => Trust::UserAuthored,
            Role::Agent | Role::Service => Trust::AgentDraft,
        }
    }

    /// Programs act unasked; people answer for what they write.
    pub const fn is_program(self) -> bool {
        matches!(self, Role::Agent | Role::Service)
    }

    /// Who may decide reviews.
    pub const fn may_decide_reviews(self) -> bool {
        matches!(self, Role::Admin | Role::Reviewer)
    }
}

vocabulary! {
    /// The kind of place a memory lives in.
    ScopeKind ("scope") {
        Workspace = "workspace",
        User = "user",
        Conversation = "conversation",
        Agent = "agent",
        Pipeline = "pipeline",
        System = "system",
        Run = "run",
    }
}

vocabulary! {
    /// Who may write into a store.
    Access ("access mode") {
        /// Only admins and approved reviews write.
        ReadOnly = "read_only",
        ReadWrite = "read_write",
        /// Writes of programs wait as constrained.
        DraftWrite = "draft_write",
    }
}

vocabulary! {
    /// What brought a version about.
    Operation ("operation") {
        Create = "create",
        Update = "update",
        Patch = "patch",
        Seed = "seed",
        Promote = "promote",
        Confirm = "confirm",
        Supersede = "supersede",
        Rollback = "rollback",
        Restore = "restore",
        Constrain = "constrain",
        Archive = "archive",
        Expire = "expire",
        Extend = "extend",
        Forget = "forget",
        Redact = "redact",
        Pin = "pin",
        Import = "import",
    }
}

vocabulary! {
    /// Where a claim comes from.
    EvidenceKind ("evidence kind") {
        UserStatement = "user_statement",
        ToolResult = "tool_result",
        ApprovedMutation = "approved_mutation",
        VerificationResult = "verification_result",
        IncidentSummary = "incident_summary",
        AdminEntry = "admin_entry",
        DreamInference = "dream_inference",
    }
}

vocabulary! {
    /// Who spoke a turn.
    TurnRole ("turn role") {
        User = "user",
        Assistant = "assistant",
        System = "system",
        ToolResult = "tool_result",
    }
}

vocabulary! {
    /// How hits of a store are scored.
    Ranker ("ranker") {
        Operational = "operational",
        Episodic = "episodic",
        Lesson = "lesson",
        Layered = "layered",
        Hint = "hint",
    }
}

vocabulary! {
    /// When two saves are the same memory.
    Dedup ("dedup strategy") {
        /// The same path is a new version of the same memory.
        Path = "path",
        /// The same bytes are the same memory.
        Exact = "exact",
        /// A similar hint with agreeing content updates in place.
        Hint = "hint",
        /// The same key (profile key, workflow, summary) goes through review.
        Key = "key",
        None = "none",
    }
}

vocabulary! {
    /// What a found secret does to the save.
    SecretAction ("secret action") {
        Block = "block",
        Redact = "redact",
    }
}

vocabulary! {
    /// Whether a save must say where its claim comes from.
    EvidenceRule ("evidence rule") {
        Required = "required",
        Optional = "optional",
        None = "none",
    }
}

vocabulary! {
    /// How long an episode is worth keeping.
    TtlClass ("ttl class") {
        Routine = "routine",
        TaskCompletion = "task_completion",
        Decision = "decision",
        Remember = "remember",
        Error = "error",
    }
}

vocabulary! {
    /// What a context is wanted for.
    Purpose ("purpose") {
        Task = "task",
        Tool = "tool",
        Approval = "approval",
        Content = "content",
        Delegation = "delegation",
    }
}
