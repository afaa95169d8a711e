//! [`Link`]: one live connection to a server.
//!
//! In: a server. Out: its tools, and calls of them, for as long as it lives. Start reading at [`Link::open`].

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use antiphon_agent::Server;
use rmcp::model::{ErrorCode, PaginatedRequestParams, ProtocolVersion, Tool};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RoleClient, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::Transport;
use tokio::time::timeout;

use super::fault::{Fault, cut};
use super::handler::Handler;
use super::http;
use super::options::Options;
use super::program::{Program, Start, Watch};
use super::tap::Tap;

/// How long the end of a program is waited for when its pipe broke before.
const END_WAIT: Duration = Duration::from_secs(2);

/// How long saying goodbye may take.
const CLOSE_WAIT: Duration = Duration::from_secs(5);

/// How many pages a list of tools may have.
const PAGES_MAX: usize = 64;

/// How much of an error text from others is passed on, in bytes.
const ERROR_MAX: usize = 2000;

/// A connection. Dropped to be closed: a program is killed then, with all its children.
pub(super) struct Link {
    name: String,
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Handler>>>,
    /// There is a program behind it.
    program: Option<Watch>,
    tools_changed: Arc<AtomicBool>,
}

impl Link {
    /// Starts a server, or connects to one, and greets it: as servers of today expect it, then as the next version of
    /// MCP has it, if the server knows only that.
    pub(super) async fn open(name: &str, server: &Server, options: &Options) -> Result<Self, Fault> {
        let greeted = match Self::start(name, server, options, ClientLifecycleMode::Initialize).await {
            Err(NotGreeted { knows_initialize: false, .. }) => {
                let next =
                    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
                Self::start(name, server, options, next).await
            }
            greeted => greeted,
        };
        greeted.map_err(|error| error.fault)
    }

    async fn start(
        name: &str,
        server: &Server,
        options: &Options,
        mode: ClientLifecycleMode,
    ) -> Result<Self, NotGreeted> {
        match server {
            Server::Program { command, env, dir } => {
                let dir = place(options.dir.as_deref(), dir.as_deref());
                let start = Start { command, env, dir, message_bytes: options.message_bytes };
                let (program, watch) =
                    Program::start(&start).map_err(|message| Fault::lasting(name, message))?;
                Self::greet(name, program, Some(watch), options, mode).await
            }
            Server::Address { url, token_env } => {
                let transport = http::open(url, token_env.as_deref(), options.message_bytes)
                    .map_err(|message| Fault::lasting(name, message))?;
                Self::greet(name, transport, None, options, mode).await
            }
        }
    }

    async fn greet<T>(
        name: &str,
        transport: T,
        program: Option<Watch>,
        options: &Options,
        mode: ClientLifecycleMode,
    ) -> Result<Self, NotGreeted>
    where
        T: Transport<RoleClient> + 'static,
        T::Error: Error + Send + Sync + 'static,
    {
        // They were never listed.
        let tools_changed = Arc::new(AtomicBool::new(true));
        let tap = Tap::new(transport, tools_changed.clone());
        let handler = Handler { roots: options.roots.clone() };
        match timeout(options.start, serve_client_with_lifecycle(handler, tap, mode)).await {
            Ok(Ok(service)) => Ok(Self {
                name: name.to_owned(),
                peer: service.peer().clone(),
                service: Mutex::new(Some(service)),
                program,
                tools_changed,
            }),
            Ok(Err(error)) => Err(NotGreeted::new(name, &error, program.as_ref())),
            Err(_) => {
                let last_words = program.map_or_else(String::new, |watch| watch.log.last_words());
                let seconds = options.start.as_secs_f32();
                let message = format!("did not answer `initialize` within {seconds} s{last_words}");
                Err(Fault::passing(name, message).into())
            }
        }
    }

    /// Whether it is of no use any more.
    pub(super) fn is_closed(&self) -> bool {
        let has_ended = self.program.as_ref().is_some_and(|watch| watch.ended.borrow().is_some());
        has_ended || self.peer.is_transport_closed()
    }

    /// The other side.
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    /// The server, as the definition calls it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Lists the tools if they may have changed since they were last listed, up to a number; says whether there are
    /// more.
    pub(super) async fn list_changed(&self, options: &Options) -> Result<Option<(Vec<Tool>, bool)>, Fault> {
        if !self.tools_changed.swap(false, Ordering::AcqRel) {
            return Ok(None);
        }
        let listed = self.list(options).await;
        if listed.is_err() {
            self.tools_changed.store(true, Ordering::Release);
        }
        listed.map(Some)
    }

    async fn list(&self, options: &Options) -> Result<(Vec<Tool>, bool), Fault> {
        match timeout(options.start, self.pages(options.tools)).await {
            Ok(Ok(listed)) => Ok(listed),
            Ok(Err(error)) => Err(self.fault(&error, "listing its tools").await),
            Err(_) => {
                let message = format!("did not list its tools within {} s", options.start.as_secs_f32());
                Err(Fault::passing(&self.name, message))
            }
        }
    }

    async fn pages(&self, tools_max: usize) -> Result<(Vec<Tool>, bool), ServiceError> {
        let offers_tools = self.peer.peer_info().is_some_and(|info| info.capabilities.tools.is_some());
        if !offers_tools {
            return Ok((Vec::new(), false));
        }
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.peer.list_tools(Some(page)).await?;
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || tools.len() > tools_max {
                break;
            }
        }
        let has_more = cursor.is_some() || tools.len() > tools_max;
        tools.truncate(tools_max);
        Ok((tools, has_more))
    }

    /// What went wrong, with how the program ended if that is why.
    pub(super) async fn fault(&self, error: &ServiceError, doing: &str) -> Fault {
        let has_answered = matches!(error, ServiceError::McpError(_) | ServiceError::UnexpectedResponse);
        if let (false, Some(watch)) = (has_answered, &self.program) {
            let mut ended = watch.ended.clone();
            if let Ok(Ok(how)) = timeout(END_WAIT, ended.wait_for(Option::is_some)).await {
                let how = how.as_deref().unwrap_or_default();
                return Fault::passing(&self.name, format!("{how} while {doing}{}", watch.log.last_words()));
            }
        }
        let why = match error {
            ServiceError::TransportSend(error) => chain(error.error.as_ref()),
            ServiceError::McpError(error) => error.message.to_string(),
            error => error.to_string(),
        };
        Fault::passing(&self.name, format!("failed while {doing}: {}", cut(&why, ERROR_MAX)))
    }

    /// Ends the connection as a server expects it: its input is closed, and it may end by itself.
    pub(super) async fn close(&self) {
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut service) = service {
            let _ = service.close_with_timeout(CLOSE_WAIT).await;
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(watch) = &self.program {
            watch.group.cut();
        }
    }
}

/// Where a program runs: its own folder, seen from ours.
fn place(ours: Option<&Path>, own: Option<&str>) -> Option<PathBuf> {
    match (ours, own) {
        (Some(ours), Some(own)) => Some(ours.join(own)),
        (None, Some(own)) => Some(own.into()),
        (ours, None) => ours.map(Path::to_owned),
    }
}

/// A server that could not be greeted.
struct NotGreeted {
    fault: Fault,
    /// It may only not know this way of greeting.
    knows_initialize: bool,
}

impl NotGreeted {
    fn new(name: &str, error: &ClientInitializeError, program: Option<&Watch>) -> Self {
        let ended = program.and_then(|watch| watch.ended.borrow().clone());
        let how = ended.map_or_else(|| refused(error), |how| format!("{how} before it was ready"));
        let last_words = program.map_or_else(String::new, |watch| watch.log.last_words());
        let (mut is_lasting, mut knows_initialize) = (false, true);
        match error {
            ClientInitializeError::TransportError { error, .. } => {
                is_lasting = http::is_refusal(error.error.as_ref());
            }
            ClientInitializeError::JsonRpcError(error) => {
                knows_initialize = error.code != ErrorCode::METHOD_NOT_FOUND;
            }
            _ => {}
        }
        let fault = Fault { retryable: !is_lasting, ..Fault::passing(name, how + &last_words) };
        Self { fault, knows_initialize }
    }
}

impl From<Fault> for NotGreeted {
    fn from(fault: Fault) -> Self {
        Self { fault, knows_initialize: true }
    }
}

/// Why a server could not be greeted, without the SDK's own words for it.
fn refused(error: &ClientInitializeError) -> String {
    let why = match error {
        ClientInitializeError::TransportError { error, .. } => chain(error.error.as_ref()),
        ClientInitializeError::JsonRpcError(error) => format!("{} ({})", error.message, error.code.0),
        error => error.to_string(),
    };
    format!("cannot be connected to: {}", cut(&why, ERROR_MAX))
}

/// An error with all that caused it.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(inner) = source {
        let text = inner.to_string();
        if !texts.last().is_some_and(|outer| outer.ends_with(&text)) {
            texts.push(text);
        }
        source = inner.source();
    }
    texts.join(": ")
}
