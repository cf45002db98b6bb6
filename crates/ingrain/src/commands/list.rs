//! `list`: memories in a given order, a page at a time.

use clap::{Args, ValueEnum};
use engine::Listing;
use engine::model::memory::Memory;
use engine::model::trust_flow::Field;
use engine::ports;
use serde::Serialize;

use crate::commands::Job;
use crate::commands::filter_args::FilterArgs;
use crate::commands::page_args::{PageArgs, append_next_cursor};
use crate::error::Failure;
use crate::json_views::MemoryView;
use crate::output::Output;
use crate::text_io::one_line;

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    filters: FilterArgs,
    #[arg(long, value_enum, default_value_t = ListOrder::Path, help = "Sort order")]
    order: ListOrder,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ListOrder {
    /// By path
    Path,
    /// Last updated first
    Newest,
    /// First created first
    Oldest,
    /// Lowest decayed importance first
    Fading,
}

#[derive(Serialize)]
struct ListingView<'a> {
    memories: Vec<MemoryView<'a>>,
    next: Option<String>,
}

impl ListArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let order = match self.order {
            ListOrder::Path => ports::SortOrder::Path,
            ListOrder::Newest => ports::SortOrder::Newest,
            ListOrder::Oldest => ports::SortOrder::Oldest,
            ListOrder::Fading => ports::SortOrder::Fading,
        };
        let after = self.page.after().map(|word| ports::ListCursor::from_token(order, word)).transpose()?;
        let filter = self.filters.to_filter(job)?;
        let listing =
            job.session.engine.read_list(&job.session.caller, filter, order, after, self.page.requested_count())?;
        let next = listing.next.as_ref().map(|next| next.to_token(order));
        let view = ListingView { memories: listing.memories.iter().map(MemoryView::from).collect(), next };
        job.output.print_answer(&view, || render_listing(job.output, &listing, view.next.as_deref()))
    }
}

fn render_listing(output: &Output, listing: &Listing, next: Option<&str>) -> String {
    let row = |memory: &Memory| {
        let name = memory.path.as_deref().unwrap_or_else(|| memory.summary_line());
        // Of everything in the row: the name may be another author's.
        let trust = memory.path.as_ref().map_or(memory.trust, |_| memory.least_trust(&[Field::Path]));
        vec![
            memory.store.clone(),
            one_line(name),
            memory.kind.to_string(),
            trust.to_string(),
            memory.state.to_string(),
            memory.updated_at.strftime("%F %R").to_string(),
            memory.id.to_string(),
        ]
    };
    let header = ["store", "path or summary", "kind", "trust", "state", "updated", "id"];
    append_next_cursor(output.render_table(&header, listing.memories.iter().map(row)), next)
}
