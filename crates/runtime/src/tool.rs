//! One call of a tool, in a task of its own that reports to the driver.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::machine::Returned;
use antiphon_event::body::tool::is_piece;
use antiphon_event::{CallId, ErrorCode, Json};
use antiphon_flow::function::{Failure, Reply};
use antiphon_port::{Future, Progress, Reach, Tool, ToolCall, ToolReply};
use futures_util::FutureExt;
use tokio::task::JoinHandle;

use crate::driver::Wake;
use crate::function::Call;
use crate::perform::Mouth;

pub(crate) type Tools = BTreeMap<String, Arc<dyn Tool>>;

/// A call that an agent wants.
pub(crate) struct Wanted {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) input: Json,
    pub(crate) call: CallId,
    pub(crate) key: Arc<str>,
    pub(crate) timeout: Duration,
    pub(crate) reach: Reach,
}

/// Where what a tool says goes: to the agent that called it.
struct Ear {
    call: CallId,
    mouth: Mouth,
}

impl Progress for Ear {
    fn say(&self, content: Json) -> Future<()> {
        let (mouth, call) = (self.mouth.clone(), self.call.clone());
        Box::pin(async move {
            mouth.wake(|machine, attempt| Wake::Progress(machine, attempt, call, content)).await;
        })
    }
}

/// Calls a tool for an agent.
pub(crate) fn start(wanted: Wanted, mouth: Mouth) -> JoinHandle<()> {
    tokio::spawn(async move {
        let Wanted { tool, input, call, key, timeout, reach } = wanted;
        let progress = Arc::new(Ear { call: call.clone(), mouth: mouth.clone() });
        let work = run(&*tool, ToolCall { input, key, progress, reach });
        let result = tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| Err(overrun(timeout)));
        let result = result.map(|reply| Returned { output: reply.output, provenance: reply.provenance });
        mouth.wake(|machine, attempt| Wake::Returned(machine, attempt, call, result)).await;
    })
}

async fn run(tool: &dyn Tool, call: ToolCall) -> Result<ToolReply, Failure> {
    let panicked = |_| Err(Failure::of(ErrorCode::Failed, "its code panicked".to_owned()));
    let called = AssertUnwindSafe(async { tool.call(call).await }).catch_unwind();
    let result = called.await.map_or_else(panicked, Ok)?;
    result.map_err(|fault| Failure::of(fault.code, fault.message))
}

fn overrun(timeout: Duration) -> Failure {
    let message = format!("it took longer than {} ms and was stopped", timeout.as_millis());
    Failure::of(ErrorCode::Timeout, message)
}

/// Where what a tool says goes: to the readers of the node whose work it is. There is no call that it could be the progress
/// of.
struct Node(Call);

impl Progress for Node {
    fn say(&self, content: Json) -> Future<()> {
        let printed = if is_piece(&content) { content.value()["text"].take() } else { content.value() };
        let message = Json::from(printed).to_text().into_owned();
        let call = self.0.clone();
        Box::pin(async move { call.remark("tool", message).await })
    }
}

/// Calls a tool as the work of a node.
pub(crate) fn of_node(tool: Arc<dyn Tool>, call: Call) -> Future<Result<Reply, Failure>> {
    Box::pin(async move {
        let (input, key) = (call.input.clone(), call.key().into());
        let progress = Arc::new(Node(call));
        // Whoever wrote the flow put it there.
        let call = ToolCall { input, key, progress, reach: Reach::everything() };
        run(&*tool, call).await.map(|reply| Reply::new(reply.output))
    })
}
