//! The gate: the checks that every draft passes before it is written. [`clear_draft`] runs them in this order:
//!
//! | step | where | on failure |
//! | --- | --- | --- |
//! | 1. memory is enabled | `memory_enabled` | refused: `policy.memory_disabled` |
//! | 2. shape: well-formed and within limits; path and tags are normalised | `validate.rs` | error: `shape.*` |
//! | 3. kind and layer: stated or default, allowed by the ruleset | below | refused: `policy.*_not_writable` |
//! | 4. size of the content: ruleset and pipeline | `validate.rs` | refused: `shape.too_large` |
//! | 5. policy: the caller may do this here; fixes state and trust | `policy.rs` | refused: `policy.*` |
//! | 6. evidence: required by some rulesets; completed for people | below | refused: `evidence.missing` |
//! | 7. importance and TTL class of episodes | below, `lifecycle.rs` | |
//! | 8. scanner: secrets, injections, raw logs in all text | `scan.rs` | refused: `safety.*`; or redacted, flagged |
//!
//! Cheap checks come first. The scanner comes last, so that it sees the text exactly as it will be stored, and only
//! text that may be stored at all is sent to a configured classifier. Steps 6 and 7 are skipped for imported and
//! restored versions.
//!
//! The gate does no look-ups; `write/clear.rs` makes them and then checks bans. The result, a [`ClearedDraft`], is the
//! only source of a [`VersionedEntry`] with new content, which is the only content a backend accepts.

pub mod allow_list;
pub mod duplicate;

mod entry;
mod joined_fields;
mod scan;
mod validate;

pub use entry::{VersionStamp, VersionedEntry, embedding_text};
pub use entry::{index_memory, searched_fields};
pub use scan::{ScannedDraft, scan_draft};
pub use validate::{check_caller, check_label, check_name, normalize_path};
pub(crate) use validate::{check_secret, check_text, is_invisible, normalize_draft, normalize_new_path};

use jiff::Timestamp;

use crate::gate::allow_list::AllowList;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::Guard;
use crate::model::lifecycle;
use crate::model::limits::Limits;
use crate::model::memory::{Draft, Evidence, Memory};
use crate::model::refusal::Refusal;
use crate::model::ruleset::Ruleset;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::model::trust_flow::{TrustLimits, Way};
use crate::model::vocabulary::{EvidenceKind, EvidenceRule, Kind, Layer, Role, ScopeKind, State, Trust, TtlClass};
use crate::policy::{self, WritePermit};
use crate::safety::classifier::Classifier;

/// Operation that the draft is for. Policy has one rule for each (step 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteIntent {
    /// A save by the caller.
    Write,
    /// A save of exactly the text that the caller's user was shown and confirmed: it counts as that person's.
    ConfirmedWrite,
    /// Text of the product itself, written in the caller's name: seeds, notices of promotions. No classifier.
    SystemWrite,
    /// An entry of a log store, through the log's own method. Ordinary writes to log stores are refused.
    AppendToLog,
    /// A candidate for review, so it may go where the caller cannot write.
    Propose,
    /// An approval by a person, already checked to be allowed. Scanned strictly, also in a conversation.
    Approve,
    /// A memory from an export without its history, by a caller who may not import trust: at most what it was exported
    /// with.
    Import { recorded: Trust },
    /// A version from an export, with its exported state and trust. `is_history`: the memory is tombstoned, so the text
    /// does not come back into use and bans do not apply.
    ImportVersion { permit: WritePermit, is_history: bool },
    /// An earlier version of the same memory, with the state and trust it had. The right to roll back was checked.
    RestoreVersion { permit: WritePermit },
}

/// Loads the tenant's allow list. Called only after a finding, because most texts have none.
pub type AllowListLoader<'a> = dyn Fn() -> Result<AllowList, Error> + 'a;

/// Everything the gate decides by, besides the draft. The gate itself looks nothing up.
#[derive(Clone, Copy)]
pub struct GateContext<'a> {
    pub caller: &'a Caller,
    pub intent: WriteIntent,
    pub store: &'a Store,
    pub ruleset: &'a Ruleset,
    /// Scope of the memory.
    pub scope: &'a Scope,
    pub limits: &'a Limits,
    /// The caller's pipeline has opted in this agent.
    pub pipeline_enabled: bool,
    /// Cap of the pipeline's opt-in, in bytes; the lower of this and the ruleset's counts.
    pub content_bytes_max: Option<u64>,
    /// `false`: `MEMORY_ENABLED=false`.
    pub memory_enabled: bool,
    /// Lowest trust among the sources of a derived memory, which limits its own.
    pub sources_trust: Option<Trust>,
    pub load_allow_list: &'a AllowListLoader<'a>,
    /// Model that checks for prompt injection, if configured.
    pub classifier: Option<&'a dyn Classifier>,
    pub now: Timestamp,
}

/// Why a draft did not pass.
#[derive(Debug)]
pub enum GateError {
    /// An answer of the gate; recorded as an event.
    Refused(Refusal),
    /// A malformed draft, or a failed look-up of the allow list.
    Failed(Error),
}

impl WriteIntent {
    /// The row of the trust table, and the trust the text had where it comes from.
    fn way(self) -> (Way, Option<Trust>) {
        match self {
            WriteIntent::Write => (Way::Write, None),
            WriteIntent::ConfirmedWrite => (Way::Confirm, None),
            WriteIntent::SystemWrite => (Way::Product, None),
            WriteIntent::AppendToLog => (Way::Append, None),
            WriteIntent::Propose => (Way::Propose, None),
            WriteIntent::Approve => (Way::Decide, None),
            WriteIntent::Import { recorded } => (Way::Import, Some(recorded)),
            WriteIntent::ImportVersion { permit, .. } => (Way::ImportHistory, Some(permit.trust)),
            WriteIntent::RestoreVersion { permit } => (Way::Restore, Some(permit.trust)),
        }
    }
}

impl From<Refusal> for GateError {
    fn from(refusal: Refusal) -> GateError {
        GateError::Refused(refusal)
    }
}

impl From<Error> for GateError {
    fn from(error: Error) -> GateError {
        GateError::Failed(error)
    }
}

/// A draft that passed the gate. Only [`clear_draft`] creates one.
#[derive(Debug, Clone)]
pub struct ClearedDraft {
    draft: Draft,
    scope: Scope,
    kind: Kind,
    layer: Layer,
    permit: WritePermit,
    flags: Vec<String>,
    warnings: Vec<String>,
    /// Cleared for [`WriteIntent::Approve`]: may activate a constrained memory.
    is_approved: bool,
    /// Cleared for [`WriteIntent::ConfirmedWrite`].
    is_confirmed: bool,
    /// Conditions that checks after the gate relied on; checked again in the transaction.
    guards: Vec<Guard>,
}

/// Runs all checks, in the order of the table above.
pub fn clear_draft(context: GateContext<'_>, draft: Draft) -> Result<ClearedDraft, GateError> {
    if !context.memory_enabled {
        return Err(memory_disabled_refusal().into());
    }
    let mut draft = normalize_draft(draft, context.limits)?;
    // Names of a scope come from the caller or, in an import, from the file.
    let (name, agent) = context.scope.name_columns();
    for name in [name, agent].into_iter().filter(|name| !name.is_empty()) {
        check_name("name of the scope", name, context.limits)?;
    }
    let kind = choose_kind(&draft, context)?;
    let layer = choose_layer(&draft, kind, context)?;
    let mut warnings = validate::check_content_size(&draft, context.ruleset, context.content_bytes_max)?;
    let permit = check_permission(context, kind)?;
    // An earlier version keeps its own evidence and importance: new ones would falsify history.
    if !matches!(context.intent, WriteIntent::ImportVersion { .. } | WriteIntent::RestoreVersion { .. }) {
        draft.evidence = complete_evidence(draft.evidence, context)?;
        if context.ruleset.importance {
            draft = assign_importance(draft, kind);
        }
    }
    // In a conversation an injection is only flagged. An approved text may be read elsewhere, so it gets no leniency.
    let is_approved = matches!(context.intent, WriteIntent::Approve);
    let is_confirmed = context.intent == WriteIntent::ConfirmedWrite;
    let scanned_as = if is_approved || is_confirmed { ScopeKind::Workspace } else { context.scope.kind() };
    let ScannedDraft { draft, flags, warnings: scan_warnings } =
        scan_draft(draft, scanned_as, context.ruleset.secrets, context.load_allow_list, context.classifier)?;
    warnings.extend(scan_warnings);
    let (scope, guards) = (context.scope.clone(), Vec::new());
    Ok(ClearedDraft { draft, scope, kind, layer, permit, flags, warnings, is_approved, is_confirmed, guards })
}

/// Answer to every write while memory is turned off.
pub(crate) fn memory_disabled_refusal() -> Refusal {
    Refusal::new("policy.memory_disabled", "memory is turned off (`MEMORY_ENABLED=false`)")
}

/// Step 5. Policy decides whether and in which state, the trust table how far the text is trusted.
fn check_permission(context: GateContext<'_>, kind: Kind) -> Result<WritePermit, Refusal> {
    let GateContext { caller, store, scope, pipeline_enabled, .. } = context;
    let permit = match context.intent {
        WriteIntent::Write | WriteIntent::ConfirmedWrite | WriteIntent::Import { .. } => {
            policy::may_write(caller, store, scope, kind, pipeline_enabled)?
        }
        WriteIntent::AppendToLog => policy::may_append(caller, store)?,
        // Written with an admin's rights, but under the caller's principal.
        WriteIntent::SystemWrite => {
            let writer = Caller { role: Role::Admin, ..caller.clone() };
            policy::may_write(&writer, store, scope, kind, pipeline_enabled)?
        }
        WriteIntent::Propose => policy::may_propose(caller, store, scope)?,
        WriteIntent::Approve => policy::approval_permit(caller),
        WriteIntent::ImportVersion { permit, .. } => policy::may_import(caller, permit)?,
        WriteIntent::RestoreVersion { permit } => permit,
    };
    let (way, recorded) = context.intent.way();
    let limits = TrustLimits { store: store.default_trust, sources: context.sources_trust, recorded };
    Ok(WritePermit { trust: way.trust(caller, limits), ..permit })
}

impl ClearedDraft {
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Scanner rules that flagged the text without blocking it.
    pub fn flags(&self) -> &[String] {
        &self.flags
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Adds conditions that must still hold in the transaction, such as "this text is not banned".
    pub(crate) fn with_guards(mut self, guards: impl IntoIterator<Item = Guard>) -> ClearedDraft {
        self.guards.extend(guards);
        self
    }

    /// Whether a person has confirmed exactly this text.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// The draft as a candidate that would replace `current`. What it does not state is as in `current`: a person
    /// decides about the whole memory.
    pub(crate) fn into_candidate_for(mut self, current: &Memory) -> ClearedDraft {
        self.permit.state = State::Constrained;
        if self.draft.kind.is_none() && self.draft.layer.is_none() {
            (self.kind, self.layer) = (current.kind, current.layer);
        }
        let draft = &mut self.draft;
        // It was compared with `current`, not with an earlier candidate.
        draft.expected_sha256 = None;
        draft.title = draft.title.take().or_else(|| current.title.clone());
        draft.recall_hint = draft.recall_hint.take().or_else(|| current.recall_hint.clone());
        draft.tags.get_or_insert_with(|| current.tags.clone());
        draft.metadata.get_or_insert_with(|| current.metadata.clone());
        draft.always_inject.get_or_insert(current.always_inject);
        draft.confidence.get_or_insert(current.confidence);
        draft.importance.get_or_insert(current.importance);
        self
    }

    /// The draft at another path than it names: its own, with a suffix.
    pub(crate) fn at_path(mut self, path: &str) -> ClearedDraft {
        self.draft.path = Some(path.to_owned());
        self
    }

    /// State that the memory will get.
    pub fn state(&self) -> State {
        self.permit.state
    }
}

/// Step 3. The stated kind, else the default of ruleset or scope.
fn choose_kind(draft: &Draft, context: GateContext<'_>) -> Result<Kind, GateError> {
    let by_scope = match context.store.scope {
        ScopeKind::User => Some(Kind::UserPreference),
        ScopeKind::Conversation => Some(Kind::ConversationNote),
        ScopeKind::Project => Some(Kind::Note),
        _ => None,
    };
    // In a user's store the scope wins over the ruleset: agents may save only `user_preference` there.
    let default = match context.store.scope {
        ScopeKind::User => by_scope,
        _ => context.ruleset.default_kind.or(by_scope),
    };
    let missing = || Error::invalid("shape.kind_missing", "this store needs a `kind`");
    let kind = draft.kind.or(default).ok_or_else(missing)?;
    if !context.ruleset.allows_kind(kind) {
        let message = format!("kind `{kind}` is not kept in stores of ruleset `{}`", context.store.ruleset);
        return Err(Refusal::new("policy.kind_not_writable", message).into());
    }
    Ok(kind)
}

/// Step 3. The stated layer, else the ruleset's default.
fn choose_layer(draft: &Draft, kind: Kind, context: GateContext<'_>) -> Result<Layer, GateError> {
    let layer = draft.layer.unwrap_or_else(|| context.ruleset.default_layer(kind, context.store.scope));
    if !context.ruleset.layers.contains(&layer) {
        let message = format!("layer `{layer}` is not kept in stores of ruleset `{}`", context.store.ruleset);
        return Err(Refusal::new("policy.layer_not_writable", message).into());
    }
    Ok(layer)
}

/// Step 6. Where evidence is required, an agent or service must give it; a person's own statement is evidence enough.
fn complete_evidence(mut given: Vec<Evidence>, context: GateContext<'_>) -> Result<Vec<Evidence>, Refusal> {
    let caller = context.caller;
    if given.is_empty() && context.ruleset.evidence == EvidenceRule::Required {
        if caller.role.is_program() {
            let message = format!("store `{}` requires evidence, and none was given", context.store.slug);
            return Err(Refusal::new("evidence.missing", message)
                .with_hint("name the source as evidence, such as `tool call 17`"));
        }
        let kind = match caller.role {
            Role::Admin | Role::Reviewer => EvidenceKind::AdminEntry,
            Role::User | Role::Agent | Role::Service => EvidenceKind::UserStatement,
        };
        let summary = format!("entered by {}", caller.principal);
        given.push(Evidence::new(kind, summary));
    }
    for evidence in &mut given {
        evidence.run = evidence.run.take().or_else(|| caller.run.clone());
        evidence.conversation = evidence.conversation.take().or_else(|| caller.conversation.clone());
    }
    Ok(given)
}

/// Step 7. Importance and TTL class: stated by the caller, else given by the kind, else estimated from the words.
fn assign_importance(draft: Draft, kind: Kind) -> Draft {
    let estimate = lifecycle::estimate_importance(&draft.content);
    let by_kind = match kind {
        Kind::TaskCompletion => Some(TtlClass::TaskCompletion),
        Kind::Decision => Some(TtlClass::Decision),
        Kind::Error => Some(TtlClass::Error),
        _ => None,
    };
    // "Remember this" in the text wins over the kind: it never expires.
    let class = if estimate.class == TtlClass::Remember { estimate.class } else { by_kind.unwrap_or(estimate.class) };
    let class = draft.ttl.unwrap_or(class);
    let permanent = (class == TtlClass::Remember).then_some(lifecycle::FULL_IMPORTANCE);
    let importance = draft.importance.or(permanent).unwrap_or(estimate.importance);
    Draft { importance: Some(importance), ttl: Some(class), ..draft }
}
