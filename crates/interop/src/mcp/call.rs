//! One call of a tool: progress on the way, an answer within time, and word to the server if nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use antiphon_event::{ErrorCode, Json};
use antiphon_port::{Progress, ToolFault, ToolReply};
use futures_util::FutureExt as _;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    ProgressNotificationParam, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::content;
use super::fault::cut;
use super::link::Link;
use super::options::Options;
use super::tap::Route;

/// How much progress may wait to be said.
const PROGRESS_MAX: usize = 64;

/// The longest text about progress or an error, in bytes.
const TEXT_MAX: usize = 4000;

/// Calls a tool by the name its server gives it.
pub(super) async fn call(
    link: &Link,
    tool: &str,
    arguments: Map<String, Value>,
    progress: Arc<dyn Progress>,
    options: &Options,
) -> Result<ToolReply, ToolFault> {
    let late = |time: Duration, how: &str| ToolFault {
        code: ErrorCode::Timeout,
        message: format!(
            "MCP server `{}` did not answer `{tool}` {how} {} s",
            link.name(),
            time.as_secs_f32()
        ),
    };
    match timeout(options.total, ask(link, tool, arguments, progress, options.quiet)).await {
        Ok(Answer::Result(result)) => reply(link, tool, *result),
        Ok(Answer::Fault(error)) => Err(refusal(link, tool, &error).await),
        Ok(Answer::Quiet) => Err(late(options.quiet, "and said nothing for")),
        Err(_) => Err(late(options.total, "within")),
    }
}

enum Answer {
    Result(Box<ServerResult>),
    Fault(ServiceError),
    Quiet,
}

async fn ask(
    link: &Link,
    tool: &str,
    arguments: Map<String, Value>,
    progress: Arc<dyn Progress>,
    quiet: Duration,
) -> Answer {
    let (route, mut said) = mpsc::channel(PROGRESS_MAX);
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    let mut request = CallToolRequest::new(params);
    request.extensions.insert(Route(route));
    let request = ClientRequest::CallToolRequest(request);
    let sent = link.peer().send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let mut handle = match sent {
        Ok(handle) => handle,
        Err(error) => return Answer::Fault(error),
    };
    let mut open = Open { peer: link.peer(), id: Some(handle.id.clone()) };
    let mut deadline = Instant::now() + quiet;
    let answer = loop {
        tokio::select! {
            biased;
            Some(step) = said.recv() => {
                progress.say(words(step)).await;
                deadline = Instant::now() + quiet;
            }
            answer = &mut handle.rx => break answer.unwrap_or(Err(ServiceError::TransportClosed)),
            () = sleep_until(deadline) => return Answer::Quiet,
        }
    };
    open.id = None;
    while let Ok(step) = said.try_recv() {
        progress.say(words(step)).await;
    }
    answer.map_or_else(Answer::Fault, |result| Answer::Result(Box::new(result)))
}

fn words(step: ProgressNotificationParam) -> Json {
    let mut words = json!({"progress": step.progress});
    if let Some(total) = step.total {
        words["total"] = total.into();
    }
    if let Some(message) = step.message {
        words["message"] = cut(&message, TEXT_MAX).into();
    }
    words.into()
}

fn reply(link: &Link, tool: &str, result: ServerResult) -> Result<ToolReply, ToolFault> {
    let wants = match result {
        ServerResult::CallToolResult(result) => return content::reply(result),
        ServerResult::InputRequiredResult(_) => "wants to ask a person, which it may not",
        ServerResult::CreateTaskResult(_) => "wants to be asked again later, which is not supported",
        _ => "gave an answer that is none",
    };
    Err(ToolFault::new(format!("MCP server `{}` {wants}, when `{tool}` was called", link.name())))
}

async fn refusal(link: &Link, tool: &str, error: &ServiceError) -> ToolFault {
    match error {
        ServiceError::McpError(error) => {
            let text = cut(&error.message, TEXT_MAX);
            ToolFault::new(format!(
                "MCP server `{}` refused `{tool}`: {text} ({})",
                link.name(),
                error.code.0
            ))
        }
        _ => ToolFault::new(link.fault(error, &format!("`{tool}` was called")).await.to_string()),
    }
}

/// A request that waits for its answer: the server is told when nobody does any more.
struct Open<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let reason = Some("nobody waits for the answer any more".to_owned());
            let notice = CancelledNotification::new(CancelledNotificationParam::new(Some(id), reason));
            // The first poll puts it into the queue; whether it is sent is for others to find out.
            let _ = self.peer.send_notification(notice.into()).now_or_never();
        }
    }
}
