//! May this caller do this here, and what may it see? Tables, checked by eye.

use crate::model::caller::{Caller, Grant};
use crate::model::error::Error;
use crate::model::id::TenantId;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::model::vocabulary::{Access, Kind, Role, ScopeKind, State, Trust};

/// What a caller may see, as stores filter by it. [`Readable::shows`] is the same rule for one memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Readable {
    pub tenant: TenantId,
    pub scopes: ReadableScopes,
    pub constrained: VisibleCandidates,
    /// Archived stores, which nobody reads.
    pub hidden_stores: Vec<String>,
}

/// The places a caller sees into.
#[derive(Clone, PartialEq, Debug)]
pub enum ReadableScopes {
    All,
    These(Vec<Scope>),
}

/// Whose unreviewed candidates a caller sees.
#[derive(Clone, PartialEq, Debug)]
pub enum VisibleCandidates {
    All,
    AuthoredBy(String),
}

impl Readable {
    /// The engine's own eyes: decisions look at everything of one tenant.
    pub(crate) fn whole_tenant(tenant: TenantId) -> Readable {
        Readable { tenant, scopes: ReadableScopes::All, constrained: VisibleCandidates::All, hidden_stores: Vec::new() }
    }

    pub fn sees_scope(&self, scope: &Scope) -> bool {
        match &self.scopes {
            ReadableScopes::All => true,
            ReadableScopes::These(scopes) => scopes.contains(scope),
        }
    }

    /// The one predicate for every read, applied after every query too.
    pub fn shows_memory(&self, memory: &Memory) -> bool {
        let reviewed = memory.state != State::Constrained || self.shows_candidates_of(&memory.author);
        memory.tenant == self.tenant
            && reviewed
            && self.sees_scope(&memory.scope)
            && !self.hidden_stores.contains(&memory.store)
    }

    /// Whether what this author put up for review is shown while it waits.
    pub(crate) fn shows_candidates_of(&self, author: &str) -> bool {
        match &self.constrained {
            VisibleCandidates::All => true,
            VisibleCandidates::AuthoredBy(own) => own == author,
        }
    }
}

/// Whether this caller may see this memory.
pub fn is_visible(caller: &Caller, pipeline_enabled: bool, memory: &Memory) -> bool {
    readable_by(caller, pipeline_enabled).is_ok_and(|readable| readable.shows_memory(memory))
}

/// Working memory is recalled only inside its run, also by those who may look at everything.
pub(crate) fn may_recall_in_run(caller: &Caller, memory: &Memory) -> bool {
    match &memory.scope {
        Scope::Run { run } => caller.run.as_ref() == Some(run),
        _ => true,
    }
}

/// The places this caller may read. `pipeline_enabled`: its pipeline opted this agent in.
pub fn readable_by(caller: &Caller, pipeline_enabled: bool) -> Result<Readable, Refusal> {
    if !caller.rules.read {
        return Err(Refusal::new("policy.read_revoked", "this role does not hold the rule `memory.read`"));
    }
    let scopes = match caller.role {
        Role::Admin => ReadableScopes::All,
        Role::Reviewer | Role::User => {
            ReadableScopes::These(readable_scopes(caller, &[ScopeKind::User, ScopeKind::Conversation]))
        }
        Role::Agent | Role::Service => {
            let mut kinds = vec![ScopeKind::User, ScopeKind::Conversation, ScopeKind::Agent, ScopeKind::Run];
            if pipeline_enabled {
                kinds.push(ScopeKind::Pipeline);
            }
            ReadableScopes::These(readable_scopes(caller, &kinds))
        }
    };
    let constrained = match caller.role.may_decide_reviews() {
        true => VisibleCandidates::All,
        false => VisibleCandidates::AuthoredBy(caller.principal.clone()),
    };
    Ok(Readable { tenant: caller.tenant, scopes, constrained, hidden_stores: Vec::new() })
}

/// The workspace, the caller's own places of these kinds, and the systems it is granted.
fn readable_scopes(caller: &Caller, kinds: &[ScopeKind]) -> Vec<Scope> {
    let own = kinds.iter().filter_map(|kind| own_scope(caller, *kind));
    let systems = caller.grants.keys().map(|system| Scope::System { system: system.clone() });
    std::iter::once(Scope::Workspace).chain(own).chain(systems).collect()
}

/// The one place of a kind that is the caller's own, where it has one.
fn own_scope(caller: &Caller, kind: ScopeKind) -> Option<Scope> {
    match kind {
        ScopeKind::Workspace => Some(Scope::Workspace),
        ScopeKind::User => caller.user.clone().map(|user| Scope::User { user }),
        ScopeKind::Conversation => caller.conversation.clone().map(|conversation| Scope::Conversation { conversation }),
        ScopeKind::Agent => caller.agent.clone().map(|agent| Scope::Agent { agent }),
        ScopeKind::Pipeline => {
            let (pipeline, agent) = (caller.pipeline.clone()?, caller.agent.clone()?);
            Some(Scope::Pipeline { pipeline, agent })
        }
        ScopeKind::System => None,
        ScopeKind::Run => caller.run.clone().map(|run| Scope::Run { run }),
    }
}

/// Where a save of this caller into a store of this kind goes. A system is named by the draft, everything else by who asks.
pub fn scope_for(caller: &Caller, kind: ScopeKind, system: Option<&str>) -> Result<Scope, Error> {
    if kind == ScopeKind::System {
        let missing =
            || Error::invalid("scope.system_missing", "this store keeps memories by system: name the `system`");
        return system.map(|system| Scope::System { system: system.to_owned() }).ok_or_else(missing);
    }
    own_scope(caller, kind).ok_or_else(|| {
        let code = match kind {
            ScopeKind::User => "scope.user_missing",
            ScopeKind::Conversation => "scope.conversation_missing",
            ScopeKind::Agent => "scope.agent_missing",
            ScopeKind::Pipeline => "scope.pipeline_missing",
            ScopeKind::Run => "scope.run_missing",
            ScopeKind::Workspace | ScopeKind::System => "scope.missing",
        };
        Error::invalid(code, format!("this store keeps memories by {kind}, and the caller names none"))
    })
}

/// What a permitted write may become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WritePermit {
    pub state: State,
    pub trust: Trust,
}

/// Whether a place is the caller's own; shared kinds have rules of their own in [`may_write`].
fn is_own_scope(caller: &Caller, scope: &Scope) -> bool {
    match scope {
        Scope::Workspace | Scope::System { .. } => true,
        scope => own_scope(caller, scope.kind()).as_ref() == Some(scope),
    }
}

/// The table of who may write what where (SPEC §2).
pub fn may_write(
    caller: &Caller,
    store: &Store,
    scope: &Scope,
    kind: Kind,
    pipeline_enabled: bool,
) -> Result<WritePermit, Refusal> {
    require_manage_rule(caller)?;
    match (caller.role, scope, store.access) {
        _ if store.is_log() => return Err(append_only_refusal(&store.slug)),
        (Role::Admin, _, _) => {}
        _ if !is_own_scope(caller, scope) => {
            return Err(Refusal::new("policy.not_yours", "this place belongs to somebody else"));
        }
        (_, Scope::Workspace, _) => return Err(needs_promotion_refusal(&store.slug)),
        (_, _, Access::ReadOnly) => return Err(needs_promotion_refusal(&store.slug)),
        (role, Scope::User { .. }, _) if role.is_program() && kind != Kind::UserPreference => {
            let message = format!("an agent may save only `user_preference` for a user, not `{kind}`");
            return Err(Refusal::new("policy.kind_not_writable", message)
                .with_hint("save it in the conversation, or propose a promotion"));
        }
        (_, Scope::System { system }, _) if !caller.has_grant(system, Grant::Read) => {
            return Err(no_such_system_refusal());
        }
        (role, Scope::Pipeline { .. }, _) if role.is_program() && !pipeline_enabled => {
            return Err(pipeline_disabled_refusal());
        }
        (Role::Reviewer | Role::User, Scope::Agent { .. } | Scope::Pipeline { .. } | Scope::Run { .. }, _) => {
            return Err(Refusal::new("policy.not_yours", format!("only agents write {} memory", scope.kind())));
        }
        _ => {}
    }
    let state = match store.access {
        Access::DraftWrite if caller.role.is_program() => State::Constrained,
        _ => State::Active,
    };
    Ok(WritePermit { state, trust: store.default_trust.min(caller.trust_ceiling()) })
}

/// Who may add to a log, by the log's own verb: everybody who may write at all.
pub fn may_append(caller: &Caller, store: &Store) -> Result<WritePermit, Refusal> {
    require_manage_rule(caller)?;
    Ok(WritePermit { state: State::Active, trust: store.default_trust })
}

/// Who may put something up for review: whoever may write at all, for a place he can see. Nothing stands by it.
pub fn may_propose(caller: &Caller, store: &Store, scope: &Scope) -> Result<WritePermit, Refusal> {
    require_manage_rule(caller)?;
    match (caller.role, scope) {
        _ if store.is_log() => return Err(append_only_refusal(&store.slug)),
        (Role::Admin, _) => {}
        _ if !is_own_scope(caller, scope) => {
            return Err(Refusal::new("policy.not_yours", "this place belongs to somebody else"));
        }
        (_, Scope::System { system }) if !caller.has_grant(system, Grant::Read) => return Err(no_such_system_refusal()),
        _ => {}
    }
    Ok(WritePermit { state: State::Constrained, trust: store.default_trust.min(caller.role.trust_ceiling()) })
}

/// What a person's approval makes of a candidate. Who may decide where is asked before.
pub fn approval_permit(caller: &Caller) -> WritePermit {
    let trust = if caller.role.may_decide_reviews() { Trust::AdminApproved } else { caller.role.trust_ceiling() };
    WritePermit { state: State::Active, trust }
}

/// Only an admin may say what standing a memory had elsewhere; trust is not settable by anybody's payload.
pub fn may_import(caller: &Caller, permit: WritePermit) -> Result<WritePermit, Refusal> {
    match caller.role {
        Role::Admin if caller.rules.manage => Ok(permit),
        _ => Err(Refusal::new("policy.admins_only", "only an admin imports memories with their standing and history")),
    }
}

/// Who may take a memory away: as writing, but a system's needs `manage`, and nobody deletes with nobody watching.
pub fn may_forget(caller: &Caller, store: &Store, memory: &Memory) -> Result<(), Refusal> {
    if caller.unattended {
        return Err(Refusal::new("policy.unattended_delete", "an unattended run cannot delete memories")
            .with_hint("leave it to a person"));
    }
    match &memory.scope {
        Scope::System { system } if !caller.has_grant(system, Grant::Manage) => {
            Err(Refusal::new("policy.system_manage", format!("deleting from system `{system}` needs `manage` on it")))
        }
        // Whoever may see a pipeline's or user's memory here is its own.
        scope => match may_write(caller, store, scope, Kind::UserPreference, true) {
            Err(refusal) if refusal.code == NEEDS_PROMOTION => Err(refusal.with_hint(
                "a person decides: propose to forget it, `ingrain propose --forget` or `POST /v1/reviews/forget`",
            )),
            permitted => permitted.map(|_| ()),
        },
    }
}

fn require_manage_rule(caller: &Caller) -> Result<(), Refusal> {
    let revoked = || Refusal::new("policy.manage_revoked", "this role does not hold the rule `memory.manage`");
    caller.rules.manage.then_some(()).ok_or_else(revoked)
}

fn append_only_refusal(store: &str) -> Refusal {
    Refusal::new("policy.append_only", format!("`{store}` is a log: entries are added, never changed")).with_hint(
        "add with `ingrain audit add` or `ingrain workflow step`; what must not stay is redacted: `ingrain redact`",
    )
}

/// Who may ask a person to take a memory away: whoever may write at all, but not from a log.
pub(crate) fn may_propose_forget(caller: &Caller, store: &Store) -> Result<(), Refusal> {
    require_manage_rule(caller)?;
    if store.is_log() { Err(append_only_refusal(&store.slug)) } else { Ok(()) }
}

pub(crate) fn pipeline_disabled_refusal() -> Refusal {
    Refusal::new("policy.pipeline_not_enabled", "memory is not enabled for this agent in this pipeline")
        .with_hint("an admin enables it, for the pipeline and the agent")
}

const NEEDS_PROMOTION: &str = "policy.needs_promotion";

fn needs_promotion_refusal(store: &str) -> Refusal {
    Refusal::new(NEEDS_PROMOTION, format!("store `{store}` is written by admins and approved reviews only")).with_hint(
        "save it in `conversation_memory` and propose a promotion: `ingrain propose` or `memory_propose_promotion`",
    )
}

fn no_such_system_refusal() -> Refusal {
    // The same words whether the system exists or not.
    Refusal::new("policy.system_not_readable", "no such system, or no `read` on it")
        .with_hint("grants come from the configuration, the key or the token")
}

/// By whom something was put up for review, from where, and for which place.
pub(crate) struct ProposalOrigin<'a> {
    pub scope: &'a Scope,
    pub proposer: &'a str,
    pub user: Option<&'a str>,
    pub conversation: Option<&'a str>,
}

/// Reviewers see what waits in their tenant; a person what concerns him; everybody his own proposals, a program only
/// where it made them: for the same person, in the same conversation.
pub(crate) fn may_see_proposal(caller: &Caller, put: &ProposalOrigin<'_>) -> bool {
    let himself = matches!(put.scope, Scope::User { user } if caller.user.as_ref() == Some(user));
    let at_home = caller.is_in_same_conversation(put.user, put.conversation);
    let own = put.proposer == caller.principal && (at_home || !caller.role.is_program());
    caller.role.may_decide_reviews() || own || (himself && caller.role == Role::User)
}

/// Deeds of governance are for admins; to others the deed does not exist.
pub(crate) fn admins_only(caller: &Caller) -> Result<(), Error> {
    match caller.role {
        Role::Admin => Ok(()),
        _ => Err(Error::invalid("policy.admins_only", "only an admin may do this")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::StoreId;
    use crate::model::store::find_builtin_store;

    const TENANT: TenantId = TenantId(uuid::Uuid::nil());

    fn store(slug: &str) -> Store {
        find_builtin_store(slug).expect("built in").to_store(StoreId(uuid::Uuid::nil()), jiff::Timestamp::UNIX_EPOCH)
    }

    fn agent() -> Caller {
        let caller = Caller::agent(TENANT, "triage").in_conversation("c1");
        Caller { user: Some("ana".to_owned()), pipeline: Some("ci".to_owned()), run: Some("r1".to_owned()), ..caller }
    }

    /// Writes as `caller` into a built-in store at the caller's own place; the code of the refusal, or `ok`.
    fn write(caller: &Caller, slug: &str, kind: Kind, enabled: bool) -> String {
        let store = store(slug);
        let scope = scope_for(caller, store.scope, Some("billing")).expect("a place");
        match may_write(caller, &store, &scope, kind, enabled) {
            Ok(permit) => format!("{} {}", permit.state, permit.trust),
            Err(refusal) => refusal.code.to_owned(),
        }
    }

    #[test]
    fn who_may_write_what_where() {
        let check = |caller: &Caller, slug, kind, enabled, expected: &str| {
            assert_eq!(write(caller, slug, kind, enabled), expected, "{} {slug} {kind}", caller.principal);
        };
        let (agent, admin, ana) = (agent(), Caller::admin(TENANT), Caller::user(TENANT, "ana"));
        check(&agent, "workspace_runbooks", Kind::Runbook, false, "policy.needs_promotion");
        check(&agent, "user_memory", Kind::Runbook, false, "policy.kind_not_writable");
        check(&agent, "user_memory", Kind::UserPreference, false, "active agent_draft");
        check(&agent, "conversation_memory", Kind::Runbook, false, "active agent_draft");
        check(&agent, "lessons", Kind::Lesson, false, "policy.pipeline_not_enabled");
        check(&agent, "lessons", Kind::Lesson, true, "active agent_draft");
        check(&agent, "system_notes", Kind::Note, false, "policy.system_not_readable");
        check(&agent, "episodes", Kind::Turn, false, "active agent_draft");
        check(&agent, "working_memory", Kind::Note, false, "active agent_draft");
        check(&ana, "user_memory", Kind::Runbook, false, "active user_authored");
        check(&ana, "workspace_conventions", Kind::WorkspaceConvention, false, "policy.needs_promotion");
        check(&admin, "workspace_runbooks", Kind::Runbook, false, "active admin_approved");
        check(&admin, "workspace_conventions", Kind::Runbook, false, "active system_seeded");
        check(&admin, "system_notes", Kind::Note, false, "active user_authored");
        check(&admin, "audit_log", Kind::Note, false, "policy.append_only");
        check(&agent, "workflow_steps", Kind::Note, false, "policy.append_only");
        let revoked = Caller { rules: crate::model::caller::MemoryPermissions { read: true, manage: false }, ..agent };
        check(&revoked, "conversation_memory", Kind::Note, false, "policy.manage_revoked");
    }

    #[test]
    fn programs_only_draft_where_drafts_wait() {
        let drafts = Store { access: Access::DraftWrite, ..store("conversation_memory") };
        let scope = Scope::Conversation { conversation: "c1".to_owned() };
        let state = |caller: &Caller| may_write(caller, &drafts, &scope, Kind::Note, false).map(|permit| permit.state);
        assert_eq!(state(&agent()), Ok(State::Constrained));
        assert_eq!(state(&Caller::user(TENANT, "ana").in_conversation("c1")), Ok(State::Active));
    }

    #[test]
    fn nobody_writes_to_somebody_elses_place() {
        let other = Scope::Conversation { conversation: "c2".to_owned() };
        let refused = may_write(&agent(), &store("conversation_memory"), &other, Kind::Note, false);
        assert_eq!(refused.map_err(|refusal| refusal.code), Err("policy.not_yours"));
    }

    #[test]
    fn what_each_role_sees() {
        let sees = |caller: &Caller, scope: &Scope| {
            readable_by(caller, false).is_ok_and(|readable| readable.sees_scope(scope))
        };
        let conversation = |id: &str| Scope::Conversation { conversation: id.to_owned() };
        let pipeline = Scope::Pipeline { pipeline: "ci".to_owned(), agent: "triage".to_owned() };
        let other_agent = Scope::Agent { agent: "builder".to_owned() };
        assert!(sees(&agent(), &Scope::Workspace) && sees(&agent(), &conversation("c1")));
        assert!(!sees(&agent(), &conversation("c2")) && !sees(&agent(), &other_agent) && !sees(&agent(), &pipeline));
        assert!(readable_by(&agent(), true).is_ok_and(|readable| readable.sees_scope(&pipeline)));
        assert!(sees(&Caller::admin(TENANT), &conversation("c2")));
        let billing = Scope::System { system: "billing".to_owned() };
        let granted = Caller { grants: [("billing".to_owned(), Grant::Read)].into(), ..agent() };
        assert!(!sees(&agent(), &billing) && sees(&granted, &billing));
    }

    #[test]
    fn fact_42_a_system_store_needs_a_system() {
        let error = scope_for(&agent(), ScopeKind::System, None).expect_err("no system named");
        assert_eq!(error.code(), "scope.system_missing");
    }
}
