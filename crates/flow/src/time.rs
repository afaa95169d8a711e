//! Durations as flow files write them: `250ms`, `5s`, `2m`, `1h`, `1m30s`.
//!
//! In: text. Out: a [`Duration`], or why not; and back. Start reading at [`parse`].

use std::fmt::Write;
use std::time::Duration;

/// The longest duration: a year.
pub const DURATION_MAX: Duration = Duration::from_hours(8784);

const UNITS: &[(&str, u64)] = &[("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];

/// Why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no duration: {text:?} {why}")]
pub struct Invalid {
    /// The text, cut short if it is long.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Reads a duration: whole numbers, each with its unit, the larger units first. At most [`DURATION_MAX`].
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(antiphon_flow::time::parse("1m30s"), Ok(Duration::from_secs(90)));
/// assert!(antiphon_flow::time::parse("90").is_err());
/// ```
pub fn parse(text: &str) -> Result<Duration, Invalid> {
    let invalid = |why| Invalid { text: text.chars().take(40).collect(), why };
    let (mut rest, mut total, mut smallest) = (text.trim(), 0_u64, u64::MAX);
    if rest.is_empty() {
        return Err(invalid("is empty, write it as `250ms`, `5s`, `2m` or `1h`"));
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        if number.is_empty() {
            return Err(invalid("must be whole numbers with units, as in `250ms`, `5s`, `2m` or `1m30s`"));
        }
        let Some((unit, size)) = UNITS.iter().find(|(unit, _)| after.starts_with(unit)) else {
            return Err(invalid("needs a unit after each number: `ms`, `s`, `m` or `h`"));
        };
        if *size >= smallest {
            return Err(invalid("must have its larger units first, each once"));
        }
        smallest = *size;
        let part = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*size));
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(|| invalid(TOO_LONG))?;
        rest = &after[unit.len()..];
    }
    Some(Duration::from_millis(total)).filter(|found| *found <= DURATION_MAX).ok_or_else(|| invalid(TOO_LONG))
}

const TOO_LONG: &str = "is longer than a year (8784h)";

/// Writes a duration so that it can be read again; less than a millisecond is left out.
pub fn to_text(duration: Duration) -> String {
    let mut left = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if left == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, size) in [("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)] {
        if left >= size {
            write!(text, "{}{unit}", left / size).expect("a text takes it");
            left %= size;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written_back() {
        for (text, milliseconds, written) in [
            ("250ms", 250, "250ms"),
            ("5s", 5000, "5s"),
            ("2m", 120_000, "2m"),
            ("1h", 3_600_000, "1h"),
            ("90s", 90_000, "1m30s"),
            ("1m30s", 90_000, "1m30s"),
            ("1h2m3s4ms", 3_723_004, "1h2m3s4ms"),
            ("0s", 0, "0s"),
            (" 1s ", 1000, "1s"),
            ("8784h", 31_622_400_000, "8784h"),
        ] {
            let duration = parse(text).expect(text);
            assert_eq!(duration, Duration::from_millis(milliseconds), "{text}");
            assert_eq!(to_text(duration), written, "{text}");
            assert_eq!(parse(written), Ok(duration));
        }
    }

    #[test]
    fn what_is_no_duration_says_why() {
        for (text, why) in [
            ("", "is empty"),
            ("5", "needs a unit"),
            ("5 s", "needs a unit"),
            ("5d", "needs a unit"),
            ("-5s", "must be whole numbers"),
            ("1.5s", "needs a unit"),
            ("s", "must be whole numbers"),
            ("1s1m", "larger units first"),
            ("1s1s", "larger units first"),
            ("8785h", "longer than a year"),
            ("99999999999999999999h", "longer than a year"),
            ("18446744073709551615h", "longer than a year"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
