//! `--limit`: the same words for every listing.

use clap::Args;

#[derive(Debug, Default, Args)]
pub struct Limit {
    /// How many, from 1 on
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    limit: Option<usize>,
}

impl Limit {
    /// What was asked for; the engine says what is too few or too many.
    pub fn asked(&self) -> Option<usize> {
        self.limit
    }
}

/// A whole number; all that are below zero mean the same.
pub fn number(text: &str) -> Result<usize, String> {
    match text.parse::<i64>() {
        Ok(negative) if negative < 0 => Ok(0),
        _ => text.parse().map_err(|_| "not a whole number".to_owned()),
    }
}
