//! The doors that speak to programs: MCP for agents.

pub mod mcp;
