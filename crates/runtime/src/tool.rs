//! [`Tool`]: something a node, or an agent, can call by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::function::{Call, Future};
use antiphon_event::Json;
use antiphon_flow::function::{Failure, Reply};

/// A call of a tool.
pub struct ToolCall {
    /// Its arguments.
    pub input: Json,
    /// The execution it is part of; its key tells a repeat from a second wish.
    pub call: Call,
}

/// Something that can be called by name. May be called from many tasks at once; dropped to be cancelled.
pub trait Tool: Send + Sync + 'static {
    /// Does it.
    fn call(&self, call: ToolCall) -> Future<Result<Reply, Failure>>;
}

impl<F> Tool for F
where
    F: Fn(ToolCall) -> Future<Result<Reply, Failure>> + Send + Sync + 'static,
{
    fn call(&self, call: ToolCall) -> Future<Result<Reply, Failure>> {
        self(call)
    }
}

pub(crate) type Tools = BTreeMap<String, Arc<dyn Tool>>;
