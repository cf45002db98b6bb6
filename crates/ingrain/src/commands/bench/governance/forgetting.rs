//! Cases on forgetting: a forgotten value cannot return in another spelling or by another way in.

use engine::model::memory::{Draft, Memory};
use engine::model::vocabulary::{Layer, State};
use engine::{EraseTarget, ExportPiece, ForgetOptions, RedactionRequest, RollbackOutcome, UpkeepOptions};

use super::Case;
use super::case_tenant::{CaseResult, CaseTenant, describe_error, ensure, expect_refusal};

/// Contains a unique word, so that raw database files can be searched for it.
const VALUE: &str = "The side door opens with zanzibarquux 4711.";

fn save_and_forget(world: &CaseTenant) -> CaseResult<Memory> {
    let memory = world.save_note(&world.agent_caller("t", "a"), VALUE)?;
    world.forget_memory(memory.id)?;
    Ok(memory)
}

fn expect_forgotten(world: &CaseTenant, text: &str) -> CaseResult {
    expect_refusal(world.save_note(&world.agent_caller("t", "a"), text), "policy.forgotten")
        .map_err(|instead| format!("{text:?}: {instead}"))
}

fn redact_memory(world: &CaseTenant, memory: &Memory) -> CaseResult {
    let redaction =
        RedactionRequest { memory: memory.id, versions: None, reason: "asked to".to_owned(), may_return: false };
    world.engine.redact(&world.admin, &redaction).map(|_| ()).map_err(|error| describe_error(&error))
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "forgotten-by-save",
        given: "a value that was forgotten",
        when: "an agent saves it again",
        then: "it is refused",
        check: |world| save_and_forget(world).and_then(|_| expect_forgotten(world, VALUE)),
    },
    Case {
        name: "forgotten-in-disguise",
        given: "a value that was forgotten",
        when: "it comes back in another case, spacing, punctuation, Unicode form or alphabet",
        then: "it is refused",
        check: |world| {
            save_and_forget(world)?;
            for disguise in [
                "THE SIDE DOOR OPENS WITH ZANZIBARQUUX 4711",
                "the  side\tdoor\nopens with zanzibarquux 4711",
                "The side door, opens with: \u{201c}zanzibarquux\u{201d} (4711)!",
                // Full-width letters, zero-width characters, accents and Cyrillic look-alikes.
                "Ｔｈｅ ｓｉｄｅ ｄｏｏｒ ｏｐｅｎｓ ｗｉｔｈ ｚａｎｚｉｂａｒｑｕｕｘ ４７１１",
                "The side d\u{200b}oor ope\u{ad}ns with zanzi\u{200d}barquux 4711",
                "Thé sidé door opens with zanzibarquüx 4711",
                "The ѕіdе dооr ореns with zanzibarquux 4711",
            ] {
                expect_forgotten(world, disguise)?;
            }
            Ok(())
        },
    },
    Case {
        name: "forgotten-inside-a-longer-text",
        given: "a value that was forgotten",
        when: "it is saved as a sentence of a longer text",
        then: "it is refused",
        check: |world| {
            save_and_forget(world)?;
            expect_forgotten(world, &format!("Notes of today.\n{VALUE} Lunch was good."))
        },
    },
    Case {
        name: "another-value-passes",
        given: "a value that was forgotten",
        when: "something else is saved",
        then: "it is saved",
        check: |world| {
            save_and_forget(world)?;
            world.save_note(&world.agent_caller("t", "a"), "The front door opens with the red button").map(|_| ())
        },
    },
    Case {
        name: "may-return",
        given: "a value forgotten with --may-return",
        when: "it is saved again",
        then: "it is saved",
        check: |world| {
            let agent = world.agent_caller("t", "a");
            let memory = world.save_note(&agent, VALUE)?;
            let may_return = ForgetOptions { may_return: true, ..ForgetOptions::default() };
            world
                .engine
                .forget_with_options(&world.admin, memory.id, &may_return)
                .map_err(|error| describe_error(&error))?;
            world.save_note(&agent, VALUE).map(|_| ())
        },
    },
    Case {
        name: "forgotten-by-promotion",
        given: "a value forgotten in the workspace",
        when: "an agent saves it in a conversation and proposes it",
        then: "the proposal is refused",
        check: |world| {
            let shared = world.save_draft(&world.admin, CaseTenant::runbook_draft(VALUE, "doors"))?;
            world.forget_memory(shared.id)?;
            let agent = world.agent_caller("t", "a");
            let draft = world.save_note(&agent, VALUE)?;
            match world.propose_promotion(&agent, draft.id, "doors-again") {
                Err(code) if code == "policy.forgotten" => Ok(()),
                other => Err(format!("{:?}", other.map(|review| review.id))),
            }
        },
    },
    Case {
        name: "forgotten-by-import",
        given: "an export made before a value was forgotten",
        when: "it is imported",
        then: "the value is not back",
        check: |world| {
            let memory = world.save_note(&world.agent_caller("t", "a"), VALUE)?;
            let mut pieces = world.export_all()?;
            world.forget_memory(memory.id)?;
            for piece in &mut pieces {
                // New ids, as in a copy from another installation.
                if let ExportPiece::Memory(story) = piece
                    && story.memory.id == memory.id
                {
                    let fresh = world.engine.clock.fresh_id();
                    story.memory.id.0 = fresh;
                    story.memory.version.0 = uuid::Uuid::from_u128(fresh.as_u128() ^ 1);
                    for version in &mut story.versions {
                        version.memory.id = story.memory.id;
                        version.memory.version = story.memory.version;
                    }
                }
            }
            let done = world.import_pieces(&world.admin, pieces)?;
            ensure(done.refused.iter().any(|refused| refused.code == "policy.forgotten"), "it was imported")
        },
    },
    Case {
        name: "forgotten-by-compaction",
        given: "two memories that say the same, one of them forgotten",
        when: "what is left is compacted with a third",
        then: "no proposal repeats it",
        check: |world| {
            let layered = |content: &str, hint: &str| Draft {
                store: "layers".to_owned(),
                layer: Some(Layer::Semantic),
                recall_hint: Some(hint.to_owned()),
                content: content.to_owned(),
                ..Draft::default()
            };
            let first = world.save_draft(&world.admin, layered(VALUE, "doors one"))?;
            world.save_draft(&world.admin, layered(VALUE, "doors"))?;
            world.save_draft(&world.admin, layered("The front door has a bell.", "Doors!"))?;
            world.forget_memory(first.id)?;
            let groups = world.engine.compact(&world.admin, None, true).map_err(|error| describe_error(&error))?;
            let repeats =
                |group: &engine::ConsolidationGroup| group.review.is_some() && group.content.contains("zanzibarquux");
            ensure(!groups.iter().any(repeats), "it was proposed")
        },
    },
    Case {
        name: "forgotten-by-rollback",
        given: "a value that was replaced, and forgotten in another memory",
        when: "the replacement is rolled back with --restore",
        then: "the value is not restored",
        check: |world| {
            let proposal = |value: &str| engine::ProfileProposal {
                store: None,
                key: "door".to_owned(),
                value: value.to_owned(),
                reason: "said".to_owned(),
            };
            let confirm = |value: &str| -> CaseResult<Memory> {
                match world
                    .engine
                    .propose_profile(&world.admin, proposal(value))
                    .map_err(|error| describe_error(&error))?
                {
                    engine::ProposalOutcome::Waiting { review, .. } => world.approve_review(&world.admin, &review),
                    engine::ProposalOutcome::Refused(refusal) => Err(refusal.code.to_owned()),
                }
            };
            let old = confirm("zanzibarquux 4711")?;
            let new = confirm("the red button")?;
            let copy = world.save_draft(&world.admin, CaseTenant::runbook_draft("door: zanzibarquux 4711", "door"))?;
            world.forget_memory(copy.id)?;
            match world.engine.rollback(&world.admin, new.id, true, None).map_err(|error| describe_error(&error))? {
                RollbackOutcome::Done(done) => ensure(done.restored.is_empty(), "it was restored")?,
                RollbackOutcome::Refused(refusal) => return Err(refusal.code.to_owned()),
            }
            ensure(world.memory_state(old.id)? == State::Superseded, "it is active again")
        },
    },
    Case {
        name: "bans-travel-with-exports",
        given: "a value that was forgotten",
        when: "the export is imported elsewhere and the value saved there",
        then: "it is refused there too",
        check: |world| {
            save_and_forget(world)?;
            let pieces = world.export_all()?;
            let tenant = world.engine.start_tenant("bans-travel-other").map_err(|error| describe_error(&error))?.id;
            let other = CaseTenant {
                engine: world.engine.clone(),
                config: world.config.clone(),
                tenant,
                admin: engine::model::caller::Caller::admin(tenant),
            };
            other.import_pieces(&other.admin, pieces)?;
            expect_forgotten(&other, VALUE)
        },
    },
    Case {
        name: "redacted-everywhere",
        given: "a memory with two versions",
        when: "it is redacted and upkeep runs",
        then: "search, history and export do not have the text; who and why stay",
        check: |world| {
            let agent = world.agent_caller("t", "a");
            let draft = Draft { path: Some("door".to_owned()), ..CaseTenant::note_draft(VALUE) };
            world.save_draft(&agent, draft.clone())?;
            let memory = world.save_draft(&agent, Draft { content: format!("{VALUE} Since May."), ..draft })?;
            redact_memory(world, &memory)?;
            world.engine.upkeep(world.tenant, UpkeepOptions::default()).map_err(|error| describe_error(&error))?;
            ensure(!world.can_find(&world.admin, "zanzibarquux", memory.id)?, "search finds it")?;
            let reference = engine::MemoryReference::Id(memory.id);
            let history = world
                .engine
                .history(&world.admin, &reference, None, Some(50))
                .map_err(|error| describe_error(&error))?;
            ensure(
                history.len() == 3 && history.iter().all(|version| version.memory.content.is_empty()),
                "history has it",
            )?;
            ensure(history.iter().all(|version| !version.actor.is_empty()), "the author is gone")?;
            let export = format!("{:?}", world.export_all()?);
            ensure(!export.contains("zanzibarquux"), "the export has it")
        },
    },
    Case {
        name: "erased-user",
        given: "a person's memories",
        when: "the person is erased",
        then: "nothing is left, the certificate is valid, and the values may not return",
        check: |world| {
            let ann = engine::model::caller::Caller::user(world.tenant, "ann");
            let draft = || Draft { store: "user_memory".to_owned(), kind: None, ..CaseTenant::note_draft(VALUE) };
            let memory = world.save_draft(&ann, draft())?;
            let what = EraseTarget::User("ann".to_owned());
            let proof = world
                .engine
                .erase(&world.admin, &what, Some("left".to_owned()), false)
                .map_err(|error| describe_error(&error))?;
            ensure(proof.memories == 1 && world.read_memory(&world.admin, memory.id).is_err(), "it can be read")?;
            let checked =
                world.engine.verify_certificate(&world.admin, &proof).map_err(|error| describe_error(&error))?;
            ensure(checked.valid, "the certificate is not valid")?;
            let forged = engine::removal::certificate::Certificate { memories: 2, ..proof };
            let checked =
                world.engine.verify_certificate(&world.admin, &forged).map_err(|error| describe_error(&error))?;
            ensure(!checked.valid, "a forged certificate is valid")?;
            expect_refusal(world.save_draft(&ann, draft()), "policy.forgotten")
        },
    },
    Case {
        name: "erased-from-the-files",
        given: "a memory that was redacted",
        when: "the raw database files are searched for its text",
        then: "it is in none of them",
        check: |world| {
            let memory =
                world.save_note(&world.agent_caller("t", "a"), "The wording is xylophonqwertz and nothing else")?;
            redact_memory(world, &memory)?;
            world.engine.database().flush().map_err(|error| error.to_string())?;
            let files = std::fs::read_dir(&world.config.home).map_err(|error| error.to_string())?;
            for file in files.filter_map(Result::ok) {
                let bytes = std::fs::read(file.path()).unwrap_or_default();
                let holds = bytes.windows(14).any(|window| window == b"xylophonqwertz");
                ensure(!holds, &format!("`{}` has it", file.file_name().to_string_lossy()))?;
            }
            Ok(())
        },
    },
    Case {
        name: "deletion-survives-a-restart",
        given: "a forgotten and a redacted memory",
        when: "the database is opened again and upkeep runs",
        then: "neither is found and neither value can return",
        check: |world| {
            let kept = save_and_forget(world)?;
            let other = world.save_note(&world.agent_caller("t", "a"), "The spare key lies under the blue stone")?;
            redact_memory(world, &other)?;
            let again = world.reopen_with_upkeep()?;
            ensure(!again.can_find(&again.admin, "side door zanzibarquux", kept.id)?, "the forgotten one is found")?;
            ensure(!again.can_find(&again.admin, "spare key blue stone", other.id)?, "the redacted one is found")?;
            expect_forgotten(&again, VALUE)?;
            expect_forgotten(&again, "the spare key lies under the BLUE stone!")
        },
    },
];
