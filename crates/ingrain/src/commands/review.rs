//! `review`: what waits for a person, and the decision.

use clap::{Args, Subcommand};
use engine::review::{Action, BulkDecided, Decided, Queue, QueueFilter, Review as Waiting, ReviewState, ReviewView};
use serde_json::json;
use similar::TextDiff;

use crate::commands::Job;
use crate::commands::limit::Limit;
use crate::error::Failure;
use crate::output::{Output, Tone};
use crate::text::{one_line, printable};
use crate::view::MemoryView;

#[derive(Debug, Args)]
pub struct Review {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// What waits, oldest first
    List(List),
    /// One proposal: what would stand, what stands now, what speaks for it
    Show {
        /// The review's id or the record's
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Let it stand
    #[command(visible_alias = "approve")]
    Confirm(Decision),
    /// Close it without doing it
    Reject(Decision),
    /// Send it back to whoever proposed it
    RequestChanges {
        /// The review's id or the record's
        #[arg(value_name = "ID")]
        id: String,
        #[arg(long, alias = "reason", help = "What is missing")]
        comment: String,
    },
}

#[derive(Debug, Args)]
struct List {
    /// Only this state: pending (default), changes_requested, approved, rejected, superseded, or all
    #[arg(long, value_name = "STATE", default_value = "pending", value_parser = state)]
    state: Wanted,
    /// Only this action, such as promote or profile_update
    #[arg(long)]
    action: Option<Action>,
    /// Only proposals for this store
    #[arg(long, value_name = "SLUG")]
    store: Option<String>,
    #[command(flatten)]
    limit: Limit,
    /// Go on where a page ended
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

/// One state, or every one.
#[derive(Clone, Copy, Debug)]
struct Wanted(Option<ReviewState>);

fn state(word: &str) -> Result<Wanted, String> {
    match word {
        "all" => Ok(Wanted(None)),
        word => word
            .parse()
            .map(|state| Wanted(Some(state)))
            .map_err(|error: engine::model::error::Error| error.to_string()),
    }
}

#[derive(Debug, Args)]
struct Decision {
    /// The review's id or the record's (repeatable)
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// Everything that waits, narrowed by --action and --store
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[arg(long, requires = "all", help = "Only this action")]
    action: Option<Action>,
    #[arg(long, requires = "all", value_name = "SLUG", help = "Only proposals for this store")]
    store: Option<String>,
    #[arg(long, alias = "reason", help = "Why, for the history")]
    comment: Option<String>,
}

impl Review {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.deed {
            Deed::List(list) => list.run(job),
            Deed::Show { id } => shown(job, &engine.review(caller, &id)?),
            Deed::Confirm(decision) => decision.run(job, true),
            Deed::Reject(decision) => decision.run(job, false),
            Deed::RequestChanges { id, comment } => told(job, engine.request_changes(caller, &id, &comment)?),
        }
    }
}

impl List {
    fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let after = self.after.as_deref().map(Queue::read_word).transpose()?;
        let filter = QueueFilter {
            state: self.state.0,
            action: self.action,
            store: self.store,
            after,
            limit: self.limit.asked(),
        };
        let queue = job.session.engine.reviews(&job.session.caller, &filter)?;
        let next = queue.next_word();
        let view = json!({ "reviews": queue.reviews, "next": next });
        job.output.answer(&view, || {
            if queue.reviews.is_empty() {
                return "nothing waits".to_owned();
            }
            let mut text = table(job.output, &queue.reviews);
            if let Some(next) = &next {
                text += &format!("\nmore: --after {next}");
            }
            text
        })
    }
}

fn table(output: &Output, reviews: &[Waiting]) -> String {
    let row = |review: &Waiting| {
        let place = review.target_path.as_deref().map(|path| format!("/{path}")).unwrap_or_default();
        vec![
            review.id.to_string(),
            review.action.to_string(),
            format!("{}{place}", review.target_store),
            review.risk.to_string(),
            review.state.to_string(),
            review.proposer.clone(),
            one_line(&review.rationale),
        ]
    };
    output.table(&["id", "action", "target", "risk", "state", "by", "why"], reviews.iter().map(row))
}

fn shown(job: &Job<'_>, seen: &ReviewView) -> Result<(), Failure> {
    let impact = job.session.engine.review_impact(&job.session.caller, seen)?;
    let before = seen.standing.first().map(|memory| memory.content.as_str()).unwrap_or_default();
    let after = seen.proposed.as_ref().map(|memory| memory.content.as_str()).unwrap_or_default();
    let diff = TextDiff::from_lines(before, after).unified_diff().header("now", "proposed").to_string();
    let view = json!({
        "review": seen.review,
        "proposed": seen.proposed.as_ref().map(MemoryView::from),
        "standing": seen.standing.iter().map(MemoryView::from).collect::<Vec<_>>(),
        "evidence": seen.evidence,
        "diff": diff,
        "verdict": seen.verdict,
        "outdated": seen.outdated,
        "impact": impact,
    });
    job.output.answer(&view, || {
        let mut text = table(job.output, std::slice::from_ref(&seen.review));
        for piece in &seen.evidence {
            text += &format!("\n{}: {}", piece.kind, one_line(&piece.summary));
        }
        text += &format!("\n\n{}", printable(&diff));
        for turn in &impact {
            let lost = turn.pushes_out.map(|id| format!(", instead of {id}")).unwrap_or_default();
            text += &format!("\nwould be shown at rank {}{lost} for: {}", turn.rank, one_line(&turn.query));
        }
        match &seen.verdict {
            Some(refusal) => {
                let word = job.output.paint(Tone::Bad, "approval would be refused");
                text += &format!("\n{word}: {}", refusal.message);
            }
            None if seen.review.state.is_open() => {
                let word = job.output.paint(Tone::Good, "verdict");
                text += &format!("\n{word}: none against it, from policy, the scanner or bans");
            }
            None => {}
        }
        if let Some(why) = &seen.outdated {
            text += &format!("\n{}: {why}", job.output.paint(Tone::Bad, "out of date"));
        }
        text
    })
}

impl Decision {
    fn run(self, job: &Job<'_>, approve: bool) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        if let ([id], false) = (self.ids.as_slice(), self.all) {
            let decided = match approve {
                true => engine.approve(caller, id, self.comment.as_deref())?,
                false => engine.reject(caller, id, self.comment.as_deref())?,
            };
            return told(job, decided);
        }
        let ids = if self.all { engine.waiting(caller, self.action, self.store)? } else { self.ids };
        let done = engine.decide_all(caller, &ids, approve, self.comment.as_deref())?;
        let left = !done.not_decided.is_empty();
        job.output.answer(&done, || bulk_told(job.output, &done))?;
        if left { Err(Failure::Told(2)) } else { Ok(()) }
    }
}

fn bulk_told(output: &Output, done: &BulkDecided) -> String {
    let mut text = format!("{} decided, {} left", done.decided, done.not_decided.len());
    for not in &done.not_decided {
        text += &format!("\n  {} {} [{}]", output.paint(Tone::Bad, &not.id), not.message, not.code);
    }
    text
}

fn told(job: &Job<'_>, decided: Decided) -> Result<(), Failure> {
    match decided {
        Decided::Refused(refusal) => Err(refusal.into()),
        Decided::Approved(approval) => {
            let (review, memory) = (&approval.review, &approval.memory);
            let view = json!({ "status": review.state, "review": review, "memory": MemoryView::from(memory) });
            job.output.answer(&view, || {
                let place = memory.path.as_deref().map(|path| format!("/{path}")).unwrap_or_default();
                format!(
                    "{} {}: {}{place} {}",
                    job.output.paint(Tone::Good, "approved"),
                    review.id,
                    memory.store,
                    memory.id
                )
            })
        }
        Decided::Closed(review) => {
            let view = json!({ "status": review.state, "review": review });
            job.output
                .answer(&view, || format!("{} {}", job.output.paint(Tone::Good, review.state.as_str()), review.id))
        }
    }
}
