//! `history`: versions of a memory with author, reason and diff.

use clap::Args;
use engine::model::memory::Version;
use serde::Serialize;
use similar::TextDiff;

use crate::commands::Job;
use crate::commands::page_args::LimitArgs;
use crate::commands::read::MemoryReferenceArgs;
use crate::error::Failure;
use crate::json_views::VersionView;
use crate::output::{Output, Tone};
use crate::text_io::{escape_controls, one_line};

#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    #[command(flatten)]
    limit: LimitArgs,
    /// Only versions below this number
    #[arg(long, value_name = "NUMBER")]
    below: Option<u32>,
}

#[derive(Serialize)]
struct HistoryView<'a> {
    versions: Vec<VersionView<'a>>,
}

impl HistoryArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let reference = self.reference.to_reference();
        let versions =
            job.session.engine.history(&job.session.caller, &reference, self.below, self.limit.requested_count())?;
        let view = HistoryView { versions: versions.iter().map(VersionView::from).collect() };
        job.output.print_answer(&view, || render_versions(job.output, &versions))
    }
}

fn render_versions(output: &Output, versions: &[Version]) -> String {
    if versions.is_empty() {
        return "nothing here".to_owned();
    }
    let mut text = String::new();
    for (at, version) in versions.iter().enumerate() {
        let head = format!("version {}  {} by {}  {}", version.number, version.operation, version.actor, version.at);
        text += &format!("{}\n", output.paint(Tone::Strong, &escape_controls(&head)));
        if let Some(reason) = &version.reason {
            text += &format!("  why: {}\n", one_line(reason));
        }
        for piece in &version.evidence {
            text += &format!("  {}: {}\n", piece.kind, one_line(&piece.summary));
        }
        // Newest first, so the next in the list is the predecessor.
        text += &render_changes(output, versions.get(at + 1), version);
    }
    text
}

/// Changes of a version: state and trust, then a unified diff of the content.
fn render_changes(output: &Output, before: Option<&Version>, version: &Version) -> String {
    if version.redacted_at.is_some() {
        return "  the text was redacted\n".to_owned();
    }
    // The oldest version on the page has a predecessor that was not loaded; only version 1 has none.
    let old = match before {
        Some(before) => before.memory.content.as_str(),
        None if version.number == 1 => "",
        None => return String::new(),
    };
    let mut text = String::new();
    if let Some(before) = before
        && (before.memory.state, before.memory.trust) != (version.memory.state, version.memory.trust)
    {
        let (old, new) = (&before.memory, &version.memory);
        text += &format!("  {}, {} → {}, {}\n", old.state, old.trust, new.state, new.trust);
    }
    // Line diff; stored content rarely ends with a newline, hence no hint about it.
    let diff = TextDiff::from_lines(old, &version.memory.content);
    let unified = diff.unified_diff().missing_newline_hint(false).to_string();
    for line in unified.lines() {
        let shown = escape_controls(line);
        text += &match line.chars().next() {
            Some('+') => output.paint(Tone::Good, &shown),
            Some('-') => output.paint(Tone::Bad, &shown),
            _ => shown,
        };
        text.push('\n');
    }
    text
}
