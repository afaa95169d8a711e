//! [`Remote`]: a tool of a server.

use std::sync::Arc;

use antiphon_agent::Spec;
use antiphon_port::{Future, Tool, ToolCall, ToolFault, ToolReply};
use serde_json::Value;

use super::call;
use super::client::Client;

/// A tool of a server. Keeps the server alive.
pub(super) struct Remote {
    pub(super) spec: Spec,
    /// What the server calls it.
    pub(super) own_name: String,
    pub(super) client: Arc<Client>,
}

impl Tool for Remote {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn call(&self, call: ToolCall) -> Future<Result<ToolReply, ToolFault>> {
        let (client, tool) = (self.client.clone(), self.own_name.clone());
        Box::pin(async move {
            let Value::Object(arguments) = call.input.value() else {
                return Err(ToolFault::new(format!("the arguments of `{tool}` must be an object")));
            };
            let link = client.link().await.map_err(|fault| ToolFault::new(fault.to_string()))?;
            call::call(&link, &tool, arguments, call.progress, &client.options).await
        })
    }
}
