//! [`Tally`]: what a run counted.

use antiphon_event::body::system::Usage;
use serde::{Deserialize, Serialize};

/// What a run counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Calls of tools that came to an end.
    pub tool_calls: u64,
    /// Of those, the ones that failed.
    pub tool_errors: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// What it cost, as far as anybody knows.
    pub cost_usd: Option<f64>,
    /// Tokens read by the last model call.
    pub last_input_tokens: u64,
}

impl Tally {
    pub(super) fn used(&mut self, usage: &Usage) {
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        self.last_input_tokens = usage.input_tokens;
        if let Some(cost) = usage.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
    }

    pub(super) fn returned(&mut self, is_error: bool) {
        self.tool_calls += 1;
        self.tool_errors += u64::from(is_error);
    }
}
