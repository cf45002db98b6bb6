//! Measures saves and finds on a generated corpus: `cargo run --release -p store --example bench -- COUNT…`.
//!
//! CPU time is the whole process's, so the writer thread counts; memory is what the system says is resident.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use engine::gate::allow_list::AllowList;
use engine::gate::{GateContext, VersionStamp, VersionedEntry, WriteIntent, clear_draft};
use engine::model::caller::Caller;
use engine::model::event::{EventBody, EventName};
use engine::model::guard::{Guard, Place};
use engine::model::id::{MemoryId, StoreId, TenantId, VersionId, uuid_v7};
use engine::model::limits::Limits;
use engine::model::memory::{Draft, Evidence};
use engine::model::row::SideRecord;
use engine::model::ruleset::Rulesets;
use engine::model::scope::Scope;
use engine::model::store::{Store, find_builtin_store};
use engine::model::vector::{Embedding, Vector};
use engine::model::vocabulary::{EvidenceKind, Kind, Operation};
use engine::policy::{Readable, ReadableScopes, VisibleCandidates};
use engine::ports::change::{Change, Write};
use engine::ports::{Backend, CandidateQuery, Filter, Tenant};
use engine::text::words;
use jiff::Timestamp;
use store::{Location, SqliteOptions, open_sqlite};
use uuid::Uuid;

const DIMENSIONS: usize = 256;
/// Different words of the corpus; squaring the dice makes some of them common, as in speech.
const VOCABULARY: u64 = 20_000;
const WORDS_EACH: usize = 40;
const SAMPLES: u64 = 500;
/// 2026-01-01T00:00:00Z.
const START_MICROS: i64 = 1_767_225_600_000_000;

/// A small generator, so that every run measures the same corpus.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self) -> String {
        let share = (self.roll() % 1_000_000) as f64 / 1e6;
        let rank = (share * share * share * VOCABULARY as f64) as u64;
        // Letters, so that stemming and segmentation have something to chew on.
        let letter = |n: u64| (b'a' + (n % 26) as u8) as char;
        (0..4).map(|i| letter(rank / 26_u64.pow(i))).chain("or".chars()).collect()
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn embedding(&mut self) -> Embedding {
        let values: Vec<f32> = (0..DIMENSIONS).map(|_| (self.roll() % 2_001) as f32 - 1_000.0).collect();
        let vector = Vector::quantise(&values).expect("not zero");
        Embedding { model: "bench".to_owned(), vector }
    }
}

struct Bench {
    backend: std::sync::Arc<dyn Backend>,
    tenant: TenantId,
    store: Store,
    dice: Dice,
    made: u64,
}

impl Bench {
    fn open(path: &Path) -> Bench {
        let location = Location::File(path.to_owned());
        let backend = open_sqlite(&location, &SqliteOptions::default()).expect("opens");
        let tenant = TenantId(Uuid::from_u128(7));
        let at = Timestamp::UNIX_EPOCH;
        backend.ensure_tenant(&Tenant { id: tenant, slug: "default".to_owned(), created_at: at }).expect("a tenant");
        let store = find_builtin_store("conversation_memory").expect("built in").to_store(StoreId(Uuid::nil()), at);
        backend.commit(Change::new(tenant, at).with_write(Write::Row(store.to_row())).scanned()).expect("a store");
        Bench { backend, tenant, store, dice: Dice(0x5eed), made: 0 }
    }

    fn scope() -> Scope {
        Scope::Conversation { conversation: "c1".to_owned() }
    }

    fn entry(&mut self) -> VersionedEntry {
        self.made += 1;
        let now = Timestamp::from_microsecond(START_MICROS + self.made as i64 * 1_000).expect("in range");
        let (rulesets, limits, scope) = (Rulesets::default(), Limits::default(), Bench::scope());
        let caller = Caller::agent(self.tenant, "bench").in_conversation("c1");
        let ruleset = rulesets.get("document").expect("built in");
        let ground = GateContext {
            caller: &caller,
            intent: WriteIntent::Write,
            store: &self.store,
            ruleset,
            scope: &scope,
            limits: &limits,
            pipeline_enabled: true,
            content_bytes_max: None,
            memory_enabled: true,
            sources_trust: None,
            load_allow_list: &|| Ok(AllowList::default()),
            classifier: None,
            now,
        };
        let draft = Draft {
            store: self.store.slug.clone(),
            path: Some(format!("notes/{}", self.made)),
            kind: Some(Kind::ConversationNote),
            content: self.dice.text(WORDS_EACH),
            evidence: vec![Evidence::new(EvidenceKind::ToolResult, "tool call 17")],
            ..Draft::default()
        };
        let mut id = || {
            let mut random = [0; 10];
            random[2..].copy_from_slice(&self.dice.roll().to_be_bytes());
            uuid_v7(now.as_microsecond(), random)
        };
        let stamp = VersionStamp::new(&caller, VersionId(id()), now, None);
        let memory = MemoryId(id());
        let entry = clear_draft(ground, draft).expect("clears").into_new_memory(
            memory,
            &caller,
            ruleset,
            Operation::Create,
            stamp,
        );
        entry.with_embedding(Some(self.dice.embedding()))
    }

    fn change(&mut self) -> Change {
        let entry = self.entry();
        let memory = entry.memory();
        let place = Place { store: memory.store.clone(), scope: memory.scope.clone() };
        let path = memory.path.clone().expect("has a path");
        let caller = Caller::agent(self.tenant, "bench");
        let event = EventBody::new(EventName::WriteCreated, &caller, memory.created_at).about_memory(memory);
        Change::new(self.tenant, memory.created_at)
            .with_guard(Guard::PathFree { place, path })
            .with_event(event)
            .with_write(Write::Entry(Box::new(entry)))
    }

    fn fill(&mut self, count: u64) {
        while self.made < count {
            let change = self.change();
            self.backend.commit_later(change.scanned());
        }
        self.backend.flush().expect("written");
    }

    fn find(&mut self) -> CandidateQuery {
        let now = Timestamp::from_microsecond(START_MICROS + self.made as i64 * 1_000).expect("in range");
        CandidateQuery {
            filter: Filter { unexpired_at: Some(now), ..Filter::default() },
            words: words::parse_query(&self.dice.text(6)),
            vector: Some(self.dice.embedding()),
            pool: 60,
            ..CandidateQuery::default()
        }
    }
}

/// User and system time of this process so far, in milliseconds.
fn cpu_ms() -> f64 {
    // Fields 14 and 15, counted after the name, which may hold spaces; in ticks of 10 ms, so samples are many.
    let schedstat = |path: &Path| -> u64 {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0)
    };
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.map(|task| schedstat(&task.path().join("schedstat"))).sum::<u64>() as f64 / 1e6
}

fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn timed(samples: u64, mut work: impl FnMut()) -> (f64, f64) {
    let (wall, cpu) = (Instant::now(), cpu_ms());
    (0..samples).for_each(|_| work());
    ((cpu_ms() - cpu) / samples as f64, wall.elapsed().as_secs_f64() * 1e3 / samples as f64)
}

fn main() {
    let counts: Vec<u64> = std::env::args().skip(1).filter_map(|count| count.parse().ok()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    eprintln!("memories  save cpu  save wall  load cpu  find cpu  find wall  words only  resident MiB  (ms)");
    for count in if counts.is_empty() { vec![1_000, 10_000] } else { counts } {
        let path = folder.path().join(format!("{count}.db"));
        let mut bench = Bench::open(&path);
        bench.fill(count);
        let mut changes: Vec<Change> = (0..SAMPLES).map(|_| bench.change()).collect();
        let save = timed(SAMPLES, || {
            bench.backend.commit(changes.pop().expect("one each").scanned()).expect("saved");
        });
        drop(bench.backend);
        let mut bench = Bench { made: count, ..Bench::open(&path) };
        let everyone = Readable {
            tenant: bench.tenant,
            scopes: ReadableScopes::These(vec![Bench::scope()]),
            constrained: VisibleCandidates::All,
            hidden_stores: vec![],
        };
        let finds: Vec<CandidateQuery> = (0..=SAMPLES).map(|_| bench.find()).collect();
        let run = |find: &CandidateQuery| {
            black_box(bench.backend.find_candidates(&everyone, find).expect("found"));
        };
        let load = timed(1, || run(&finds[0]));
        let mut next = finds.iter().skip(1);
        let find = timed(SAMPLES, || run(next.next().expect("one each")));
        let mut next = finds.iter().skip(1).map(|find| CandidateQuery { vector: None, ..find.clone() });
        let words = timed(SAMPLES, || run(&next.next().expect("one each")));
        eprintln!(
            "{count:8}  {:8.3}  {:9.3}  {:8.2}  {:8.3}  {:9.3}  {:10.3}  {:12.1}",
            save.0,
            save.1,
            load.0,
            find.0,
            find.1,
            words.0,
            resident_mib()
        );
    }
}
