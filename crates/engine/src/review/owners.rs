//! Path owners: reviewers by path pattern, like a CODEOWNERS file for each store.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::gate::check_label;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::policy::admins_only;
use crate::ports::change::{Change, Write};
use crate::ports::row;
use crate::tenant::stores;

/// Owner rules of one store. If several patterns match a path, the last one counts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathOwners {
    pub store: String,
    pub rules: Vec<OwnerRule>,
    pub changed_at: Timestamp,
}

/// Reviewers of the paths that match a pattern. `*` matches anything within a segment, `**` any number of segments.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OwnerRule {
    pub pattern: String,
    /// Principals, such as `reviewer:ana`.
    pub reviewers: Vec<String>,
}

impl SideRecord for PathOwners {
    const KIND: RowKind = RowKind::Owners;
    fn row_id(&self) -> String {
        self.store.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.changed_at
    }
}

impl PathOwners {
    /// The reviewers of a path; `None` if no pattern matches.
    pub fn reviewers_of(&self, path: &str) -> Option<&[String]> {
        self.rules.iter().rev().find(|rule| pattern_matches(&rule.pattern, path)).map(|rule| rule.reviewers.as_slice())
    }
}

impl Engine {
    /// Owner rules of all stores.
    pub fn owners(&self, caller: &Caller) -> Result<Vec<PathOwners>, Error> {
        let filter = RowFilter { limit: self.limits().list_max, ..RowFilter::default() };
        row::select_records(&*self.backend, caller.tenant, &filter)
    }

    /// Replaces the owner rules of a store. Without rules, every reviewer may decide. Admins only.
    pub fn set_owners(&self, caller: &Caller, store: &str, rules: Vec<OwnerRule>) -> Result<PathOwners, Error> {
        admins_only(caller)?;
        stores::open_store(self, caller, store)?;
        let has_blank = |rule: &OwnerRule| {
            rule.pattern.trim().is_empty() || rule.reviewers.iter().any(|name| name.trim().is_empty())
        };
        if rules.iter().any(|rule| has_blank(rule) || rule.reviewers.is_empty()) {
            return Err(Error::invalid("shape.owners", "an owner rule needs a pattern and at least one reviewer"));
        }
        for rule in &rules {
            check_label("pattern", &rule.pattern, self.limits())?;
            rule.reviewers.iter().try_for_each(|name| check_label("reviewer", name, self.limits()))?;
        }
        let now = self.clock.now();
        let owners = PathOwners { store: store.to_owned(), rules, changed_at: now };
        let event = EventBody::new(EventName::AuditRecorded, caller, now)
            .with_field("action", "owners.changed")
            .with_field("store", store)
            .with_field("rules", owners.rules.len());
        // No row instead of an empty one: a path without owners falls back to all reviewers.
        let write = match owners.rules.is_empty() {
            true => Write::DeleteRow { kind: RowKind::Owners, id: owners.row_id() },
            false => Write::Row(owners.to_row()),
        };
        self.commit(Change::new(caller.tenant, now).with_write(write).with_event(event))?;
        Ok(owners)
    }
}

pub(crate) fn load_path_owners(engine: &Engine, caller: &Caller, store: &str) -> Result<Option<PathOwners>, Error> {
    row::get_record(&*engine.backend, caller.tenant, store)
}

/// Whether a pattern matches a path, segment by segment.
fn pattern_matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches('/');
    // As in CODEOWNERS, a pattern that ends in `/` matches everything below it.
    let folder = pattern.ends_with('/').then(|| format!("{pattern}**"));
    let pattern: Vec<&str> = folder.as_deref().unwrap_or(pattern).split('/').collect();
    let path: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    segments_match(&pattern, &path)
}

/// Matches segment by segment; `**` tries to match none and one segment more.
fn segments_match(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            segments_match(rest, path) || path.split_first().is_some_and(|(_, tail)| segments_match(pattern, tail))
        }
        (Some((wanted, rest)), Some((segment, tail))) => segment_matches(wanted, segment) && segments_match(rest, tail),
        _ => false,
    }
}

fn segment_matches(pattern: &str, segment: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == segment,
        // Tries every split after the `*`. Segments are short, so the recursion stays small.
        Some((head, rest)) => segment.strip_prefix(head).is_some_and(|tail| {
            tail.char_indices().map(|(at, _)| at).chain([tail.len()]).any(|at| segment_matches(rest, &tail[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths_segment_by_segment() {
        let check = |pattern: &str, path: &str, expected: bool| {
            assert_eq!(pattern_matches(pattern, path), expected, "{pattern} {path}")
        };
        check("nginx/*", "nginx/crashloop", true);
        check("nginx/*", "nginx/deep/er", false);
        check("nginx/", "nginx/deep/er", true);
        check("/nginx/**", "nginx/a/b/c", true);
        check("**", "anything/at/all", true);
        check("**/db-*", "eu/prod/db-main", true);
        check("*.md", "a.md", true);
        check("*.md", "a/b.md", false);
        check("a*c*e", "abcde", true);
        check("nginx", "nginx2", false);
    }

    #[test]
    fn the_last_pattern_counts() {
        let rule =
            |pattern: &str, reviewer: &str| OwnerRule { pattern: pattern.into(), reviewers: vec![reviewer.into()] };
        let rules = vec![rule("**", "reviewer:all"), rule("db/**", "reviewer:dba")];
        let owners = PathOwners { store: "s".into(), rules, changed_at: Timestamp::UNIX_EPOCH };
        assert_eq!(owners.reviewers_of("db/main"), Some(&["reviewer:dba".to_owned()][..]));
        assert_eq!(owners.reviewers_of("web/main"), Some(&["reviewer:all".to_owned()][..]));
    }
}
