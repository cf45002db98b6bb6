//! Guesses the kind of an imported text from the words of its heading or category.

use engine::model::vocabulary::Kind;

/// Beginnings of words that tell a kind. The first row with a match counts.
const WORDS: &[(Kind, &[&str])] = &[
    (Kind::IncidentLesson, &["incident", "postmortem", "post-mortem", "outage", "root-cause"]),
    (
        Kind::VerificationChecklist,
        &["checklist", "verif", "definition-of-done", "before-commit", "pre-commit", "done-when"],
    ),
    (Kind::UserPreference, &["prefer", "personal", "about-me", "user"]),
    (Kind::Decision, &["decision", "decided", "adr", "rationale", "trade-off", "tradeoff"]),
    (
        Kind::ToolUsageLesson,
        &[
            "gotcha",
            "pitfall",
            "troubleshoot",
            "known-issue",
            "debug",
            "lesson",
            "learn",
            "caveat",
            "workaround",
            "tip",
            "mistake",
        ],
    ),
    (
        Kind::Runbook,
        &[
            "runbook",
            "playbook",
            "deploy",
            "release",
            "rollback",
            "command",
            "build",
            "setup",
            "set-up",
            "install",
            "getting-started",
            "quick-start",
            "how-to",
            "howto",
            "run",
            "procedure",
            "migrat",
            "recipe",
            "method",
        ],
    ),
    (
        Kind::WorkspaceConvention,
        &[
            "convention",
            "style",
            "rule",
            "guideline",
            "standard",
            "naming",
            "format",
            "policy",
            "policies",
            "commit",
            "workflow",
            "test",
            "code",
            "git",
            "pr",
            "pull-request",
            "security",
            "feedback",
            "constraint",
            "requirement",
        ],
    ),
    (
        Kind::ServiceContext,
        &[
            "architecture",
            "overview",
            "structure",
            "layout",
            "service",
            "api",
            "database",
            "environment",
            "stack",
            "context",
            "glossary",
            "domain",
            "background",
            "project",
            "reference",
            "tech",
            "fact",
            "component",
            "system",
        ],
    ),
];

/// Kind by the words of a heading, a category or a type; else the default.
pub fn guess_kind(words: &str, default: Kind) -> Kind {
    let words = super::memory_path::slug(words);
    // A word begins at the start or after `-`, so `prefix` is no pull request.
    let has = |start: &str| {
        let is_short = start.len() <= 3;
        words.match_indices(start).any(|(at, _)| {
            let rest = &words[at + start.len()..];
            (at == 0 || words.as_bytes()[at - 1] == b'-')
                && (!is_short || rest.is_empty() || rest.starts_with(['-', 's']))
        })
    };
    WORDS.iter().find(|(_, starts)| starts.iter().any(|start| has(start))).map_or(default, |(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_tell_the_kind() {
        let check = |words: &str, kind: Kind| assert_eq!(guess_kind(words, Kind::Note), kind, "{words}");
        check("Build & test commands", Kind::Runbook);
        check("Code style", Kind::WorkspaceConvention);
        check("Gotchas", Kind::ToolUsageLesson);
        check("Architecture overview", Kind::ServiceContext);
        check("Pre-commit checklist", Kind::VerificationChecklist);
        check("PRs", Kind::WorkspaceConvention);
        check("Prefix trees", Kind::Note);
        check("My preferences", Kind::UserPreference);
        check("", Kind::Note);
    }
}
