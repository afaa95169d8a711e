//! The thread of a session: one engine after the other, one turn after the other.
//!
//! In: [`Order`]s. Out: what [`Said`] carries, at last a turn. Ends when no order can come any more. Start reading at
//! [`spawn`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use antiphon_port::{Opening, Turn};
use rquickjs::context::intrinsic;
use rquickjs::{Context, Runtime};
use tokio::sync::mpsc::UnboundedSender;

use super::desk::{self, Desk, Said, Shared};
use super::engine::{self, Answer, Broken, Engine, Wear};
use super::gate::Gate;

/// Engines that did not come back and still run, at most; beyond that no new one is started.
const LOST_MAX: usize = 4;

static LOST: AtomicUsize = AtomicUsize::new(0);

/// What code is made of besides the core of the language: no clock but `Date`, nothing weak, no loader.
type World = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// A turn to run.
pub(super) struct Order {
    pub(super) code: String,
    pub(super) gate: Arc<Gate>,
    pub(super) say: UnboundedSender<Said>,
    pub(super) answers: Receiver<Answer>,
}

/// The way to a thread.
#[derive(Debug)]
pub(super) struct Line {
    orders: Sender<Order>,
    lost: Arc<AtomicBool>,
}

impl Line {
    /// Hands an order over; given back if the thread is gone.
    pub(super) fn send(&self, order: Order) -> Result<(), Order> {
        self.orders.send(order).map_err(|refused| refused.0)
    }

    /// The thread does not come back: it is counted until it does.
    pub(super) fn give_up(self) {
        LOST.fetch_add(1, Ordering::Relaxed);
        self.lost.store(true, Ordering::Release);
    }
}

/// Starts a thread.
pub(super) fn spawn(opening: Arc<Opening>) -> Result<Line, String> {
    if LOST.load(Ordering::Relaxed) >= LOST_MAX {
        return Err(format!(
            "{LOST_MAX} engines hang in code that cannot be stopped; start the program again"
        ));
    }
    let (orders, received) = mpsc::channel();
    let lost = Arc::new(AtomicBool::new(false));
    let watched = lost.clone();
    std::thread::Builder::new()
        .name("antiphon-repl".to_owned())
        .stack_size(opening.limits.stack_bytes + (1 << 20))
        .spawn(move || {
            serve(&opening, &received);
            if watched.load(Ordering::Acquire) {
                LOST.fetch_sub(1, Ordering::Relaxed);
            }
        })
        .map_err(|error| format!("cannot start a thread for code: {error}"))?;
    Ok(Line { orders, lost })
}

fn serve(opening: &Opening, orders: &Receiver<Order>) {
    let desk = Arc::new(Mutex::new(Desk::new(opening.limits, opening.seed)));
    let mut number = 0;
    while life(opening, &desk, orders, &mut number).is_some() {}
}

/// The life of one engine; `None` when no order comes any more.
fn life(opening: &Opening, desk: &Shared, orders: &Receiver<Order>, number: &mut u64) -> Option<()> {
    let current: Arc<Mutex<Option<Arc<Gate>>>> = Arc::default();
    let built = build(opening, current.clone());
    let context = match built {
        Ok(context) => context,
        Err(error) => return refuse(orders, &error),
    };
    context.with(|ctx| {
        let engine = match Engine::new(ctx, opening, desk.clone()) {
            Ok(engine) => engine,
            Err(error) => return refuse(orders, &error),
        };
        loop {
            let order = orders.recv().ok()?;
            *number += 1;
            set(&current, Some(order.gate.clone()));
            desk::at(desk).open(order.say.clone());
            let (ended, wear) = engine.turn(*number, &order.code, &order.answers, &order.gate);
            set(&current, None);
            let turn = told(opening, desk::at(desk).close(), ended, wear);
            // The caller may be gone.
            let _ = order.say.send(Said::Over(turn));
            if wear == Wear::Worn {
                return Some(());
            }
        }
    })
}

fn build(opening: &Opening, current: Arc<Mutex<Option<Arc<Gate>>>>) -> rquickjs::Result<Context> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(opening.limits.memory_bytes);
    runtime.set_max_stack_size(opening.limits.stack_bytes);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        current
            .lock()
            .expect("nothing panics while it holds the gate")
            .as_ref()
            .is_some_and(|gate| gate.shut())
    })));
    runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, handled| {
        engine::track(&ctx, promise, reason, handled);
    })));
    Context::custom::<World>(&runtime)
}

fn set(current: &Mutex<Option<Arc<Gate>>>, gate: Option<Arc<Gate>>) {
    *current.lock().expect("nothing panics while it holds the gate") = gate;
}

/// No engine: one order is refused, the next one may have better luck.
fn refuse(orders: &Receiver<Order>, error: &rquickjs::Error) -> Option<()> {
    let order = orders.recv().ok()?;
    let error = format!("cannot start the engine: {error}; more memory or a smaller context may help");
    let _ = order.say.send(Said::Over(Turn { error: Some(error), ..Turn::default() }));
    Some(())
}

/// The turn with what went wrong in it.
fn told(opening: &Opening, mut turn: Turn, ended: Result<(), Broken>, wear: Wear) -> Turn {
    let limits = opening.limits;
    turn.error = ended.err().map(|broken| match broken {
        Broken::Thrown(what) => what,
        Broken::Late => format!("out of time: at work for {:?}, which is the bound of a turn", limits.time),
        Broken::Stopped => "stopped".to_owned(),
        Broken::Never => "the code awaits a promise that never settles: nothing is left to run".to_owned(),
    });
    let lost = match wear {
        Wear::Sound => None,
        Wear::Bare => Some("what this turn declared is not kept"),
        Wear::Worn => Some(LOST_SCOPE),
    };
    if let Some(lost) = lost {
        let what = turn.error.unwrap_or_else(|| "the code left the engine in disorder".to_owned());
        turn.error = Some(format!("{what}; {lost}"));
    }
    if turn.error.is_some() {
        turn.answer = None;
    }
    turn
}

/// What is said when a session goes on with a new engine.
pub(super) const LOST_SCOPE: &str = "the engine was replaced, and scope is empty";
