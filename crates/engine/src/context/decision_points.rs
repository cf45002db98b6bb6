//! Decision points: presets for a turn's search at typical decisions of an agent (task, tool, approval, content,
//! delegation), as a table.

use std::collections::HashMap;

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::store::{AUDIT_LOG, KNOWLEDGE_BASE, WORKFLOW_STEPS};
use crate::model::vocabulary::{Kind, Purpose, Ranker};
use crate::policy;
use crate::ports::Filter;
use crate::recall::ranking::{self, Hit};
use crate::recall::search::SearchQuery;
use crate::recall::{search, visibility};
use crate::sources::episodes::EPISODES_STORE;

/// The preset of one decision point.
#[derive(Debug)]
pub struct Preset {
    pub purpose: Purpose,
    /// What it finds, for help texts.
    pub about: &'static str,
    pub sources: &'static [PresetSource],
    /// Whether entries show their authors: for approval and delegation, who did it is part of the answer.
    pub shows_authors: bool,
}

/// One search of a preset. Empty lists do not filter.
#[derive(Debug)]
pub struct PresetSource {
    pub stores: &'static [&'static str],
    pub kinds: &'static [Kind],
    /// The text must contain a word that starts with one of these: outcomes and decisions rather than small talk.
    pub word_starts: &'static [&'static str],
}

const fn preset_source(
    stores: &'static [&'static str],
    kinds: &'static [Kind],
    word_starts: &'static [&'static str],
) -> PresetSource {
    PresetSource { stores, kinds, word_starts }
}

/// Word stems of outcomes.
const OUTCOME_WORDS: &[&str] = &[
    "complet", "finish", "done", "succe", "work", "fail", "error", "broke", "resolv", "fix", "deploy", "outcome",
    "result", "decid", "time",
];
/// Word stems of decisions.
const DECISION_WORDS: &[&str] =
    &["approv", "reject", "denied", "declin", "decid", "decision", "agreed", "budget", "sign"];

/// All presets, in the order of help texts.
pub const PRESETS: &[Preset] = &[
    Preset {
        purpose: Purpose::Task,
        about: "similar past tasks and how they ended",
        sources: &[
            preset_source(&[EPISODES_STORE], &[], OUTCOME_WORDS),
            preset_source(&[WORKFLOW_STEPS], &[], &[]),
            preset_source(
                &[],
                &[Kind::TaskCompletion, Kind::Error, Kind::IncidentLesson, Kind::Lesson, Kind::Runbook],
                &[],
            ),
        ],
        shows_authors: false,
    },
    Preset {
        purpose: Purpose::Tool,
        about: "tools that worked or failed for something similar",
        sources: &[
            preset_source(&[], &[Kind::ToolUsageLesson, Kind::Error, Kind::Lesson], &[]),
            preset_source(&[EPISODES_STORE, AUDIT_LOG], &[], OUTCOME_WORDS),
        ],
        shows_authors: false,
    },
    Preset {
        purpose: Purpose::Approval,
        about: "past approvals and rejections",
        sources: &[
            preset_source(&[AUDIT_LOG, EPISODES_STORE, WORKFLOW_STEPS], &[], DECISION_WORDS),
            preset_source(&[], &[Kind::Decision, Kind::WorkspaceConvention], &[]),
        ],
        shows_authors: true,
    },
    Preset {
        purpose: Purpose::Content,
        about: "what was published before, how it did, and what people prefer",
        sources: &[
            preset_source(&[EPISODES_STORE, AUDIT_LOG, WORKFLOW_STEPS], &[], &[]),
            preset_source(&[], &[Kind::UserPreference, Kind::WorkspaceConvention, Kind::DreamSummary], &[]),
            preset_source(&[KNOWLEDGE_BASE], &[], &[]),
        ],
        shows_authors: false,
    },
    Preset {
        purpose: Purpose::Delegation,
        about: "who handled similar work, and how that ended",
        // Without episodes: an agent's own episodes name only itself.
        sources: &[preset_source(&[WORKFLOW_STEPS, AUDIT_LOG], &[], &[])],
        shows_authors: true,
    },
];

impl Purpose {
    /// The preset of this purpose.
    pub fn preset(self) -> &'static Preset {
        // INVARIANT: the table has a row for each purpose; a test checks it.
        PRESETS.iter().find(|preset| preset.purpose == self).unwrap_or(&PRESETS[0])
    }
}

impl PresetSource {
    /// Whether a hit contains one of the word starts.
    fn matches_hit(&self, hit: &Hit) -> bool {
        let text = hit.memory.content.to_lowercase();
        let begins = |word: &str, start: &str| word.starts_with(start);
        self.word_starts.is_empty()
            || text
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| self.word_starts.iter().any(|start| begins(word, start)))
    }

    /// The caller's filter with the preset's stores and kinds where the caller names none.
    fn merge_filter(&self, caller_filter: &Filter) -> Filter {
        let stores = || self.stores.iter().map(|slug| (*slug).to_owned()).collect();
        Filter {
            stores: if caller_filter.stores.is_empty() { stores() } else { caller_filter.stores.clone() },
            kinds: if caller_filter.kinds.is_empty() { self.kinds.to_vec() } else { caller_filter.kinds.clone() },
            ..caller_filter.clone()
        }
    }
}

/// Hits of all searches of a preset, best first, each memory once with its best score; and the warnings of the
/// searches.
pub(crate) fn search_for_purpose(
    engine: &Engine,
    caller: &Caller,
    query: &SearchQuery,
    purpose: Purpose,
    limit: usize,
) -> Result<(Vec<Hit>, Vec<String>), Error> {
    let mut best: HashMap<MemoryId, Hit> = HashMap::new();
    let mut warnings = Vec::new();
    for source in purpose.preset().sources {
        let query = SearchQuery { filter: source.merge_filter(&query.filter), ..query.clone() };
        let readable = visibility::visible_for_filter(engine, caller, &query.filter)?;
        let (hits, answer) = search::find_hits(engine, &readable, &query, Ranker::Operational, limit)?;
        // Every search repeats a warning such as a missing embedder.
        for warning in answer.warnings {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        let may_see = |hit: &Hit| readable.shows_memory(&hit.memory) && policy::may_recall_in_run(caller, &hit.memory);
        for hit in hits.into_iter().filter(|hit| may_see(hit) && source.matches_hit(hit)) {
            match best.get(&hit.memory.id) {
                Some(kept) if kept.score >= hit.score => {}
                _ => {
                    best.insert(hit.memory.id, hit);
                }
            }
        }
    }
    let mut hits: Vec<Hit> = best.into_values().collect();
    ranking::spread_text(Ranker::Operational, &engine.limits().weights, &mut hits);
    // The map has no order; the sort is total, so the result has.
    hits.sort_by(|one, other| ranking::compare_hits(Ranker::Operational, one, other));
    Ok((hits, warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_purpose_has_a_preset() {
        for purpose in Purpose::ALL {
            assert_eq!(purpose.preset().purpose, *purpose);
            assert!(!purpose.preset().sources.is_empty());
        }
    }
}
