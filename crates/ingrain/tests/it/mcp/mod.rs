//! The product through MCP on the standard streams, in both eras.

mod client;
mod documents;
mod files;
mod lessons;
mod notes;
mod protocol;
