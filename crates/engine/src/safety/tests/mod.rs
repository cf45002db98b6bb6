//! Tests of the scanner: the examples of its own rows, invented notes, properties, and the shared corpora if present.
mod corpora;
mod discretion;
mod harmless;
mod notes;
mod property;
mod reference;
mod rows;
mod spec;
