//! What others made and agents may use: tools of MCP servers.
//!
//! In: servers, as a definition names them. Out: tools. Start reading at [`mcp::Servers`].

pub mod mcp;
