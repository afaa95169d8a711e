//! [`Farewell`]: somebody wants the program to end, or its terminal is gone. What it has begun is to be ended first.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears that the program is to end.
pub(crate) struct Farewell {
    terminate: Option<Signal>,
    hangup: Signal,
}

impl Farewell {
    /// Begins to listen: to a wish that it ends, and to the end of its terminal.
    pub(crate) fn new() -> io::Result<Self> {
        let terminate = Some(signal(SignalKind::terminate())?);
        Ok(Self { terminate, ..Self::of_terminal()? })
    }

    /// The same for what a person works with at a terminal: a wish that it ends ends it at once.
    pub(crate) fn of_terminal() -> io::Result<Self> {
        Ok(Self { terminate: None, hangup: signal(SignalKind::hangup())? })
    }

    /// Waits for it.
    pub(crate) async fn come(&mut self) {
        match &mut self.terminate {
            Some(terminate) => tokio::select! {
                _ = terminate.recv() => {}
                _ = self.hangup.recv() => {}
            },
            None => drop(self.hangup.recv().await),
        }
    }
}
