//! [`Error`]: why a line is not an event, and where in it.

use std::fmt;

/// A place in the input, both counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u64,
    /// The character in the line.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A line that is not an event: where it goes wrong and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Error {
    /// Where.
    pub place: Place,
    /// What is wrong and what was expected.
    pub message: String,
}

impl Error {
    /// An error at a byte of a line.
    pub(crate) fn at(line: &str, byte: usize, message: String) -> Self {
        let upto = line.char_indices().take_while(|(start, _)| *start < byte).count();
        Self { place: Place { line: 1, column: upto as u64 + 1 }, message: short(message) }
    }

    /// The same error in another line of the input.
    pub(crate) fn on_line(mut self, line: u64) -> Self {
        self.place.line = line;
        self
    }
}

/// The longest message, in bytes, that is left as it is.
const MESSAGE_MAX: usize = 400;

/// A message that quotes something very long, without the middle of that.
fn short(message: String) -> String {
    if message.len() <= MESSAGE_MAX {
        return message;
    }
    let start = message.floor_char_boundary(MESSAGE_MAX / 2);
    let end = message.ceil_char_boundary(message.len() - MESSAGE_MAX / 2);
    format!("{} … {}", &message[..start], &message[end..])
}
