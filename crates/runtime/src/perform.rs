//! The work of nodes, each in a task of its own that reports to the driver, unless it is done at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use antiphon_event::body::system::Amounts;
use antiphon_event::{self as event, Body, ErrorCode, Event, Head, RunId};
use antiphon_flow::function::{Failure, Reply};
use antiphon_flow::{Attempt, Work, may_be_said};
use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::command;
use crate::driver::{Driver, Wake};
use crate::function::{Call, Function, Future, Kind, Setting};
use crate::harness::Invoke;
use crate::stand_in::Job;
use crate::tool;
use crate::tree::Machine;

/// Where what a node says goes: to the driver, with the attempt it belongs to.
#[derive(Clone)]
pub(crate) struct Mouth {
    machine: usize,
    attempt: Attempt,
    wakes: mpsc::Sender<Wake>,
    /// Whether what it spends is bounded.
    bounded: bool,
    /// Who counts what it spends, if not its own driver.
    outer: Option<Box<Outer>>,
}

/// Work of another driver that what is spent is part of.
#[derive(Debug, Clone)]
pub(crate) struct Outer {
    pub(crate) machine: usize,
    pub(crate) attempt: Attempt,
    pub(crate) wakes: mpsc::Sender<Wake>,
    /// Whether money is bounded there.
    pub(crate) is_priced: bool,
}

impl Mouth {
    pub(crate) fn new(machine: usize, attempt: Attempt, wakes: mpsc::Sender<Wake>, bounded: bool) -> Self {
        Self { machine, attempt, wakes, bounded, outer: None }
    }

    /// The same, with what it spends counted elsewhere.
    pub(crate) fn drawing_on(self, outer: Option<Outer>) -> Self {
        Self { outer: outer.map(Box::new), ..self }
    }

    /// Where what it spends is counted.
    fn purse(&self) -> (usize, Attempt, &mpsc::Sender<Wake>) {
        match &self.outer {
            Some(outer) => (outer.machine, outer.attempt, &outer.wakes),
            None => (self.machine, self.attempt, &self.wakes),
        }
    }

    /// Whether what it spends is bounded.
    pub(crate) fn is_bounded(&self) -> bool {
        self.bounded
    }

    /// Tells the driver something about this work.
    pub(crate) async fn wake(&self, wake: impl FnOnce(usize, Attempt) -> Wake) {
        // A driver that is gone takes nothing more; the task ends with it.
        let _ = self.wakes.send(wake(self.machine, self.attempt)).await;
    }

    pub(crate) async fn say(&self, run: RunId, body: Body) {
        self.send(Some(run), body).await;
    }

    /// Says something as the node itself.
    pub(crate) async fn tell(&self, body: Body) {
        self.send(None, body).await;
    }

    async fn send(&self, run: Option<RunId>, body: Body) {
        if !may_be_said(body.kind()) {
            tracing::warn!(kind = body.tag(), "a node may not say this");
            return;
        }
        let head = Head::from(event::Context { run_id: run, ..event::Context::default() });
        let event = Event::of(head, body);
        self.wake(|machine, attempt| Wake::Said(machine, attempt, Box::new(event))).await;
    }
}

impl Mouth {
    /// Waits until an amount is set aside; the name of the reservation, or nothing where nothing is bounded.
    pub(crate) async fn reserve(&self, amounts: Amounts) -> Result<Option<String>, Failure> {
        if !self.bounded {
            return Ok(None);
        }
        let (reply, granted) = oneshot::channel();
        let (machine, attempt, wakes) = self.purse();
        let _ = wakes.send(Wake::Wants(machine, attempt, amounts, reply)).await;
        let refused = || Failure::of(ErrorCode::BudgetExhausted, "the budget is spent".to_owned());
        granted.await.map(Some).map_err(|_| refused())
    }

    /// Settles a reservation with what was really spent.
    pub(crate) async fn settle(&self, id: Option<String>, amounts: Amounts) {
        if self.bounded {
            let (machine, _, wakes) = self.purse();
            let _ = wakes.send(Wake::Spent(machine, id, amounts)).await;
        }
    }
}

/// One attempt as its code sees it.
fn call(driver: &Driver, machine: usize, attempt: Attempt) -> Call {
    let Machine { mind, setting, .. } = &driver.tree.machines[machine];
    let scheduler = mind.flow();
    Call {
        input: scheduler.input(attempt.node),
        state: scheduler.state().clone(),
        node: scheduler.flow().id(attempt.node).clone(),
        execution: attempt.execution,
        attempt: attempt.attempt,
        place: (machine, attempt.node),
        setting: Arc::clone(setting.get_or_init(|| Arc::new(setting_of(driver, machine)))),
    }
}

fn setting_of(driver: &Driver, machine: usize) -> Setting {
    let (scheduler, branch) = (driver.tree.machines[machine].mind.flow(), &driver.branch.branch);
    Setting {
        task: scheduler.task().clone(),
        run: scheduler.origin().run.clone(),
        branch: (*branch != "main").then(|| branch.clone()),
        wakes: driver.wakes.clone(),
        bounded: driver.is_bounded(machine),
        folder: driver.parts.folder.clone(),
    }
}

/// What work comes to.
pub(crate) type Outcome = Result<Reply, Failure>;

/// What became of work that was begun.
pub(crate) enum Begun {
    /// It came to its end at once.
    Done(Outcome),
    /// It goes on in a task.
    Task(JoinHandle<()>),
}

/// Begins the work of an attempt; code that does not block is tried first, if it may be.
pub(crate) fn start(driver: &Driver, machine: usize, attempt: Attempt, may_try: bool) -> Begun {
    let scheduler = driver.tree.machines[machine].mind.flow();
    let call = call(driver, machine, attempt);
    let report = move |result| Wake::Outcome(machine, attempt, result);
    if let Some(stand_in) = &driver.parts.stand_in {
        let path = scheduler.path(attempt.node);
        let work = stand_in.answer(Job { path, around: around(driver, machine), call });
        return Begun::Task(start_async(work, driver.wakes.clone(), report));
    }
    let work: Future<Outcome> = match &scheduler.flow().node(attempt.node).work {
        Work::Function(code) => match code.get::<Function>() {
            Some(Function(Kind::Plain(code))) => {
                return Begun::Task(start_plain(Arc::clone(code), call, driver.wakes.clone(), report));
            }
            Some(Function(Kind::Async(code))) => match begin(&**code, call, may_try) {
                Ok(result) => return Begun::Done(result),
                Err(work) => work,
            },
            None => refuse("its code was written for another driver".to_owned()),
        },
        Work::Command(command) => {
            let json = scheduler.flow().node(attempt.node).output.is_some();
            Box::pin(command::run(command.clone(), call, json))
        }
        Work::Tool(wanted) => match driver.parts.tools.get(&wanted.name) {
            Some(found) => tool::of_node(Arc::clone(found), call),
            None => refuse(format!("there is no tool `{}`", wanted.name)),
        },
        Work::Agent(agent) => match driver.parts.harnesses.get(&agent.harness) {
            Some(harness) => {
                let (settings, run) = (agent.settings.clone(), driver.parts.ids.run());
                let mouth = call.mouth();
                harness.invoke(Invoke { settings, call, run, mouth })
            }
            None => refuse(format!("there is no harness `{}`", agent.harness)),
        },
        other => refuse(format!("a `{}` is not the driver's to do", other.kind())),
    };
    Begun::Task(start_async(work, driver.wakes.clone(), report))
}

/// The executions of the nodes around a run, outermost first.
fn around(driver: &Driver, machine: usize) -> Vec<u32> {
    let mut executions = Vec::new();
    let mut inner = machine;
    while let Some((outer, attempt)) = driver.tree.machines[inner].parent {
        executions.push(attempt.execution);
        inner = outer;
    }
    executions.reverse();
    executions
}

/// Calls code, and polls what it gives once if it may: what it comes to, or else what is left to do. Nobody is to
/// be woken by that: the task that the rest becomes polls it again.
fn begin(
    code: &dyn Fn(Call) -> Future<Outcome>,
    call: Call,
    may_try: bool,
) -> Result<Outcome, Future<Outcome>> {
    let begins = || {
        let mut work = code(call);
        if !may_try {
            return Err(work);
        }
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => Ok(result),
            Poll::Pending => Err(work),
        }
    };
    catch_unwind(AssertUnwindSafe(begins)).unwrap_or_else(|_| Ok(Err(panicked())))
}

fn start_async(
    work: Future<Result<Reply, Failure>>,
    wakes: mpsc::Sender<Wake>,
    report: impl Fn(Result<Reply, Failure>) -> Wake + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let result = AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(panicked()));
        let _ = wakes.send(report(result)).await;
    })
}

/// Code that may block gets a thread of its own.
fn start_plain(
    code: Arc<dyn Fn(Call) -> Result<Reply, Failure> + Send + Sync>,
    call: Call,
    wakes: mpsc::Sender<Wake>,
    report: impl Fn(Result<Reply, Failure>) -> Wake + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let result =
            tokio::task::spawn_blocking(move || code(call)).await.unwrap_or_else(|_| Err(panicked()));
        let _ = wakes.send(report(result)).await;
    })
}

fn refuse(message: String) -> Future<Result<Reply, Failure>> {
    Box::pin(async move { Err(Failure::of(ErrorCode::Failed, message)) })
}

fn panicked() -> Failure {
    Failure::of(ErrorCode::Failed, "its code panicked".to_owned())
}
