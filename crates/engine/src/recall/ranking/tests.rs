//! Tests of the rankers. `fact_NN` tests are listed in docs/reference/facts.md.

use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::model::id::{MemoryId, TenantId, VersionId};
use crate::model::trust_flow::FieldTrust;
use crate::model::vocabulary::{Kind, Layer, State, Trust};
use crate::text::words::IndexedFields;

const DAY_MICROS: i64 = 86_400_000_000;
/// 1 June 2025.
const NOW_MICROS: i64 = 1_748_736_000_000_000;

fn at(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).expect("a time")
}

fn memory(number: u128, content: &str) -> Memory {
    Memory {
        id: MemoryId(Uuid::from_u128(number)),
        tenant: TenantId(Uuid::nil()),
        store: "notes".to_owned(),
        scope: Scope::Workspace,
        layer: Layer::Semantic,
        kind: Kind::Note,
        path: None,
        title: None,
        recall_hint: None,
        content: content.to_owned(),
        sha256: String::new(),
        size_bytes: content.len() as u64,
        tags: Vec::new(),
        entities: crate::text::entities::extract(content),
        metadata: serde_json::Map::new(),
        state: State::Active,
        trust: Trust::UserAuthored,
        field_trust: FieldTrust::default(),
        confidence: 0.8,
        importance: 0.5,
        always_inject: false,
        expires_at: None,
        archived_at: None,
        verify_by: None,
        last_recalled_at: None,
        recall_count: 0,
        supersedes: Vec::new(),
        superseded_by: None,
        derived_from: Vec::new(),
        role: None,
        session: None,
        turn: None,
        speaker: None,
        flags: Vec::new(),
        was_persons: false,
        author: "user:ann".to_owned(),
        version: VersionId(Uuid::nil()),
        version_number: 1,
        created_at: at(NOW_MICROS),
        updated_at: at(NOW_MICROS),
    }
}

/// Ranks memories that are both the candidates and the whole corpus.
fn ranked(ranker: Ranker, query: &str, memories: &[Memory]) -> Vec<Hit> {
    let words = words::parse_query(query);
    let candidates: Vec<Candidate> = memories
        .iter()
        .map(|memory| {
            let fields = IndexedFields {
                title: memory.title.as_deref(),
                hint: memory.recall_hint.as_deref(),
                content: &memory.content,
                tags: &memory.tags,
                path: memory.path.as_deref(),
                speaker: memory.speaker.as_deref(),
            };
            Candidate { memory: memory.clone(), words: words::index_fields(&fields), vector: None }
        })
        .collect();
    let holds =
        |term: u32| candidates.iter().filter(|candidate| candidate.words.term_frequency(term) > 0).count() as u32;
    let stats = CorpusStats {
        docs: candidates.len() as u64,
        total_len: candidates.iter().map(|candidate| u64::from(candidate.words.len)).sum(),
        df: words.terms.iter().map(|term| holds(term.term)).collect(),
    };
    let query = RankingQuery {
        text: query,
        words: &words,
        vector: None,
        calibration: Calibration { unrelated: 0.1, same: 0.6 },
        ranker,
        weights: &Weights::default(),
        now: at(NOW_MICROS),
    };
    rank_candidates(&query, CandidateSet { candidates, stats, searched: 1 })
}

fn ids(hits: &[Hit]) -> Vec<u128> {
    hits.iter().map(|hit| hit.memory.id.0.as_u128()).collect()
}

#[test]
fn fact_11_equal_text_follows_trust() {
    let trusted = [Trust::AgentDraft, Trust::AdminApproved, Trust::UserAuthored, Trust::SystemSeeded];
    let memories: Vec<Memory> = (1u128..)
        .zip(trusted)
        .map(|(number, trust)| Memory { trust, ..memory(number, "restart nginx after a change") })
        .collect();
    assert_eq!(ids(&ranked(Ranker::Operational, "restart nginx", &memories)), [2, 4, 3, 1]);
}

#[test]
fn fact_11_recency_halves_in_thirty_days() {
    let check = |age_days: i64, expected: f64| {
        let updated_at = at(NOW_MICROS - age_days * DAY_MICROS);
        let hits = ranked(Ranker::Operational, "nginx", &[Memory { updated_at, ..memory(1, "nginx") }]);
        assert!((hits[0].parts["recency"] - expected).abs() < 1e-6, "{age_days}: {:?}", hits[0].parts);
    };
    check(0, 1.0);
    check(30, 0.5);
    check(60, 0.25);
    check(-5, 1.0);
}

#[test]
fn fact_11_a_score_is_its_weighted_sum() {
    let (score, _) = operational_score(&Weights::default(), 0.8, Trust::UserAuthored, 0.5, Kind::Runbook, 0.25);
    assert!((score - (0.45 * 0.8 + 0.20 * 0.85 + 0.15 * 0.5 + 0.10 * 0.9 + 0.10 * 0.25)).abs() < 1e-4);
    let hit = &ranked(Ranker::Operational, "deployment/web -n prod", &[memory(1, "scaled deployment/web -n prod")])[0];
    let part = |name: &str| hit.parts[name];
    let sum = 0.45 * part("text")
        + 0.20 * part("trust")
        + 0.15 * part("entity")
        + 0.10 * part("kind")
        + 0.10 * part("recency");
    assert!((hit.score - sum).abs() < 1e-4);
    assert_eq!(part("entity"), 1.0);
}

/// A question with thirty texts that all match, some better than others, and a twin of the best one.
fn rank_of_twin(ranker: Ranker, twin_text: &str, change: impl Fn(Memory) -> Memory) -> usize {
    let old = |memory: Memory| Memory {
        created_at: at(NOW_MICROS - 200 * DAY_MICROS),
        updated_at: at(NOW_MICROS - 200 * DAY_MICROS),
        ..memory
    };
    let mut memories =
        vec![old(memory(1, "the nightly ledger backup to the vault failed")), change(old(memory(2, twin_text)))];
    memories.extend((10..40).map(|number| old(memory(number, &format!("the backup number {number} of a cluster")))));
    let hits = ranked(ranker, "why did the nightly ledger backup to the vault fail", &memories);
    ids(&hits).iter().position(|id| *id == 2).expect("a hit") + 1
}

#[test]
fn near_ties_follow_trust_and_age_and_clear_gaps_follow_the_text() {
    // One word more than the original: a near-tie.
    let near = "the nightly ledger backup to the vault failed".to_owned() + " again";
    let trusted = |memory: Memory| Memory { trust: Trust::AdminApproved, ..memory };
    let newer = |memory: Memory| Memory { created_at: at(NOW_MICROS), updated_at: at(NOW_MICROS), ..memory };
    let plain = |memory: Memory| memory;
    let check = |ranker, text: &str, change: &dyn Fn(Memory) -> Memory, expected| {
        assert_eq!(rank_of_twin(ranker, text, change), expected, "{ranker}: {text}");
    };
    check(Ranker::Operational, &near, &trusted, 1);
    check(Ranker::Operational, &near, &newer, 1);
    check(Ranker::Episodic, &near, &newer, 1);
    // Without a difference the order is total: the lower id.
    check(Ranker::Operational, &near, &plain, 2);
    // Half of the words: no trust and no age makes it the better answer.
    check(Ranker::Operational, "the ledger backup was moved", &trusted, 2);
    check(Ranker::Operational, "the ledger backup was moved", &newer, 2);
    check(Ranker::Episodic, "the ledger backup was moved", &newer, 2);
}

#[test]
fn what_a_user_said_comes_before_an_equal_answer_of_an_assistant() {
    let said = |number, role: Option<TurnRole>, speaker: &str| Memory {
        role,
        speaker: Some(speaker.to_owned()),
        ..memory(number, "the invoices go to the office in Basel")
    };
    let first = |memories: &[Memory]| ids(&ranked(Ranker::Lesson, "where do the invoices go", memories))[0];
    let role = |role| Some(role);
    assert_eq!(first(&[said(1, role(TurnRole::Assistant), "bot"), said(2, role(TurnRole::User), "Ann")]), 2);
    assert_eq!(first(&[said(1, None, "assistant"), said(2, None, "user")]), 2);
    assert_eq!(first(&[said(1, None, "Bob"), said(2, None, "Ann")]), 1, "nobody has the role");
}

#[test]
fn layered_reads_words_as_the_index_does() {
    let hits = ranked(Ranker::Layered, "which releases were noted", &[memory(1, "Release notes"), memory(2, "Lunch")]);
    assert_eq!((ids(&hits), hits[0].parts["summary"]), (vec![1], 1.0));
}

#[test]
fn fact_19_episodic_merges_by_its_weights() {
    let check = |source: RecallSource, expected: f64| {
        let (score, parts) = episodic_score(&Weights::default(), 0.8, 0.5, 0.3, source);
        assert!((score - (0.5 * 0.8 + 0.2 * 0.5 + 0.2 * 0.3 + 0.1 * expected)).abs() < 1e-9);
        assert_eq!(parts["source"], expected);
    };
    check(RecallSource::Memory, 1.0);
    check(RecallSource::Audit, 0.8);
    check(RecallSource::Workflow, 0.6);
    check(RecallSource::Knowledge, 0.5);
    let hit = &ranked(Ranker::Episodic, "nginx", &[memory(1, "nginx"), memory(2, "other")])[0];
    assert_eq!((hit.parts["source"], hit.parts["importance"], hit.parts["recency"]), (1.0, 0.5, 1.0));
}

#[test]
fn fact_26_lessons_by_text_and_newest_when_nothing_is_asked() {
    let aged = |number, content: &str, days: i64| Memory {
        updated_at: at(NOW_MICROS - days * DAY_MICROS),
        ..memory(number, content)
    };
    let memories =
        [aged(1, "use pnpm, never npm", 3), aged(2, "tests need a database", 1), aged(3, "the linter is strict", 2)];
    let check = |query: &str, expected: &[u128]| {
        assert_eq!(ids(&ranked(Ranker::Lesson, query, &memories)), expected, "{query}");
    };
    check("", &[2, 3, 1]);
    check("  ", &[2, 3, 1]);
    check("\"*:()", &[2, 3, 1]);
    check("which database do the tests need?", &[2]);
    check("\"pnpm\" OR (npm*", &[1]);
    check("kubernetes", &[]);
}

#[test]
fn layered_score_is_the_documented_sum() {
    let noted = |number, hint: &str| Memory { recall_hint: Some(hint.to_owned()), ..memory(number, "text") };
    let older = |memory: Memory| Memory { created_at: at(NOW_MICROS - DAY_MICROS), ..memory };
    let mut tagged = noted(3, "unrelated");
    tagged.metadata.insert("topic".to_owned(), json!(["Release", { "stage": "notes" }]));
    let memories = [
        noted(1, "How to write Release Notes"),
        older(noted(2, "notes on a release")),
        tagged,
        Memory { state: State::Superseded, ..noted(4, "release notes") },
        noted(5, "nothing of it"),
    ];
    let hits = ranked(Ranker::Layered, "release notes", &memories);
    assert_eq!(ids(&hits), [1, 2, 3, 4]);
    let scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
    // 100 + 24 + 2, 24 + 2, 8 + 2 and 100 + 24 + 0.2, each plus ¼ of its recency rank. Order by age: 1, 3, 4, 5, 2.
    assert_eq!(scores, [126.25, 26.05, 10.2, 124.35]);
}

#[test]
fn hint_matches_outweigh_tags_and_tags_outweigh_content() {
    let hinted = Memory { recall_hint: Some("ticket project".to_owned()), ..memory(1, "OPS") };
    let tagged = Memory { tags: vec!["ticket".to_owned()], ..memory(2, "OPS") };
    let hits = ranked(Ranker::Hint, "ticket", &[memory(3, "a ticket"), tagged, hinted, memory(4, "other")]);
    assert_eq!(ids(&hits), [1, 2, 3]);
    assert_eq!(hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), [3.0, 2.0, 1.0]);
}

#[test]
fn text_relevance_is_absolute() {
    let filler: Vec<Memory> =
        (10..40).map(|number| memory(number, &format!("entry {number} of a long list"))).collect();
    let check = |query: &str, content: &str, low: f64, high: f64| {
        let mut memories = vec![memory(1, content)];
        memories.extend(filler.clone());
        let hits = ranked(Ranker::Lesson, query, &memories);
        let score = hits.iter().find(|hit| hit.memory.id.0.as_u128() == 1).map_or(0.0, |hit| hit.score);
        assert!((low..=high).contains(&score), "{query} / {content}: {score}");
    };
    check("nginx crashed because of the configmap", "nginx crashed because of the configmap", 0.85, 1.0);
    check("why did nginx crash", "nginx crashlooped, a configmap had a bad upstream: it crashed", 0.6, 1.0);
    check("nginx crash in the billing cluster", "nginx restarted", 0.1, 0.5);
    check("database migration", "nginx restarted", 0.0, 0.0);
}

#[test]
fn a_turn_is_found_by_the_words_of_its_neighbours() {
    let turn = |number: u128, turn, speaker: &str, content: &str| Memory {
        session: Some("s".to_owned()),
        turn: Some(turn),
        speaker: Some(speaker.to_owned()),
        ..memory(number, content)
    };
    let memories = [
        turn(1, 1, "Ann", "Which editor do you use for the handbook?"),
        turn(2, 2, "Bob", "Mostly Helix, since spring."),
        turn(3, 9, "Ann", "Lunch was fine."),
        memory(4, "The handbook is on paper."),
    ];
    let hits = ranked(Ranker::Lesson, "What editor does Bob use for the handbook?", &memories);
    assert!(ids(&hits[..2]).contains(&2), "{hits:?}");
    let bob = hits.iter().find(|hit| hit.memory.id.0.as_u128() == 2).expect("the answer");
    assert_eq!(bob.parts["text.speaker"], 1.0);
    assert!(bob.parts["text.context"] > 0.0);
}

#[test]
fn memories_of_a_named_author_rank_first() {
    let by = |number, author: &str| Memory { author: author.to_owned(), ..memory(number, "tickets go to OPS") };
    let memories = [by(1, "user:bob"), by(2, "agent:triage"), by(3, "user:ann")];
    let first = |query: &str| ids(&ranked(Ranker::Lesson, query, &memories))[0];
    assert_eq!((first("what did Ann say about tickets"), first("tickets, as triage noted")), (3, 2));
}

#[test]
fn memories_of_a_named_time_rank_first() {
    let outage = |number, days: i64| Memory {
        created_at: at(NOW_MICROS - days * DAY_MICROS),
        updated_at: at(NOW_MICROS - days * DAY_MICROS),
        ..memory(number, "we had an outage of the gateway")
    };
    let memories = [outage(1, 2), outage(2, 40), outage(3, 100)];
    let check =
        |query: &str, first: u128| assert_eq!(ids(&ranked(Ranker::Lesson, query, &memories))[0], first, "{query}");
    check("gateway outage", 1);
    check("gateway outage in April", 2);
    check("gateway outage in February 2025", 3);
    check("what was the outage six weeks ago", 2);
}

/// Questions and the note that answers each, one pair a line: twenty in each language, and twenty on code. Written for
/// this test.
const QUESTION_SETS: [(&str, &str); 6] = [
    ("german", include_str!("fixtures/german.tsv")),
    ("french", include_str!("fixtures/french.tsv")),
    ("spanish", include_str!("fixtures/spanish.tsv")),
    ("chinese", include_str!("fixtures/chinese.tsv")),
    ("japanese", include_str!("fixtures/japanese.tsv")),
    ("code", include_str!("fixtures/code.tsv")),
];

#[test]
fn questions_in_six_languages_and_on_code_are_answered_by_words_alone() {
    let pairs: Vec<(&str, &str, &str)> = QUESTION_SETS
        .iter()
        .flat_map(|(set, lines)| lines.lines().map(|line| (*set, line.split_once('\t').expect("two columns"))))
        .map(|(set, (question, note))| (set, question, note))
        .collect();
    let notes: Vec<Memory> = (0..).zip(&pairs).map(|(number, (_, _, note))| memory(number, note)).collect();
    for (wanted, _) in QUESTION_SETS {
        for (ranker, first_min) in [(Ranker::Lesson, 15), (Ranker::Operational, 15), (Ranker::Hint, 12)] {
            let (mut first, mut among_five, mut all) = (0, 0, 0);
            for (number, (_, question, _)) in (0..).zip(&pairs).filter(|(_, (set, ..))| *set == wanted) {
                let hits = ranked(ranker, question, &notes);
                let place = ids(&hits).iter().position(|id| *id == number);
                first += usize::from(place == Some(0));
                among_five += usize::from(place.is_some_and(|place| place < 5));
                all += 1;
            }
            assert_eq!(all, 20, "{wanted}");
            assert!(first >= first_min && among_five >= 18, "{wanted}, {ranker}: {first} first, {among_five} of {all}");
        }
    }
}

#[test]
fn identifiers_match_whole_and_by_part() {
    let notes = [
        memory(1, "the proxy logs ERR_CONN_RESET after a timeout"),
        memory(2, "the build writes ERR_CONN_REFUSED when the port is closed"),
        memory(3, "upgrade the gateway to v1.25.3 at least"),
        memory(4, "the gateway 1.24 leaks file handles"),
        memory(5, "default.conf lies in /etc/nginx/conf.d/default.conf"),
        memory(6, "the limit is set by hikari.maxPoolSize"),
    ];
    let check = |query: &str, first: u128| {
        for ranker in [Ranker::Lesson, Ranker::Operational] {
            assert_eq!(ids(&ranked(ranker, query, &notes)).first(), Some(&first), "{ranker}: {query}");
        }
    };
    check("ERR_CONN_RESET", 1);
    check("err_conn_refused", 2);
    check("connection error conn reset", 1);
    check("gateway 1.25.3", 3);
    check("gateway v1.25", 3);
    check("/etc/nginx/conf.d/default.conf", 5);
    check("nginx default.conf", 5);
    check("max pool size", 6);
    check("maxPoolSize", 6);
}

fn any_memory(number: u128) -> impl Strategy<Value = Memory> {
    let words = prop::sample::select(vec!["nginx", "web", "crash", "restart", "prod", "the", "deployment/web"]);
    (prop::collection::vec(words, 0..6), 0i64..3, 0u32..3).prop_map(move |(words, days, turn)| Memory {
        session: (turn > 0).then(|| "s".to_owned()),
        turn: Some(turn),
        updated_at: at(NOW_MICROS - days * DAY_MICROS),
        ..memory(number, &words.join(" "))
    })
}

fn any_memories() -> impl Strategy<Value = Vec<Memory>> {
    (1..12u128).prop_flat_map(|count| (0..count).map(any_memory).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn hit_order_is_independent_of_candidate_order(
        memories in any_memories(),
        ranker in prop::sample::select(Ranker::ALL.to_vec()),
    ) {
        let mut reversed = memories.clone();
        reversed.reverse();
        let one = ranked(ranker, "restart nginx deployment/web", &memories);
        let other = ranked(ranker, "restart nginx deployment/web", &reversed);
        prop_assert_eq!(ids(&one), ids(&other));
        prop_assert!(one.iter().all(|hit| hit.score.is_finite() && hit.score >= 0.0));
    }

    #[test]
    fn text_relevance_stays_between_0_and_1(
        memories in any_memories(),
        query in "(nginx|web|crash|in May|prod| ){1,4}",
    ) {
        for hit in ranked(Ranker::Lesson, &query, &memories) {
            prop_assert!((0.0..=1.0).contains(&hit.score));
        }
    }
}
