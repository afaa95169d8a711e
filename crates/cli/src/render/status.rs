//! How a thing stands, in the colour that says whether that is good.

use super::ink::Ink;
use super::line::Line;

/// A status word as a cell, in small letters.
pub(crate) fn status(word: &str) -> Line {
    let word = word.to_lowercase().replace('_', " ");
    Line::new().ink(ink_of(&word), &word)
}

/// The ink for a status word in small letters.
pub(crate) fn ink_of(word: &str) -> Ink {
    match word {
        "completed" | "done" | "approved" | "allowed" | "granted" | "answered" | "answered elsewhere"
        | "recorded" | "succeeded" => Ink::Good,
        "failed" | "error" | "denied" | "cancelled" | "orphaned" | "expired" | "timeout" | "unknown"
        | "damaged" => Ink::Bad,
        "interrupted" | "pending" | "waiting" | "awaiting approval" | "in doubt" | "paused" => Ink::Waiting,
        "executing" | "active" | "running" | "in flight" | "streaming" | "proposed" => Ink::Tool,
        "skipped" | "closed" => Ink::Faint,
        _ => Ink::Plain,
    }
}
