//! [`Delta`]: what a model says, piece by piece, and [`Fault`], why it did not.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One piece of what a model says. Pieces come in the order in which the vendor sent them; whole calls come after all
/// that was said, then what it cost, then why it stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// A piece of its answer.
    Text(String),
    /// A piece of what it thinks.
    Reasoning(String),
    /// The vendor's word for the reasoning before it, needed to send it back.
    Signature(String),
    /// A tool call, whole.
    Call {
        /// The vendor's id for it; made up where the vendor gives none.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments as the model wrote them: JSON, if all went well.
        arguments: String,
    },
    /// What the call used.
    Usage(Tokens),
    /// Why it stopped; the last piece.
    Stop(Stop),
}

/// Tokens of one call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Read, those from and for the cache included.
    pub input: u64,
    /// Written, reasoning included.
    pub output: u64,
    /// Of those read, the ones that came from the vendor's cache.
    pub cache_read: Option<u64>,
    /// Of those read, the ones that were put into the vendor's cache.
    pub cache_creation: Option<u64>,
    /// What it cost in US dollars, where the vendor says so or a script does; else the price table is asked.
    pub cost_usd: Option<f64>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It had said all.
    Done,
    /// It wants tools to be called.
    Calls,
    /// It ran into the bound on what it may write.
    Length,
    /// The vendor would not let it go on.
    Filtered,
}

impl Stop {
    /// What people are told of an answer that was cut.
    pub fn remark(self) -> Option<&'static str> {
        match self {
            Self::Done | Self::Calls => None,
            Self::Length => Some("the model ran into the bound on what it may write: its answer is cut"),
            Self::Filtered => Some("the vendor did not let the model go on: its answer is cut"),
        }
    }
}

/// What a thousand thousand tokens cost in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Read.
    pub input: f64,
    /// Written.
    pub output: f64,
    /// Read from the cache.
    pub cache_read: f64,
    /// Put into the cache.
    pub cache_creation: f64,
}

impl Price {
    /// What a call cost.
    pub fn of(&self, tokens: &Tokens) -> f64 {
        let (read, made) = (tokens.cache_read.unwrap_or(0), tokens.cache_creation.unwrap_or(0));
        let fresh = tokens.input.saturating_sub(read).saturating_sub(made);
        let parts = [
            (fresh, self.input),
            (tokens.output, self.output),
            (read, self.cache_read),
            (made, self.cache_creation),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / 1e6
    }
}

/// Why a model gave no answer, or only half of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What went wrong, for a person: which model, what was tried. Never a key.
    pub message: String,
    /// What went wrong, for a program: `rate_limited`, `overloaded`, `timeout`, `connection`, `authentication`,
    /// `invalid_request`, `context_length`, `malformed`, `script`.
    pub code: &'static str,
    /// Whether trying again may help.
    pub retryable: bool,
    /// How long the vendor wants to be left alone before.
    pub retry_after: Option<Duration>,
}
