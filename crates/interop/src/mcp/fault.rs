//! [`Fault`]: why a server is of no use.

/// Why a server is of no use: what was tried, how it ended, and what it said last.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("MCP server `{server}` {message}")]
pub struct Fault {
    /// The server, as the definition calls it.
    pub server: String,
    /// What went wrong, for a person. Never a token.
    pub message: String,
    /// Whether trying again may help.
    pub retryable: bool,
}

impl Fault {
    /// The server will do no better the next time.
    pub(super) fn lasting(server: &str, message: impl Into<String>) -> Self {
        Self { server: server.to_owned(), message: message.into(), retryable: false }
    }

    /// The server may do better the next time.
    pub(super) fn passing(server: &str, message: impl Into<String>) -> Self {
        Self { server: server.to_owned(), message: message.into(), retryable: true }
    }
}

/// The start of a text that others wrote, on whole characters.
pub(super) fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes_max)])
}
