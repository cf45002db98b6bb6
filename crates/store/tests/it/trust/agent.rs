//! Everything an agent can do, and what it can try.

use std::collections::BTreeSet;

use engine::markdown;
use engine::model::caller::Caller;
use engine::model::id::MemoryId;
use engine::model::memory::{Draft, Evidence, Memory};
use engine::model::review::Risk;
use engine::model::vocabulary::{EvidenceKind, Kind, Layer, State, Trust};
use engine::review::Decision;
use engine::text::chunks::DocumentFormat;
use engine::{
    AuditEntry, CloseRunRequest, ConsentRequest, DocumentText, ExportPiece, ForgetOptions, ForgetOutcome, ImportReport,
    MemoryReference, Patch, PatchOutcome, Pin, ProfileProposal, Promotion, ProposalOutcome, Remembered,
    RollbackOutcome, RunOutcome, StepOutput, TransitionOutcome, Turn,
};
use serde_json::{Map, Value, json};

use super::script::{DRAFTS, Done, OLD_PROJECT, PATHS, Script, TOPICS};

const STORES: [&str; 14] = [
    "project_memory",
    "project_memory",
    "user_memory",
    "user_memory",
    "user_notes",
    "user_notes",
    "conversation_memory",
    "conversation_memory",
    "system_notes",
    DRAFTS,
    DRAFTS,
    "agent_layers",
    "workspace_runbooks",
    "layers",
];

impl Script {
    pub(super) fn agent_step(&mut self) -> Done {
        let agent = self.some_agent();
        match self.pick(22) {
            0..=6 => self.agent_save(&agent),
            7 | 8 => self.agent_patch(&agent),
            9 => self.agent_rename(&agent),
            10 | 11 => self.agent_pin(&agent),
            12 => self.agent_forget(&agent),
            13 | 14 => self.agent_promotion(&agent),
            15 => self.agent_profile(&agent),
            16 => self.agent_consolidation(&agent),
            17 => self.agent_run(&agent),
            18 => self.agent_logs(&agent),
            19 => self.agent_import(&agent),
            20 => self.agent_rollback(&agent),
            _ => self.agent_tries_a_persons_verb(&agent),
        }
    }

    fn some_agent(&mut self) -> Caller {
        let agent = self.agent.clone();
        let agent = if self.chance(2) { Caller { run: None, ..agent } } else { agent };
        // What was saved before the merge is in the old project.
        match self.chance(4) {
            true => Caller { project: Some(OLD_PROJECT.to_owned()), merged_projects: Vec::new(), ..agent },
            false => agent,
        }
    }

    /// A draft with random fields, each with its marker.
    fn agent_draft(&mut self, store: &str) -> Draft {
        let topic = self.choose(&TOPICS);
        let text = |script: &Script, field: &str| format!("kelp {topic} {}", script.marker(field));
        let metadata = |script: &Script| {
            let mut map = Map::new();
            map.insert("note".to_owned(), Value::from(script.marker("m")));
            map.insert("workflow".to_owned(), Value::from("harvest"));
            map
        };
        let kinds = match store {
            "user_memory" | "user_notes" => vec![Kind::UserPreference],
            "project_memory" => vec![Kind::Decision, Kind::WorkspaceConvention, Kind::Lesson],
            "workspace_runbooks" | DRAFTS => vec![Kind::Runbook, Kind::ServiceContext],
            "agent_layers" | "layers" => vec![Kind::Lesson, Kind::Note],
            _ => vec![Kind::Note, Kind::ConversationNote, Kind::Decision],
        };
        let layer = match store {
            "agent_layers" | "layers" => Some(self.choose(&[Layer::Semantic, Layer::Procedural])),
            _ => None,
        };
        let has_path = !self.chance(3) && store != "agent_layers";
        Draft {
            store: store.to_owned(),
            system: matches!(store, "system_notes" | DRAFTS).then(|| "bay".to_owned()),
            path: has_path.then(|| self.agent_path()),
            kind: Some(self.choose(&kinds)),
            layer,
            title: self.chance(2).then(|| text(self, "t")),
            recall_hint: (self.chance(2) || store.ends_with("notes")).then(|| text(self, "h")),
            content: text(self, "c"),
            tags: self.chance(2).then(|| vec![self.marker("g")]),
            metadata: self.chance(2).then(|| metadata(self)),
            always_inject: if self.chance(3) { Some(true) } else { None },
            speaker: self.chance(6).then(|| self.marker("s")),
            session: self.chance(6).then(|| self.marker("e")),
            evidence: vec![Evidence::new(EvidenceKind::ToolResult, text(self, "v"))],
            reason: Some(text(self, "r")),
            ..Draft::default()
        }
    }

    /// A shared path, seldom one of the agent's own words.
    fn agent_path(&mut self) -> String {
        if self.chance(4) { format!("kelp/{}", self.marker("p")) } else { self.choose(&PATHS).to_owned() }
    }

    fn agent_save(&mut self, agent: &Caller) -> Done {
        let store = self.choose(&STORES);
        let mut draft = self.agent_draft(store);
        if self.chance(6) {
            draft.derived_from = self.any_memory(agent).map(|memory| memory.version).into_iter().collect();
        }
        let pins = draft.always_inject == Some(true);
        self.note(format!("agent saves to {store} at {:?}, pin {pins}", draft.path));
        let saved = match self.pick(5) {
            // A yes that nobody gave: to no question, or to one that was asked about another text or not answered.
            0 => self.engine.remember_confirmed(agent, draft, "forged")?,
            1 => {
                let other = self.agent_draft(store);
                let asked = self.engine.ask_person(agent, &ConsentRequest::Keep(&other))?;
                let question = asked.map(|asked| asked.id).unwrap_or_default();
                self.engine.remember_confirmed(agent, draft, &question)?
            }
            _ => self.engine.remember(agent, draft)?,
        };
        if let (Remembered::Saved(saved), true) = (&saved, pins) {
            self.agent_pins.insert(saved.memory.id);
        }
        Ok(matches!(saved, Remembered::Saved(_)))
    }

    pub(super) fn agent_patches(&mut self, agent: &Caller, memory: &Memory) -> Done {
        let patch = Patch {
            memory: memory.id,
            expected_sha256: memory.sha256.clone(),
            content: format!("kelp {} {}", self.choose(&TOPICS), self.marker("k")),
            summary: Some(self.marker("w")),
            evidence: vec![Evidence::new(EvidenceKind::ToolResult, self.marker("v"))],
        };
        self.note(format!("agent patches {} in {}", memory.id, memory.store));
        Ok(!matches!(self.engine.patch(agent, patch)?, PatchOutcome::Refused(_)))
    }

    fn agent_patch(&mut self, agent: &Caller) -> Done {
        match self.any_memory(agent) {
            Some(memory) => self.agent_patches(agent, &memory),
            None => Ok(false),
        }
    }

    fn agent_rename(&mut self, agent: &Caller) -> Done {
        let Some(memory) = self.any_memory(agent) else { return Ok(false) };
        let path = self.agent_path();
        self.note(format!("agent renames {} to {path}", memory.id));
        Ok(matches!(self.engine.rename(agent, memory.id, &path)?, TransitionOutcome::Done(_)))
    }

    fn agent_pin(&mut self, agent: &Caller) -> Done {
        let Some(memory) = self.any_memory(agent) else { return Ok(false) };
        let pins = !self.chance(4);
        self.note(format!("agent sets the pin of {} to {pins}", memory.id));
        let pin = Pin { always_inject: pins, expected_version: self.chance(2).then_some(memory.version) };
        let done = matches!(self.engine.pin(agent, memory.id, pin)?, TransitionOutcome::Done(_));
        // One that was pinned by a person stays pinned by that person.
        if done && pins && !memory.always_inject {
            self.agent_pins.insert(memory.id);
        }
        Ok(done)
    }

    fn agent_forget(&mut self, agent: &Caller) -> Done {
        let Some(memory) = self.any_memory(agent) else { return Ok(false) };
        if self.chance(2) {
            self.note(format!("agent proposes to forget {}", memory.id));
            let reference = MemoryReference::Id(memory.id);
            return Ok(is_waiting(&self.engine.propose_forget(agent, &reference, self.marker("a"))?));
        }
        self.note(format!("agent forgets {}", memory.id));
        let options =
            ForgetOptions { reason: Some(self.marker("w")), may_return: self.chance(2), ..ForgetOptions::default() };
        Ok(matches!(self.engine.forget_with_options(agent, memory.id, &options)?, ForgetOutcome::Done(_)))
    }

    fn agent_promotion(&mut self, agent: &Caller) -> Done {
        let Some(memory) = self.any_memory(agent) else { return Ok(false) };
        let promotion = Promotion {
            source: MemoryReference::Id(memory.id),
            target_store: self.choose(&["workspace_runbooks", "layers", "user_memory", DRAFTS]).to_owned(),
            target_path: self.chance(3).then(|| self.agent_path()).or_else(|| Some(self.choose(&PATHS).to_owned())),
            rationale: format!("kelp {} {}", self.choose(&TOPICS), self.marker("a")),
            evidence: vec![Evidence::new(EvidenceKind::ToolResult, self.marker("v"))],
            risk: Risk::Low,
        };
        self.note(format!("agent proposes {} for {}", memory.id, promotion.target_store));
        Ok(is_waiting(&self.engine.propose(agent, promotion)?))
    }

    fn agent_profile(&mut self, agent: &Caller) -> Done {
        let proposal = ProfileProposal {
            store: self.chance(2).then(|| "agent_layers".to_owned()),
            key: self.choose(&["editor", "shell"]).to_owned(),
            value: format!("kelp {}", self.marker("f")),
            reason: format!("kelp {}", self.marker("a")),
        };
        self.note("agent proposes a profile");
        Ok(is_waiting(&self.engine.propose_profile(agent, proposal)?))
    }

    fn agent_consolidation(&mut self, agent: &Caller) -> Done {
        self.note("agent proposes compactions and duplicates");
        let compacted = self.engine.compact(agent, Some("agent_layers"), true)?;
        let merged = self.engine.dedup(agent, Some("agent_layers"), true)?;
        Ok(!compacted.is_empty() || !merged.is_empty())
    }

    fn agent_run(&mut self, agent: &Caller) -> Done {
        let agent = Caller { run: Some("run1".to_owned()), ..agent.clone() };
        self.note("agent opens, fills or closes its run");
        let run = "run1".to_owned();
        if self.chance(2) {
            self.engine.open_run(&agent, Some(run), Some(self.marker("o")), Some("harvest".to_owned()))?;
            return Ok(true);
        }
        let summary = Some(format!("kelp {}", self.marker("y")));
        let request = CloseRunRequest { run, outcome: RunOutcome::Success, summary, workflow: None };
        self.engine.close_run(&agent, &request)?;
        Ok(true)
    }

    fn agent_logs(&mut self, agent: &Caller) -> Done {
        let text =
            |script: &mut Script, field: &str| format!("kelp {} {}", script.choose(&TOPICS), script.marker(field));
        let answer = match self.pick(3) {
            0 => {
                let entry = AuditEntry { action: self.marker("n"), message: text(self, "l"), ..AuditEntry::default() };
                self.engine.record_audit(agent, entry)?
            }
            1 => {
                let (workflow, step) = ("harvest".to_owned(), self.marker("n"));
                let step = StepOutput { workflow, step, output: text(self, "l"), completed_at: None };
                self.engine.record_step(agent, step)?
            }
            _ => {
                let turn = json!({ "content": text(self, "u"), "speaker": self.marker("s") });
                let turn: Turn = serde_json::from_value(turn).expect("a turn");
                self.engine.remember_turns(agent, &self.marker("e"), &[turn])?.swap_remove(0)
            }
        };
        self.note("agent logs");
        Ok(matches!(answer, Remembered::Saved(_)))
    }

    /// A file that claims to be approved.
    fn agent_import(&mut self, agent: &Caller) -> Done {
        let store = self.choose(&STORES);
        let draft = self.agent_draft(store);
        let mut report = ImportReport::default();
        let before = self.pinned();
        self.note(format!("agent imports into {store}"));
        if self.chance(2) {
            let hint = draft.recall_hint.clone().unwrap_or_default();
            let front = format!("path: {}\nrecall_hint: {hint}\ntrust: admin_approved\nkind: note", PATHS[0]);
            let text = format!("---\n{front}\nalways_inject: true\n---\n{}", draft.content);
            self.engine.import_markdown(agent, store, &text, &mut report)?;
        } else if let Some(memory) = self.any_memory(agent) {
            let mut found = Vec::new();
            self.engine.export(agent, std::slice::from_ref(&memory.store), |piece| {
                found.push(piece);
                Ok::<(), engine::model::error::Error>(())
            })?;
            for piece in found {
                if let ExportPiece::Memory(mut exported) = piece {
                    exported.memory.trust = Trust::AdminApproved;
                    exported.memory.title = Some(self.marker("t"));
                    exported.content = draft.content.clone();
                    self.engine.import(agent, ExportPiece::Memory(exported), &mut report)?;
                }
            }
        }
        self.agent_pins.extend(self.pinned().difference(&before));
        Ok(report.imported > 0)
    }

    fn pinned(&self) -> BTreeSet<MemoryId> {
        let memories = self.list(&self.admin, vec![State::Active, State::Constrained]).into_iter();
        memories.filter(|memory| memory.always_inject).map(|memory| memory.id).collect()
    }

    fn agent_rollback(&mut self, agent: &Caller) -> Done {
        let Some(memory) = self.any_memory(agent) else { return Ok(false) };
        self.note(format!("agent rolls {} back", memory.id));
        self.agent_pins.remove(&memory.id);
        let restores = !self.chance(3);
        let done = self.engine.rollback(agent, memory.id, restores, Some(&self.marker("w")))?;
        Ok(matches!(done, RollbackOutcome::Done(_)))
    }

    fn agent_tries_a_persons_verb(&mut self, agent: &Caller) -> Done {
        let Some(memory) = self.any_memory(agent) else { return Ok(false) };
        self.note(format!("agent tries a person's verb on {}", memory.id));
        match self.pick(5) {
            0 => {
                for review in self.engine.pending_reviews(agent, None, None)? {
                    let decision = Decision { version: review.version, comment: None };
                    let outcome = self.engine.approve(agent, &review.id.to_string(), &decision)?;
                    assert!(!matches!(outcome, engine::review::DecisionOutcome::Approved(_)), "{}", self.story());
                }
            }
            1 => drop(self.engine.verify_by(agent, memory.id, None, Some(self.marker("w")))?),
            2 => drop(self.engine.release(agent, memory.id, Some(&self.marker("w")))?),
            3 => {
                let document = DocumentText {
                    path: PATHS[0].to_owned(),
                    text: self.marker("d"),
                    format: DocumentFormat::Text,
                    category: None,
                    status: None,
                    source: None,
                };
                drop(self.engine.ingest(agent, &document)?);
            }
            _ => drop(self.engine.import_markdown(
                agent,
                "workspace_runbooks",
                &markdown::render_memory(&memory),
                &mut ImportReport::default(),
            )?),
        }
        Ok(false)
    }
}

fn is_waiting(outcome: &ProposalOutcome) -> bool {
    matches!(outcome, ProposalOutcome::Waiting { .. })
}
