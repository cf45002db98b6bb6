//! One script: its callers, its random choices, and the markers of the agent's words.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::model::caller::{Caller, Grant};
use engine::model::error::Error;
use engine::model::id::{MemoryId, uuid_v7};
use engine::model::memory::Memory;
use engine::model::vocabulary::{Access, ScopeKind, State, Trust};
use engine::ports::{Backend, Calibration, Clock, EmbedError, Embedder, Filter, SortOrder};
use engine::{Engine, NewStore, Settings};
use jiff::Timestamp;

/// Store where an agent's saves wait for review.
pub(super) const DRAFTS: &str = "team_drafts";
/// A project that was merged into that of all callers.
pub(super) const OLD_PROJECT: &str = "old-farm";
/// Few paths and topics, so that authors meet.
pub(super) const PATHS: [&str; 4] = ["kelp/one", "kelp/two", "kelp/three", "kelp/four"];
pub(super) const TOPICS: [&str; 3] = ["harvest of the bay", "price at the market", "boat of the north"];

/// What happened over all scripts.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) steps: usize,
    /// Steps that were not refused.
    pub(super) done: usize,
    pub(super) approved: usize,
    /// Approvals of a version that the agent changed after it was read.
    pub(super) changed_after_reading: usize,
    /// Memories seen with a field that is less trusted than the content.
    pub(super) mixed: usize,
}

pub(super) struct Script {
    pub(super) engine: Engine,
    pub(super) seed: u64,
    pub(super) step: usize,
    state: u64,
    pub(super) agent: Caller,
    pub(super) ann: Caller,
    pub(super) rita: Caller,
    pub(super) admin: Caller,
    /// Markers that a person decided about.
    pub(super) decided: BTreeSet<String>,
    /// Memories whose pin is the agent's.
    pub(super) agent_pins: BTreeSet<MemoryId>,
    /// What was done, for the message of a failure.
    pub(super) log: Vec<String>,
}

/// Outcome of a step: whether it was done, or refused.
pub(super) type Done = Result<bool, Error>;

impl Script {
    pub(super) fn new(backend: &Arc<dyn Backend>, seed: u64) -> Script {
        let clock = Arc::new(Ticks::new(seed));
        let engine = Engine::new(backend.clone(), Arc::new(NoModel), clock, Settings::default());
        let tenant = engine.start_tenant(&format!("trust-{seed}")).expect("a tenant").id;
        let admin = Caller::admin(tenant);
        let drafts = NewStore {
            slug: DRAFTS.to_owned(),
            title: None,
            scope: ScopeKind::System,
            ruleset: "document".to_owned(),
            default_trust: Trust::UserAuthored,
            access: Access::DraftWrite,
        };
        engine.create_store(&admin, drafts).expect("a store");
        let grants = || [("bay".to_owned(), Grant::Manage)].into_iter().collect();
        let merged = || vec![OLD_PROJECT.to_owned()];
        let project = || Some("kelp-farm".to_owned());
        let in_project = |caller| Caller { grants: grants(), project: project(), merged_projects: merged(), ..caller };
        let agent = in_project(Caller { user: Some("ann".to_owned()), ..Caller::agent(tenant, "triage") });
        let ann = in_project(Caller::user(tenant, "ann"));
        let rita = in_project(Caller::reviewer(tenant, "rita"));
        let admin = in_project(admin);
        Script {
            engine,
            seed,
            step: 0,
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995,
            agent: Caller { run: Some("run1".to_owned()), ..agent.in_conversation("c1") },
            ann: ann.in_conversation("c1"),
            rita: rita.in_conversation("c1"),
            admin: admin.in_conversation("c1"),
            decided: BTreeSet::new(),
            agent_pins: BTreeSet::new(),
            log: Vec::new(),
        }
    }

    pub(super) fn run(&mut self, steps: usize, counts: &mut Counts) {
        for step in 0..steps {
            self.step = step;
            counts.steps += 1;
            let done = match self.pick(10) {
                0..=5 => {
                    let before = self.people_memories();
                    let done = self.agent_step();
                    self.check_people_kept(&before);
                    done
                }
                6 | 7 => self.person_step(),
                _ => self.reviewer_step(counts),
            };
            match done {
                Ok(true) => counts.done += 1,
                Ok(false) => {}
                Err(error @ Error::Store(_)) => panic!("{error}\n{}", self.story()),
                // A refusal, a conflict, not found.
                Err(_) => {}
            }
            if step % 5 == 4 {
                self.prove(step + 1 == steps, counts);
            }
        }
    }

    /// A number below `end`.
    pub(super) fn pick(&mut self, end: usize) -> usize {
        // SplitMix64: the same on every machine.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// True in one of `of` cases.
    pub(super) fn chance(&mut self, of: usize) -> bool {
        self.pick(of) == 0
    }

    pub(super) fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.pick(from.len())]
    }

    /// The agent's word for one field of this step.
    pub(super) fn marker(&self, field: &str) -> String {
        format!("zq{}{field}qz", self.step)
    }

    pub(super) fn note(&mut self, what: impl Into<String>) {
        self.log.push(format!("{}: {}", self.step, what.into()));
    }

    /// A person sent or approved this text.
    pub(super) fn decide(&mut self, text: &str) {
        self.decided.extend(markers(text));
    }

    pub(super) fn decide_memory(&mut self, memory: &Memory) {
        for text in texts(memory) {
            self.decide(&text);
        }
        self.agent_pins.remove(&memory.id);
    }

    /// A memory that the caller sees, in use or waiting.
    pub(super) fn any_memory(&mut self, caller: &Caller) -> Option<Memory> {
        let states = vec![State::Active, State::Constrained];
        let mut memories = self.list(caller, states);
        memories.retain(|memory| memory.author != "ingrain");
        if memories.is_empty() { None } else { Some(memories.swap_remove(self.pick(memories.len()))) }
    }

    pub(super) fn list(&self, caller: &Caller, states: Vec<State>) -> Vec<Memory> {
        let filter = Filter { states, ..Filter::default() };
        self.engine.list(caller, filter, SortOrder::Oldest, None, Some(1_000)).expect("lists").memories
    }

    /// What to print when the property fails.
    pub(super) fn story(&self) -> String {
        format!("INGRAIN_TEST_TRUST_SEED={} at step {}:\n{}", self.seed, self.step, self.log.join("\n"))
    }
}

/// Every text of a memory, the content first.
pub(super) fn texts(memory: &Memory) -> Vec<String> {
    let mut texts = vec![memory.content.clone(), memory.tags.join(" ")];
    texts.push(serde_json::Value::Object(memory.metadata.clone()).to_string());
    let optional = [&memory.path, &memory.title, &memory.recall_hint, &memory.session, &memory.speaker];
    texts.extend(optional.into_iter().flatten().cloned());
    texts
}

/// The markers in a text.
pub(super) fn markers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.starts_with("zq") && word.ends_with("qz")).map(str::to_owned).collect()
}

/// A millisecond later at every look.
struct Ticks(AtomicU64);

impl Ticks {
    /// Scripts share one database: their ids differ by the time they start.
    fn new(seed: u64) -> Ticks {
        Ticks(AtomicU64::new(1_800_000_000_000 + seed * 10_000_000))
    }
}

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.fetch_add(1, Ordering::Relaxed) as i64).expect("in range")
    }

    fn fresh_id(&self) -> uuid::Uuid {
        uuid_v7(self.now().as_microsecond(), [3; 10])
    }
}

/// No vectors: words find enough here.
struct NoModel;

impl Embedder for NoModel {
    fn model(&self) -> &str {
        ""
    }

    fn dimensions(&self) -> usize {
        0
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(Vec::new())
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn calibration(&self) -> Calibration {
        Calibration { unrelated: 0.0, same: 1.0 }
    }
}
