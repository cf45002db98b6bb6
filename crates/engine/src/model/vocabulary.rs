//! Closed word lists: enums whose variants have one stable spelling in JSON, SQL, flags and messages.

/// Declares an enum with one stable spelling per variant, for `serde`, `Display` and `FromStr`.
///
/// The literal after the name is what an error message calls the list ("unknown kind ...").
#[macro_export]
macro_rules! vocabulary {
    (
        $(#[$meta:meta])*
        $name:ident ($what:literal) { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// All variants in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stable spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // `pad`, not `write_str`: honours widths, as in `{:<12}`.
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
    /// Purpose of a memory. Policy and ranking depend on it.
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
    /// Type of knowledge.
    Layer ("layer") {
        Profile = "profile",
        Episodic = "episodic",
        Semantic = "semantic",
        Procedural = "procedural",
        Working = "working",
    }
}

impl Kind {
    /// Layer of a memory of this kind, if the draft and the ruleset leave it open.
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
    /// State of a memory. A change of state keeps the history.
    State ("state") {
        Active = "active",
        /// Waits for review or is quarantined; visible only to its author, reviewers and admins.
        Constrained = "constrained",
        /// Replaced by another memory.
        Superseded = "superseded",
        /// Expired, decayed, beyond the quota or removed with its document. Found only if asked for.
        Archived = "archived",
        /// Forgotten.
        Tombstoned = "tombstoned",
    }
}

impl State {
    /// Whether the memory occupies its path and content hash, so that no other may take them.
    pub const fn is_live(self) -> bool {
        matches!(self, State::Active)
    }

    /// Whether new versions with new content are possible.
    pub const fn is_changeable(self) -> bool {
        matches!(self, State::Active | State::Constrained)
    }
}

vocabulary! {
    /// How far a memory may be believed, lowest first. Only a person raises it.
    Trust ("trust level") {
        // Order matters: `min` and `max` of levels are taken throughout.
        AgentDraft = "agent_draft",
        UserAuthored = "user_authored",
        SystemSeeded = "system_seeded",
        AdminApproved = "admin_approved",
    }
}

vocabulary! {
    /// Role of a caller.
    Role ("role") {
        Admin = "admin",
        Reviewer = "reviewer",
        User = "user",
        Agent = "agent",
        Service = "service",
    }
}

impl Role {
    /// Agents and services. Stricter rules apply, because no person answers for each write.
    pub const fn is_program(self) -> bool {
        matches!(self, Role::Agent | Role::Service)
    }

    /// Whether the role decides reviews in general. A user also decides some (see `policy::may_decide`).
    pub const fn may_decide_reviews(self) -> bool {
        matches!(self, Role::Admin | Role::Reviewer)
    }
}

vocabulary! {
    /// Kind of scope.
    ScopeKind ("scope") {
        Workspace = "workspace",
        Project = "project",
        User = "user",
        Conversation = "conversation",
        Agent = "agent",
        Pipeline = "pipeline",
        System = "system",
        Run = "run",
    }
}

vocabulary! {
    /// Access mode of a store.
    Access ("access mode") {
        /// Written only by admins and approved reviews.
        ReadOnly = "read_only",
        ReadWrite = "read_write",
        /// Writes of agents and services are constrained until reviewed.
        DraftWrite = "draft_write",
    }
}

vocabulary! {
    /// Operation that created a version.
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
    /// Type of evidence.
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
    /// Role of a turn's speaker.
    TurnRole ("turn role") {
        User = "user",
        Assistant = "assistant",
        System = "system",
        ToolResult = "tool_result",
    }
}

vocabulary! {
    /// Scoring formula of a store's hits.
    Ranker ("ranker") {
        Operational = "operational",
        Episodic = "episodic",
        Lesson = "lesson",
        Layered = "layered",
        Hint = "hint",
    }
}

vocabulary! {
    /// Deduplication: when two saves are the same memory.
    Dedup ("dedup strategy") {
        /// Same path: a new version.
        Path = "path",
        /// Same content: unchanged.
        Exact = "exact",
        /// Similar recall hint and agreeing content: a new version.
        Hint = "hint",
        /// Same key (profile key, workflow, summary): merged through review.
        Key = "key",
        None = "none",
    }
}

vocabulary! {
    /// Treatment of a save that contains a secret.
    SecretAction ("secret action") {
        Block = "block",
        Redact = "redact",
    }
}

vocabulary! {
    /// Whether a save must include evidence.
    EvidenceRule ("evidence rule") {
        Required = "required",
        Optional = "optional",
        None = "none",
    }
}

vocabulary! {
    /// Class of an episode that decides its expiry.
    TtlClass ("ttl class") {
        Routine = "routine",
        TaskCompletion = "task_completion",
        Decision = "decision",
        Remember = "remember",
        Error = "error",
    }
}

vocabulary! {
    /// Decision point that a context is requested for (`--for`).
    Purpose ("purpose") {
        Task = "task",
        Tool = "tool",
        Approval = "approval",
        Content = "content",
        Delegation = "delegation",
    }
}
