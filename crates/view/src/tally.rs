//! [`Tally`]: tokens and money, added up so that the sum does not depend on how it was saved.

use antiphon_event::body::lifecycle::TotalUsage;
use antiphon_event::body::system::Usage;
use serde::{Deserialize, Serialize};

use crate::Cost;

/// What model calls used together.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// The price; absent if no call said what it cost.
    pub cost_usd: Option<Cost>,
}

impl Tally {
    /// What one model call used.
    pub fn of(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost_usd: usage.cost_usd.map(Cost::from_dollars),
        }
    }

    /// What of the total that the end of a run gives is not in this.
    pub(crate) fn rest_of(self, total: Option<&TotalUsage>) -> Self {
        let (read, written) = total.map_or((0, 0), |total| (total.input_tokens, total.output_tokens));
        Self {
            input_tokens: read.saturating_sub(self.input_tokens),
            output_tokens: written.saturating_sub(self.output_tokens),
            cost_usd: None,
        }
    }

    /// Both together; counts stop at the largest number there is.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_usd: match (self.cost_usd, other.cost_usd) {
                (Some(ours), Some(theirs)) => Some(ours.plus(theirs)),
                (ours, theirs) => ours.or(theirs),
            },
        }
    }
}
