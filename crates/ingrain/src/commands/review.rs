//! `review`: lists proposals and decides on them.

use clap::{Args, Subcommand};
use engine::model::error::Error;
use engine::model::id::VersionId;
use engine::model::memory::Memory;
use engine::model::review::{Action, Review, ReviewState};
use engine::model::vocabulary::Trust;
use engine::review::{BulkDecisionReport, Decision, DecisionOutcome, QueueFilter, QueuePage, ReadReview, ReviewView};
use serde_json::json;
use similar::TextDiff;

use crate::commands::Job;
use crate::commands::page_args::{PageArgs, append_next_cursor};
use crate::commands::read_first::{confirm_shown, render_fields};
use crate::error::Failure;
use crate::json_views::MemoryView;
use crate::output::{Output, Tone, path_suffix};
use crate::text_io::{escape_controls, one_line};

#[derive(Debug, Args)]
pub struct ReviewArgs {
    #[command(subcommand)]
    command: ReviewCommand,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// List proposals, oldest first
    List(ListReviewsArgs),
    /// Show one proposal: the diff, its evidence, and whether an approval would be refused
    Show {
        /// Id of the review or of its memory
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Approve proposals
    #[command(visible_alias = "approve")]
    Confirm(DecisionArgs),
    /// Reject proposals
    Reject(DecisionArgs),
    /// Send a proposal back to its author
    RequestChanges {
        /// Id of the review or of its memory
        #[arg(value_name = "ID")]
        id: String,
        #[arg(long, alias = "reason", help = "Comment for the author")]
        comment: String,
        /// Version of the review that you read; default: the one shown now
        #[arg(long, value_name = "VERSION")]
        read: Option<VersionId>,
    },
}

#[derive(Debug, Args)]
struct ListReviewsArgs {
    /// Only this state: pending, changes_requested, approved, rejected, superseded or all
    #[arg(long, value_name = "STATE", default_value = "pending", value_parser = parse_state_filter)]
    state: StateFilter,
    /// Only this action, for example promote or profile_update
    #[arg(long)]
    action: Option<Action>,
    /// Only proposals for this store
    #[arg(long, value_name = "SLUG")]
    store: Option<String>,
    #[command(flatten)]
    page: PageArgs,
}

/// One state, or `None` for all.
#[derive(Clone, Copy, Debug)]
struct StateFilter(Option<ReviewState>);

fn parse_state_filter(word: &str) -> Result<StateFilter, String> {
    match word {
        "all" => Ok(StateFilter(None)),
        word => word.parse().map(|state| StateFilter(Some(state))).map_err(|error: Error| error.to_string()),
    }
}

#[derive(Debug, Args)]
struct DecisionArgs {
    /// Id of the review or of its memory (several allowed)
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// Decide all pending proposals, narrowed by --action and --store
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[arg(long, requires = "all", help = "Only this action")]
    action: Option<Action>,
    #[arg(long, requires = "all", value_name = "SLUG", help = "Only proposals for this store")]
    store: Option<String>,
    #[arg(long, alias = "reason", help = "Reason, kept in the history")]
    comment: Option<String>,
    /// Version of the review that you read (`review show`). For one id only; default: the version of this review
    #[arg(long, value_name = "VERSION", conflicts_with = "all")]
    read: Option<VersionId>,
}

impl ReviewArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.command {
            ReviewCommand::List(list) => list.run(job),
            ReviewCommand::Show { id } => print_review(job, &engine.review(caller, &id)?),
            ReviewCommand::Confirm(decision) => decision.run(job, true),
            ReviewCommand::Reject(decision) => decision.run(job, false),
            ReviewCommand::RequestChanges { id, comment, read } => {
                let shown = engine.review(caller, &id).ok().map(|seen| seen.review);
                let id = shown.as_ref().map_or(id, |review| review.id.to_string());
                let version = read.or(shown.and_then(|review| review.version));
                let decision = Decision { version, comment: Some(comment) };
                print_decision(job, None, engine.request_changes(caller, &id, &decision)?)
            }
        }
    }
}

impl ListReviewsArgs {
    fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let after = self.page.after().map(QueuePage::mark_from_token).transpose()?;
        let filter = QueueFilter {
            state: self.state.0,
            action: self.action,
            store: self.store,
            after,
            limit: self.page.requested_count(),
        };
        let queue = job.session.engine.reviews(&job.session.caller, &filter)?;
        let next = queue.next_token();
        let view = json!({ "reviews": queue.reviews, "next": next });
        job.output.print_answer(&view, || {
            if queue.reviews.is_empty() {
                return "no proposals".to_owned();
            }
            append_next_cursor(render_reviews(job.output, &queue.reviews), next.as_deref())
        })
    }
}

fn render_reviews(output: &Output, reviews: &[Review]) -> String {
    let row = |review: &Review| {
        let path = path_suffix(review.target_path.as_deref());
        vec![
            review.id.to_string(),
            review.action.to_string(),
            format!("{}{path}", review.target_store),
            review.risk.to_string(),
            review.state.to_string(),
            review.proposer.clone(),
            one_line(&review.rationale),
        ]
    };
    output.render_table(&["id", "action", "target", "risk", "state", "by", "why"], reviews.iter().map(row))
}

fn print_review(job: &Job<'_>, seen: &ReviewView) -> Result<(), Failure> {
    let impact = job.session.engine.review_impact(&job.session.caller, seen)?;
    let diff = diff_text(seen);
    let view = json!({
        "review": seen.review,
        "proposed": seen.proposed.as_ref().map(MemoryView::from),
        "standing": seen.current_memories.iter().map(MemoryView::from).collect::<Vec<_>>(),
        "evidence": seen.evidence,
        "diff": diff,
        "verdict": seen.refusal,
        "outdated": seen.outdated,
        "impact": impact,
    });
    job.output.print_answer(&view, || {
        let mut text = render_reviews(job.output, std::slice::from_ref(&seen.review));
        text += &render_version(&seen.review);
        for piece in &seen.evidence {
            text += &format!("\n{}: {}", piece.kind, one_line(&piece.summary));
        }
        text += &seen.proposed.as_ref().map(render_fields).unwrap_or_default();
        text += &format!("\n\n{}", escape_controls(&diff));
        for turn in &impact {
            let lost = turn.pushes_out.map(|id| format!(", instead of {id}")).unwrap_or_default();
            text += &format!("\nwould be shown at rank {}{lost} for: {}", turn.rank, one_line(&turn.query));
        }
        match &seen.refusal {
            Some(refusal) => {
                let word = job.output.paint(Tone::Bad, "approval would be refused");
                text += &format!("\n{word}: {}", refusal.message);
            }
            None if seen.review.state.is_open() => {
                let word = job.output.paint(Tone::Good, "verdict");
                text += &format!("\n{word}: no objection from policy, the scanner or bans");
            }
            // A decided review needs no forecast.
            None => {}
        }
        if let Some(why) = &seen.outdated {
            text += &format!("\n{}: {why}", job.output.paint(Tone::Bad, "out of date"));
        }
        text
    })
}

/// The proposed text against the current one.
fn diff_text(seen: &ReviewView) -> String {
    // A compaction replaces several memories; the diff shows the first.
    // Empty for a new memory: the diff then has additions only.
    let before = seen.current_memories.first().map(|memory| memory.content.as_str()).unwrap_or_default();
    let after = seen.proposed.as_ref().map(|memory| memory.content.as_str()).unwrap_or_default();
    TextDiff::from_lines(before, after).unified_diff().header("now", "proposed").to_string()
}

fn render_version(review: &Review) -> String {
    review.version.map(|version| format!("\nversion: {version}")).unwrap_or_default()
}

impl DecisionArgs {
    fn run(self, job: &Job<'_>, approve: bool) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        // One id is answered with the decision itself, several with counts.
        if let ([id], false) = (self.ids.as_slice(), self.all) {
            // Read, then decided by its id at the version read: what is shown is what is decided.
            // A review that cannot be read cannot be decided either, and the decision knows best why.
            let seen = engine.review(caller, id).ok();
            if let (Some(seen), true, None) = (&seen, approve, self.read) {
                ensure_read(job, id, seen)?;
            }
            let shown = seen.as_ref().map(|seen| &seen.review);
            let id = shown.map_or_else(|| id.clone(), |review| review.id.to_string());
            let version = self.read.or(shown.and_then(|review| review.version));
            let decision = Decision { version, comment: self.comment };
            let decided = match approve {
                true => engine.approve(caller, &id, &decision)?,
                false => engine.reject(caller, &id, &decision)?,
            };
            return print_decision(job, seen.as_ref(), decided);
        }
        if self.read.is_some() {
            return Err(Failure::user_error("usage", "`--read` is for one review: name one id"));
        }
        let listed = if self.all { engine.pending_reviews(caller, self.action, self.store)? } else { Vec::new() };
        let mut reviews: Vec<ReadReview> = listed.iter().map(ReadReview::from).collect();
        for id in self.ids {
            reviews.push(match engine.review(caller, &id) {
                Ok(seen) => {
                    if approve {
                        ensure_read(job, &id, &seen)?;
                    }
                    ReadReview { id, ..ReadReview::from(&seen.review) }
                }
                // The decision reports it.
                Err(Error::NotFound { .. } | Error::Conflict(_)) => ReadReview { id, version: None },
                Err(error) => return Err(error.into()),
            });
        }
        let done = engine.decide_all(caller, &reviews, approve, self.comment.as_deref())?;
        let left = !done.not_decided.is_empty();
        job.output.print_answer(&done, || {
            let list = if listed.is_empty() { String::new() } else { render_reviews(job.output, &listed) + "\n" };
            list + &render_bulk(job.output, &done)
        })?;
        // Exit 2 if any id was not decided; each is listed with its reason.
        if left { Err(Failure::AlreadyReported(2)) } else { Ok(()) }
    }
}

/// A review has one version: who names it has read that one. A memory may have changed since, so its id says nothing
/// about what was read.
fn ensure_read(job: &Job<'_>, id: &str, seen: &ReviewView) -> Result<(), Failure> {
    let review = &seen.review;
    // One's own proposal, unless a program had a hand in it.
    let is_own = |proposed: &Memory| {
        review.proposer == job.session.caller.principal && proposed.least_text_trust() > Trust::AgentDraft
    };
    match &seen.proposed {
        Some(proposed) if review.state.is_open() && review.id.to_string() != id && !is_own(proposed) => {
            confirm_shown(job, proposed, &format!("ingrain review confirm {}", review.id))
        }
        _ => Ok(()),
    }
}

fn render_bulk(output: &Output, done: &BulkDecisionReport) -> String {
    let mut text = format!("{} decided, {} not decided", done.decided, done.not_decided.len());
    for not in &done.not_decided {
        text += &format!("\n  {} {} [{}]", output.paint(Tone::Bad, &not.id), not.message, not.code);
    }
    text
}

/// Prints a decision, below the text that it was made on.
fn print_decision(job: &Job<'_>, seen: Option<&ReviewView>, decided: DecisionOutcome) -> Result<(), Failure> {
    let fields = |seen: &ReviewView| seen.proposed.as_ref().map(render_fields).unwrap_or_default();
    let read = |seen: &ReviewView| format!("{}\n{}\n", fields(seen).trim_start(), escape_controls(&diff_text(seen)));
    let read = seen.map(read).unwrap_or_default();
    match decided {
        DecisionOutcome::Refused(refusal) => Err(refusal.into()),
        DecisionOutcome::Approved(approval) => {
            let (review, memory) = (&approval.review, &approval.memory);
            let view = json!({ "status": review.state, "review": review, "memory": MemoryView::from(memory) });
            job.output.print_answer(&view, || {
                let path = path_suffix(memory.path.as_deref());
                format!(
                    "{read}{} {}: {}{path} {}",
                    job.output.paint(Tone::Good, "approved"),
                    review.id,
                    memory.store,
                    memory.id
                )
            })
        }
        DecisionOutcome::Closed(review) => {
            let view = json!({ "status": review.state, "review": review });
            job.output.print_answer(&view, || {
                format!("{read}{} {}", job.output.paint(Tone::Good, review.state.as_str()), review.id)
            })
        }
    }
}
