//! A filter as SQL over the narrow rows `m`; `crate::matching` says the same of one memory.

use crate::matching;
use engine::policy::{Constrained, Readable};
use engine::ports::Filter;
use engine::vocabulary::{State, Trust};
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

    /// One of a list. A list of one stays an equation, so that an index keeps its order.
    fn among<T: serde::Serialize + Into<Value> + Clone>(&mut self, column: &str, values: &[T]) {
        match values {
            [] => {}
            [only] => self.add(&format!("{column} = ?"), [only.clone().into()]),
            many => {
                let list = serde_json::to_string(many).unwrap_or_default();
                self.add(&format!("{column} in (select value from json_each(?))"), [list.into()]);
            }
        }
    }
}

/// The wall first, then the places: nothing else is looked at.
pub(super) fn within(readable: &Readable, scopes: &[Seen]) -> Clauses {
    let mut clauses = Clauses { sql: "m.tenant = ?".to_owned(), params: vec![tenant(readable)] };
    let ids: Vec<i64> = scopes.iter().map(|scope| scope.id).collect();
    clauses.among("m.scope", &ids);
    clauses
}

fn tenant(readable: &Readable) -> Value {
    Value::Blob(key(readable.tenant.0).to_vec())
}

/// Everything a filter says of the memory itself.
pub(super) fn all(clauses: &mut Clauses, readable: &Readable, filter: &Filter) {
    let words = |list: &[&'static str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    clauses.among("m.state", &words(&matching::states(filter).iter().map(|state| state.as_str()).collect::<Vec<_>>()));
    clauses.among("m.kind", &words(&filter.kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>()));
    clauses.among("m.layer", &words(&filter.layers.iter().map(|layer| layer.as_str()).collect::<Vec<_>>()));
    if let Some(least) = filter.trust_min {
        let enough: Vec<_> = Trust::ALL.iter().filter(|trust| **trust >= least).map(|trust| trust.as_str()).collect();
        clauses.among("m.trust", &words(&enough));
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
    fn add_some(&mut self, sql: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.add(sql, [value]);
        }
    }
}

/// The conditions that need a table; the index in memory knows the others.
pub(super) fn narrow(clauses: &mut Clauses, filter: &Filter) {
    for tag in &filter.tags {
        clauses.add(
            "exists (select 1 from tags g where g.tenant = m.tenant and g.memory = m.id and g.tag = ?)",
            [tag.clone().into()],
        );
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
