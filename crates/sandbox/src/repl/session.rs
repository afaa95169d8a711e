//! [`Session`]: the caller's side of a session.
//!
//! In: code and a host. Out: a turn. The future of a turn polls the calls of the host, so that they are dropped with
//! it. Start reading at [`Link::run`].

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};

use antiphon_port::{Future, Host, Opening, Repl, Turn};
use futures_util::StreamExt;
use futures_util::future::FutureExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc::unbounded_channel;

use super::desk::Said;
use super::engine::Answer;
use super::gate::{Gate, Hold};
use super::thread::{self, LOST_SCOPE, Line, Order};
use super::watch::watch;

/// A session: its thread, as long as it has one.
#[derive(Debug)]
pub(super) struct Session(Arc<Link>);

impl Session {
    /// Starts the thread of a session.
    pub(super) fn open(opening: Opening) -> Result<Self, String> {
        let opening = Arc::new(opening);
        let line = thread::spawn(opening.clone())?;
        Ok(Self(Arc::new(Link {
            opening,
            state: Mutex::new(State { line: Some(line), gate: None, closed: false }),
        })))
    }
}

impl Repl for Session {
    fn run(&mut self, code: String, host: Arc<dyn Host>) -> Future<Turn> {
        let link = self.0.clone();
        Box::pin(async move { link.run(code, host).await })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.closed = true;
        state.line = None;
        if let Some(gate) = &state.gate {
            gate.stop();
        }
    }
}

#[derive(Debug)]
struct Link {
    opening: Arc<Opening>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    line: Option<Line>,
    gate: Option<Arc<Gate>>,
    closed: bool,
}

impl Link {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the state of a session")
    }

    async fn run(&self, code: String, host: Arc<dyn Host>) -> Turn {
        let (say, mut said) = unbounded_channel();
        let (answer, answers) = std::sync::mpsc::channel();
        let gate = Arc::new(Gate::new(self.opening.limits.time));
        let _hold = Hold(gate.clone());
        let weak = say.downgrade();
        if let Err(error) = self.hand_over(Order { code, gate: gate.clone(), say, answers }) {
            return failed(error);
        }
        watch(&gate, weak);
        let mut calls = Calls::new();
        loop {
            tokio::select! {
                biased;
                next = said.recv() => match next {
                    Some(Said::Print(stream, chunk)) => host.print(stream, chunk),
                    Some(Said::Query { call, prompt, context }) => {
                        calls.push(host.query(call, prompt, context).map(move |answer| (call, answer)).boxed());
                    }
                    Some(Said::Exec { call, command }) => {
                        calls.push(host.exec(call, command).map(move |answer| (call, answer)).boxed());
                    }
                    Some(Said::Forget) => calls = Calls::new(),
                    Some(Said::Over(turn)) => return turn,
                    Some(Said::Stuck) => return self.give_up("the code is in a built-in that cannot be stopped"),
                    None => return self.give_up("the engine broke down"),
                },
                Some(settled) = calls.next() => tell(&answer, settled),
            }
        }
    }

    /// Gives the order to the thread, to a new one if there is none.
    fn hand_over(&self, mut order: Order) -> Result<(), String> {
        let mut state = self.state();
        if state.closed {
            return Err("the session is closed".to_owned());
        }
        state.gate = Some(order.gate.clone());
        if let Some(line) = &state.line {
            match line.send(order) {
                Ok(()) => return Ok(()),
                Err(refused) => order = refused,
            }
        }
        let line = thread::spawn(self.opening.clone())?;
        let sent = line.send(order).map_err(|_| "the thread for code ended at once".to_owned());
        state.line = Some(line);
        sent
    }

    /// Leaves the thread to itself; the next turn gets a new one.
    fn give_up(&self, why: &str) -> Turn {
        if let Some(line) = self.state().line.take() {
            line.give_up();
        }
        failed(format!("{why}; {LOST_SCOPE}"))
    }
}

type Calls = FuturesUnordered<futures_util::future::BoxFuture<'static, Answer>>;

fn tell(answer: &Sender<Answer>, settled: Answer) {
    // The engine may have ended the turn in the meantime; then nobody waits for it.
    let _ = answer.send(settled);
}

fn failed(error: String) -> Turn {
    Turn { error: Some(error), ..Turn::default() }
}
