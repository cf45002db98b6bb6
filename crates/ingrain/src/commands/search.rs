//! `search`: find, best first, and say why.

use std::fmt::Write;

use clap::Args;
use engine::model::id::MemoryId;
use engine::model::vocabulary::Ranker;
use engine::recall::ranking::Hit;
use engine::{Answer, Query};

use crate::commands::Job;
use crate::commands::filters::Filters;
use crate::commands::limit::Limit;
use crate::error::Failure;
use crate::output::{Output, Tone};
use crate::text::{one_line, printable, stdin};
use crate::view::AnswerView;

#[derive(Debug, Args)]
pub struct Search {
    /// What to look for, or `-` for stdin; without words, everything by trust, kind and age
    #[arg(value_name = "QUERY")]
    words: Vec<String>,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    limit: Limit,
    /// How to score: operational, episodic, lesson, layered, hint
    #[arg(long)]
    ranker: Option<Ranker>,
    /// Show what each score is made of; with an id, also why that one was or was not returned
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    explain: Option<String>,
    /// Leave vectors out
    #[arg(long)]
    words_only: bool,
}

impl Search {
    pub fn run(mut self, job: &Job<'_>) -> Result<(), Failure> {
        let explain = self.explained()?;
        let query = Query {
            text: self.text()?,
            filter: self.filters.filter(job)?,
            limit: self.limit.asked(),
            ranker: self.ranker,
            entities: Vec::new(),
            explain,
            words_only: self.words_only,
        };
        let answer = job.session.engine.search(&job.session.caller, &query)?;
        if !job.output.json {
            answer.warnings.iter().for_each(|warning| job.output.note(&format!("note: {warning}")));
        }
        job.output.answer(&AnswerView::from(&answer), || told(job.output, &answer, self.explain.is_some()))
    }

    /// The words, or `-` for stdin.
    fn text(&self) -> Result<String, Failure> {
        match self.words.as_slice() {
            [dash] if dash == "-" => stdin(),
            words => Ok(words.join(" ")),
        }
    }

    /// `--explain=ID`, and `--explain ID words…` as people type it.
    fn explained(&mut self) -> Result<Option<MemoryId>, Failure> {
        let wrong = |_| Failure::wrong("usage", "`--explain` takes the id of a memory").hint("`--explain=ID`");
        match self.explain.as_deref() {
            None => Ok(None),
            Some("") if self.words.len() > 1 => {
                let id = self.words[0].parse().ok();
                if id.is_some() {
                    self.words.remove(0);
                }
                Ok(id)
            }
            Some("") => Ok(None),
            Some(id) => id.parse().map(Some).map_err(wrong),
        }
    }
}

fn told(output: &Output, answer: &Answer, explain: bool) -> String {
    let mut text = String::new();
    for (rank, hit) in answer.hits.iter().enumerate() {
        text += &told_hit(output, rank + 1, hit);
        if explain {
            text += &bars(hit);
        }
    }
    if answer.hits.is_empty() {
        text += "nothing found\n";
    }
    if let Some(why) = &answer.why_not {
        let word = if why.returned { "why" } else { "why not" };
        let _ = writeln!(text, "{} {}: {}", output.paint(Tone::Strong, word), why.memory, why.reason);
        if let (Some(score), Some(cutoff)) = (why.score, why.cutoff) {
            let _ = writeln!(text, "  score {score:.4}, the last one returned has {cutoff:.4}");
        }
    }
    text
}

fn told_hit(output: &Output, rank: usize, hit: &Hit) -> String {
    let memory = &hit.memory;
    let name = memory.path.as_deref().or(memory.title.as_deref()).unwrap_or_default();
    let head = format!("{rank}. {}/{}", memory.store, printable(name));
    format!(
        "{}  {}\n   {}\n   {}\n",
        output.paint(Tone::Strong, &head),
        output.paint(Tone::Good, &format!("{:.4}", hit.score)),
        one_line(&memory.content),
        output.paint(
            Tone::Faint,
            &format!("{} · {} · {} · {}", memory.kind, memory.trust, memory.updated_at.strftime("%F"), memory.id)
        ),
    )
}

/// The score's parts as bars, so that a person sees at a glance what carried it.
fn bars(hit: &Hit) -> String {
    const WIDTH: f64 = 24.0;
    let most = hit.parts.values().fold(1.0_f64, |most, part| most.max(*part));
    hit.parts.iter().fold(String::new(), |mut text, (name, part)| {
        let filled = "█".repeat((part / most * WIDTH).round().clamp(0.0, WIDTH) as usize);
        let _ = writeln!(text, "     {name:<14} {part:>8.4} {filled}");
        text
    })
}
