//! What others made and agents may use: tools of MCP servers, and skills.
//!
//! In: servers and folders, as a definition names them. Out: tools. Start reading at [`mcp::Servers`], then at
//! [`skill::discover`].

pub mod mcp;
pub mod skill;
