//! [`Tally`]: tokens and money, added up so that the sum does not depend on how it was saved.

use antiphon_event::body::system::Usage;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    pub cost_usd: Option<Dollars>,
}

impl Tally {
    /// What one model call used.
    pub fn of(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost_usd: usage.cost_usd.map(Dollars::from),
        }
    }

    /// Both together; counts stop at the largest number there is.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_usd: match (self.cost_usd, other.cost_usd) {
                (Some(ours), Some(theirs)) => Some(Dollars::within(ours.0 + theirs.0)),
                (ours, theirs) => ours.or(theirs),
            },
        }
    }
}

/// US dollars, in whole billionths: sums are exact, in any order. Written as a number of dollars.
///
/// Nine million is the most, up or down: so much survives being written as a floating-point number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars(i64);

const BILLION: f64 = 1e9;
const MOST: i64 = 9_000_000_000_000_000;

impl Dollars {
    fn within(billionths: i64) -> Self {
        Self(billionths.clamp(-MOST, MOST))
    }
}

impl From<f64> for Dollars {
    fn from(dollars: f64) -> Self {
        Self::within((dollars * BILLION).round() as i64)
    }
}

impl From<Dollars> for f64 {
    fn from(dollars: Dollars) -> Self {
        dollars.0 as Self / BILLION
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64((*self).into())
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::from)
    }
}
