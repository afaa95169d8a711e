//! MCP servers in real processes: one that misbehaves, the official ones, and one behind HTTP. Start reading at
//! [`door`].

mod door;
mod fake;
mod http;
mod life;
mod official;
