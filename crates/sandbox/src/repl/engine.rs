//! [`Engine`]: the JavaScript engine of a session, with the prelude in it.
//!
//! In: code and answers. Out: how the turn ended. Everything here happens in the session's own thread. Start reading
//! at [`Engine::turn`].

use std::sync::mpsc::Receiver;
use std::time::Duration;

use antiphon_event::StreamName;
use antiphon_port::{Opening, ReplLimits};
use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, Object, Promise, Value};

use super::desk::{self, Shared};
use super::gate::Gate;
use super::{names, place};

const PRELUDE: &str = include_str!("prelude.js");
const INSPECT: &str = include_str!("inspect.js");

/// Time to tidy up after a turn.
const TIDY: Duration = Duration::from_millis(200);

/// Bytes of memory that compiling takes, for any code and for each byte of it.
const COMPILE_MIN: usize = 64 << 10;
const COMPILE_RATIO: usize = 32;

/// An answer of the host: to which call, and what.
pub(super) type Answer = (u32, Result<String, String>);

/// Notes a promise that is rejected with nobody looking.
pub(super) fn track<'js>(ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, handled: bool) {
    let noted = ctx.userdata::<Function>().map(|track| track.call::<_, ()>((promise, reason, handled)));
    if noted.is_some_and(|noted| noted.is_err()) {
        ctx.catch();
    }
}

/// An engine with the prelude in it.
pub(super) struct Engine<'js> {
    ctx: Ctx<'js>,
    desk: Shared,
    limits: ReplLimits,
    start: Function<'js>,
    finish: Function<'js>,
    settle: Function<'js>,
    explain: Function<'js>,
    unseen: Function<'js>,
}

/// Why a turn came to no good end.
pub(super) enum Broken {
    /// Something was thrown: what, for a reader.
    Thrown(String),
    /// The time is spent.
    Late,
    /// Nobody wants the turn any more.
    Stopped,
    /// The code waits for something that nothing can bring about.
    Never,
}

/// Whether an engine can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wear {
    /// It can.
    Sound,
    /// It can, without what the last turn declared.
    Bare,
    /// Its memory is full, or something in it goes on and cannot be ended.
    Worn,
}

impl<'js> Engine<'js> {
    /// Puts the prelude into a new engine.
    pub(super) fn new(ctx: Ctx<'js>, opening: &Opening, desk: Shared) -> rquickjs::Result<Self> {
        let limits = opening.limits;
        let bounds = Object::new(ctx.clone())?;
        bounds.set("output", limits.output_chars as f64)?;
        bounds.set("answer", limits.answer_chars as f64)?;
        bounds.set("call", limits.call_chars as f64)?;
        bounds.set("calls", limits.calls as f64)?;
        bounds.set("memory", limits.memory_bytes as f64)?;
        // A value takes 16 bytes: no array with elements is longer than this.
        bounds.set("elements", (limits.memory_bytes / 16) as f64)?;
        let given = Object::new(ctx.clone())?;
        given.set("now", opening.now.millis() as f64)?;
        given.set("context", opening.context.as_str())?;
        let prelude: Function = ctx.eval_with_options(PRELUDE, named("prelude"))?;
        let inspect: Function = ctx.eval_with_options(INSPECT, named("prelude"))?;
        let native = desk::bind(&ctx, &desk)?;
        let plumbing: Object = prelude.call((native, bounds, given, inspect))?;
        let track: Function = plumbing.get("track")?;
        // Only fails while it is being read, and nobody does yet.
        let _ = ctx.store_userdata(track);
        Ok(Self {
            unseen: plumbing.get("unseen")?,
            start: plumbing.get("start")?,
            finish: plumbing.get("finish")?,
            settle: plumbing.get("settle")?,
            explain: plumbing.get("explain")?,
            ctx,
            desk,
            limits,
        })
    }

    /// Runs one turn to its end and tidies up after it.
    pub(super) fn turn(
        &self,
        number: u64,
        code: &str,
        answers: &Receiver<Answer>,
        gate: &Gate,
    ) -> (Result<(), Broken>, Wear) {
        gate.work();
        let ended = self.run(number, code, answers, gate);
        desk::at(&self.desk).forget();
        let wear = self.tidy(gate, ended.is_err());
        gate.end();
        (ended, wear)
    }

    /// Begins the code and goes on until nothing is left to do and nothing is waited for.
    fn run(&self, number: u64, code: &str, answers: &Receiver<Answer>, gate: &Gate) -> Result<(), Broken> {
        if code.contains('\0') {
            return Err(Broken::Thrown("SyntaxError: the code holds a NUL character; write \\0".to_owned()));
        }
        // Out of memory in the midst of compiling can bring the engine down: room is made sure of before.
        if !self.room(COMPILE_MIN + COMPILE_RATIO * code.len()) {
            return Err(Broken::Thrown(format!("out of memory; at most {} bytes", self.limits.memory_bytes)));
        }
        let begun = self.begin(number, code);
        let verdict = |broken| {
            if gate.stopped() {
                Broken::Stopped
            } else if gate.spent() {
                Broken::Late
            } else {
                broken
            }
        };
        let promise = begun.map_err(|error| verdict(Broken::Thrown(self.thrown(&error))))?;
        loop {
            if gate.shut() {
                return Err(verdict(Broken::Late));
            }
            if self.ctx.execute_pending_job() {
                continue;
            }
            if promise.state() == PromiseState::Rejected || desk::at(&self.desk).pending() == 0 {
                break;
            }
            gate.wait();
            let answer = answers.recv();
            gate.work();
            let (call, answer) = answer.map_err(|_| Broken::Stopped)?;
            desk::at(&self.desk).answered();
            self.hand_over(call, answer).map_err(|error| verdict(Broken::Thrown(self.thrown(&error))))?;
        }
        let ended = match promise.result::<Value>() {
            None => Err(Broken::Never),
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(Broken::Thrown(self.thrown(&error))),
        };
        self.tell_unseen(&promise);
        if gate.shut() { Err(verdict(Broken::Late)) } else { ended }
    }

    /// Prints what was rejected with nobody looking.
    fn tell_unseen(&self, promise: &Promise<'js>) {
        let found = self.unseen.call::<_, Vec<String>>((promise.clone(),)).unwrap_or_default();
        self.ctx.catch();
        for what in found {
            let line = format!("nobody caught: {}", place::placed(&what));
            desk::at(&self.desk).print(StreamName::Stderr, line);
        }
    }

    /// Compiles the code and calls it.
    fn begin(&self, number: u64, code: &str) -> rquickjs::Result<Promise<'js>> {
        let keeping: String =
            names::declared(code).iter().map(|name| format!("'{name}',()=>{name},")).collect();
        let mut body = body(&format!("arguments[0]([{keeping}]);"), code);
        let mut made = self.compile(number, &body);
        if made.is_err() && !keeping.is_empty() {
            // A name that is none must not be what the reader is told of.
            self.ctx.catch();
            body = self::body("", code);
            made = self.compile(number, &body);
        }
        self.start.call((made?, body))
    }

    fn compile(&self, number: u64, body: &str) -> rquickjs::Result<Function<'js>> {
        let source = format!(
            "(function(){{with(arguments[0]){{return \
             function(scope,context,console,llm_query,exec,FINAL){{return {body}}}}}}})"
        );
        self.ctx.eval_with_options(source, named(&format!("turn{number}")))
    }

    /// Settles the promise of a call.
    fn hand_over(&self, call: u32, answer: Result<String, String>) -> rquickjs::Result<()> {
        let text = match answer {
            Ok(text) => text,
            Err(why) => return self.settle.call((call, false, why)),
        };
        if let Ok(text) = rquickjs::String::from_str(self.ctx.clone(), &text) {
            return self.settle.call((call, true, text));
        }
        self.ctx.catch();
        self.settle.call((call, false, format!("out of memory: the answer has {} bytes", text.len())))
    }

    /// What was thrown, for a reader.
    fn thrown(&self, error: &rquickjs::Error) -> String {
        if !error.is_exception() && !self.ctx.has_exception() {
            return format!("the engine refused: {error}");
        }
        self.explained(self.ctx.catch())
    }

    fn explained(&self, thrown: Value<'js>) -> String {
        let Ok(text) = self.explain.call::<_, String>((thrown,)) else {
            self.ctx.catch();
            return "something was thrown that cannot be shown; perhaps memory or stack is used up"
                .to_owned();
        };
        let text = place::placed(&text);
        if text.contains("out of memory") {
            format!("{text}; at most {} bytes", self.limits.memory_bytes)
        } else {
            text
        }
    }

    /// Ends what is left over, keeps what was declared, and looks whether the engine can go on.
    fn tidy(&self, gate: &Gate, broken: bool) -> Wear {
        gate.close();
        let begun = std::time::Instant::now();
        while self.ctx.execute_pending_job() {
            if begun.elapsed() > TIDY {
                return Wear::Worn;
            }
        }
        gate.reopen(TIDY);
        if !broken {
            return if self.finish(true) { Wear::Sound } else { Wear::Bare };
        }
        let reserve = self.limits.memory_bytes / 16;
        self.ctx.run_gc();
        if self.room(reserve) {
            self.finish(true);
            return Wear::Sound;
        }
        // What the turn declared may be what fills the memory.
        self.finish(false);
        self.ctx.run_gc();
        if self.room(reserve) { Wear::Bare } else { Wear::Worn }
    }

    /// Puts what the turn declared into `scope`, or lets it go.
    fn finish(&self, keeping: bool) -> bool {
        let done = self.finish.call::<_, ()>((keeping,)).is_ok();
        self.ctx.catch();
        done
    }

    /// Whether there are so many bytes of memory to go on with.
    fn room(&self, bytes: usize) -> bool {
        let filler = " ".repeat(bytes.min(self.limits.memory_bytes));
        let room = rquickjs::String::from_str(self.ctx.clone(), &filler).is_ok();
        self.ctx.catch();
        room
    }
}

fn body(keeping: &str, code: &str) -> String {
    format!("async function(){{{keeping}\n{code}\n}}")
}

fn named(name: &str) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.backtrace_barrier = true;
    options.filename = Some(name.to_owned());
    options
}
