//! MCP servers, whose tools agents may call.
//!
//! In: servers as a definition names them. Out: tools that call them. What a server says is not trusted: all of it is
//! bounded in size, number and time. A server that died is started again by the next call. Start reading at
//! [`Servers::connect`] for several servers, or [`connect`] for one.

mod call;
mod client;
mod content;
mod fault;
mod handler;
mod http;
mod lines;
mod link;
mod log;
mod name;
mod options;
mod program;
mod servers;
mod spec;
mod tap;
mod tool;

pub use client::{Connected, connect};
pub use fault::Fault;
pub use options::Options;
pub use servers::Servers;
