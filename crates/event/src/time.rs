//! [`Timestamp`]: a moment, to the millisecond, in UTC.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment: milliseconds since 1970, written as RFC 3339 in UTC with three decimals.
///
/// ```
/// use antiphon_event::Timestamp;
/// let at: Timestamp = "2026-11-15T12:00:00+01:00".parse().unwrap();
/// assert_eq!(at.to_string(), "2026-11-15T11:00:00.000Z");
/// ```
// In the order of the moments and never zero, so that one that may be absent takes no more room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(NonZeroU64);

/// What tells a moment from the number that stands for it.
const SIGN: u64 = 1 << 63;

impl Timestamp {
    /// The moment so many milliseconds after the start of 1970; `None` outside the years -9999 to 9999.
    pub fn from_millis(millis: i64) -> Option<Self> {
        jiff::Timestamp::from_millisecond(millis).ok()?;
        NonZeroU64::new(millis as u64 ^ SIGN).map(Self)
    }

    /// Milliseconds since the start of 1970.
    pub fn millis(self) -> i64 {
        (self.0.get() ^ SIGN) as i64
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timestamp").field(&self.millis()).finish()
    }
}

/// Text that is no RFC 3339 moment.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 moment such as 2026-11-15T12:00:00.000Z")]
pub struct NotAMoment(String);

impl FromStr for Timestamp {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        let moment = text.parse::<jiff::Timestamp>().ok();
        moment
            .and_then(|moment| Self::from_millis(moment.as_millisecond()))
            .ok_or_else(|| NotAMoment(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_millisecond(self.millis()).expect("checked when it was made");
        write!(f, "{moment:.3}")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}
