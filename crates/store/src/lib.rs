//! Where memories are kept and found. No driver's type leaves this crate.

mod sqlite;

pub use sqlite::{Location, Options, open_sqlite};
