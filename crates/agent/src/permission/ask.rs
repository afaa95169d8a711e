//! What a tool is about to be called with, and what is to be done about it.

use antiphon_event::{Json, Provenance};

/// What a call of a tool touches, as the tool itself says: what rules look at besides the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A line for the shell.
    Command(String),
    /// A file or folder, with links resolved.
    Path {
        /// As it was given.
        given: String,
        /// Where it really is, from `/`; empty if that could not be found out, and then no rule for paths allows it.
        resolved: String,
        /// Whether it may be changed.
        writes: bool,
    },
    /// An address on the web.
    Url(String),
}

/// What a tool is about to be called with.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The arguments.
    pub input: &'a Json,
    /// What the call touches.
    pub subjects: &'a [Subject],
    /// Where the arguments came from, as far as that can be told.
    pub sources: &'a [Provenance],
}

/// What is to be done about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go ahead.
    Allow,
    /// A person decides; why, for that person.
    Ask(String),
    /// No; why, for the model.
    Deny(String),
}

impl Verdict {
    /// The stricter of two: no wins over ask, ask over yes; the first of two that are equally strict.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        if other.strictness() > self.strictness() { other } else { self }
    }

    fn strictness(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask(_) => 1,
            Self::Deny(_) => 2,
        }
    }
}
