//! `list`: what there is, in order, a page at a time.

use clap::{Args, ValueEnum};
use engine::Listing;
use engine::model::memory::Memory;
use engine::ports;
use serde::Serialize;

use crate::commands::Job;
use crate::commands::filters::Filters;
use crate::commands::limit::{Limit, more};
use crate::error::Failure;
use crate::output::Output;
use crate::text::one_line;
use crate::view::MemoryView;

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    filters: Filters,
    #[arg(long, value_enum, default_value_t = Order::Path, help = "How to sort")]
    order: Order,
    #[command(flatten)]
    limit: Limit,
    /// Go on where a page ended
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    Path,
    /// Updated last comes first
    Newest,
    /// Created first comes first
    Oldest,
    /// Least worth keeping comes first
    Fading,
}

#[derive(Serialize)]
struct ListingView<'a> {
    memories: Vec<MemoryView<'a>>,
    next: Option<String>,
}

impl List {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let order = match self.order {
            Order::Path => ports::Order::Path,
            Order::Newest => ports::Order::Newest,
            Order::Oldest => ports::Order::Oldest,
            Order::Fading => ports::Order::Fading,
        };
        let after = self.after.as_deref().map(|word| ports::Cursor::read(order, word)).transpose()?;
        let filter = self.filters.filter(job)?;
        let listing = job.session.engine.read_list(&job.session.caller, filter, order, after, self.limit.asked())?;
        let next = listing.next.as_ref().map(|next| next.word(order));
        let view = ListingView { memories: listing.memories.iter().map(MemoryView::from).collect(), next };
        job.output.answer(&view, || told(job.output, &listing, view.next.as_deref()))
    }
}

fn told(output: &Output, listing: &Listing, next: Option<&str>) -> String {
    let row = |memory: &Memory| {
        let name = memory.path.as_deref().unwrap_or_else(|| memory.summary());
        vec![
            memory.store.clone(),
            one_line(name),
            memory.kind.to_string(),
            memory.trust.to_string(),
            memory.state.to_string(),
            memory.updated_at.strftime("%F %R").to_string(),
            memory.id.to_string(),
        ]
    };
    let header = ["store", "path or summary", "kind", "trust", "state", "updated", "id"];
    more(output.table(&header, listing.memories.iter().map(row)), next)
}
