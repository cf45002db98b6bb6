//! `--limit` and `--after`: the same words for every listing.

use clap::Args;
use engine::ports::row::Paging;

#[derive(Debug, Default, Args)]
pub struct LimitArgs {
    /// Maximum number of results; default: 50 for lists, 6 for search, 5 for recall and history, 100 for events
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    limit: Option<usize>,
}

impl LimitArgs {
    /// What was asked for; the engine says what is too few or too many.
    pub fn requested_count(&self) -> Option<usize> {
        self.limit
    }
}

/// Which stretch of a listing.
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

/// A line below a listing that goes on.
pub fn append_next_cursor(text: String, next: Option<&str>) -> String {
    match next {
        Some(next) => format!("{text}\nmore: --after {next}"),
        None => text,
    }
}

/// A whole number; all that are below zero mean the same.
pub fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse::<i64>() {
        Ok(negative) if negative < 0 => Ok(0),
        _ => text.parse().map_err(|_| "not a whole number".to_owned()),
    }
}
