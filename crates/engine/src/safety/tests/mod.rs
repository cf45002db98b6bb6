//! The scanner against its own rows and, where they are at hand, the shared corpora.
mod corpora;
mod rows;
