//! What a person and a reviewer do in between, as they normally would.

use engine::markdown;
use engine::model::memory::{Draft, Memory};
use engine::model::vocabulary::{Kind, State};
use engine::review::{Decision, DecisionOutcome};
use engine::{ForgetOutcome, ImportReport, Patch, PatchOutcome, Pin, Remembered, RollbackOutcome, TransitionOutcome};

use super::script::{Counts, DRAFTS, Done, PATHS, Script, TOPICS};

impl Script {
    pub(super) fn person_step(&mut self) -> Done {
        match self.pick(12) {
            0..=3 => self.person_save(),
            4 | 5 => self.person_patch(),
            6 => self.person_pin(),
            7 => self.person_rename(),
            8 => self.person_takes_back(),
            9 => self.person_import(),
            10 => self.admin_save(),
            _ => self.person_confirms(),
        }
    }

    /// Ann's own words, at a path or with a hint that an agent may have used.
    fn person_save(&mut self) -> Done {
        let store = self.choose(&[
            "user_memory",
            "user_memory",
            "user_notes",
            "user_notes",
            "conversation_memory",
            "project_memory",
            DRAFTS,
        ]);
        let topic = self.choose(&TOPICS);
        let by_hint = store == "user_notes" && self.chance(2);
        let draft = Draft {
            store: store.to_owned(),
            system: (store == DRAFTS).then(|| "bay".to_owned()),
            path: (!by_hint).then(|| self.choose(&PATHS).to_owned()),
            kind: match store {
                DRAFTS => Some(Kind::Runbook),
                "project_memory" => Some(Kind::Decision),
                "conversation_memory" => Some(Kind::Note),
                _ => None,
            },
            recall_hint: by_hint.then(|| format!("kelp {topic}")),
            title: self.chance(4).then(|| format!("Ann on {topic}")),
            content: format!("kelp {topic} as ann says {}", self.pick(1_000)),
            always_inject: if self.chance(6) { Some(true) } else { None },
            ..Draft::default()
        };
        let pins = draft.always_inject.is_some();
        self.note(format!("ann saves to {store} at {:?}", draft.path));
        match self.engine.remember(&self.ann, draft)? {
            Remembered::Saved(saved) => {
                if pins {
                    self.agent_pins.remove(&saved.memory.id);
                }
                Ok(true)
            }
            Remembered::Refused(_) => Ok(false),
        }
    }

    /// Ann sends a whole text: her own, or the one she read with a word more.
    fn person_patch(&mut self) -> Done {
        let Some(memory) = self.any_memory(&self.ann.clone()) else { return Ok(false) };
        let content = match self.chance(2) {
            true => format!("{} she adds", memory.content),
            false => format!("kelp {} as ann puts it {}", self.choose(&TOPICS), self.pick(1_000)),
        };
        self.note(format!("ann patches {}: {content}", memory.id));
        // She sends the text, so she has decided about it.
        self.decide(&content);
        let (expected_sha256, evidence) = (memory.sha256.clone(), Vec::new());
        let patch = Patch { memory: memory.id, expected_sha256, content, summary: None, evidence };
        Ok(matches!(self.engine.patch(&self.ann, patch)?, PatchOutcome::Saved(_)))
    }

    /// Ann pins, mostly naming the version she read: that makes the text her own. The agent may change it before.
    fn person_pin(&mut self) -> Done {
        let Some(memory) = self.any_memory(&self.ann.clone()) else { return Ok(false) };
        let (always_inject, names_version) = (!self.chance(3), !self.chance(4));
        if self.chance(4) {
            let agent = self.agent.clone();
            // Refused or not: it tried.
            let _ = self.agent_patches(&agent, &memory);
        }
        self.note(format!("ann sets the pin of {} to {always_inject}, names the version: {names_version}", memory.id));
        let pin = Pin { always_inject, expected_version: names_version.then_some(memory.version) };
        let done = matches!(self.engine.pin(&self.ann, memory.id, pin)?, TransitionOutcome::Done(_));
        let is_hers = memory.state == State::Active || !memory.always_inject;
        if done && always_inject && is_hers {
            self.agent_pins.remove(&memory.id);
            if names_version {
                self.decide_memory(&memory);
            }
        }
        Ok(done)
    }

    fn person_rename(&mut self) -> Done {
        let Some(memory) = self.any_memory(&self.ann.clone()) else { return Ok(false) };
        let path = format!("kelp/of ann {}", self.step);
        self.note(format!("ann renames {} to {path}", memory.id));
        Ok(matches!(self.engine.rename(&self.ann, memory.id, &path)?, TransitionOutcome::Done(_)))
    }

    fn person_takes_back(&mut self) -> Done {
        let Some(memory) = self.any_memory(&self.ann.clone()) else { return Ok(false) };
        self.agent_pins.remove(&memory.id);
        if self.chance(3) {
            self.note(format!("ann forgets {}", memory.id));
            return Ok(matches!(self.engine.forget(&self.ann, memory.id, None)?, ForgetOutcome::Done(_)));
        }
        self.note(format!("ann rolls {} back", memory.id));
        Ok(matches!(self.engine.rollback(&self.ann, memory.id, true, None)?, RollbackOutcome::Done(_)))
    }

    /// A file that was exported comes back, by Ann or by the admin, perhaps to another store.
    fn person_import(&mut self) -> Done {
        let importer = if self.chance(3) { self.admin.clone() } else { self.ann.clone() };
        let Some(memory) = self.any_memory(&importer) else { return Ok(false) };
        let store = self.choose(&["user_memory", "user_notes", "conversation_memory", "project_memory"]);
        let text = markdown::render_memory(&memory).replace(&format!("\"{}\"", memory.store), &format!("\"{store}\""));
        self.note(format!("{} imports {} into {store}", importer.principal, memory.id));
        // The file names its pin, so what it is imported into is pinned by the importer.
        let (target, admin) = (store.to_owned(), self.admin.clone());
        let here = self.list(&admin, State::ALL.to_vec()).into_iter().filter(|memory| memory.store == target);
        for memory in here {
            self.agent_pins.remove(&memory.id);
        }
        let mut report = ImportReport::default();
        self.engine.import_markdown(&importer, store, &text, &mut report)?;
        Ok(report.imported > 0)
    }

    fn admin_save(&mut self) -> Done {
        let store = self.choose(&["workspace_runbooks", "user_memory", "conversation_memory", "project_memory"]);
        let topic = self.choose(&TOPICS);
        let draft = Draft {
            store: store.to_owned(),
            path: Some(self.choose(&PATHS).to_owned()),
            kind: Some(Kind::Runbook),
            content: format!("kelp {topic} by the book {}", self.pick(1_000)),
            ..Draft::default()
        };
        self.note(format!("admin saves to {store} at {:?}", draft.path));
        let admin = engine::model::caller::Caller { user: Some("ann".to_owned()), ..self.admin.clone() };
        Ok(matches!(self.engine.remember(&admin, draft)?, Remembered::Saved(_)))
    }

    fn person_confirms(&mut self) -> Done {
        let Some(memory) = self.any_memory(&self.ann.clone()) else { return Ok(false) };
        self.note(format!("ann confirms that {} is still true", memory.id));
        Ok(matches!(self.engine.verify_by(&self.ann, memory.id, None, None)?, TransitionOutcome::Done(_)))
    }

    pub(super) fn reviewer_step(&mut self, counts: &mut Counts) -> Done {
        match self.pick(8) {
            0..=5 => self.reviewer_decides(counts),
            6 => self.reviewer_rolls_back(),
            _ => self.reviewer_quarantines(),
        }
    }

    /// Reads a review and decides; sometimes the agent changes the text in between.
    fn reviewer_decides(&mut self, counts: &mut Counts) -> Done {
        let reader = [self.rita.clone(), self.admin.clone(), self.ann.clone()][self.pick(3)].clone();
        let pending = self.engine.pending_reviews(&reader, None, None)?;
        if pending.is_empty() {
            return Ok(false);
        }
        let id = pending[self.pick(pending.len())].id.to_string();
        let seen = self.engine.review(&reader, &id)?;
        let changes = self.chance(3);
        if let (true, Some(proposed)) = (changes, &seen.proposed) {
            let agent = self.agent.clone();
            // Refused or not: it tried.
            let changed = self.agent_patches(&agent, &proposed.clone()).unwrap_or(false);
            counts.changed_after_reading += usize::from(changed);
        }
        let decision = Decision { version: seen.review.version, comment: None };
        match self.pick(6) {
            0 => {
                self.note(format!("{} rejects {id}", reader.principal));
                self.engine.reject(&reader, &id, &decision)?;
                Ok(true)
            }
            1 => {
                self.note(format!("{} asks for changes of {id}", reader.principal));
                let decision = Decision { comment: Some("say more".to_owned()), ..decision };
                self.engine.request_changes(&reader, &id, &decision)?;
                Ok(true)
            }
            _ => {
                self.note(format!("{} approves {id}: {:?}", reader.principal, seen.review.action));
                let DecisionOutcome::Approved(approval) = self.engine.approve(&reader, &id, &decision)? else {
                    return Ok(false);
                };
                counts.approved += 1;
                // The text that was read, whatever was approved.
                if let Some(proposed) = &seen.proposed {
                    self.decide_memory(&Memory { id: approval.memory.id, ..proposed.clone() });
                }
                if let Some(path) = &seen.review.target_path {
                    self.decide(&path.clone());
                }
                Ok(true)
            }
        }
    }

    fn reviewer_rolls_back(&mut self) -> Done {
        let Some(memory) = self.any_memory(&self.admin.clone()) else { return Ok(false) };
        self.note(format!("admin rolls {} back", memory.id));
        self.agent_pins.remove(&memory.id);
        let restores = self.chance(2);
        Ok(matches!(self.engine.rollback(&self.admin, memory.id, restores, None)?, RollbackOutcome::Done(_)))
    }

    fn reviewer_quarantines(&mut self) -> Done {
        let Some(memory) = self.any_memory(&self.rita.clone()) else { return Ok(false) };
        let lifts = self.chance(2);
        self.note(format!("rita quarantines {}, lifts {lifts}", memory.id));
        let derived = self.chance(2);
        self.engine.quarantine(&self.rita, memory.id, derived, None)?;
        if lifts {
            self.engine.release(&self.rita, memory.id, None)?;
        }
        Ok(true)
    }
}
