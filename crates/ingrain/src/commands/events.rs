//! `events`: the part of the event log that the caller may see.

use clap::Args;
use engine::model::event::Event;
use serde::Serialize;

use crate::commands::Job;
use crate::commands::page_args::LimitArgs;
use crate::error::Failure;
use crate::output::Output;
use crate::text_io::one_line;

/// Entries shown by default.
const ENTRIES_DEFAULT: usize = 100;

#[derive(Debug, Args)]
pub struct EventsArgs {
    /// Show the entries after this number, oldest first (0: from the start); default: the newest entries
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    #[command(flatten)]
    limit: LimitArgs,
    /// Only entries with this name prefix, for example memory.write
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Serialize)]
struct EventsView {
    events: Vec<Event>,
    /// Value of `--after` for the next page.
    read_to: u64,
}

impl EventsArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let limit = self.limit.requested_count().unwrap_or(ENTRIES_DEFAULT);
        // By prefix, so that `memory.write` selects the whole family.
        let wanted =
            |event: &Event| self.name.as_deref().is_none_or(|name| event.happening.name.as_str().starts_with(name));
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        // `--after` pages forward from a number; without it the newest entries, still oldest first.
        let (events, read_to) = match self.after {
            Some(after) => engine.events(caller, after, limit, wanted)?,
            None => engine.latest_events(caller, limit, wanted)?,
        };
        let view = EventsView { events, read_to };
        job.output.print_answer(&view, || render_events(job.output, &view))
    }
}

fn render_events(output: &Output, view: &EventsView) -> String {
    let row = |event: &Event| {
        let happening = &event.happening;
        let payload = serde_json::to_string(&happening.payload).unwrap_or_default();
        vec![
            event.seq.to_string(),
            happening.at.strftime("%F %T").to_string(),
            happening.name.to_string(),
            happening.actor.clone(),
            one_line(&payload),
        ]
    };
    output.render_table(&["seq", "at", "event", "actor", "what"], view.events.iter().map(row))
}
