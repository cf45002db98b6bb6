//! The product through MCP, on the standard streams and over HTTP, in both eras.

pub mod client;
mod consent;
mod documents;
mod files;
mod http;
mod lessons;
mod notes;
pub mod protocol;
pub mod server;
