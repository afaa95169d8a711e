//! [`Step`]: one thing a scripted model does.

use std::time::Duration;

use antiphon_agent::{Fault, Stop, Tokens};
use antiphon_event::Json;

use crate::fault::lasting;

/// One thing a scripted model does. Calls come out after all that is said, whatever their place, and so does what was used.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// It says something, in these pieces.
    Text(Vec<String>),
    /// It thinks something, in these pieces.
    Reasoning(Vec<String>),
    /// The word of its vendor for what it thought.
    Signature(String),
    /// It wants a tool called.
    Call {
        /// The id of the call; made up from the number of the reply if absent.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The arguments as it writes them, be they JSON or not.
        arguments: String,
    },
    /// It uses tokens; several of these add up.
    Usage(Tokens),
    /// It fails; nothing comes after it.
    Error(Fault),
    /// It takes its time.
    Delay(Duration),
    /// It stops for another reason than that all is said.
    Stop(Stop),
}

impl Step {
    /// It says something.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(vec![text.into()])
    }

    /// It says something in pieces.
    pub fn chunks(chunks: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::Text(chunks.into_iter().map(Into::into).collect())
    }

    /// It thinks something.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::Reasoning(vec![text.into()])
    }

    /// It wants a tool called, with arguments as it writes them: JSON, or what it takes for JSON.
    pub fn call(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::Call { id: None, name: name.into(), arguments: arguments.into() }
    }

    /// It uses tokens.
    pub fn usage(input: u64, output: u64) -> Self {
        Self::Usage(Tokens { input, output, ..Tokens::default() })
    }

    /// It fails, and would fail again.
    pub fn error(message: impl Into<String>) -> Self {
        Self::Error(lasting("script", message))
    }

    /// It takes its time.
    pub fn delay(time: Duration) -> Self {
        Self::Delay(time)
    }

    /// It says a value, as JSON.
    pub fn output(value: impl Into<Json>) -> Self {
        Self::text(value.into().as_str())
    }
}
