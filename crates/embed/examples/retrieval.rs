//! Measures text relevance on a retrieval set: collections of turns and queries with gold ids.
//!
//!     retrieval FILE [WEIGHTS_JSON [MINILM_FILE]]      e.g. retrieval dev.json '{"vector": 0.4}'
//!
//! Each collection is its own scope; candidates are found as a backend finds them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::io::{Write, stdout};

use embed::{EmbedConfig, open_embedder};
use engine::model::limits::text_weights::TextWeights;
use engine::model::vector::Vector;
use engine::ports::{CorpusStats, Embedder};
use engine::recall::ranking::named_time;
use engine::recall::ranking::text::{QuerySignals, TextInput, bm25_term_score, score_texts};
use engine::text::words::{self, IndexedFields, IndexedWords, QueryWords, Term};
use serde::Deserialize;

/// Found by words, and as many by vector.
const POOL: usize = 60;
/// Best of each whose neighbours are candidates too, and how far those may be.
const WITH_NEIGHBOURS: usize = 10;
const NEIGHBOUR_TURNS: usize = 2;

#[derive(Deserialize)]
struct Set {
    collections: Vec<Collection>,
}

#[derive(Deserialize)]
struct Collection {
    memories: Vec<Turn>,
    queries: Vec<Query>,
}

#[derive(Deserialize)]
struct Turn {
    id: String,
    session: u32,
    date: jiff::civil::DateTime,
    speaker: String,
    text: String,
    caption: Option<String>,
}

#[derive(Deserialize)]
struct Query {
    text: String,
    category: u32,
    gold: Vec<String>,
}

/// A turn as a backend keeps it.
struct Kept {
    words: IndexedWords,
    vector: Option<Vector>,
    turn: u32,
    at: i64,
    name: Vec<Term>,
}

/// Sums over queries: their number, recall at 5, 10 and 20, reciprocal rank, nDCG at 10.
type Sums = [f64; 6];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().ok_or("which file?")?;
    let weights: TextWeights =
        arguments.get(1).map_or(Ok(TextWeights::default()), |json| serde_json::from_str(json))?;
    let config = arguments.get(2).map_or(EmbedConfig::Static, |path| EmbedConfig::Transformer { weights: path.into() });
    let embedder = open_embedder(&config)?;
    let set: Set = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut by_category: BTreeMap<u32, Sums> = BTreeMap::new();
    for collection in &set.collections {
        measure(collection, &*embedder, &weights, &mut by_category)?;
    }
    let main = (1..=4)
        .filter_map(|category| by_category.get(&category))
        .fold([0.0; 6], |all: Sums, one| std::array::from_fn(|at| all[at] + one[at]));
    let mut out = stdout().lock();
    writeln!(out, "category   queries    R@5   R@10   R@20    MRR  nDCG@10")?;
    let rows = by_category.iter().map(|(category, sums)| (category.to_string(), *sums));
    for (name, sums) in rows.chain([("1-4".to_owned(), main)]) {
        let mean = |at: usize| 100.0 * sums[at] / sums[0];
        let [five, ten, twenty, rank, gain] = [mean(1), mean(2), mean(3), mean(4), mean(5)];
        writeln!(out, "{name:10} {:7} {five:6.1} {ten:6.1} {twenty:6.1} {rank:6.1} {gain:8.1}", sums[0])?;
    }
    Ok(())
}

fn measure(
    collection: &Collection,
    embedder: &dyn Embedder,
    weights: &TextWeights,
    by_category: &mut BTreeMap<u32, Sums>,
) -> Result<(), Box<dyn Error>> {
    let kept = keep(&collection.memories, embedder)?;
    let mut df: HashMap<Term, u32> = HashMap::new();
    for (term, _) in kept.iter().flat_map(|one| &one.words.terms) {
        *df.entry(*term).or_default() += 1;
    }
    let total_len = kept.iter().map(|one| u64::from(one.words.len)).sum();
    let now = kept.iter().map(|one| one.at).max().unwrap_or(0);
    for query in collection.queries.iter().filter(|query| !query.gold.is_empty()) {
        let asked = words::parse_query(&query.text);
        let df = asked.terms.iter().map(|term| df.get(&term.term).copied().unwrap_or(0)).collect();
        let stats = CorpusStats { docs: kept.len() as u64, total_len, df };
        let vector = vector(embedder, &query.text)?;
        let pool = candidates(collection, &kept, &asked, vector.as_ref(), &stats, weights);
        let inputs: Vec<TextInput> =
            pool.iter().map(|at| input(collection, &kept, *at, &asked, vector.as_ref(), embedder)).collect();
        let signals = QuerySignals { words: &asked, times: named_time::parse_times(&query.text, now) };
        let scores = score_texts(&signals, &stats, &inputs, weights);
        let mut order: Vec<(f64, usize)> = scores.iter().map(|score| score.total).zip(pool).collect();
        order.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        let found: Vec<bool> = order.iter().map(|(_, at)| query.gold.contains(&collection.memories[*at].id)).collect();
        add(by_category.entry(query.category).or_default(), &found, query.gold.len());
    }
    Ok(())
}

fn keep(turns: &[Turn], embedder: &dyn Embedder) -> Result<Vec<Kept>, Box<dyn Error>> {
    let mut places: HashMap<u32, u32> = HashMap::new();
    let mut kept = Vec::with_capacity(turns.len());
    for turn in turns {
        let text =
            turn.caption.as_ref().map_or_else(|| turn.text.clone(), |caption| format!("{}\n{caption}", turn.text));
        let place = places.entry(turn.session).or_default();
        *place += 1;
        let fields = IndexedFields { content: &text, speaker: Some(&turn.speaker), ..IndexedFields::default() };
        kept.push(Kept {
            words: words::index_fields(&fields),
            vector: vector(embedder, &text)?,
            turn: *place,
            at: turn.date.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp().as_microsecond(),
            name: words::parse_query(&turn.speaker)
                .terms
                .iter()
                .filter(|term| term.weight >= 1.0)
                .map(|term| term.term)
                .collect(),
        });
    }
    Ok(kept)
}

fn vector(embedder: &dyn Embedder, text: &str) -> Result<Option<Vector>, Box<dyn Error>> {
    Ok(embedder.embed(&[text])?.first().and_then(|values| Vector::quantise(values)))
}

/// The best by words, the best by vector, and the neighbours of the very best.
fn candidates(
    collection: &Collection,
    kept: &[Kept],
    asked: &QueryWords,
    vector: Option<&Vector>,
    stats: &CorpusStats,
    weights: &TextWeights,
) -> Vec<usize> {
    let by_words = best(kept, |one| {
        let terms = asked.terms.iter().zip(&stats.df);
        terms
            .map(|(term, df)| {
                bm25_term_score(term, *df, one.words.term_frequency(term.term), one.words.len, stats, weights)
            })
            .sum()
    });
    let by_vector =
        best(kept, |one| vector.zip(one.vector.as_ref()).map_or(0.0, |(asked, own)| f64::from(asked.cosine(own))));
    let mut pool = BTreeSet::new();
    for list in [by_words, by_vector] {
        for at in list.iter().take(WITH_NEIGHBOURS) {
            let near = at.saturating_sub(NEIGHBOUR_TURNS)..(at + NEIGHBOUR_TURNS + 1).min(kept.len());
            let session = collection.memories[*at].session;
            pool.extend(near.filter(|near| collection.memories[*near].session == session));
        }
        pool.extend(list);
    }
    pool.into_iter().collect()
}

fn best(kept: &[Kept], score: impl Fn(&Kept) -> f64) -> Vec<usize> {
    let mut scored: Vec<(f64, usize)> = kept.iter().map(score).zip(0..).filter(|(score, _)| *score > 0.0).collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.into_iter().take(POOL).map(|(_, at)| at).collect()
}

fn input(
    collection: &Collection,
    kept: &[Kept],
    at: usize,
    asked: &QueryWords,
    vector: Option<&Vector>,
    embedder: &dyn Embedder,
) -> TextInput {
    let one = &kept[at];
    let cosine = vector.zip(one.vector.as_ref()).map(|(asked, own)| asked.cosine(own));
    TextInput {
        tf: asked.terms.iter().map(|term| one.words.term_frequency(term.term)).collect(),
        len: one.words.len,
        similarity: cosine.map(|cosine| embedder.calibration().cosine_to_relevance(cosine)),
        session: Some(collection.memories[at].session),
        turn: Some(one.turn),
        by_user: collection.memories[at].speaker == "user",
        named: asked.terms.iter().any(|term| one.name.contains(&term.term)),
        at: one.at,
    }
}

/// Counts one query: which of the ranked are gold, and how many gold there are.
fn add(sums: &mut Sums, found: &[bool], gold: usize) {
    let recall = |depth: usize| found.iter().take(depth).filter(|hit| **hit).count() as f64 / gold as f64;
    let discount = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let gain: f64 = (0..10.min(found.len())).filter(|place| found[*place]).map(discount).sum();
    let ideal: f64 = (0..10.min(gold)).map(discount).sum();
    let first = found.iter().position(|hit| *hit).map_or(0.0, |place| 1.0 / (place + 1) as f64);
    let one = [1.0, recall(5), recall(10), recall(20), first, gain / ideal];
    sums.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
}
