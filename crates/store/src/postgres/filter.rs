//! Filters as SQL conditions on a row `m` of `memories` or `recall`. `crate::matching` tests the same conditions on one
//! memory in Rust.

use crate::matching;
use engine::model::vocabulary::Trust;
use engine::policy::{Readable, VisibleCandidates};
use engine::ports::Filter;
use jiff::Timestamp;

use super::row_codec::{Param, to_micros};
use super::scopes::push_param;

/// The conditions of a filter on the memory itself, each starting with ` and `.
pub(super) fn filter_conditions(readable: &Readable, filter: &Filter, params: &mut Vec<Param>) -> String {
    let mut sql = statistics_conditions(readable, filter, params);
    sql += &attribute_conditions(filter, params);
    sql += &table_conditions(filter, params);
    sql
}

/// The conditions that choose which memories count in the corpus statistics. The table `recall` has these columns too.
pub(super) fn statistics_conditions(readable: &Readable, filter: &Filter, params: &mut Vec<Param>) -> String {
    let mut sql = String::new();
    let states: Vec<&str> = matching::wanted_states(filter).iter().map(|state| state.as_str()).collect();
    add_any_of(&mut sql, "m.state", &states, params);
    // Left out where no constrained memory can match, so that common searches keep conditions an index can answer.
    if let (true, VisibleCandidates::AuthoredBy(author)) = (states.contains(&"constrained"), &readable.constrained) {
        sql += &format!(" and (m.state <> 'constrained' or m.author = {})", push_param(params, author));
    }
    add_time_conditions(&mut sql, &[("(m.expires_at is null or m.expires_at > @)", filter.unexpired_at)], params);
    sql
}

/// The other conditions on columns that the table `recall` has too.
pub(super) fn attribute_conditions(filter: &Filter, params: &mut Vec<Param>) -> String {
    let mut sql = String::new();
    add_any_of(&mut sql, "m.kind", &filter.kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(), params);
    add_any_of(&mut sql, "m.layer", &filter.layers.iter().map(|layer| layer.as_str()).collect::<Vec<_>>(), params);
    if let Some(minimum) = filter.trust_min {
        let enough: Vec<_> = Trust::ALL.iter().filter(|trust| **trust >= minimum).map(|trust| trust.as_str()).collect();
        add_any_of(&mut sql, "m.trust", &enough, params);
    }
    let time_conditions = [
        ("m.updated_at > @", filter.updated_after),
        ("m.updated_at < @", filter.updated_before),
        ("m.expires_at <= @", filter.expired_by),
    ];
    add_time_conditions(&mut sql, &time_conditions, params);
    sql
}

/// Adds the conditions whose time is given; `@` stands for the time.
fn add_time_conditions(sql: &mut String, conditions: &[(&str, Option<Timestamp>)], params: &mut Vec<Param>) {
    for (condition, at) in conditions {
        if let Some(at) = at {
            *sql += &format!(" and {}", condition.replace('@', &push_param(params, to_micros(*at))));
        }
    }
}

/// Restricts a column to a list; an empty list means all. One word becomes an equation, so that an index that starts
/// with the column still delivers its order.
fn add_any_of(sql: &mut String, column: &str, words: &[&str], params: &mut Vec<Param>) {
    match words {
        [] => {}
        [only] => *sql += &format!(" and {column} = {}", push_param(params, *only)),
        many => {
            let list: Vec<String> = many.iter().map(|word| (*word).to_owned()).collect();
            *sql += &format!(" and {column} = any({})", push_param(params, list));
        }
    }
}

/// The conditions on columns that only the table `memories` has.
pub(super) fn table_conditions(filter: &Filter, params: &mut Vec<Param>) -> String {
    let mut sql = String::new();
    for tag in &filter.tags {
        // One condition per tag, because a memory must have all of them.
        let tag = push_param(params, tag);
        sql += &format!(
            " and exists (select 1 from tags g where g.tenant = m.tenant and g.memory = m.id and g.tag = {tag})"
        );
    }
    if let Some(prefix) = &filter.path_prefix {
        // `starts_with` alone cannot use the index; the lower bound can.
        let prefix = push_param(params, prefix);
        sql += &format!(" and m.path >= {prefix} and starts_with(m.path, {prefix})");
    }
    for (column, value) in [("m.path", &filter.path), ("m.session", &filter.session)] {
        if let Some(value) = value {
            sql += &format!(" and {column} = {}", push_param(params, value));
        }
    }
    if let Some(key) = filter.fade_below {
        sql += &format!(" and m.fade < {}", push_param(params, key));
    }
    match filter.always_inject {
        // Spelled as in the partial index.
        Some(true) => sql += " and m.always_inject",
        Some(false) => sql += " and not m.always_inject",
        None => {}
    }
    sql
}
