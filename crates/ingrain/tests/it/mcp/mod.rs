//! The product through MCP, on the standard streams and over HTTP, in both eras.

pub(crate) mod client;
mod consent;
mod documents;
mod files;
mod http;
mod lessons;
mod notes;
mod protocol;
mod server;
