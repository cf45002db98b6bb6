//! The one way in: shape, then policy, then evidence, then safety. What comes out is the only thing a store accepts.

pub mod allow_list;
pub mod duplicate;

mod entry;
mod scan;
mod validate;

pub use entry::{VersionStamp, VersionedEntry, embedding_text};
pub use entry::{index_memory, searched_fields};
pub use scan::{ScannedDraft, scan_draft};
pub use validate::{check_label, check_name, normalize_path};
pub(crate) use validate::{check_text, normalize_draft, normalize_new_path};

use jiff::{Timestamp, ToSpan};

use crate::gate::allow_list::AllowList;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::guard::Guard;
use crate::model::lifecycle;
use crate::model::limits::Limits;
use crate::model::memory::{Draft, Evidence};
use crate::model::refusal::Refusal;
use crate::model::ruleset::Ruleset;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::model::vocabulary::{EvidenceKind, EvidenceRule, Kind, Layer, Role, ScopeKind, State, Trust, TtlClass};
use crate::policy::{self, WritePermit};
use crate::safety::classifier::Classifier;

/// What the caller is about to do with the draft; policy has a rule for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteIntent {
    Write,
    /// What the product itself writes in somebody's name: its words need no model's opinion.
    SystemWrite,
    /// An entry of a log that is closed to everybody's own writes: only the log's own verb makes one.
    AppendToLog,
    /// It waits for a person, so it may be put where the caller cannot write.
    Propose,
    /// A person who may decide here lets it stand. Text is scanned strictly wherever it goes.
    Approve,
    /// An import of what stood elsewhere, with the standing it had there. `over`: it is only history by now.
    ImportVersion {
        permit: WritePermit,
        is_history: bool,
    },
    /// A version of the memory that stood before, with the standing it had. Who may take back was asked already.
    RestoreVersion {
        permit: WritePermit,
    },
}

/// What the tenant lets through the scanner on purpose; asked for only where a rule found something.
pub type AllowListLoader<'a> = dyn Fn() -> Result<AllowList, Error> + 'a;

/// All the gate looks at besides the draft. It looks nothing up itself.
#[derive(Clone, Copy)]
pub struct GateContext<'a> {
    pub caller: &'a Caller,
    pub intent: WriteIntent,
    pub store: &'a Store,
    pub ruleset: &'a Ruleset,
    /// Where the memory lives or shall live.
    pub scope: &'a Scope,
    pub limits: &'a Limits,
    /// The caller's pipeline opted it in.
    pub pipeline_enabled: bool,
    /// A tighter cap of the pipeline, in bytes.
    pub content_bytes_max: Option<u64>,
    /// The whole memory system is on.
    pub memory_enabled: bool,
    /// The least trust among the sources of a derived memory.
    pub sources_trust: Option<Trust>,
    pub load_allow_list: &'a AllowListLoader<'a>,
    /// Asked about planted orders, where one is configured.
    pub classifier: Option<&'a dyn Classifier>,
    pub now: Timestamp,
}

/// Why a draft went no further.
#[derive(Debug)]
pub enum GateError {
    Refused(Refusal),
    Failed(Error),
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

/// A draft that passed shape, policy, evidence and safety. Only [`clear`] can make one.
#[derive(Debug, Clone)]
pub struct ClearedDraft {
    draft: Draft,
    scope: Scope,
    kind: Kind,
    layer: Layer,
    permit: WritePermit,
    flags: Vec<String>,
    warnings: Vec<String>,
    /// A person lets it stand, whatever state it had.
    is_approved: bool,
    guards: Vec<Guard>,
}

/// Checks a draft against everything that can be said without looking at other memories.
pub fn clear_draft(ground: GateContext<'_>, draft: Draft) -> Result<ClearedDraft, GateError> {
    if !ground.memory_enabled {
        return Err(memory_disabled_refusal().into());
    }
    let mut draft = normalize_draft(draft, ground.limits)?;
    let kind = choose_kind(&draft, ground)?;
    let layer = choose_layer(&draft, kind, ground)?;
    let mut warnings = validate::check_content_size(&draft, ground.ruleset, ground.content_bytes_max)?;
    let permit = check_permission(ground, kind)?;
    // History is not argued with: it is as it was, or not taken at all.
    if !matches!(ground.intent, WriteIntent::ImportVersion { .. } | WriteIntent::RestoreVersion { .. }) {
        draft.evidence = complete_evidence(draft.evidence, ground)?;
        if ground.ruleset.importance {
            draft = assign_importance(draft, kind);
        }
    }
    // What a person approves is read by others: the lenience of conversations ends here.
    let strict = matches!(ground.intent, WriteIntent::Approve);
    let scanned_as = if strict { ScopeKind::Workspace } else { ground.scope.kind() };
    let ScannedDraft { draft, flags, warnings: unsure } =
        scan_draft(draft, scanned_as, ground.ruleset.secrets, ground.load_allow_list, ground.classifier)?;
    warnings.extend(unsure);
    let (scope, raised, guards) = (ground.scope.clone(), strict, Vec::new());
    Ok(ClearedDraft { draft, scope, kind, layer, permit, flags, warnings, is_approved: raised, guards })
}

/// What every write hears while memory is turned off.
pub(crate) fn memory_disabled_refusal() -> Refusal {
    Refusal::new("policy.memory_disabled", "memory is turned off (`MEMORY_ENABLED=false`)")
}

fn check_permission(ground: GateContext<'_>, kind: Kind) -> Result<WritePermit, Refusal> {
    let GateContext { caller, store, scope, pipeline_enabled, .. } = ground;
    let derived = |permit: WritePermit| WritePermit {
        trust: ground.sources_trust.map_or(permit.trust, |sources| permit.trust.min(sources)),
        ..permit
    };
    match ground.intent {
        WriteIntent::Write => policy::may_write(caller, store, scope, kind, pipeline_enabled).map(derived),
        WriteIntent::AppendToLog => policy::may_append(caller, store).map(derived),
        // The verb may write there; whose deed it is stays told.
        WriteIntent::SystemWrite => {
            let scribe = Caller { role: Role::Admin, ..caller.clone() };
            policy::may_write(&scribe, store, scope, kind, pipeline_enabled).map(derived)
        }
        WriteIntent::Propose => policy::may_propose(caller, store, scope).map(derived),
        WriteIntent::Approve => Ok(policy::approval_permit(caller)),
        WriteIntent::ImportVersion { permit, .. } => policy::may_import(caller, permit),
        WriteIntent::RestoreVersion { permit } => Ok(permit),
    }
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

    /// Rules that flagged the text without blocking it.
    pub fn flags(&self) -> &[String] {
        &self.flags
    }

    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What must still hold when it is written, besides what the verb asks for.
    pub(crate) fn with_guards(mut self, guards: impl IntoIterator<Item = Guard>) -> ClearedDraft {
        self.guards.extend(guards);
        self
    }

    pub fn state(&self) -> State {
        self.permit.state
    }
}

fn choose_kind(draft: &Draft, ground: GateContext<'_>) -> Result<Kind, GateError> {
    let by_scope = match ground.store.scope {
        ScopeKind::User => Some(Kind::UserPreference),
        ScopeKind::Conversation => Some(Kind::ConversationNote),
        _ => None,
    };
    // A person's own store is for preferences, whatever the ruleset's habit is.
    let default = match ground.store.scope {
        ScopeKind::User => by_scope,
        _ => ground.ruleset.default_kind.or(by_scope),
    };
    let missing = || Error::invalid("shape.kind_missing", "this store needs a `kind`");
    let kind = draft.kind.or(default).ok_or_else(missing)?;
    if !ground.ruleset.allows_kind(kind) {
        let message = format!("kind `{kind}` is not kept in stores of ruleset `{}`", ground.store.ruleset);
        return Err(Refusal::new("policy.kind_not_writable", message).into());
    }
    Ok(kind)
}

fn choose_layer(draft: &Draft, kind: Kind, ground: GateContext<'_>) -> Result<Layer, GateError> {
    let layer = draft.layer.unwrap_or_else(|| ground.ruleset.default_layer(kind, ground.store.scope));
    if !ground.ruleset.layers.contains(&layer) {
        let message = format!("layer `{layer}` is not kept in stores of ruleset `{}`", ground.store.ruleset);
        return Err(Refusal::new("policy.layer_not_writable", message).into());
    }
    Ok(layer)
}

/// A program must say where its claim comes from; a person is his own evidence.
fn complete_evidence(mut given: Vec<Evidence>, ground: GateContext<'_>) -> Result<Vec<Evidence>, Refusal> {
    let caller = ground.caller;
    if given.is_empty() && ground.ruleset.evidence == EvidenceRule::Required {
        if caller.role.is_program() {
            return Err(Refusal::new("evidence.missing", "this store needs evidence for every claim")
                .with_hint("say what showed it, such as `tool call 17`, as evidence"));
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

/// What an episode is worth and how long: the caller's word, else its kind's, else by what it says.
fn assign_importance(draft: Draft, kind: Kind) -> Draft {
    let worth = lifecycle::estimate_importance(&draft.content);
    let by_kind = match kind {
        Kind::TaskCompletion => Some(TtlClass::TaskCompletion),
        Kind::Decision => Some(TtlClass::Decision),
        Kind::Error => Some(TtlClass::Error),
        _ => None,
    };
    // Somebody who says "remember this" means it, whatever the kind.
    let class = if worth.class == TtlClass::Remember { worth.class } else { by_kind.unwrap_or(worth.class) };
    let class = draft.ttl.unwrap_or(class);
    let permanent = (class == TtlClass::Remember).then_some(lifecycle::FULL_IMPORTANCE);
    let importance = draft.importance.or(permanent).unwrap_or(worth.importance);
    Draft { importance: Some(importance), ttl: Some(class), ..draft }
}

/// When a new memory stops being returned: what was asked for, else by its class, else by where it lives.
fn compute_expiry(cleared: &ClearedDraft, ruleset: &Ruleset, now: Timestamp) -> Option<Timestamp> {
    let in_days = |days: u32| now.checked_add((i64::from(days) * 24).hours()).ok();
    if cleared.draft.expires_at.is_some() {
        return cleared.draft.expires_at;
    }
    if let Some(class) = cleared.draft.ttl {
        return ruleset.ttl_days.get(&class).and_then(|days| in_days(*days));
    }
    match (cleared.scope.kind(), cleared.permit.trust) {
        (ScopeKind::Conversation, Trust::AgentDraft) => ruleset.conversation_draft_days.and_then(in_days),
        _ => None,
    }
}
