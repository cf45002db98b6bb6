//! The scanner against its own rows, invented notes and, where they are at hand, the shared corpora.
mod corpora;
mod discretion;
mod harmless;
mod notes;
mod property;
mod reference;
mod rows;
mod spec;
