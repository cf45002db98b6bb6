//! A small world to write into: two tenants, a few stores, callers, and a clock that ticks when asked.

use std::cell::Cell;

use engine::gate::allow_list::AllowList;
use engine::gate::{GateContext, VersionStamp, VersionedEntry, WriteIntent, clear_draft};
use engine::model::caller::Caller;
use engine::model::event::{EventBody, EventName};
use engine::model::guard::Place;
use engine::model::id::{MemoryId, StoreId, TenantId, VersionId, uuid_v7};
use engine::model::limits::Limits;
use engine::model::memory::{Draft, Evidence, Memory};
use engine::model::row::{Row, RowKind};
use engine::model::ruleset::Rulesets;
use engine::model::scope::Scope;
use engine::model::store::{Store, find_builtin_store};
use engine::model::vector::{Embedding, Vector};
use engine::model::vocabulary::{EvidenceKind, Kind, Operation, Trust};
use engine::policy::{Readable, ReadableScopes, VisibleCandidates};
use engine::ports::change::{Change, Write};
use engine::ports::{Address, Backend, Filter, PageRequest, Tenant};
use jiff::Timestamp;
use uuid::Uuid;

pub(crate) const MODEL: &str = "test-model";

/// One tenant of a backend, with what a test needs to write as somebody.
pub(crate) struct World<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) tenant: TenantId,
    ticks: Cell<u64>,
}

/// 2026-01-01T00:00:00Z.
const START_MICROS: i64 = 1_767_225_600_000_000;

impl<'a> World<'a> {
    pub(crate) fn new(backend: &'a dyn Backend) -> World<'a> {
        World::of_tenant(backend, "default", 1)
    }

    /// `number` keeps the ids of worlds apart.
    pub(crate) fn of_tenant(backend: &'a dyn Backend, slug: &str, number: u64) -> World<'a> {
        let ticks = Cell::new(number << 32);
        let mut world = World { backend, tenant: TenantId(Uuid::nil()), ticks };
        let wanted = Tenant { id: TenantId(world.fresh()), slug: slug.to_owned(), created_at: world.now() };
        world.tenant = backend.ensure_tenant(&wanted).expect("a tenant").id;
        for slug in ["workspace_runbooks", "conversation_memory", "user_memory", "lessons", "episodes"] {
            world.commit(world.change().with_write(Write::Row(world.store_row(slug, ""))));
        }
        world
    }

    fn tick(&self) -> u64 {
        self.ticks.set(self.ticks.get() + 1);
        self.ticks.get()
    }

    /// A second later than the last time.
    pub(crate) fn now(&self) -> Timestamp {
        let seconds = (self.tick() & 0xffff_ffff) as i64;
        Timestamp::from_microsecond(START_MICROS + seconds * 1_000_000).expect("in range")
    }

    pub(crate) fn fresh(&self) -> Uuid {
        let tick = self.tick();
        let mut random = [0; 10];
        random[2..].copy_from_slice(&tick.to_be_bytes());
        uuid_v7(START_MICROS + (tick & 0xffff_ffff) as i64 * 1_000_000, random)
    }

    pub(crate) fn store(&self, slug: &str) -> Store {
        find_builtin_store(slug).expect("built in").to_store(StoreId(Uuid::nil()), Timestamp::UNIX_EPOCH)
    }

    pub(crate) fn store_row(&self, slug: &str, state: &str) -> Row {
        let body = serde_json::to_value(self.store(slug)).expect("plain values");
        let (id, at) = (slug.to_owned(), Timestamp::UNIX_EPOCH);
        Row {
            kind: RowKind::Stores,
            id,
            state: state.to_owned(),
            subject: String::new(),
            parent: String::new(),
            at,
            body,
        }
    }

    pub(crate) fn agent(&self, conversation: &str) -> Caller {
        Caller::agent(self.tenant, "triage").in_conversation(conversation)
    }

    pub(crate) fn change(&self) -> Change {
        Change::new(self.tenant, self.now())
    }

    pub(crate) fn commit(&self, change: Change) {
        self.backend.commit(change.scanned()).expect("commits");
    }

    /// A draft through the gate, as the agent of a conversation.
    pub(crate) fn entry(&self, conversation: &str, draft: Draft) -> VersionedEntry {
        self.entry_in("conversation_memory", &self.agent(conversation), &conversation_scope(conversation), draft)
    }

    pub(crate) fn entry_in(&self, slug: &str, caller: &Caller, scope: &Scope, draft: Draft) -> VersionedEntry {
        let (rulesets, limits, store) = (Rulesets::default(), Limits::default(), self.store(slug));
        let ruleset = rulesets.get(&store.ruleset).expect("built in");
        let now = self.now();
        let ground = GateContext {
            caller,
            intent: WriteIntent::Write,
            store: &store,
            ruleset,
            scope,
            limits: &limits,
            pipeline_enabled: true,
            content_bytes_max: None,
            memory_enabled: true,
            sources_trust: None,
            load_allow_list: &|| Ok(AllowList::default()),
            classifier: None,
            now,
        };
        let cleared = clear_draft(ground, Draft { store: slug.to_owned(), ..draft }).expect("clears");
        let stamp = VersionStamp::new(caller, VersionId(self.fresh()), now, Some("because".to_owned()));
        cleared.into_new_memory(MemoryId(self.fresh()), caller, ruleset, Operation::Create, stamp)
    }

    /// A new version of a memory with other content.
    pub(crate) fn revised(&self, current: &Memory, draft: Draft) -> VersionedEntry {
        let (rulesets, limits, store) = (Rulesets::default(), Limits::default(), self.store(&current.store));
        let ruleset = rulesets.get(&store.ruleset).expect("built in");
        let caller = Caller::admin(self.tenant);
        let now = self.now();
        let ground = GateContext {
            caller: &caller,
            intent: WriteIntent::Write,
            store: &store,
            ruleset,
            scope: &current.scope,
            limits: &limits,
            pipeline_enabled: true,
            content_bytes_max: None,
            memory_enabled: true,
            sources_trust: None,
            load_allow_list: &|| Ok(AllowList::default()),
            classifier: None,
            now,
        };
        let kind = Some(current.kind);
        let cleared = clear_draft(ground, Draft { store: current.store.clone(), kind, ..draft }).expect("clears");
        cleared.into_revision(
            current,
            ruleset,
            Operation::Update,
            VersionStamp::new(&caller, VersionId(self.fresh()), now, None),
        )
    }

    pub(crate) fn transition(
        &self,
        current: &Memory,
        operation: Operation,
        alter: impl FnOnce(&mut Memory),
    ) -> VersionedEntry {
        let caller = Caller::admin(self.tenant);
        let stamp = VersionStamp::new(&caller, VersionId(self.fresh()), self.now(), Some("moved".to_owned()));
        VersionedEntry::from_transition(current, operation, stamp, Vec::new(), Trust::AgentDraft, alter)
    }

    /// Writes an entry with its event; returns the memory.
    pub(crate) fn save(&self, entry: VersionedEntry) -> Memory {
        let memory = entry.memory().clone();
        let caller = self.agent("any");
        let event = EventBody::new(EventName::WriteCreated, &caller, self.now()).about_memory(&memory);
        self.commit(self.change().with_write(Write::Entry(Box::new(entry))).with_event(event));
        memory
    }

    pub(crate) fn remember(&self, conversation: &str, content: &str) -> Memory {
        self.save(self.entry(conversation, draft(content)))
    }

    pub(crate) fn all(&self) -> Readable {
        everything(self.tenant)
    }

    pub(crate) fn get(&self, id: MemoryId) -> Option<Memory> {
        self.backend.get_memory(&self.all(), &Address::Id(id)).expect("reads")
    }

    pub(crate) fn list(&self, filter: &Filter) -> Vec<Memory> {
        let page = PageRequest { order: Default::default(), after: None, limit: 1_000 };
        self.backend.list_memories(&self.all(), filter, &page).expect("lists")
    }
}

pub(crate) fn everything(tenant: TenantId) -> Readable {
    Readable { tenant, scopes: ReadableScopes::All, constrained: VisibleCandidates::All, hidden_stores: Vec::new() }
}

pub(crate) fn conversation_scope(conversation: &str) -> Scope {
    Scope::Conversation { conversation: conversation.to_owned() }
}

pub(crate) fn conversation_place(conversation: &str) -> Place {
    Place { store: "conversation_memory".to_owned(), scope: conversation_scope(conversation) }
}

/// What an agent of a conversation sees.
pub(crate) fn seen_by(tenant: TenantId, conversation: &str) -> Readable {
    Readable {
        tenant,
        scopes: ReadableScopes::These(vec![Scope::Workspace, conversation_scope(conversation)]),
        constrained: VisibleCandidates::AuthoredBy("agent:triage".to_owned()),
        hidden_stores: Vec::new(),
    }
}

pub(crate) fn draft(content: &str) -> Draft {
    Draft {
        content: content.to_owned(),
        kind: Some(Kind::ConversationNote),
        evidence: vec![Evidence::new(EvidenceKind::ToolResult, "tool call 17")],
        ..Draft::default()
    }
}

pub(crate) fn at_path(path: &str, content: &str) -> Draft {
    Draft { path: Some(path.to_owned()), ..draft(content) }
}

pub(crate) fn tagged(tags: &[&str], content: &str) -> Draft {
    Draft { tags: Some(tags.iter().map(|tag| (*tag).to_owned()).collect()), ..draft(content) }
}

pub(crate) fn embedding(model: &str, values: &[f32]) -> Embedding {
    Embedding { model: model.to_owned(), vector: Vector::quantise(values).expect("not zero") }
}
