//! `run`: opens, closes and lists runs, each with its own working memory.

use clap::{Args, Subcommand};
use engine::model::caller::Caller;
use engine::ports::row::RecordPage;
use engine::{CloseRunOutcome, CloseRunRequest, RunOutcome};
use serde_json::json;

use crate::commands::Job;
use crate::commands::page_args::{PageArgs, append_next_cursor};
use crate::error::Failure;
use crate::json_views::MemoryView;
use crate::output::Tone;

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Debug, Subcommand)]
enum RunCommand {
    /// Open a run; its working memory is visible only inside it
    Open {
        /// Id of the run; default: --run, else a new one
        #[arg(value_name = "ID")]
        id: Option<String>,
        #[arg(long, help = "Goal of the run")]
        goal: Option<String>,
        /// Workflow that the run follows
        #[arg(long, value_name = "NAME")]
        workflow: Option<String>,
    },
    /// Close a run: tombstone its working memory and save one episode
    Close {
        /// Id of the run; default: --run
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// Outcome: success, failure or cancelled
        #[arg(long, default_value = "success")]
        outcome: RunOutcome,
        #[arg(long, help = "Summary of the result")]
        summary: Option<String>,
        /// Workflow that the run followed
        #[arg(long, value_name = "NAME")]
        workflow: Option<String>,
    },
    /// List runs, newest first
    List {
        #[arg(long, help = "Only open runs")]
        open: bool,
        #[command(flatten)]
        page: PageArgs,
    },
}

impl RunArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.command {
            RunCommand::Open { id, goal, workflow } => {
                // Without an id the engine takes `--run`, else makes a new one.
                // Who may start this program may name any run, as with `--run`.
                let caller = Caller { run: id.or_else(|| caller.run.clone()), ..caller.clone() };
                let run = engine.open_run(&caller, None, goal, workflow)?;
                let view = json!({ "status": "open", "id": run.id, "run": run });
                job.output.print_answer(&view, || format!("{} run {}", job.output.paint(Tone::Good, "opened"), run.id))
            }
            RunCommand::Close { id, outcome, summary, workflow } => {
                let missing = || Failure::user_error("usage", "no run given: add its id or `--run ID`");
                let run = id.or_else(|| caller.run.clone()).ok_or_else(missing)?;
                close_run(job, &CloseRunRequest { run, outcome, summary, workflow })
            }
            RunCommand::List { open, page } => {
                let RecordPage { items, next } = engine.runs(caller, open, &page.into_paging())?;
                job.output.print_answer(&json!({ "runs": items, "next": next }), || {
                    let row = |run: &engine::Run| {
                        let ended = run.outcome.map_or("open", RunOutcome::as_str).to_owned();
                        vec![run.id.clone(), ended, run.workflow.clone().unwrap_or_default(), run.opened_by.clone()]
                    };
                    let text = job.output.render_table(&["run", "outcome", "workflow", "by"], items.iter().map(row));
                    append_next_cursor(text, next.as_deref())
                })
            }
        }
    }
}

fn close_run(job: &Job<'_>, closing: &CloseRunRequest) -> Result<(), Failure> {
    match job.session.engine.close_run(&job.session.caller, closing)? {
        CloseRunOutcome::Refused(refusal) => Err(refusal.into()),
        CloseRunOutcome::Done(closed) => {
            let view = json!({
                "status": "closed",
                "id": closed.run.id,
                "run": closed.run,
                "tombstoned": closed.tombstoned,
                "episode": MemoryView::from(&closed.episode),
                "procedure": closed.procedure.as_ref().map(MemoryView::from),
            });
            job.output.print_answer(&view, || {
                let word = job.output.paint(Tone::Good, "closed");
                let mut text =
                    format!("{word} run {}; {} working memories tombstoned", closed.run.id, closed.tombstoned);
                text += &format!("\n  episode   {}", closed.episode.id);
                closed.procedure.iter().for_each(|memory| text += &format!("\n  procedure {}", memory.id));
                text
            })
        }
    }
}
