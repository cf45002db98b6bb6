//! `search`: finds memories, best match first, and explains scores.

use std::fmt::Write;

use clap::Args;
use engine::model::id::MemoryId;
use engine::model::trust_flow::Field;
use engine::model::vocabulary::Ranker;
use engine::recall::ranking::Hit;
use engine::{SearchQuery, SearchResults};

use crate::commands::Job;
use crate::commands::filter_args::FilterArgs;
use crate::commands::page_args::LimitArgs;
use crate::error::Failure;
use crate::json_views::AnswerView;
use crate::output::{Output, Tone};
use crate::text_io::{escape_controls, one_line, read_stdin};

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Query; `-` reads stdin; without words, rank by trust, kind and age
    #[arg(value_name = "QUERY")]
    words: Vec<String>,
    #[command(flatten)]
    filters: FilterArgs,
    #[command(flatten)]
    limit: LimitArgs,
    /// Ranker: operational, episodic, lesson, layered or hint; default: the store's own, else operational
    #[arg(long)]
    ranker: Option<Ranker>,
    /// Show the parts of each score; with an id, also why that memory was returned or not
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    explain: Option<String>,
    /// Search by words only, without vectors
    #[arg(long)]
    words_only: bool,
}

impl SearchArgs {
    pub fn run(mut self, job: &Job<'_>) -> Result<(), Failure> {
        let explain = self.take_explain_id()?;
        let query = SearchQuery {
            text: self.query_text()?,
            filter: self.filters.to_filter(job)?,
            limit: self.limit.requested_count(),
            ranker: self.ranker,
            entities: Vec::new(),
            explain,
            words_only: self.words_only,
        };
        let answer = job.session.engine.search(&job.session.caller, &query)?;
        // With `--json` the answer contains the warnings.
        if !job.output.json {
            answer.warnings.iter().for_each(|warning| job.output.print_note(&format!("note: {warning}")));
        }
        job.output
            .print_answer(&AnswerView::from(&answer), || render_answer(job.output, &answer, self.explain.is_some()))
    }

    /// Text of the query; `-` reads stdin.
    fn query_text(&self) -> Result<String, Failure> {
        match self.words.as_slice() {
            // Only alone: within a query a dash is a word.
            [dash] if dash == "-" => read_stdin(),
            words => Ok(words.join(" ")),
        }
    }

    /// Id of `--explain=ID`; also accepts `--explain ID words…`, where clap takes the id for the first word.
    fn take_explain_id(&mut self) -> Result<Option<MemoryId>, Failure> {
        let wrong =
            |_| Failure::user_error("usage", "`--explain` takes the id of a memory").with_hint("`--explain=ID`");
        match self.explain.as_deref() {
            None => Ok(None),
            // `--explain` without `=`: the first word is the id if it parses as one.
            Some("") if self.words.len() > 1 => {
                let id = self.words[0].parse().ok();
                if id.is_some() {
                    self.words.remove(0);
                }
                Ok(id)
            }
            // A single word is the query, even if it looks like an id.
            Some("") => Ok(None),
            Some(id) => id.parse().map(Some).map_err(wrong),
        }
    }
}

fn render_answer(output: &Output, answer: &SearchResults, explain: bool) -> String {
    let mut text = String::new();
    for (rank, hit) in answer.hits.iter().enumerate() {
        text += &render_hit(output, rank + 1, hit);
        if explain {
            text += &render_score_bars(hit);
        }
    }
    if answer.hits.is_empty() {
        text += "nothing found\n";
    }
    if let Some(why) = &answer.explanation {
        let word = if why.returned { "why" } else { "why not" };
        let _ = writeln!(text, "{} {}: {}", output.paint(Tone::Strong, word), why.memory, why.reason);
        if let (Some(score), Some(cutoff)) = (why.score, why.cutoff) {
            let _ = writeln!(text, "  score {score:.4}, the last one returned has {cutoff:.4}");
        }
    }
    text
}

fn render_hit(output: &Output, rank: usize, hit: &Hit) -> String {
    let memory = &hit.memory;
    let name = memory.path.as_deref().or(memory.title.as_deref()).unwrap_or_default();
    // Of everything shown: the name may be another author's.
    let named_by = if memory.path.is_some() { Field::Path } else { Field::Title };
    let trust = memory.least_trust(&[named_by]);
    let head = format!("{rank}. {}/{}", memory.store, escape_controls(name));
    format!(
        "{}  {}\n   {}\n   {}\n",
        output.paint(Tone::Strong, &head),
        output.paint(Tone::Good, &format!("{:.4}", hit.score)),
        one_line(&memory.content),
        output.paint(
            Tone::Faint,
            &format!("{} · {} · {} · {}", memory.kind, trust, memory.updated_at.strftime("%F"), memory.id)
        ),
    )
}

/// Parts of the score as bars, scaled to the largest part (at least 1).
fn render_score_bars(hit: &Hit) -> String {
    const WIDTH: f64 = 24.0;
    // At least 1, so that the bars of a weak hit stay short.
    let most = hit.parts.values().fold(1.0_f64, |most, part| most.max(*part));
    hit.parts.iter().fold(String::new(), |mut text, (name, part)| {
        let filled = "█".repeat((part / most * WIDTH).round().clamp(0.0, WIDTH) as usize);
        let _ = writeln!(text, "     {name:<14} {part:>8.4} {filled}");
        text
    })
}
