//! [`Exit`]: how a command came out, for whoever called it.

use std::process::ExitCode;

use antiphon_runtime::Outcome;

/// How a command came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or completed.
    Done,
    /// A run failed, a history is not what was written, a test found a difference, output could not be written.
    Failed,
    /// What was asked for makes no sense.
    Refused,
    /// A run waits for a person.
    Paused,
    /// A run was cancelled.
    Cancelled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Refused => 2,
            Exit::Paused => 3,
            Exit::Cancelled => 130,
        })
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed => Self::Done,
            Outcome::Failed => Self::Failed,
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Paused => Self::Paused,
        }
    }
}
