//! What must hold after any step.

use std::collections::HashMap;

use engine::model::caller::Caller;
use engine::model::memory::Memory;
use engine::model::trust_flow::Field;
use engine::model::vocabulary::{Access, State, Trust};
use engine::{ContextRequest, MemoryReference, WindowRequest};

use super::script::{Counts, Script, TOPICS, markers, texts};

impl Script {
    /// Checks every memory, and what models are shown. `whole`: also every version and the windows.
    pub(super) fn prove(&mut self, whole: bool, counts: &mut Counts) {
        let memories = self.list(&self.admin, State::ALL.to_vec());
        let access: HashMap<String, Access> = self
            .engine
            .stores(&self.admin)
            .expect("lists")
            .into_iter()
            .map(|store| (store.slug, store.access))
            .collect();
        for memory in &memories {
            self.check_fields(memory, "a memory");
            counts.mixed += usize::from(memory.less_trusted_fields().next().is_some());
            // Entries of a log are the agent's own, and drafts for good.
            let is_log = matches!(memory.store.as_str(), "audit_log" | "workflow_steps");
            let is_read_only = access.get(&memory.store) == Some(&Access::ReadOnly);
            if is_read_only && !is_log && memory.state == State::Active {
                texts(memory).iter().for_each(|text| self.check_text(text, "a read-only store", memory));
            }
            if whole {
                let reference = MemoryReference::Id(memory.id);
                for version in self.engine.history(&self.admin, &reference, None, None).expect("reads") {
                    self.check_fields(&version.memory, "a version");
                }
            }
        }
        let stranger = Caller { user: Some("ben".to_owned()), ..Caller::agent(self.admin.tenant, "night") };
        for caller in [self.agent.clone(), self.ann.clone(), self.rita.clone(), stranger] {
            // One of them each time is enough, and quicker.
            if whole || self.chance(3) {
                self.check_context(&caller, whole);
            }
        }
    }

    /// Memories in use that a person wrote or trusted.
    pub(super) fn people_memories(&self) -> Vec<Memory> {
        let is_persons = |memory: &Memory| {
            let by_person = ["admin", "reviewer:", "user:"].iter().any(|role| memory.author.starts_with(role));
            by_person || memory.trust > Trust::AgentDraft
        };
        self.list(&self.admin, vec![State::Active]).into_iter().filter(is_persons).collect()
    }

    /// A step of the agent leaves them in force: text, trust and place, and the pin that a person set.
    pub(super) fn check_people_kept(&self, before: &[Memory]) {
        for old in before {
            let now = self.engine.read(&self.admin, &MemoryReference::Id(old.id)).expect("reads");
            let kept = |memory: &Memory| {
                let texts = (memory.content.clone(), memory.title.clone(), memory.path.clone(), memory.tags.clone());
                let pinned = memory.always_inject && memory.trust_of(Field::AlwaysInject) > Trust::AgentDraft;
                (texts, memory.state, memory.trust, pinned)
            };
            assert_eq!(kept(old), kept(&now), "the agent changed a person's memory {}\n{}", old.id, self.story());
        }
    }

    /// No undecided word has more trust than a draft, in any field.
    fn check_fields(&self, memory: &Memory, what: &str) {
        let metadata = serde_json::Value::Object(memory.metadata.clone()).to_string();
        let fields = [
            (Field::Path, memory.path.as_deref()),
            (Field::Title, memory.title.as_deref()),
            (Field::RecallHint, memory.recall_hint.as_deref()),
            (Field::Metadata, Some(metadata.as_str())),
            (Field::Session, memory.session.as_deref()),
            (Field::Speaker, memory.speaker.as_deref()),
        ];
        for (_, text) in fields.into_iter().filter(|(field, _)| memory.trust_of(*field) > Trust::AgentDraft) {
            self.check_text(text.unwrap_or_default(), what, memory);
        }
        if memory.trust_of(Field::Tags) > Trust::AgentDraft {
            self.check_text(&memory.tags.join(" "), what, memory);
        }
        if memory.trust > Trust::AgentDraft {
            self.check_text(&memory.content, what, memory);
            // What a model sees of it: MCP answers, the line of a list.
            let seen = memory.clone().for_model();
            texts(&seen).iter().for_each(|text| self.check_text(text, "an answer to a model", memory));
            self.check_text(memory.summary_line(), "a list", memory);
        }
    }

    fn check_context(&mut self, caller: &Caller, whole: bool) {
        let message = format!("kelp {} {}", self.choose(&TOPICS), self.choose(&TOPICS));
        let request = ContextRequest {
            message: message.clone(),
            budget_tokens: Some(20_000),
            memories_max: Some(60),
            ..ContextRequest::default()
        };
        let context = self.engine.context(caller, &request).expect("a context");
        self.check_block(&context.text, caller);
        for shown in context.candidates.iter().filter(|candidate| candidate.reason == "always injected") {
            let is_trusted = serde_json::json!(shown.block) == "trusted";
            let pinned_by_agent = self.agent_pins.contains(&shown.memory);
            assert!(!(is_trusted && pinned_by_agent), "an agent's pin is trusted: {shown:?}\n{}", self.story());
        }
        if whole {
            let request = WindowRequest { window_tokens: 30_000, message, ..WindowRequest::default() };
            let window = self.engine.working_memory(caller, &request).expect("a window");
            window.messages.iter().for_each(|message| self.check_block(&message.content, caller));
        }
    }

    fn check_block(&self, text: &str, caller: &Caller) {
        let Some((_, block)) = text.split_once("<ingrain_memory_context>") else { return };
        let trusted = block.split("</ingrain_memory_context>").next().unwrap_or_default();
        if let Some(marker) = markers(trusted).iter().find(|marker| !self.decided.contains(*marker)) {
            panic!("`{marker}` is in the trusted block of {}:\n{trusted}\n{}", caller.principal, self.story());
        }
    }

    fn check_text(&self, text: &str, what: &str, memory: &Memory) {
        if let Some(marker) = markers(text).iter().find(|marker| !self.decided.contains(*marker)) {
            panic!("`{marker}` is trusted in {what}: {memory:#?}\n{}", self.story());
        }
    }
}
