//! `--limit` and `--after`, shared by all listings.

use clap::Args;
use engine::ports::row::Paging;

#[derive(Debug, Default, Args)]
pub struct LimitArgs {
    /// Maximum number of results; default: 50 for lists, 6 for search, 5 for recall and history, 100 for events
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    limit: Option<usize>,
}

impl LimitArgs {
    /// The requested number; the engine checks its bounds.
    pub fn requested_count(&self) -> Option<usize> {
        self.limit
    }
}

/// Page of a listing.
#[derive(Debug, Args)]
pub struct PageArgs {
    #[command(flatten)]
    limit: LimitArgs,
    /// Cursor of the previous page (`next`): show the page after it
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

impl PageArgs {
    /// The cursor of the previous page.
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    pub fn requested_count(&self) -> Option<usize> {
        self.limit.requested_count()
    }

    pub fn into_paging(self) -> Paging {
        Paging { after: self.after, limit: self.limit.requested_count() }
    }
}

/// Appends the flag for the next page, if there is one.
pub fn append_next_cursor(text: String, next: Option<&str>) -> String {
    match next {
        Some(next) => format!("{text}\nmore: --after {next}"),
        None => text,
    }
}

/// Parses a whole number. Negative ones become 0, so that the engine reports its bounds for all of them.
pub fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse::<i64>() {
        Ok(negative) if negative < 0 => Ok(0),
        _ => text.parse().map_err(|_| "not a whole number".to_owned()),
    }
}
