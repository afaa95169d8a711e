//! One piece of code of an agent, in a task of its own that reports to the driver.
//!
//! In: code, and a session for it; in a new process, a fresh session and all code before it with the answers it had.
//! Out: what it prints and calls, at last what it came to and the session. Start reading at [`start`].

use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use antiphon_agent::machine::{Agent, BASH, Given, QUERY, Ran};
use antiphon_agent::{Definition, Rlm};
use antiphon_event::{CallId, Json, ReplId, RunId, StreamName, Timestamp};
use antiphon_port::{Future, Host, Opening, Repl, ReplLimits, Sandbox, Turn};
use futures_util::FutureExt;
use serde_json::json;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::driver::Wake;
use crate::perform::Mouth;

/// The session that the code of an agent runs in.
pub(crate) struct Session(Box<dyn Repl>);

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

/// A call that code makes.
#[derive(Debug)]
pub(crate) struct Asking {
    number: u32,
    what: What,
    pub(crate) reply: oneshot::Sender<Given>,
}

#[derive(Debug)]
enum What {
    Query(String, Option<String>),
    Exec(String),
}

impl Asking {
    /// The id of the call among those of the code, the tool, and its arguments.
    pub(crate) fn call(&self, code: &ReplId) -> (CallId, &'static str, Json) {
        let (kind, name, input) = match &self.what {
            What::Exec(command) => ("exec", BASH, json!({"command": command})),
            What::Query(prompt, None) => ("query", QUERY, json!({"prompt": prompt})),
            What::Query(prompt, Some(context)) => {
                ("query", QUERY, json!({"prompt": prompt, "context": context}))
            }
        };
        (CallId::from(format!("{code}:{kind}:{}", self.number)), name, Json::from(input))
    }
}

/// What code came to.
#[derive(Debug)]
pub(crate) struct Evaluated {
    pub(crate) session: Option<Session>,
    pub(crate) ran: Ran,
}

/// Code that is to be run.
pub(crate) struct Evaluation {
    code: String,
    /// How many bytes of output and of errors were told of before.
    told: (usize, usize),
    place: Place,
}

enum Place {
    /// A session that has all that came before.
    Here(Session),
    /// A session is to be opened, and all code before is to be run in it with the answers it had.
    New { sandbox: Arc<dyn Sandbox>, opening: Box<Opening>, before: Vec<(String, BTreeMap<u32, Given>)> },
    /// There is none; why.
    None(String),
}

impl Evaluation {
    /// The code that an agent has under way.
    pub(crate) fn new(
        agent: &Agent,
        session: Option<Session>,
        sandbox: Option<Arc<dyn Sandbox>>,
    ) -> Option<Self> {
        let code = agent.code()?;
        let place = match (session, sandbox) {
            (Some(session), _) => Place::Here(session),
            (None, Some(sandbox)) => match limits(agent.definition()) {
                Ok(limits) => {
                    let opening = Box::new(Opening {
                        context: agent.context().into_owned(),
                        limits,
                        now: agent.began().unwrap_or_else(|| Timestamp::from_millis(0).expect("a moment")),
                        seed: seed(&agent.origin().run),
                    });
                    let before = agent.codes().iter().map(|code| (code.code.clone(), code.given())).collect();
                    Place::New { sandbox, opening, before }
                }
                Err(why) => Place::None(why),
            },
            (None, None) => {
                Place::None("code cannot be run here: nobody gave the agent a sandbox".to_owned())
            }
        };
        Some(Self { code: code.code.clone(), told: code.printed, place })
    }
}

fn limits(definition: &Definition) -> Result<ReplLimits, String> {
    let (options, usual) = (Rlm::of(definition)?, ReplLimits::default());
    let size = |given: Option<u64>, usual: usize| given.map_or(usual, |given| given as usize);
    Ok(ReplLimits {
        memory_bytes: options.memory_mb.map_or(usual.memory_bytes, |mebibytes| (mebibytes as usize) << 20),
        time: options.time_ms.map_or(usual.time, Duration::from_millis),
        output_chars: size(options.output_chars, usual.output_chars),
        ..usual
    })
}

/// The same for the same run, so that chance repeats itself in a new process.
fn seed(run: &RunId) -> u64 {
    // FNV-1a: the same in every version of this program.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    run.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Runs code.
pub(crate) fn start(evaluation: Evaluation, mouth: Mouth) -> JoinHandle<()> {
    tokio::spawn(async move {
        let evaluated = AssertUnwindSafe(evaluate(evaluation, &mouth)).catch_unwind().await;
        let evaluated = evaluated.unwrap_or_else(|_| Evaluated {
            session: None,
            ran: failed("what runs code panicked; scope is as it was before this code".to_owned()),
        });
        mouth.wake(|machine, attempt| Wake::Evaluated(machine, attempt, evaluated)).await;
    })
}

async fn evaluate(evaluation: Evaluation, mouth: &Mouth) -> Evaluated {
    let Evaluation { code, told, place } = evaluation;
    let mut session = match place {
        Place::Here(session) => session,
        Place::New { sandbox, opening, before } => match sandbox.open(*opening) {
            Ok(session) => again(Session(session), before).await,
            Err(why) => return Evaluated { session: None, ran: failed(why) },
        },
        Place::None(why) => return Evaluated { session: None, ran: failed(why) },
    };
    let output = Output { chunks: Mutex::default(), told: Mutex::new(told), came: Notify::new() };
    let desk = Arc::new(Desk { output, mouth: mouth.clone() });
    let mut turn = session.0.run(code, Arc::clone(&desk) as Arc<dyn Host>);
    let turn = loop {
        tokio::select! {
            biased;
            turn = &mut turn => break turn,
            () = desk.output.came.notified() => desk.hand_over().await,
        }
    };
    desk.hand_over().await;
    Evaluated { session: Some(session), ran: ran(turn) }
}

/// Runs all code once more that came to its end before, with the answers it had then.
async fn again(mut session: Session, before: Vec<(String, BTreeMap<u32, Given>)>) -> Session {
    for (code, given) in before {
        session.0.run(code, Arc::new(Recorded(given))).await;
    }
    session
}

fn ran(turn: Turn) -> Ran {
    let Turn { stdout, truncated, error, answer } = turn;
    Ran { stdout, truncated, error, answer }
}

fn failed(error: String) -> Ran {
    Ran { error: Some(error), ..Ran::default() }
}

/// What code reaches: the driver.
struct Desk {
    output: Output,
    mouth: Mouth,
}

/// What was printed and not yet handed over.
struct Output {
    chunks: Mutex<Vec<(StreamName, String)>>,
    /// How much of what comes next was told of by a process before.
    told: Mutex<(usize, usize)>,
    came: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Output {
    fn push(&self, stream: StreamName, mut chunk: String) {
        let mut told = lock(&self.told);
        let left = if stream == StreamName::Stderr { &mut told.1 } else { &mut told.0 };
        let known = chunk.floor_char_boundary((*left).min(chunk.len()));
        *left -= known;
        chunk.drain(..known);
        if chunk.is_empty() {
            return;
        }
        let mut chunks = lock(&self.chunks);
        match chunks.last_mut() {
            Some((last, text)) if *last == stream => text.push_str(&chunk),
            Some(_) | None => chunks.push((stream, chunk)),
        }
        self.came.notify_one();
    }
}

impl Desk {
    async fn hand_over(&self) {
        let chunks = std::mem::take(&mut *lock(&self.output.chunks));
        if !chunks.is_empty() {
            self.mouth.wake(|machine, attempt| Wake::Printed(machine, attempt, chunks)).await;
        }
    }
}

/// Makes a call, after all that was printed before it.
fn ask(desk: &Desk, number: u32, what: What) -> Future<Given> {
    let chunks = std::mem::take(&mut *lock(&desk.output.chunks));
    let mouth = desk.mouth.clone();
    Box::pin(async move {
        if !chunks.is_empty() {
            mouth.wake(|machine, attempt| Wake::Printed(machine, attempt, chunks)).await;
        }
        let (reply, given) = oneshot::channel();
        let asking = Asking { number, what, reply };
        mouth.wake(|machine, attempt| Wake::Called(machine, attempt, asking)).await;
        given.await.unwrap_or_else(|_| Err("the agent does not wait for it any more".to_owned()))
    })
}

impl Host for Desk {
    fn print(&self, stream: StreamName, chunk: String) {
        self.output.push(stream, chunk);
    }

    fn query(&self, call: u32, prompt: String, context: Option<String>) -> Future<Given> {
        ask(self, call, What::Query(prompt, context))
    }

    fn exec(&self, call: u32, command: String) -> Future<Given> {
        ask(self, call, What::Exec(command))
    }
}

/// Gives the answers that were given before; a call that had none by the end of its code gets none.
struct Recorded(BTreeMap<u32, Given>);

impl Recorded {
    fn answer(&self, call: u32) -> Future<Given> {
        match self.0.get(&call).cloned() {
            Some(given) => Box::pin(std::future::ready(given)),
            None => Box::pin(std::future::pending()),
        }
    }
}

impl Host for Recorded {
    fn print(&self, _: StreamName, _: String) {}

    fn query(&self, call: u32, _: String, _: Option<String>) -> Future<Given> {
        self.answer(call)
    }

    fn exec(&self, call: u32, _: String) -> Future<Given> {
        self.answer(call)
    }
}
