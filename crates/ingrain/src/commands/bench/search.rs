//! `bench search`: first searches, warm searches, searches in one conversation, and vector search alone.

use std::ops::Range;

use engine::SearchQuery;
use engine::model::caller::Caller;
use engine::model::vector::{Embedding, Vector};
use engine::ports::{CandidateQuery, Filter};

use super::measure::{Figures, Meter};
use super::{WARM_UP, corpus, fill_spread};
use crate::assemble::Session;
use crate::error::Failure;

pub(super) fn run(
    session: &Session,
    count: usize,
    conversations: usize,
    queries: usize,
) -> Result<Vec<Figures>, Failure> {
    let mut figures = vec![fill_spread(session, 0..count, conversations)?.with_name("fill")];
    // Includes loading the index into memory.
    figures.push(measure_searches(session, 0, WARM_UP)?.with_name("first searches"));
    figures.push(measure_searches(session, WARM_UP, queries)?.with_name("search"));
    figures.push(measure_one_conversation(session, queries)?.with_name("search in one conversation"));
    figures.extend(measure_vector_finds(session, queries)?.map(|figures| figures.with_name("nearest by vector")));
    Ok(figures)
}

/// Searches in one conversation; their cost must not grow with the memories of others.
fn measure_one_conversation(session: &Session, queries: usize) -> Result<Figures, Failure> {
    let agent = corpus::conversation_agent(session.caller.tenant, 1);
    let own = Filter { stores: vec!["conversation_memory".to_owned()], ..Filter::default() };
    // Warm-up for this caller; the result is dropped.
    measure_searches_by(session, &agent, &own, 0..WARM_UP)?;
    measure_searches_by(session, &agent, &own, WARM_UP..WARM_UP + queries)
}

pub(super) fn measure_searches(session: &Session, from: usize, queries: usize) -> Result<Figures, Failure> {
    measure_searches_by(session, &session.caller, &Filter::default(), from..from + queries)
}

fn measure_searches_by(
    session: &Session,
    caller: &Caller,
    filter: &Filter,
    numbers: Range<usize>,
) -> Result<Figures, Failure> {
    let mut meter = Meter::start(numbers.len());
    for number in numbers {
        let query =
            SearchQuery { text: corpus::generate_query(number), filter: filter.clone(), ..SearchQuery::default() };
        meter.time_operation(|| session.engine.search(caller, &query))?;
    }
    // Recall counters are deferred writes; their cost belongs to the searches.
    session.engine.database().flush()?;
    Ok(meter.stop())
}

/// Cost of the vector search in the store, without words, ranking and embedding of the query. `None` without an
/// embedder.
fn measure_vector_finds(session: &Session, queries: usize) -> Result<Option<Figures>, Failure> {
    let engine = &session.engine;
    let readable = engine.readable_by(&session.caller)??;
    let limits = &engine.settings.limits;
    // As many candidates as a real search fetches.
    let pool = (limits.results_default * limits.overfetch).max(limits.pool_min);
    // Vectors are made before measuring.
    let find = |number: usize| {
        let vectors = engine.embedder.embed(&[&corpus::generate_query(number)]).ok()?;
        let vector = Vector::quantise(vectors.first()?)?;
        let vector = Some(Embedding { model: engine.embedder.model().to_owned(), vector });
        Some(CandidateQuery { vector, pool, ..CandidateQuery::default() })
    };
    let Some(finds) = (WARM_UP..WARM_UP + queries).map(find).collect::<Option<Vec<CandidateQuery>>>() else {
        return Ok(None);
    };
    let mut meter = Meter::start(queries);
    finds
        .iter()
        .try_for_each(|find| meter.time_operation(|| engine.database().find_candidates(&readable, find)).map(drop))?;
    Ok(Some(meter.stop()))
}
