//! [`Endpoint`]: where a vendor is asked over HTTP, and [`Dialect`], how it answers.
//!
//! In: the body of a request. Out: a stream of deltas; dropping it closes the connection. An answer may come as events or
//! whole; what it is its first byte says, for many a server gets the content type wrong. Start reading at [`Endpoint::ask`].

use std::sync::{Arc, Once};
use std::time::Duration;

use antiphon_agent::{Delta, Fault, ModelUse};
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url};
use tokio::time::timeout;

use crate::Refused;
use crate::answer::{ANSWER_MAX, Answer};
use crate::fault::{cause, cut, lasting, of_status, passing, plain};
use crate::key::Key;
use crate::redact::redact;
use crate::sse::{Event, Parser, TooLong};

/// How long a vendor may go on sending once it has said why it stopped.
const LINGER: Duration = Duration::from_secs(5);
/// How long the end of the connection's part for an answer is waited for, so that the next one need not connect anew.
const DRAIN: Duration = Duration::from_millis(100);
/// How many bytes of the body of an error are read.
const ERROR_MAX: usize = 64 * 1024;

/// How a vendor answers.
pub(crate) trait Dialect: Send + 'static {
    /// Takes an event; gives back whether it was the last one.
    fn event(&mut self, event: Event<'_>, answer: &mut Answer) -> Result<bool, Fault>;

    /// Takes an answer that came whole.
    fn whole(&mut self, body: &str, answer: &mut Answer) -> Result<(), Fault>;

    /// All was taken: hands over what was held back.
    fn finish(&mut self, answer: &mut Answer) -> Result<(), Fault>;
}

/// Where a vendor is asked.
pub(crate) struct Endpoint {
    client: Client,
    url: Url,
    headers: HeaderMap,
    key: Option<Key>,
    /// Which model, where: the beginning of every message.
    who: String,
    idle: Duration,
}

/// How long connecting may take, and how long a vendor may say nothing.
pub(crate) struct Patience {
    pub(crate) connect: Duration,
    pub(crate) idle: Duration,
}

impl Endpoint {
    pub(crate) fn new(
        settings: &ModelUse,
        url: Url,
        patience: &Patience,
        key: Option<Key>,
        mut headers: HeaderMap,
    ) -> Result<Arc<Self>, Refused> {
        let client = client(&url, patience).map_err(|error| Refused::Setting {
            setting: "base_url",
            why: format!("cannot speak to it: {}", cause(&error)),
        })?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let (provider, model) = (&settings.provider, settings.model.as_deref().unwrap_or_default());
        let place = place(&url);
        let who = format!("{provider} model `{}` at {place}", cut(model));
        Ok(Arc::new(Self { client, url, headers, key, who, idle: patience.idle }))
    }

    /// Asks, and gives what is answered. `estimate` is about how many tokens the request has.
    pub(crate) fn ask<D: Dialect>(
        self: Arc<Self>,
        body: Vec<u8>,
        dialect: D,
        estimate: u64,
    ) -> BoxStream<'static, Result<Delta, Fault>> {
        let stage = Stage::Asking(body);
        let exchange = Exchange { endpoint: self, dialect, answer: Answer::default(), stage, estimate };
        stream::unfold(exchange, |mut exchange| async move {
            exchange.next().await.map(|delta| (delta, exchange))
        })
        .boxed()
    }

    /// The fault with which model it was, and without the key.
    fn word(&self, fault: Fault) -> Fault {
        let message = format!("{} {}", self.who, fault.message);
        let message = self.key.as_ref().map_or_else(|| message.clone(), |key| key.scrub(&message));
        let fault = Fault { message: redact(&message).into_owned(), ..fault };
        tracing::debug!(code = fault.code, retryable = fault.retryable, message = %fault.message, "model fault");
        fault
    }
}

/// The host, and the port if it is an unusual one: all that a person needs to see of an address.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether an address is this machine's own.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn client(url: &Url, patience: &Patience) -> reqwest::Result<Client> {
    static PROVIDER: Once = Once::new();
    // Whoever was first may keep it: it is the same for everybody.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = Client::builder()
        .user_agent(concat!("antiphon/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(patience.connect)
        // What is asked for has a key with it, which is for nobody else.
        .redirect(reqwest::redirect::Policy::none())
        // Whoever reads has to be told before something is tried again.
        .retry(reqwest::retry::never());
    if url.scheme() == "http" {
        // The certificates of the system are not needed, and reading them takes its time.
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build()
}

/// One request and its answer.
struct Exchange<D> {
    endpoint: Arc<Endpoint>,
    dialect: D,
    answer: Answer,
    stage: Stage,
    estimate: u64,
}

enum Stage {
    Asking(Vec<u8>),
    Reading(Box<Reading>),
    /// All was said; what is left of the answer means nothing.
    Draining(Box<Reading>),
    Failed(Fault),
    Over,
}

/// An answer that is being read.
struct Reading {
    response: Response,
    form: Form,
    bytes: usize,
    /// How it began, for a person.
    beginning: String,
}

/// How an answer comes.
enum Form {
    /// Nothing but white space so far.
    Unknown,
    Events(Parser),
    Whole(Vec<u8>),
}

impl<D: Dialect> Exchange<D> {
    async fn next(&mut self) -> Option<Result<Delta, Fault>> {
        loop {
            if let Some(delta) = self.answer.next() {
                return Some(Ok(delta));
            }
            let done = match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::Failed(fault) => return Some(Err(self.endpoint.word(fault))),
                Stage::Asking(body) => self.begin(body).await,
                Stage::Reading(reading) => self.read(reading).await,
                Stage::Draining(mut reading) => {
                    let rest = async { while let Ok(Some(_)) = reading.response.chunk().await {} };
                    // A connection that is not at its end is closed, which does no harm.
                    let _ = timeout(DRAIN, rest).await;
                    return None;
                }
            };
            self.stage = done.unwrap_or_else(Stage::Failed);
        }
    }

    async fn begin(&mut self, body: Vec<u8>) -> Result<Stage, Fault> {
        let Endpoint { client, url, headers, idle, .. } = &*self.endpoint;
        tracing::debug!(who = self.endpoint.who, bytes = body.len(), "asking a model");
        let request = client.post(url.clone()).headers(headers.clone()).body(body);
        let response = match timeout(*idle, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(of_connection(error)),
            Err(_) => return Err(silent(*idle)),
        };
        if response.status().as_u16() == 200 {
            return Ok(Stage::Reading(Box::new(Reading {
                response,
                form: Form::Unknown,
                bytes: 0,
                beginning: String::new(),
            })));
        }
        let (status, headers) = (response.status(), response.headers().clone());
        Err(of_status(status, &headers, &read_error(response, *idle).await))
    }

    /// Reads the next bytes, or notices that there are none.
    async fn read(&mut self, mut reading: Box<Reading>) -> Result<Stage, Fault> {
        let idle = self.endpoint.idle;
        let has_stopped = self.answer.stop.is_some();
        let patience = if has_stopped { idle.min(LINGER) } else { idle };
        match timeout(patience, reading.response.chunk()).await {
            Ok(Ok(Some(bytes))) => self.take(reading, &bytes),
            Ok(Ok(None)) => self.end(reading),
            // It had said all.
            Ok(Err(_)) | Err(_) if has_stopped => self.finish(),
            Ok(Err(error)) => Err(of_connection(error)),
            Err(_) => Err(silent(idle)),
        }
    }

    fn take(&mut self, mut reading: Box<Reading>, bytes: &[u8]) -> Result<Stage, Fault> {
        reading.bytes += bytes.len();
        if reading.bytes > 4 * ANSWER_MAX {
            return Err(lasting("malformed", format!("answered with more than {} bytes", 4 * ANSWER_MAX)));
        }
        if matches!(reading.form, Form::Unknown) {
            let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else {
                return Ok(Stage::Reading(reading));
            };
            reading.beginning = plain(&String::from_utf8_lossy(bytes));
            reading.form = match first {
                b'<' => return Err(no_answer(&reading.beginning)),
                b'{' | b'[' => Form::Whole(Vec::new()),
                _ => Form::Events(Parser::new()),
            };
        }
        match &mut reading.form {
            Form::Unknown => {}
            Form::Whole(body) if body.len() + bytes.len() > ANSWER_MAX => {
                return Err(lasting("malformed", format!("answered with more than {ANSWER_MAX} bytes")));
            }
            Form::Whole(body) => body.extend_from_slice(bytes),
            Form::Events(parser) => {
                if feed(&mut self.dialect, &mut self.answer, parser, bytes)? {
                    self.finish()?;
                    return Ok(Stage::Draining(reading));
                }
            }
        }
        Ok(Stage::Reading(reading))
    }

    /// The connection was closed.
    fn end(&mut self, reading: Box<Reading>) -> Result<Stage, Fault> {
        match reading.form {
            Form::Unknown => return Err(passing("connection", "closed the connection without an answer")),
            Form::Whole(body) => self.dialect.whole(&String::from_utf8_lossy(&body), &mut self.answer)?,
            Form::Events(parser) => {
                let (dialect, answer) = (&mut self.dialect, &mut self.answer);
                // An event without its end may be half of one, which makes no difference to what is missing then.
                let last = parser.finish(|event| dialect.event(event, answer).map(drop).map_err(Torn::Fault));
                if self.answer.stop.is_none() {
                    return Err(match last {
                        Err(Torn::Fault(fault)) if fault.code != "malformed" => fault,
                        _ if !is_stream(&reading.beginning) => no_answer(&reading.beginning),
                        _ => passing("connection", "closed the connection in the middle of its answer"),
                    });
                }
            }
        }
        self.finish()
    }

    fn finish(&mut self) -> Result<Stage, Fault> {
        self.dialect.finish(&mut self.answer)?;
        self.answer.finish(self.estimate);
        Ok(Stage::Over)
    }
}

/// Why events could not be taken.
enum Torn {
    Fault(Fault),
    /// The vendor said that it was all.
    Over,
}

impl From<TooLong> for Torn {
    fn from(error: TooLong) -> Self {
        Self::Fault(lasting("malformed", format!("sent {error}")))
    }
}

/// Takes events; gives back whether the last one was among them.
fn feed(
    dialect: &mut impl Dialect,
    answer: &mut Answer,
    parser: &mut Parser,
    bytes: &[u8],
) -> Result<bool, Fault> {
    let fed = parser.feed(bytes, |event| match dialect.event(event, answer) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Torn::Over),
        Err(fault) => Err(Torn::Fault(fault)),
    });
    match fed {
        Ok(()) => Ok(false),
        Err(Torn::Over) => Ok(true),
        Err(Torn::Fault(fault)) => Err(fault),
    }
}

/// What is there of the body of an error, in the time there is.
async fn read_error(mut response: Response, idle: Duration) -> String {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(bytes)) = response.chunk().await {
            let room = ERROR_MAX - body.len();
            body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if body.len() == ERROR_MAX {
                break;
            }
        }
    };
    // The status alone says enough.
    let _ = timeout(idle, read).await;
    String::from_utf8_lossy(&body).into_owned()
}

fn of_connection(error: reqwest::Error) -> Fault {
    let error = error.without_url();
    if error.is_timeout() {
        return passing("timeout", "did not take the connection in time");
    }
    let what = if error.is_connect() { "could not be reached" } else { "lost the connection" };
    passing("connection", format!("{what}: {}", cause(&error)))
}

fn silent(idle: Duration) -> Fault {
    passing("timeout", format!("said nothing for {idle:?}; `idle_timeout` says how long it may"))
}

/// Whether something begins as events do, be it a comment.
fn is_stream(beginning: &str) -> bool {
    let text = beginning.trim_start_matches('\u{feff}');
    ["data", "event", ":", "id", "retry"]
        .iter()
        .any(|member| text.starts_with(member) || member.starts_with(text))
}

fn no_answer(beginning: &str) -> Fault {
    lasting("malformed", format!("answered with something that is no answer; check `base_url`: {beginning}"))
}
