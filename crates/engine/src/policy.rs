//! Access control: what a caller may read, write, propose, import and delete. Pure tables over role, scope and store.

use crate::model::caller::{Caller, Grant, person_of_principal};
use crate::model::error::Error;
use crate::model::id::TenantId;
use crate::model::memory::Memory;
use crate::model::refusal::Refusal;
use crate::model::review::Review;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::model::trust_flow::{TrustLimits, Way};
use crate::model::vocabulary::{Access, Kind, Role, ScopeKind, State, Trust};

/// The read filter of one caller. Backends translate it to SQL; [`Readable::shows_memory`] is the same rule for one
/// memory.
#[derive(Clone, PartialEq, Debug)]
pub struct Readable {
    pub tenant: TenantId,
    pub scopes: ReadableScopes,
    /// Applies to memories in state `constrained`, which wait for review.
    pub constrained: VisibleCandidates,
    /// Slugs of stores left out: archived ones, knowledge drafts (for callers who decide no reviews), and, in queries
    /// that name no store, the stores searched by name only.
    pub hidden_stores: Vec<String>,
}

/// The scopes a caller may read.
#[derive(Clone, PartialEq, Debug)]
pub enum ReadableScopes {
    All,
    These(Vec<Scope>),
}

/// Authors whose unreviewed candidates a caller may read.
#[derive(Clone, PartialEq, Debug)]
pub enum VisibleCandidates {
    All,
    AuthoredBy(String),
}

impl Readable {
    /// Everything of one tenant. For the engine's own decisions, such as finding duplicates; never for an answer.
    pub(crate) fn whole_tenant(tenant: TenantId) -> Readable {
        Readable { tenant, scopes: ReadableScopes::All, constrained: VisibleCandidates::All, hidden_stores: Vec::new() }
    }

    pub fn sees_scope(&self, scope: &Scope) -> bool {
        match &self.scopes {
            ReadableScopes::All => true,
            ReadableScopes::These(scopes) => scopes.contains(scope),
        }
    }

    /// The one read predicate. Backends also apply it to each row after the query, as a second line of defence.
    pub fn shows_memory(&self, memory: &Memory) -> bool {
        let candidate_visible = memory.state != State::Constrained || self.shows_candidates_of(&memory.author);
        memory.tenant == self.tenant
            && candidate_visible
            && self.sees_scope(&memory.scope)
            && !self.hidden_stores.contains(&memory.store)
    }

    /// Whether candidates of this author are visible while they wait for review.
    pub(crate) fn shows_candidates_of(&self, author: &str) -> bool {
        match &self.constrained {
            VisibleCandidates::All => true,
            VisibleCandidates::AuthoredBy(own) => own == author,
        }
    }
}

/// Working memory is recalled only inside its own run, even for an admin, who may otherwise read every scope.
pub(crate) fn may_recall_in_run(caller: &Caller, memory: &Memory) -> bool {
    match &memory.scope {
        Scope::Run { run } => caller.run.as_ref() == Some(run),
        _ => true,
    }
}

/// The read filter of a caller by role. `pipeline_enabled`: the caller's pipeline has opted this agent in.
pub fn readable_by(caller: &Caller, pipeline_enabled: bool) -> Result<Readable, Refusal> {
    if !caller.rules.read {
        return Err(Refusal::new("policy.read_revoked", "this role does not hold the rule `memory.read`"));
    }
    let scopes = match caller.role {
        Role::Admin => ReadableScopes::All,
        // People have no agent, run or pipeline scope of their own.
        Role::Reviewer | Role::User => ReadableScopes::These(readable_scopes(
            caller,
            &[ScopeKind::Project, ScopeKind::User, ScopeKind::Conversation],
        )),
        Role::Agent | Role::Service => {
            let mut kinds =
                vec![ScopeKind::Project, ScopeKind::User, ScopeKind::Conversation, ScopeKind::Agent, ScopeKind::Run];
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

/// The workspace, the caller's own scopes of these kinds, and the systems it has a grant on.
fn readable_scopes(caller: &Caller, kinds: &[ScopeKind]) -> Vec<Scope> {
    let own = kinds.iter().filter_map(|kind| own_scope(caller, *kind)).chain(merged_scopes(caller));
    // Every grant includes reading, so its level does not matter here.
    let systems = caller.grants.keys().map(|system| Scope::System { system: system.clone() });
    std::iter::once(Scope::Workspace).chain(own).chain(systems).collect()
}

/// Scopes of the projects that were merged into the caller's: its own as well.
pub(crate) fn merged_scopes(caller: &Caller) -> impl Iterator<Item = Scope> {
    caller.merged_projects.iter().map(|project| Scope::Project { project: project.clone() })
}

/// The caller's own scope of a kind, if it has one.
fn own_scope(caller: &Caller, kind: ScopeKind) -> Option<Scope> {
    match kind {
        ScopeKind::Workspace => Some(Scope::Workspace),
        ScopeKind::Project => caller.project.clone().map(|project| Scope::Project { project }),
        ScopeKind::User => caller.user.clone().map(|user| Scope::User { user }),
        ScopeKind::Conversation => caller.conversation.clone().map(|conversation| Scope::Conversation { conversation }),
        ScopeKind::Agent => caller.agent.clone().map(|agent| Scope::Agent { agent }),
        ScopeKind::Pipeline => {
            let (pipeline, agent) = (caller.pipeline.clone()?, caller.agent.clone()?);
            Some(Scope::Pipeline { pipeline, agent })
        }
        // Systems belong to no caller; access goes by grants.
        ScopeKind::System => None,
        ScopeKind::Run => caller.run.clone().map(|run| Scope::Run { run }),
    }
}

/// The scope that a save into a store of this kind goes to. The draft names the system; every other scope is the
/// caller's own, never chosen by the request.
pub fn scope_for(caller: &Caller, kind: ScopeKind, system: Option<&str>) -> Result<Scope, Error> {
    if kind == ScopeKind::System {
        let missing =
            || Error::invalid("scope.system_missing", "this store keeps memories per system: name the `system`");
        return system.map(|system| Scope::System { system: system.to_owned() }).ok_or_else(missing);
    }
    own_scope(caller, kind).ok_or_else(|| {
        let code = match kind {
            ScopeKind::Project => "scope.project_missing",
            ScopeKind::User => "scope.user_missing",
            ScopeKind::Conversation => "scope.conversation_missing",
            ScopeKind::Agent => "scope.agent_missing",
            ScopeKind::Pipeline => "scope.pipeline_missing",
            ScopeKind::Run => "scope.run_missing",
            ScopeKind::Workspace | ScopeKind::System => "scope.missing",
        };
        Error::invalid(code, format!("this store keeps memories per {kind}, and the caller has no {kind}"))
    })
}

/// State and trust that a permitted write gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WritePermit {
    pub state: State,
    pub trust: Trust,
}

/// Whether a scope is the caller's own. True for workspace and system, which are shared and have rows of their own in
/// [`may_write`].
fn is_own_scope(caller: &Caller, scope: &Scope) -> bool {
    match scope {
        Scope::Workspace | Scope::System { .. } => true,
        Scope::Project { project } => caller.is_in_project(Some(project)),
        scope => own_scope(caller, scope.kind()).as_ref() == Some(scope),
    }
}

/// The write table: the first row that matches decides.
///
/// | caller | scope | store access | answer |
/// | --- | --- | --- | --- |
/// | without `memory.manage` | any | any | `policy.manage_revoked` |
/// | any | any, in a log store | any | `policy.append_only` |
/// | admin | any | any | permitted |
/// | others | not their own | any | `policy.not_yours` |
/// | others | workspace | any | `policy.needs_promotion` |
/// | others | any | read-only | `policy.needs_promotion` |
/// | agent, service | user, kind other than `user_preference` | any | `policy.kind_not_writable` |
/// | others | system without a grant | any | `policy.system_not_readable` |
/// | agent, service | pipeline without opt-in | any | `policy.pipeline_not_enabled` |
/// | user, reviewer | agent, pipeline, run | any | `policy.not_yours` |
/// | others | any | any | permitted |
///
/// A permitted write of an agent or service into a draft-write store is `constrained`, every other one `active`. Its
/// trust is the store's default, at most the caller's ceiling.
pub fn may_write(
    caller: &Caller,
    store: &Store,
    scope: &Scope,
    kind: Kind,
    pipeline_enabled: bool,
) -> Result<WritePermit, Refusal> {
    require_manage_rule(caller)?;
    match (caller.role, scope, store.access) {
        // Before the admin row: not even an admin rewrites a log.
        _ if store.is_log() => return Err(append_only_refusal(&store.slug)),
        (Role::Admin, _, _) => {}
        _ if !is_own_scope(caller, scope) => {
            return Err(not_own_scope_refusal());
        }
        (_, Scope::Workspace, _) => return Err(needs_promotion_refusal(&store.slug)),
        (_, _, Access::ReadOnly) => return Err(needs_promotion_refusal(&store.slug)),
        (role, Scope::User { .. }, _) if role.is_program() && kind != Kind::UserPreference => {
            let message = format!("an agent may save only `user_preference` for a user, not `{kind}`");
            return Err(Refusal::new("policy.kind_not_writable", message)
                .with_hint("save it in the conversation, or propose a promotion"));
        }
        (_, Scope::System { system }, _) if !caller.has_grant(system, Grant::Read) => {
            // `read` is enough to write; only deleting needs `manage` (see `may_forget`).
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
    Ok(WritePermit { state, trust: Way::Write.trust(caller, TrustLimits::of_store(store.default_trust)) })
}

/// Whether an answer that this caller brings is its user's own: the caller is a person, or its key or start flags say
/// that it shows questions to that person.
pub(crate) fn may_confirm(caller: &Caller) -> bool {
    caller.user.is_some() && !caller.unattended && (caller.may_confirm || !caller.role.is_program())
}

/// Whether a principal is a program by its name: `agent:…` or `service:…`.
pub(crate) fn is_program_name(principal: &str) -> bool {
    let role = principal.split_once(':').map_or(principal, |(role, _)| role);
    role.parse::<Role>().is_ok_and(Role::is_program)
}

/// Whether only a person may remove this memory: a program may take back drafts of programs, not what a person wrote or
/// trusted in this version or an earlier one.
pub(crate) fn forget_needs_person(caller: &Caller, memory: &Memory) -> bool {
    caller.role.is_program() && (memory.was_persons || is_persons_text(memory))
}

/// Whether a person wrote or trusted the content.
pub(crate) fn is_persons_text(memory: &Memory) -> bool {
    memory.trust > Trust::AgentDraft || !is_program_name(&memory.author)
}

/// Whether only a person may replace the text of this memory, as for [`forget_needs_person`]. What a program writes
/// over it becomes a candidate for review.
pub(crate) fn replace_needs_person(caller: &Caller, memory: &Memory) -> bool {
    memory.state == State::Active && forget_needs_person(caller, memory)
}

/// The refusal of another change to a person's memory, such as its path or the person's own pin.
pub(crate) fn people_change_refusal() -> Refusal {
    Refusal::new("policy.people_only", "a person wrote or trusted this memory, so only a person may change this")
        .with_hint("ask the person, or save a memory of your own")
}

/// The refusal of a removal that only a person may make.
pub(crate) fn people_remove_refusal() -> Refusal {
    Refusal::new("policy.people_only", "a person wrote or trusted this memory, so only a person may remove it")
        .with_hint(PROPOSE_FORGET_HINT)
}

/// Appending to a log store through the log's own method: every caller with `memory.manage`, whatever the scope.
pub fn may_append(caller: &Caller, store: &Store) -> Result<WritePermit, Refusal> {
    require_manage_rule(caller)?;
    let trust = Way::Append.trust(caller, TrustLimits::of_store(store.default_trust));
    Ok(WritePermit { state: State::Active, trust })
}

/// Proposing for review: every caller with `memory.manage`, for the workspace, an own scope or a system it may read.
///
/// Wider than [`may_write`], because the result is only a `constrained` candidate. A confirmation by the caller's user
/// does not raise its trust; the review does.
pub fn may_propose(caller: &Caller, store: &Store, scope: &Scope) -> Result<WritePermit, Refusal> {
    require_manage_rule(caller)?;
    match (caller.role, scope) {
        _ if store.is_log() => return Err(append_only_refusal(&store.slug)),
        (Role::Admin, _) => {}
        _ if !is_own_scope(caller, scope) => {
            return Err(not_own_scope_refusal());
        }
        (_, Scope::System { system }) if !caller.has_grant(system, Grant::Read) => return Err(no_such_system_refusal()),
        _ => {}
    }
    let trust = Way::Propose.trust(caller, TrustLimits::of_store(store.default_trust));
    Ok(WritePermit { state: State::Constrained, trust })
}

/// State and trust after an approval. The review module has already checked that the caller may decide.
pub fn approval_permit(caller: &Caller) -> WritePermit {
    // A decision is limited by neither store nor sources.
    let trust = Way::Decide.trust(caller, TrustLimits::of_store(Trust::AdminApproved));
    WritePermit { state: State::Active, trust }
}

/// Importing with the exported state and trust: admins only, because no other request may set trust.
pub fn may_import(caller: &Caller, permit: WritePermit) -> Result<WritePermit, Refusal> {
    match caller.role {
        Role::Admin if caller.rules.manage => Ok(permit),
        _ => Err(Refusal::new(
            "policy.admins_only",
            "only an admin imports memories with their state, trust and history",
        )),
    }
}

const PROPOSE_FORGET_HINT: &str =
    "propose to forget it, and a person decides: `ingrain propose --forget` or `POST /v1/reviews/forget`";

/// Forgetting a memory: as [`may_write`], except that a system's memory needs `manage` on the system, and an unattended
/// caller deletes nothing.
pub fn may_forget(caller: &Caller, store: &Store, memory: &Memory) -> Result<(), Refusal> {
    if caller.unattended {
        return Err(Refusal::new("policy.unattended_delete", "an unattended run cannot delete memories")
            .with_hint(PROPOSE_FORGET_HINT));
    }
    match &memory.scope {
        Scope::System { system } if !caller.has_grant(system, Grant::Manage) => {
            Err(Refusal::new("policy.system_manage", format!("deleting from system `{system}` needs `manage` on it")))
        }
        // `user_preference` and `true` pass the kind and opt-in rows: those limit what is added, and the caller has
        // already found the memory among those it may read.
        scope => match may_write(caller, store, scope, Kind::UserPreference, true) {
            Err(refusal) if refusal.code == NEEDS_PROMOTION => Err(refusal.with_hint(PROPOSE_FORGET_HINT)),
            permitted => permitted.map(|_| ()),
        },
    }
}

fn require_manage_rule(caller: &Caller) -> Result<(), Refusal> {
    let revoked = || Refusal::new("policy.manage_revoked", "this role does not hold the rule `memory.manage`");
    caller.rules.manage.then_some(()).ok_or_else(revoked)
}

fn append_only_refusal(store: &str) -> Refusal {
    Refusal::new("policy.append_only", format!("`{store}` is a log: entries are added, never changed"))
        .with_hint("add with `ingrain audit add` or `ingrain workflow step`; remove text with `ingrain redact`")
}

/// Proposing to forget a memory: every caller with `memory.manage`, but not in a log store.
pub(crate) fn may_propose_forget(caller: &Caller, store: &Store) -> Result<(), Refusal> {
    require_manage_rule(caller)?;
    if store.is_log() { Err(append_only_refusal(&store.slug)) } else { Ok(()) }
}

fn not_own_scope_refusal() -> Refusal {
    Refusal::new("policy.not_yours", "this scope belongs to another caller")
}

pub(crate) fn pipeline_disabled_refusal() -> Refusal {
    Refusal::new("policy.pipeline_not_enabled", "memory is not enabled for this agent in this pipeline")
        .with_hint("ask an admin to enable it for this pipeline and agent")
}

const NEEDS_PROMOTION: &str = "policy.needs_promotion";

fn needs_promotion_refusal(store: &str) -> Refusal {
    Refusal::new(NEEDS_PROMOTION, format!("store `{store}` is written by admins and approved reviews only")).with_hint(
        "save it in `project_memory` or `conversation_memory` and propose a promotion: `ingrain propose` or \
         `memory_propose_promotion`",
    )
}

fn no_such_system_refusal() -> Refusal {
    // One message for both cases, so that it does not reveal whether the system exists.
    Refusal::new("policy.system_not_readable", "no such system, or no `read` grant on it")
        .with_hint("grants come from the configuration, the key or the token")
}

/// Where a proposal came from and which scope it is for.
pub(crate) struct ProposalOrigin<'a> {
    pub scope: &'a Scope,
    pub proposer: &'a str,
    pub user: Option<&'a str>,
    pub project: Option<&'a str>,
    pub conversation: Option<&'a str>,
}

/// Whether a caller may see a proposal: admins and reviewers see all of their tenant, a user those for the own user
/// scope, every caller its own. An agent or service sees its own only for the same user in the same conversation:
/// many conversations share one principal, and they must not see each other's drafts.
pub(crate) fn may_see_proposal(caller: &Caller, origin: &ProposalOrigin<'_>) -> bool {
    let for_own_user = matches!(origin.scope, Scope::User { user } if caller.user.as_ref() == Some(user));
    let same_conversation = caller.is_in_same_conversation(origin.user, origin.project, origin.conversation);
    let own = origin.proposer == caller.principal && (same_conversation || !caller.role.is_program());
    caller.role.may_decide_reviews() || own || (for_own_user && caller.role == Role::User)
}

/// Administration (stores, pipelines, bans, keys, erasure): every role but admin gets `policy.admins_only`.
pub(crate) fn admins_only(caller: &Caller) -> Result<(), Error> {
    match caller.role {
        Role::Admin => Ok(()),
        _ => Err(Error::invalid("policy.admins_only", "only an admin may do this")),
    }
}

/// Whether a caller may approve or reject a review.
///
/// | caller | path with owners | path without owners |
/// | --- | --- | --- |
/// | admin | yes | yes |
/// | reviewer | if named as owner | yes |
/// | user | if named as owner | in the user's own scope |
/// | agent, service | no | no |
///
/// All of them need the rule `memory.manage`. Nobody approves a promotion they proposed themselves, with whatever key,
/// or of their own text, admins included, if the tenant has another person who can (`needs_other_person`). The
/// proposer may always reject, see `review::decide`.
pub(crate) fn may_decide(
    caller: &Caller,
    review: &Review,
    path_owners: Option<&[String]>,
    needs_other_person: bool,
) -> Result<(), Refusal> {
    let is_own_scope = matches!(&review.scope, Scope::User { user } if caller.user.as_ref() == Some(user));
    let entitled = caller.rules.manage
        && match (caller.role, path_owners) {
            (Role::Admin, _) => true,
            (Role::Agent | Role::Service, _) => false,
            (Role::Reviewer | Role::User, Some(reviewers)) => reviewers.iter().any(|name| is_named(caller, name)),
            (Role::Reviewer, None) => true,
            (Role::User, None) => is_own_scope,
        };
    if !entitled {
        let message = match path_owners {
            Some(reviewers) => format!("only the owners of this path may decide: {}", reviewers.join(", ")),
            None => "only reviewers and admins may decide reviews".to_owned(),
        };
        return Err(Refusal::new("policy.reviewers_only", message));
    }
    if needs_other_person {
        let message =
            "neither the proposer of a promotion nor the author of its text can decide it: ask another reviewer";
        return Err(Refusal::new("policy.own_proposal", message));
    }
    Ok(())
}

/// Whether an owner rule names this caller: by its principal, or by the person under another role.
fn is_named(caller: &Caller, name: &str) -> bool {
    name == caller.principal || (caller.person.is_some() && person_of_principal(name) == caller.person())
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
        let caller = Caller::agent(TENANT, "triage").in_conversation("c1").in_project("shop");
        Caller { user: Some("ana".to_owned()), pipeline: Some("ci".to_owned()), run: Some("r1".to_owned()), ..caller }
    }

    /// State and trust of a write into a built-in store in the caller's own scope, or the refusal code.
    fn write(caller: &Caller, slug: &str, kind: Kind, enabled: bool) -> String {
        let store = store(slug);
        let scope = scope_for(caller, store.scope, Some("billing")).expect("a scope");
        match may_write(caller, &store, &scope, kind, enabled) {
            Ok(permit) => format!("{} {}", permit.state, permit.trust),
            Err(refusal) => refusal.code.to_owned(),
        }
    }

    #[test]
    fn write_table() {
        let check = |caller: &Caller, slug, kind, enabled, expected: &str| {
            assert_eq!(write(caller, slug, kind, enabled), expected, "{} {slug} {kind}", caller.principal);
        };
        let (agent, admin, ana) = (agent(), Caller::admin(TENANT), Caller::user(TENANT, "ana"));
        check(&agent, "workspace_runbooks", Kind::Runbook, false, "policy.needs_promotion");
        check(&agent, "user_memory", Kind::Runbook, false, "policy.kind_not_writable");
        check(&agent, "user_memory", Kind::UserPreference, false, "active agent_draft");
        check(&agent, "conversation_memory", Kind::Runbook, false, "active agent_draft");
        check(&agent, "project_memory", Kind::Runbook, false, "active agent_draft");
        check(&agent, "lessons", Kind::Lesson, false, "policy.pipeline_not_enabled");
        check(&agent, "lessons", Kind::Lesson, true, "active agent_draft");
        check(&agent, "system_notes", Kind::Note, false, "policy.system_not_readable");
        check(&agent, "episodes", Kind::Turn, false, "active agent_draft");
        check(&agent, "working_memory", Kind::Note, false, "active agent_draft");
        check(&ana, "user_memory", Kind::Runbook, false, "active user_authored");
        check(&ana.clone().in_project("shop"), "project_memory", Kind::Runbook, false, "active user_authored");
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
    fn draft_write_stores_constrain_writes_of_programs() {
        let drafts = Store { access: Access::DraftWrite, ..store("conversation_memory") };
        let scope = Scope::Conversation { conversation: "c1".to_owned() };
        let state = |caller: &Caller| may_write(caller, &drafts, &scope, Kind::Note, false).map(|permit| permit.state);
        assert_eq!(state(&agent()), Ok(State::Constrained));
        assert_eq!(state(&Caller::user(TENANT, "ana").in_conversation("c1")), Ok(State::Active));
    }

    #[test]
    fn writing_to_another_callers_scope_is_refused() {
        let other = Scope::Conversation { conversation: "c2".to_owned() };
        let refused = may_write(&agent(), &store("conversation_memory"), &other, Kind::Note, false);
        assert_eq!(refused.map_err(|refusal| refusal.code), Err("policy.not_yours"));
    }

    #[test]
    fn a_project_is_its_members_and_that_of_projects_merged_into_it() {
        let project = |name: &str| Scope::Project { project: name.to_owned() };
        let member = Caller { merged_projects: vec!["old".to_owned()], ..agent() };
        let outsider = Caller { project: None, ..agent() };
        let sees = |caller: &Caller, name: &str| {
            readable_by(caller, false).is_ok_and(|readable| readable.sees_scope(&project(name)))
        };
        assert!(sees(&member, "shop") && sees(&member, "old") && !sees(&member, "other"));
        assert!(!sees(&outsider, "shop") && !sees(&agent(), "old"));
        let person = Caller::user(TENANT, "ana");
        assert!(sees(&person.clone().in_project("shop"), "shop") && !sees(&person, "shop"));
        let writes = |caller: &Caller, name: &str| {
            may_write(caller, &store("project_memory"), &project(name), Kind::Note, false).is_ok()
        };
        assert!(writes(&member, "shop") && writes(&member, "old") && !writes(&member, "other"));
        assert!(!writes(&outsider, "shop"));
        let error = scope_for(&outsider, ScopeKind::Project, None).expect_err("no project");
        assert_eq!(error.code(), "scope.project_missing");
    }

    #[test]
    fn readable_scopes_by_role() {
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
