//! [`Log`]: the last words of a server.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many lines are kept.
const LINES_MAX: usize = 20;

/// How much of a line is kept, in bytes.
pub(super) const LINE_MAX: usize = 400;

/// The last lines that a server wrote for people.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<VecDeque<String>>);

impl Log {
    /// Adds a line; the oldest one goes if there are many.
    pub(super) fn push(&self, line: &[u8]) {
        let start = &line[..line.len().min(LINE_MAX)];
        let text = String::from_utf8_lossy(start);
        let text: String = text.trim_end().chars().filter(|c| !c.is_control()).collect();
        if text.is_empty() {
            return;
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES_MAX {
            lines.pop_front();
        }
        lines.push_back(text);
    }

    /// The last words, to be put behind a message; empty if there were none.
    pub(super) fn last_words(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        format!("; it last said:\n{}", lines.join("\n"))
    }
}
