//! A filter as SQL over the narrow rows `m`; `crate::matching` says the same of one memory.

use crate::matching;
use engine::model::vocabulary::{Layer, State, Trust};
use engine::policy::{Readable, VisibleCandidates};
use engine::ports::{Filter, SortOrder};
use rusqlite::types::Value;

use super::row_codec::{id_bytes, to_micros};
use super::scopes::VisibleScope;

/// Conditions, each starting with `and`, and what they ask with.
#[derive(Default)]
pub(super) struct Clauses {
    pub(super) sql: String,
    pub(super) params: Vec<Value>,
}

impl Clauses {
    pub(super) fn add_condition(&mut self, sql: &str, params: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" and ");
        self.sql.push_str(sql);
        self.params.extend(params);
    }

    /// One of these places. A list of one stays an equation, so that an index keeps its order.
    fn add_places(&mut self, column: &str, scopes: &[VisibleScope]) {
        match scopes {
            [] => {}
            [only] => self.add_condition(&format!("{column} = ?"), [only.id.into()]),
            many => {
                let ids: Vec<i64> = many.iter().map(|scope| scope.id).collect();
                let list = serde_json::to_string(&ids).unwrap_or_default();
                self.add_condition(&format!("{column} in (select value from json_each(?))"), [list.into()]);
            }
        }
    }
}

/// The narrow rows by the index that fits. Left alone, the planner reads a whole tenant where several places are asked,
/// and what a caller cannot see would slow it down.
pub(super) fn indexed_table(filter: &Filter, order: Option<SortOrder>, scopes: &[VisibleScope]) -> &'static str {
    let by_another = filter.session.is_some() || filter.fade_below.is_some() || order == Some(SortOrder::Expiring);
    let only_live = matching::wanted_states(filter) == [State::Active];
    match scopes {
        _ if order == Some(SortOrder::LastTurn) && filter.session.is_some() => {
            "memories m indexed by memories_by_session"
        }
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
pub(super) fn within_scopes(readable: &Readable, scopes: &[VisibleScope]) -> Clauses {
    by_scope_column(readable, "m.scope", scopes)
}

/// As [`within`], by an index that does not begin with the places: the plus keeps those that do away.
pub(super) fn across_scopes(readable: &Readable, scopes: &[VisibleScope]) -> Clauses {
    by_scope_column(readable, "+m.scope", scopes)
}

fn by_scope_column(readable: &Readable, column: &str, scopes: &[VisibleScope]) -> Clauses {
    let mut clauses = Clauses { sql: "m.tenant = ?".to_owned(), params: vec![tenant_value(readable)] };
    clauses.add_places(column, scopes);
    clauses
}

fn tenant_value(readable: &Readable) -> Value {
    Value::Blob(id_bytes(readable.tenant.0).to_vec())
}

/// Everything a filter says of the memory itself.
pub(super) fn filter_conditions(clauses: &mut Clauses, readable: &Readable, filter: &Filter) {
    clauses.add_any_of("m.state", matching::wanted_states(filter).iter().map(|state| state.as_str()));
    clauses.add_any_of("m.kind", filter.kinds.iter().map(|kind| kind.as_str()));
    clauses.add_any_of("m.layer", filter.layers.iter().map(|layer| layer.as_str()));
    if let Some(least) = filter.trust_min {
        clauses.add_any_of("m.trust", Trust::ALL.iter().filter(|trust| **trust >= least).map(|trust| trust.as_str()));
    }
    if let (true, VisibleCandidates::AuthoredBy(author)) =
        (matching::wanted_states(filter).contains(&State::Constrained), &readable.constrained)
    {
        clauses.add_condition("(m.state <> 'constrained' or m.author = ?)", [author.clone().into()]);
    }
    for (sql, at) in [
        ("m.updated_at > ?", filter.updated_after),
        ("m.updated_at < ?", filter.updated_before),
        ("(m.expires_at is null or m.expires_at > ?)", filter.unexpired_at),
        ("m.expires_at <= ?", filter.expired_by),
    ] {
        clauses.add_optional(sql, at.map(|at| to_micros(at).into()));
    }
    clauses.add_optional("m.fade < ?", filter.fade_below.map(Value::from));
    table_conditions(clauses, filter);
}

impl Clauses {
    /// One of the vocabulary's words, spelled out: an index over one of them is only used where it is named.
    fn add_any_of(&mut self, column: &str, words: impl Iterator<Item = &'static str>) {
        match words.collect::<Vec<_>>().as_slice() {
            [] => {}
            [only] => self.add_condition(&format!("{column} = '{only}'"), []),
            many => self.add_condition(&format!("{column} in ('{}')", many.join("', '")), []),
        }
    }

    fn add_optional(&mut self, sql: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.add_condition(sql, [value]);
        }
    }
}

/// The conditions that need a table; the index in memory knows the others.
pub(super) fn table_conditions(clauses: &mut Clauses, filter: &Filter) {
    for tag in &filter.tags {
        clauses.add_condition("exists (select 1 from json_each(m.tags) where value = ?)", [tag.clone().into()]);
    }
    if let Some(prefix) = &filter.path_prefix {
        // The first condition lets an index start at the right place.
        clauses.add_condition(
            "m.path >= ? and substr(m.path, 1, length(?)) = ?",
            std::iter::repeat_n(prefix.clone().into(), 3),
        );
    }
    clauses.add_optional("m.path = ?", filter.path.clone().map(Value::from));
    clauses.add_optional("m.session = ?", filter.session.clone().map(Value::from));
    match filter.always_inject {
        // As in the partial index.
        Some(true) => clauses.add_condition("m.always_inject", []),
        Some(false) => clauses.add_condition("not m.always_inject", []),
        None => {}
    }
}
