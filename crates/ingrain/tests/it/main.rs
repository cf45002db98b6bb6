//! The product through its command line: the built binary, a throwaway home, what a user sees.

mod concurrency;
mod configuration;
mod context;
mod copying;
mod documents;
mod episodes;
mod governance;
mod knowledge;
mod lessons;
mod lines;
mod mcp;
mod notes;
mod odd_input;
mod postgres;
mod ranking;
mod recall;
mod reference;
mod safety;
mod serving;
mod tour;
mod window;
mod world;
