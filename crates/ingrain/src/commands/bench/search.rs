//! Searches among a generated corpus: the first ones, then everywhere, in one place, and by meaning alone.

use std::ops::Range;

use engine::Query;
use engine::model::caller::Caller;
use engine::model::vector::{Embedding, Vector};
use engine::ports::{Filter, Find};

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
    let mut figures = vec![fill_spread(session, 0..count, conversations)?.named("fill")];
    // What a process pays before it answers from memory.
    figures.push(searches(session, 0, WARM_UP)?.named("first searches"));
    figures.push(searches(session, WARM_UP, queries)?.named("search"));
    figures.push(in_one(session, queries)?.named("search in one conversation"));
    figures.extend(by_vector(session, queries)?.map(|figures| figures.named("nearest by vector")));
    Ok(figures)
}

/// Searches of one conversation's own memories: what they cost must not grow with everybody else's.
fn in_one(session: &Session, queries: usize) -> Result<Figures, Failure> {
    let agent = corpus::talker(session.caller.tenant, 1);
    let own = Filter { stores: vec!["conversation_memory".to_owned()], ..Filter::default() };
    searches_by(session, &agent, &own, 0..WARM_UP)?;
    searches_by(session, &agent, &own, WARM_UP..WARM_UP + queries)
}

pub(super) fn searches(session: &Session, from: usize, queries: usize) -> Result<Figures, Failure> {
    searches_by(session, &session.caller, &Filter::default(), from..from + queries)
}

fn searches_by(session: &Session, caller: &Caller, filter: &Filter, numbers: Range<usize>) -> Result<Figures, Failure> {
    let mut meter = Meter::start(numbers.len());
    for number in numbers {
        let query = Query { text: corpus::query(number), filter: filter.clone(), ..Query::default() };
        meter.time(|| session.engine.search(caller, &query))?;
    }
    // Counters of recalls are written later; their cost belongs to the searches.
    session.engine.backend.flush()?;
    Ok(meter.stop())
}

/// What finding by meaning costs the store, without words, ranking or the making of the query's vector. None without
/// a model.
fn by_vector(session: &Session, queries: usize) -> Result<Option<Figures>, Failure> {
    let engine = &session.engine;
    let readable = engine.readable(&session.caller)??;
    let limits = &engine.settings.limits;
    let pool = (limits.results_default * limits.overfetch).max(limits.pool_min);
    let find = |number: usize| {
        let vectors = engine.embedder.embed(&[&corpus::query(number)]).ok()?;
        let vector = Vector::quantise(vectors.first()?)?;
        let vector = Some(Embedding { model: engine.embedder.model().to_owned(), vector });
        Some(Find { vector, pool, ..Find::default() })
    };
    let Some(finds) = (WARM_UP..WARM_UP + queries).map(find).collect::<Option<Vec<Find>>>() else { return Ok(None) };
    let mut meter = Meter::start(queries);
    finds.iter().try_for_each(|find| meter.time(|| engine.backend.find(&readable, find)).map(drop))?;
    Ok(Some(meter.stop()))
}
