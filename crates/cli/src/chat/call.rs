//! [`Call`]: a call of a tool as one folded line, with what went wrong below it.

use antiphon_event::body::tool::{ToolCall, ToolResult};
use antiphon_event::{Json, Timestamp};
use serde_json::Value;

use crate::render::{Ink, Line, paragraphs, payload, unit};
use crate::request::about;

/// How many bytes of what a call says while it runs are kept: the last ones.
const TAIL_MAX: usize = 2048;
/// How many lines of that are shown.
const TAIL_LINES: usize = 3;
/// How many lines of an error are shown.
const ERROR_LINES: usize = 10;
const SPINNER: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// A call of a tool.
pub(super) struct Call {
    name: String,
    about: String,
    began: Option<Timestamp>,
    /// What it says while it runs, or what the agent says that it called.
    tail: String,
    /// How it came out.
    result: Option<Came>,
    /// The calls of the agent it called.
    pub(super) inner: Vec<String>,
    /// Whether a person is asked about it.
    pub(super) is_asked: bool,
}

struct Came {
    took_ms: Option<u64>,
    is_error: bool,
    output: Json,
}

impl Call {
    pub(super) fn new(call: &ToolCall, at: Option<Timestamp>) -> Self {
        Self {
            name: call.name.clone(),
            about: about(&call.name, &call.input),
            began: at,
            tail: String::new(),
            result: None,
            inner: Vec::new(),
            is_asked: false,
        }
    }

    /// It was written down once more: it begins to run.
    pub(super) fn begin(&mut self, call: &ToolCall, at: Option<Timestamp>) {
        self.about = about(&call.name, &call.input);
        self.began = at.or(self.began);
    }

    /// It, or the agent it called, said something.
    pub(super) fn say(&mut self, text: &str) {
        self.tail.push_str(text);
        let cut = self.tail.len().saturating_sub(TAIL_MAX);
        let cut = (cut..=self.tail.len()).find(|at| self.tail.is_char_boundary(*at)).unwrap_or(0);
        self.tail.drain(..cut);
    }

    /// It came to an end.
    pub(super) fn end(&mut self, result: &ToolResult, at: Option<Timestamp>) {
        let took = self.began.zip(at).map(|(began, at)| at.millis().saturating_sub(began.millis()).max(0));
        self.result = Some(Came {
            took_ms: took.map(|took| took as u64),
            is_error: result.is_error == Some(true),
            output: result.output.clone(),
        });
    }

    pub(super) fn is_done(&self) -> bool {
        self.result.is_some()
    }

    /// The call in a line, with an error below it.
    pub(super) fn lines(&self, now: Option<Timestamp>, turn: usize, width: usize) -> Vec<Line> {
        let left = Line::new().ink(Ink::Faint, "▸ ").ink(Ink::Tool, &self.name).plain(" ").plain(&self.about);
        let right = self.outcome(now, turn);
        let mut lines = vec![left.cut(width.saturating_sub(right.width())).join(right)];
        let below = match &self.result {
            Some(came) if came.is_error => {
                let mut error = paragraphs(Ink::Bad, &words(&came.output), width.saturating_sub(2));
                let more = error.len().saturating_sub(ERROR_LINES);
                error.truncate(ERROR_LINES);
                if more > 0 {
                    error.push(Line::new().ink(Ink::Faint, format!("… {more} more lines")));
                }
                error
            }
            Some(_) => Vec::new(),
            None => {
                let mut tail = paragraphs(Ink::Faint, &self.tail, width.saturating_sub(2));
                tail.drain(..tail.len().saturating_sub(TAIL_LINES));
                tail
            }
        };
        lines.extend(below.into_iter().map(|line| Line::new().plain("  ").join(line)));
        lines
    }

    fn outcome(&self, now: Option<Timestamp>, turn: usize) -> Line {
        let Some(came) = &self.result else {
            let mark = if self.is_asked { "?" } else { SPINNER[turn % SPINNER.len()] };
            let took =
                self.began.zip(now).map(|(began, now)| now.millis().saturating_sub(began.millis()).max(0));
            // What is quick needs no clock.
            let took =
                took.filter(|took| *took >= 1000).map(|took| format!(" {}", unit::duration(took as u64)));
            return Line::new().plain(" ").ink(Ink::Waiting, mark).ink(Ink::Faint, took.unwrap_or_default());
        };
        let mark = if came.is_error { (Ink::Bad, "✗") } else { (Ink::Good, "✓") };
        let took = came.took_ms.map(|took| format!(" {}", unit::duration(took)));
        Line::new().plain(" ").ink(mark.0, mark.1).ink(Ink::Faint, took.unwrap_or_default())
    }
}

/// What a failed call gave, as words.
fn words(output: &Json) -> String {
    let value = output.value();
    let message = ["error", "message"].iter().find_map(|name| value.get(name).and_then(Value::as_str));
    message.map_or_else(|| payload::full(&value), str::to_owned)
}
