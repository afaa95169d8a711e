//! [`Desk`]: what the functions that code can call write to.
//!
//! In: calls from JavaScript. Out: chunks and requests for the caller, and the parts of a turn, each within its bound.
//! Start reading at [`bind`].

use std::sync::{Arc, Mutex, MutexGuard};

use antiphon_event::StreamName;
use antiphon_port::{ReplLimits, Turn};
use rquickjs::{Ctx, Function, Object};
use tokio::sync::mpsc::UnboundedSender;

/// What the engine tells the caller of a turn.
#[derive(Debug)]
pub(super) enum Said {
    /// Something was printed.
    Print(StreamName, String),
    /// A model is asked.
    Query { call: u32, prompt: String, context: Option<String> },
    /// A command is to be run.
    Exec { call: u32, command: String },
    /// No answer is waited for any more.
    Forget,
    /// The turn is over.
    Over(Turn),
    /// The engine does not come back.
    Stuck,
}

/// What there is of the turn so far.
#[derive(Debug)]
pub(super) struct Desk {
    limits: ReplLimits,
    chance: u64,
    turn: Turn,
    printed: usize,
    calls: u32,
    pending: usize,
    pending_bytes: usize,
    say: Option<UnboundedSender<Said>>,
}

/// A desk that both the engine and its functions hold.
pub(super) type Shared = Arc<Mutex<Desk>>;

/// The desk, for a moment.
pub(super) fn at(desk: &Shared) -> MutexGuard<'_, Desk> {
    desk.lock().expect("nothing panics at the desk")
}

impl Desk {
    /// A desk for a session.
    pub(super) fn new(limits: ReplLimits, seed: u64) -> Self {
        Self {
            limits,
            chance: seed,
            turn: Turn::default(),
            printed: 0,
            calls: 0,
            pending: 0,
            pending_bytes: 0,
            say: None,
        }
    }

    /// A turn begins.
    pub(super) fn open(&mut self, say: UnboundedSender<Said>) {
        *self = Self { say: Some(say), ..Self::new(self.limits, self.chance) };
    }

    /// How many answers are waited for.
    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// An answer came.
    pub(super) fn answered(&mut self) {
        self.pending = self.pending.saturating_sub(1);
        if self.pending == 0 {
            self.pending_bytes = 0;
        }
    }

    /// The turn takes no calls any more and waits for none.
    pub(super) fn forget(&mut self) {
        self.calls = u32::MAX;
        if std::mem::take(&mut self.pending) > 0 {
            self.tell(Said::Forget);
        }
    }

    /// The turn is over; what is said after that is lost.
    pub(super) fn close(&mut self) -> Turn {
        self.calls = u32::MAX;
        self.say = None;
        std::mem::take(&mut self.turn)
    }

    fn tell(&self, said: Said) {
        if let Some(say) = &self.say {
            // The caller may be gone; the gate says so.
            let _ = say.send(said);
        }
    }

    /// Prints a line as far as there is room; whether it is full.
    pub(super) fn print(&mut self, stream: StreamName, mut line: String) -> bool {
        if self.turn.truncated || self.say.is_none() {
            return true;
        }
        line.push('\n');
        let room = self.limits.output_chars - self.printed;
        if let Some((cut, _)) = line.char_indices().nth(room) {
            line.truncate(cut);
            self.turn.truncated = true;
        }
        self.printed += line.chars().count();
        self.turn.stdout.push_str(&line);
        if !line.is_empty() {
            self.tell(Said::Print(stream, line));
        }
        self.turn.truncated
    }

    /// The number of the call, or why it is refused.
    fn call(&mut self, said: impl FnOnce(u32) -> Said, bytes: usize) -> Result<u32, Refused> {
        if self.calls == u32::MAX || self.say.is_none() {
            return Err(Refused::Over);
        }
        if self.pending >= self.limits.calls || self.pending_bytes + bytes > self.limits.memory_bytes {
            return Err(Refused::Many);
        }
        let call = self.calls;
        self.calls += 1;
        self.pending += 1;
        self.pending_bytes += bytes;
        self.tell(said(call));
        Ok(call)
    }

    /// The next number between 0 and 1 (`SplitMix64`).
    fn random(&mut self) -> f64 {
        self.chance = self.chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Why a call is refused; the prelude has the words.
#[derive(Debug, Clone, Copy)]
enum Refused {
    Over = -1,
    Many = -2,
}

/// The functions behind the prelude.
pub(super) fn bind<'js>(ctx: &Ctx<'js>, desk: &Shared) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let to = desk.clone();
    let print = move |stream: i32, line: String| {
        let stream = if stream == 0 { StreamName::Stdout } else { StreamName::Stderr };
        at(&to).print(stream, line)
    };
    native.set("print", Function::new(ctx.clone(), print)?)?;
    let to = desk.clone();
    let query = move |prompt: String, context: Option<String>| {
        let bytes = prompt.len() + context.as_ref().map_or(0, String::len);
        number(at(&to).call(|call| Said::Query { call, prompt, context }, bytes))
    };
    native.set("query", Function::new(ctx.clone(), query)?)?;
    let to = desk.clone();
    let exec = move |command: String| {
        let bytes = command.len();
        number(at(&to).call(|call| Said::Exec { call, command }, bytes))
    };
    native.set("exec", Function::new(ctx.clone(), exec)?)?;
    let to = desk.clone();
    native.set(
        "answer",
        Function::new(ctx.clone(), move |answer: String| at(&to).turn.answer = Some(answer))?,
    )?;
    let to = desk.clone();
    native.set("random", Function::new(ctx.clone(), move || at(&to).random())?)?;
    Ok(native)
}

fn number(call: Result<u32, Refused>) -> f64 {
    call.map_or_else(|refused| f64::from(refused as i32), f64::from)
}
