//! [`Timestamp`]: a moment, to the millisecond, in UTC.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::fmt::temporal::Pieces;
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
/// The first moment of the year 0, the earliest that RFC 3339 can write.
const FIRST: i64 = -62_167_219_200_000;
/// The last moment of the year 9999, which people write for "never".
const LAST: i64 = 253_402_300_799_999;
/// The start of 1970.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

impl Timestamp {
    /// The moment so many milliseconds after the start of 1970; `None` outside the years 0 to 9999.
    pub fn from_millis(millis: i64) -> Option<Self> {
        let can_be_written = (FIRST..=LAST).contains(&millis);
        NonZeroU64::new(millis as u64 ^ SIGN).filter(|_| can_be_written).map(Self)
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
        let moment = match text.parse::<jiff::Timestamp>() {
            Ok(moment) => Self::from_millis(moment.as_millisecond()),
            Err(_) => last_day(text),
        };
        moment.ok_or_else(|| NotAMoment(text.chars().take(40).collect()))
    }
}

/// A moment of the last day of the year 9999, which has no time zones any more.
fn last_day(text: &str) -> Option<Timestamp> {
    let pieces = Pieces::parse(text).ok()?;
    let offset = pieces.to_numeric_offset()?;
    let local = pieces.date().to_datetime(pieces.time()?);
    let millis = local.duration_since(EPOCH).as_millis() - i128::from(offset.seconds()) * 1000;
    Timestamp::from_millis(i64::try_from(millis).ok()?)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.millis()) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{:.3}Z", EPOCH + SignedDuration::from_millis(self.millis())),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_year_of_four_digits_in_utc_is_no_moment() {
        for (written, read) in [
            ("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00.000Z")),
            ("0000-01-01T00:00:00-01:00", Some("0000-01-01T01:00:00.000Z")),
            ("0000-01-01T00:00:00+01:00", None),
            ("-000001-12-31T23:59:59.999Z", None),
            ("-009999-01-02T00:00:00Z", None),
        ] {
            let parsed = written.parse::<Timestamp>().ok();
            assert_eq!(parsed.map(|at| at.to_string()).as_deref(), read, "{written}");
        }
        assert_eq!(Timestamp::from_millis(FIRST - 1), None);
        assert_eq!(Timestamp::from_millis(i64::MIN), None);
    }

    #[test]
    fn the_last_day_of_the_year_9999_is_a_moment_and_the_year_10000_is_none() {
        for (written, read) in [
            ("9999-12-31T23:59:59.999Z", Some("9999-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:59Z", Some("9999-12-31T23:59:59.000Z")),
            ("9999-12-31T20:00:00-03:59", Some("9999-12-31T23:59:00.000Z")),
            ("9999-12-31T20:00:00-04:00", None),
            ("9999-12-30T22:00:00.5Z", Some("9999-12-30T22:00:00.500Z")),
            ("9999-12-31", None),
            ("9999-12-31T23:59:59", None),
            ("10000-01-01T00:00:00Z", None),
            ("9999-13-31T23:59:59Z", None),
        ] {
            let parsed = written.parse::<Timestamp>().ok();
            assert_eq!(parsed.map(|at| at.to_string()).as_deref(), read, "{written}");
            assert_eq!(parsed.and_then(|at| Timestamp::from_millis(at.millis())), parsed, "{written}");
        }
    }
}
