//! [`Options`]: the bounds within which servers are used.

use std::path::PathBuf;
use std::time::Duration;

/// How servers are used. The default suits programs on the same machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where programs run that do not say so themselves; the current folder if absent.
    pub dir: Option<PathBuf>,
    /// Folders that servers are told to work in. None: servers are told nothing, and keep to what their arguments say.
    pub roots: Vec<PathBuf>,
    /// How long greeting may take, and listing the tools.
    pub start: Duration,
    /// How long a call may go without a word of progress.
    pub quiet: Duration,
    /// How long a call may take in all.
    pub total: Duration,
    /// The largest message from a server, in bytes.
    pub message_bytes: usize,
    /// How many tools of one server are taken.
    pub tools: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dir: None,
            roots: Vec::new(),
            start: Duration::from_secs(10),
            quiet: Duration::from_mins(2),
            total: Duration::from_mins(30),
            message_bytes: 16 << 20,
            tools: 256,
        }
    }
}
