//! [`Cost`]: money, counted in whole billionths of a dollar so that sums do not drift.

use antiphon_event::Json;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

const NANOS: u64 = 1_000_000_000;

/// An amount of US dollars, exact to the billionth, up to eighteen billion. Written as a number of dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u64);

impl Cost {
    /// So many dollars, rounded to the billionth; less than nothing counts as nothing.
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * NANOS as f64).round() as u64)
    }

    /// As a number of dollars, for showing.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fraction = format!("{:09}", self.0 % NANOS);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        f.pad(&format!("{}{point}{fraction}", self.0 / NANOS))
    }
}

impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.to_string()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        let (whole, fraction) = json.as_str().split_once('.').unwrap_or((json.as_str(), ""));
        let digits = format!("{whole}{fraction:0<9}");
        digits.parse().map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_drift() {
        let dimes = (0..1_000_000).fold(Cost::default(), |sum, _| sum.plus(Cost::from_dollars(0.1)));
        assert_eq!(dimes.to_string(), "100000");
    }

    #[test]
    fn amounts_are_written_as_dollars_and_read_back_to_the_billionth() {
        let rows = [
            (0.0, "0"),
            (0.3, "0.3"),
            (12.0, "12"),
            (0.000_000_001, "0.000000001"),
            (-1.0, "0"),
            (f64::INFINITY, "18446744073.709551615"),
        ];
        for (dollars, written) in rows {
            let cost = Cost::from_dollars(dollars);
            assert_eq!(serde_json::to_string(&cost).expect("serialises"), written);
            assert_eq!(serde_json::from_str::<Cost>(written).expect("reads"), cost);
        }
    }
}
