//! A filter as SQL over the narrow rows `m`; `crate::matching` says the same of one memory.

use crate::matching;
use engine::model::vocabulary::{Layer, State, Trust};
use engine::policy::{Constrained, Readable};
use engine::ports::{Filter, Order};
use rusqlite::types::Value;

use super::rows::{key, micros};
use super::scopes::Seen;

/// Conditions, each starting with `and`, and what they ask with.
#[derive(Default)]
pub(super) struct Clauses {
    pub(super) sql: String,
    pub(super) params: Vec<Value>,
}

impl Clauses {
    pub(super) fn add(&mut self, sql: &str, params: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" and ");
        self.sql.push_str(sql);
        self.params.extend(params);
    }

    /// One of these places. A list of one stays an equation, so that an index keeps its order.
    fn places(&mut self, column: &str, scopes: &[Seen]) {
        match scopes {
            [] => {}
            [only] => self.add(&format!("{column} = ?"), [only.id.into()]),
            many => {
                let ids: Vec<i64> = many.iter().map(|scope| scope.id).collect();
                let list = serde_json::to_string(&ids).unwrap_or_default();
                self.add(&format!("{column} in (select value from json_each(?))"), [list.into()]);
            }
        }
    }
}

/// The narrow rows by the index that fits. Left alone, the planner reads a whole tenant where several places are asked,
/// and what a caller cannot see would slow it down.
pub(super) fn table(filter: &Filter, order: Option<Order>, scopes: &[Seen]) -> &'static str {
    let by_another = filter.session.is_some() || filter.fade_below.is_some() || order == Some(Order::Expiring);
    let only_live = matching::states(filter) == [State::Active];
    match scopes {
        _ if order == Some(Order::LastTurn) && filter.session.is_some() => "memories m indexed by memories_by_session",
        // What the partial index holds is all that is asked for.
        _ if filter.fade_below.is_some() && only_live && filter.layers == [Layer::Episodic] => {
            "memories m indexed by memories_by_fade"
        }
        _ if filter.always_inject == Some(true) => "memories m indexed by memories_pinned",
        [_, _, ..] if !by_another => "memories m indexed by memories_by_time",
        _ => "memories m",
    }
}

/// The wall first, then the places: nothing else is looked at.
pub(super) fn within(readable: &Readable, scopes: &[Seen]) -> Clauses {
    by_column(readable, "m.scope", scopes)
}

/// As [`within`], by an index that does not begin with the places: the plus keeps those that do away.
pub(super) fn across(readable: &Readable, scopes: &[Seen]) -> Clauses {
    by_column(readable, "+m.scope", scopes)
}

fn by_column(readable: &Readable, column: &str, scopes: &[Seen]) -> Clauses {
    let mut clauses = Clauses { sql: "m.tenant = ?".to_owned(), params: vec![tenant(readable)] };
    clauses.places(column, scopes);
    clauses
}

fn tenant(readable: &Readable) -> Value {
    Value::Blob(key(readable.tenant.0).to_vec())
}

/// Everything a filter says of the memory itself.
pub(super) fn all(clauses: &mut Clauses, readable: &Readable, filter: &Filter) {
    clauses.words("m.state", matching::states(filter).iter().map(|state| state.as_str()));
    clauses.words("m.kind", filter.kinds.iter().map(|kind| kind.as_str()));
    clauses.words("m.layer", filter.layers.iter().map(|layer| layer.as_str()));
    if let Some(least) = filter.trust_min {
        clauses.words("m.trust", Trust::ALL.iter().filter(|trust| **trust >= least).map(|trust| trust.as_str()));
    }
    if let (true, Constrained::Of(author)) =
        (matching::states(filter).contains(&State::Constrained), &readable.constrained)
    {
        clauses.add("(m.state <> 'constrained' or m.author = ?)", [author.clone().into()]);
    }
    for (sql, at) in [
        ("m.updated_at > ?", filter.updated_after),
        ("m.updated_at < ?", filter.updated_before),
        ("(m.expires_at is null or m.expires_at > ?)", filter.unexpired_at),
        ("m.expires_at <= ?", filter.expired_by),
    ] {
        clauses.add_some(sql, at.map(|at| micros(at).into()));
    }
    clauses.add_some("m.fade < ?", filter.fade_below.map(Value::from));
    narrow(clauses, filter);
}

impl Clauses {
    /// One of the vocabulary's words, spelled out: an index over one of them is only used where it is named.
    fn words(&mut self, column: &str, words: impl Iterator<Item = &'static str>) {
        match words.collect::<Vec<_>>().as_slice() {
            [] => {}
            [only] => self.add(&format!("{column} = '{only}'"), []),
            many => self.add(&format!("{column} in ('{}')", many.join("', '")), []),
        }
    }

    fn add_some(&mut self, sql: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.add(sql, [value]);
        }
    }
}

/// The conditions that need a table; the index in memory knows the others.
pub(super) fn narrow(clauses: &mut Clauses, filter: &Filter) {
    for tag in &filter.tags {
        clauses.add("exists (select 1 from json_each(m.tags) where value = ?)", [tag.clone().into()]);
    }
    if let Some(prefix) = &filter.path_prefix {
        // The first condition lets an index start at the right place.
        clauses.add("m.path >= ? and substr(m.path, 1, length(?)) = ?", std::iter::repeat_n(prefix.clone().into(), 3));
    }
    clauses.add_some("m.path = ?", filter.path.clone().map(Value::from));
    clauses.add_some("m.session = ?", filter.session.clone().map(Value::from));
    match filter.always_inject {
        // As in the partial index.
        Some(true) => clauses.add("m.always_inject", []),
        Some(false) => clauses.add("not m.always_inject", []),
        None => {}
    }
}
