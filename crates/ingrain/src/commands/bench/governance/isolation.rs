//! Cases on isolation: no caller reads outside its scope, and upkeep stays in its tenant.

use engine::UpkeepOptions;
use engine::model::caller::{Caller, Grant};
use engine::model::memory::Draft;
use engine::model::vocabulary::Kind;

use super::Case;
use super::case_tenant::{CaseTenant, describe_error, ensure, expect_refusal};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "conversation-walls",
        given: "a draft in conversation A",
        when: "an agent in conversation B searches, lists and reads",
        then: "it finds nothing",
        check: |world| {
            let (a, b) = (world.agent_caller("t", "a"), world.agent_caller("t", "b"));
            let memory = world.save_note(&a, "The staging cluster restarts on Tuesdays")?;
            ensure(
                world.can_find(&a, "staging cluster restarts", memory.id)?,
                "its own conversation does not find it",
            )?;
            ensure(!world.can_find(&b, "staging cluster restarts", memory.id)?, "the other conversation finds it")?;
            ensure(world.read_memory(&b, memory.id).is_err(), "the other conversation reads it")
        },
    },
    Case {
        name: "user-walls",
        given: "a person's preference",
        when: "another person looks for it",
        then: "it is not found",
        check: |world| {
            let (ann, bob) = (Caller::user(world.tenant, "ann"), Caller::user(world.tenant, "bob"));
            let draft =
                Draft { store: "user_memory".to_owned(), ..preference_draft("Prefers short answers in the morning") };
            let memory = world.save_draft(&ann, draft)?;
            ensure(!world.can_find(&bob, "short answers morning", memory.id)?, "the other user finds it")?;
            ensure(world.read_memory(&bob, memory.id).is_err(), "the other caller reads it")
        },
    },
    Case {
        name: "tenant-walls",
        given: "a memory of one tenant",
        when: "an admin of another tenant reads it by id",
        then: "it is not found",
        check: |world| {
            let memory =
                world.save_draft(&world.admin, CaseTenant::runbook_draft("Rotate the keys monthly", "keys/rotate"))?;
            let other = world.engine.start_tenant("tenant-walls-other").map_err(|error| describe_error(&error))?;
            ensure(world.read_memory(&Caller::admin(other.id), memory.id).is_err(), "the other caller reads it")
        },
    },
    Case {
        name: "agent-walls",
        given: "an agent's episode",
        when: "another agent of the tenant looks for it",
        then: "it finds nothing",
        check: |world| {
            let (x, y) = (Caller::agent(world.tenant, "x"), Caller::agent(world.tenant, "y"));
            let draft = Draft {
                store: "episodes".to_owned(),
                content: "Deployed the gateway to Frankfurt".to_owned(),
                ..Draft::default()
            };
            let memory = world.save_draft(&x, draft)?;
            ensure(!world.can_find(&y, "gateway Frankfurt", memory.id)?, "it finds it")
        },
    },
    Case {
        name: "lost-grant-hides",
        given: "a note about a system by a user with a read grant",
        when: "the user loses the grant",
        then: "even the own note is hidden",
        check: |world| {
            let mut caller = Caller::user(world.tenant, "ann");
            caller.grants.insert("erp".to_owned(), Grant::Read);
            let draft = Draft {
                store: "system_notes".to_owned(),
                system: Some("erp".to_owned()),
                recall_hint: Some("erp nightly batch".to_owned()),
                content: "The nightly batch starts at two".to_owned(),
                ..Draft::default()
            };
            let memory = world.save_draft(&caller, draft)?;
            ensure(world.read_memory(&caller, memory.id).is_ok(), "it cannot be read with the grant")?;
            caller.grants.clear();
            ensure(world.read_memory(&caller, memory.id).is_err(), "it can still be read")
        },
    },
    Case {
        name: "scope-not-widened-by-draft",
        given: "an agent without a grant",
        when: "its draft names a system",
        then: "the save is refused",
        check: |world| {
            let draft = Draft {
                store: "system_notes".to_owned(),
                system: Some("erp".to_owned()),
                ..CaseTenant::note_draft("x holds y")
            };
            expect_refusal(world.save_draft(&world.agent_caller("t", "a"), draft), "policy.system_not_readable")
        },
    },
    Case {
        name: "upkeep-respects-walls",
        given: "two tenants",
        when: "upkeep runs for one",
        then: "the other's log does not move",
        check: |world| {
            let other = world.engine.start_tenant("upkeep-other").map_err(|error| describe_error(&error))?;
            let before = world.engine.event_feed().last_event_seq(other.id).map_err(|error| error.to_string())?;
            world.engine.upkeep(world.tenant, UpkeepOptions::default()).map_err(|error| describe_error(&error))?;
            let after = world.engine.event_feed().last_event_seq(other.id).map_err(|error| error.to_string())?;
            ensure(before == after, "the other tenant's log moved")
        },
    },
    Case {
        name: "waiting-drafts-unseen",
        given: "a proposal that waits",
        when: "another agent searches the workspace",
        then: "it finds nothing before a person has confirmed",
        check: |world| {
            let agent = world.agent_caller("t", "a");
            let proposal = engine::ProfileProposal {
                store: None,
                key: "deploy_window".to_owned(),
                value: "thursdays".to_owned(),
                reason: "said in a meeting".to_owned(),
            };
            let proposed = world.engine.propose_profile(&agent, proposal).map_err(|error| describe_error(&error))?;
            let engine::ProposalOutcome::Waiting { review, .. } = proposed else {
                return Err("it was refused".to_owned());
            };
            let candidate = review.candidate.ok_or("there is no candidate")?;
            let stranger = world.agent_caller("u", "b");
            ensure(!world.can_find(&stranger, "deploy_window thursdays", candidate)?, "a stranger finds it")?;
            world.approve_review(&world.admin, &review)?;
            ensure(world.can_find(&stranger, "deploy_window thursdays", candidate)?, "confirmed, it is still hidden")
        },
    },
];

fn preference_draft(content: &str) -> Draft {
    Draft { kind: Some(Kind::UserPreference), ..CaseTenant::note_draft(content) }
}
