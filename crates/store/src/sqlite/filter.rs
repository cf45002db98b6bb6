//! Filters as SQL conditions on `memories m`. `crate::matching` tests the same conditions on one memory in Rust.

use crate::matching;
use engine::model::vocabulary::{Layer, State, Trust};
use engine::policy::{Readable, VisibleCandidates};
use engine::ports::{Filter, SortOrder};
use rusqlite::types::Value;

use super::row_codec::{id_bytes, to_micros};
use super::scopes::VisibleScope;

/// SQL conditions, joined by `and`, and their parameters in order.
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

    /// Restricts to these scopes; none means all. One scope becomes an equation, so that an index that starts with the
    /// column still delivers its order.
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

/// The table `memories m` with the index to read it by. Left to the planner, a query over several scopes reads the
/// whole tenant, so memories that the caller cannot see would slow it down.
pub(super) fn indexed_table(filter: &Filter, order: Option<SortOrder>, scopes: &[VisibleScope]) -> &'static str {
    let has_own_index = filter.session.is_some() || filter.fade_below.is_some() || order == Some(SortOrder::Expiring);
    let only_active = matching::wanted_states(filter) == [State::Active];
    match scopes {
        _ if order == Some(SortOrder::LastTurn) && filter.session.is_some() => {
            "memories m indexed by memories_by_session"
        }
        // Exactly the rows of this partial index.
        _ if filter.fade_below.is_some() && only_active && filter.layers == [Layer::Episodic] => {
            "memories m indexed by memories_by_fade"
        }
        _ if filter.always_inject == Some(true) => "memories m indexed by memories_pinned",
        [_, _, ..] if !has_own_index => "memories m indexed by memories_by_time",
        _ => "memories m",
    }
}

/// Tenant and scopes, as conditions that an index can start with.
pub(super) fn within_scopes(readable: &Readable, scopes: &[VisibleScope]) -> Clauses {
    by_scope_column(readable, "m.scope", scopes)
}

/// As [`within_scopes`], for an index that does not start with the scope: the unary plus keeps SQLite from using one
/// that does.
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

/// The conditions of a filter on the memory itself.
pub(super) fn filter_conditions(clauses: &mut Clauses, readable: &Readable, filter: &Filter) {
    clauses.add_any_of("m.state", matching::wanted_states(filter).iter().map(|state| state.as_str()));
    clauses.add_any_of("m.kind", filter.kinds.iter().map(|kind| kind.as_str()));
    clauses.add_any_of("m.layer", filter.layers.iter().map(|layer| layer.as_str()));
    if let Some(minimum) = filter.trust_min {
        clauses.add_any_of("m.trust", Trust::ALL.iter().filter(|trust| **trust >= minimum).map(|trust| trust.as_str()));
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
    /// Restricts to some words of a vocabulary. They are literals, not parameters: SQLite uses a partial index only
    /// where the query spells out its condition.
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

/// The conditions on columns that only the table `memories` has; the index in memory tests the others.
pub(super) fn table_conditions(clauses: &mut Clauses, filter: &Filter) {
    for tag in &filter.tags {
        clauses.add_condition("exists (select 1 from json_each(m.tags) where value = ?)", [tag.clone().into()]);
    }
    if let Some(prefix) = &filter.path_prefix {
        // The first condition gives an index its starting point.
        clauses.add_condition(
            "m.path >= ? and substr(m.path, 1, length(?)) = ?",
            std::iter::repeat_n(prefix.clone().into(), 3),
        );
    }
    clauses.add_optional("m.path = ?", filter.path.clone().map(Value::from));
    clauses.add_optional("m.session = ?", filter.session.clone().map(Value::from));
    match filter.always_inject {
        // Spelled as in the partial index.
        Some(true) => clauses.add_condition("m.always_inject", []),
        Some(false) => clauses.add_condition("not m.always_inject", []),
        None => {}
    }
}
