//! [`Answer`]: what a vendor said so far, in the order in which [`Delta`]s are to come.
//!
//! In: pieces of text, reasoning and calls, in whatever order the vendor sends them. Out: text and reasoning at once; the
//! calls whole, what was used and why it stopped when all is said. Start reading at [`Answer::finish`].

use std::collections::VecDeque;

use antiphon_agent::{Delta, Fault, Stop, Tokens};
use uuid::Uuid;

use crate::fault::{lasting, passing};

/// How many bytes an answer may have.
pub(crate) const ANSWER_MAX: usize = 64 * 1024 * 1024;
/// How many calls an answer may make.
pub(crate) const CALLS_MAX: usize = 256;

/// What a vendor said so far.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    ready: VecDeque<Delta>,
    calls: Vec<Draft>,
    /// What the vendor says it used, as far as it has said.
    pub(crate) tokens: Option<Tokens>,
    /// Why the vendor stopped, once it has said.
    pub(crate) stop: Option<Stop>,
    bytes: usize,
}

/// A call that is being said.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The vendor's number for it.
    pub(crate) index: Option<u64>,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl Answer {
    /// The next piece that is ready.
    pub(crate) fn next(&mut self) -> Option<Delta> {
        self.ready.pop_front()
    }

    pub(crate) fn text(&mut self, text: impl Into<String>) -> Result<(), Fault> {
        self.say(text.into(), Delta::Text)
    }

    pub(crate) fn reasoning(&mut self, text: impl Into<String>) -> Result<(), Fault> {
        self.say(text.into(), Delta::Reasoning)
    }

    pub(crate) fn signature(&mut self, signature: String) -> Result<(), Fault> {
        self.say(signature, Delta::Signature)
    }

    fn say(&mut self, text: String, delta: fn(String) -> Delta) -> Result<(), Fault> {
        if text.is_empty() {
            return Ok(());
        }
        self.grow(text.len())?;
        self.ready.push_back(delta(text));
        Ok(())
    }

    /// Counts what was said; refuses what is too much.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes += bytes;
        if self.bytes > ANSWER_MAX {
            return Err(lasting("malformed", format!("answered with more than {ANSWER_MAX} bytes")));
        }
        Ok(())
    }

    /// Begins a call, whose place among the calls is given back.
    pub(crate) fn open_call(&mut self, draft: Draft) -> Result<usize, Fault> {
        if self.calls.len() == CALLS_MAX {
            return Err(lasting("malformed", format!("made more than {CALLS_MAX} calls in one answer")));
        }
        self.grow(draft.id.len() + draft.name.len() + draft.arguments.len())?;
        self.calls.push(draft);
        Ok(self.calls.len() - 1)
    }

    /// The calls so far.
    pub(crate) fn calls(&mut self) -> &mut [Draft] {
        &mut self.calls
    }

    /// Adds to the arguments of a call.
    pub(crate) fn arguments(&mut self, call: usize, piece: &str) -> Result<(), Fault> {
        self.grow(piece.len())?;
        self.calls[call].arguments.push_str(piece);
        Ok(())
    }

    /// The vendor says that it was all. Some do not say why; where nothing was said at all, something is amiss.
    pub(crate) fn close(&mut self) -> Result<(), Fault> {
        if self.stop.is_none() && self.bytes == 0 {
            return Err(passing("connection", "ended its answer before it had begun"));
        }
        self.stop = self.stop.or(Some(Stop::Done));
        Ok(())
    }

    /// All is said: the calls, what was used, why it stopped. A vendor that does not say what it used is taken to have
    /// read `estimate` tokens and written a quarter of the bytes.
    pub(crate) fn finish(&mut self, estimate: u64) {
        let calls = std::mem::take(&mut self.calls);
        let stop = match self.stop.unwrap_or(Stop::Done) {
            Stop::Done | Stop::Calls if !calls.is_empty() => Stop::Calls,
            // Some say that they want something called and do not say what.
            Stop::Calls | Stop::Done => Stop::Done,
            Stop::Length => Stop::Length,
            Stop::Filtered => Stop::Filtered,
        };
        let mut ids: Vec<String> = Vec::with_capacity(calls.len());
        for Draft { id, name, arguments, .. } in calls {
            let is_new = !id.is_empty() && !ids.contains(&id);
            let id = if is_new { id } else { format!("call_{}", Uuid::new_v4().simple()) };
            let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
            ids.push(id.clone());
            self.ready.push_back(Delta::Call { id, name, arguments });
        }
        let guess =
            || Tokens { input: estimate, output: (self.bytes as u64).div_ceil(4), ..Tokens::default() };
        let tokens = self.tokens.take().unwrap_or_else(guess);
        self.ready.extend([Delta::Usage(tokens), Delta::Stop(stop)]);
    }
}
