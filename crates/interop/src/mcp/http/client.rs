//! [`Bounded`]: an HTTP client that reads no more than it may.
//!
//! The SDK's own client reads a JSON body of any size; it still does what is not an answer.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, JsonRpcMessage, JsonRpcRequest, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::body::{self, TooLarge, Unread};
use crate::mcp::fault::cut;

const SESSION: &str = "mcp-session-id";

/// How much of a body that is no answer is shown, in bytes.
const SHOWN_MAX: usize = 300;

/// The largest message if the transport does not say.
const MESSAGE_MAX: usize = 16 << 20;

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// An HTTP client.
#[derive(Clone)]
pub(super) struct Bounded(pub(super) reqwest::Client);

impl StreamableHttpClient for Bounded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, MESSAGE_MAX).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        bytes_max: usize,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let mut request = self.0.post(&*uri).header(ACCEPT, "text/event-stream, application/json");
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = &session {
            request = request.header(SESSION, &**session);
        }
        let request = request.headers(headers.into_iter().collect());
        let response = request.json(&message).send().await.map_err(Failed::Client)?;
        let asked = match message {
            JsonRpcMessage::Request(JsonRpcRequest { id, .. }) => Some(id),
            JsonRpcMessage::Response(_) | JsonRpcMessage::Notification(_) | JsonRpcMessage::Error(_) => None,
        };
        match response.status() {
            StatusCode::NOT_FOUND if session.is_some() => Err(Failed::SessionExpired),
            status if status.is_success() => answer(response, asked, bytes_max).await,
            status => refusal(status, response, asked, bytes_max).await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failed> {
        self.0.get_stream(uri, session, last_event, token, headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        bytes_max: usize,
    ) -> Result<Events, Failed> {
        self.0.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, bytes_max).await
    }
}

/// What a server that agreed says: events, a message, or nothing if nothing was asked.
async fn answer(
    response: Response,
    asked: Option<RequestId>,
    bytes_max: usize,
) -> Result<StreamableHttpPostResponse, Failed> {
    let Some(asked) = asked else {
        return Ok(StreamableHttpPostResponse::Accepted);
    };
    let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
    let session = header(SESSION);
    let content_type = header(CONTENT_TYPE.as_str());
    match content_type.as_deref().unwrap_or_default() {
        kind if kind.starts_with("text/event-stream") => {
            let instead =
                |error: &TooLarge| serde_json::to_string(&refuse(error, asked)).expect("a message is JSON");
            Ok(StreamableHttpPostResponse::Sse(body::events(response, bytes_max, instead), session))
        }
        kind if kind.starts_with("application/json") => {
            let message = match body::whole(response, bytes_max).await {
                Ok(body) => parse(&body)?,
                Err(Unread::TooLarge(error)) => refuse(&error, asked),
                Err(Unread::Broken(error)) => return Err(Failed::Client(error)),
            };
            Ok(StreamableHttpPostResponse::Json(message, session))
        }
        _ => Err(Failed::UnexpectedContentType(content_type)),
    }
}

/// What a server that did not agree says: an error for whoever asked, if it is one, or just its status.
async fn refusal(
    status: StatusCode,
    response: Response,
    asked: Option<RequestId>,
    bytes_max: usize,
) -> Result<StreamableHttpPostResponse, Failed> {
    let body = body::whole(response, bytes_max).await.unwrap_or_default();
    let is_about_us = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if let (false, Some(_), Ok(message @ JsonRpcMessage::Error(_))) = (is_about_us, asked, parse(&body)) {
        return Ok(StreamableHttpPostResponse::Json(message, None));
    }
    let said = cut(&String::from_utf8_lossy(&body), SHOWN_MAX);
    Err(Failed::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status}: {said}"))))
}

fn parse(body: &[u8]) -> Result<ServerJsonRpcMessage, Failed> {
    serde_json::from_slice(body).map_err(|error| {
        let said = cut(&String::from_utf8_lossy(body), SHOWN_MAX);
        Failed::UnexpectedServerResponse(Cow::Owned(format!("no message: {error}: {said}")))
    })
}

fn refuse(error: &TooLarge, asked: RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(ErrorData::internal_error(error.to_string(), None), Some(asked))
}
