//! [`TraceId`] and [`SpanId`]: ids that are mostly so many hexadecimal digits, held as the number they write.
//!
//! They are on every event, so they are small and copied, not counted; whatever else somebody calls a span is kept as it
//! was written. Start reading at [`Digits`].

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Word;

/// One trace, 32 hex digits.
pub type TraceId = Digits<2>;

/// One span of a trace, 16 hex digits.
pub type SpanId = Digits<1>;

/// So many times sixteen hexadecimal digits, or what stands in their place.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Digits<const N: usize>(Form<N>);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Form<const N: usize> {
    /// What lower-case digits write.
    Number([u64; N]),
    /// Whatever else somebody wrote.
    Text(Word),
}

impl<const N: usize> Digits<N> {
    /// The id that is written with the digits of a number.
    pub(crate) const fn writing(number: [u64; N]) -> Self {
        Self(Form::Number(number))
    }

    /// The number that it writes, if it writes one.
    pub(crate) fn number(&self) -> Option<[u64; N]> {
        match &self.0 {
            Form::Number(number) => Some(*number),
            Form::Text(_) => None,
        }
    }

    /// Hands over the id as text.
    fn read<T>(&self, reader: impl FnOnce(&str) -> T) -> T {
        match &self.0 {
            Form::Number(number) => {
                let digits = number.map(written);
                reader(std::str::from_utf8(digits.as_flattened()).expect("digits are ASCII"))
            }
            Form::Text(text) => reader(text),
        }
    }
}

impl<const N: usize> From<&str> for Digits<N> {
    fn from(text: &str) -> Self {
        Self(numbers(text).map_or_else(|| Form::Text(text.into()), Form::Number))
    }
}

impl<const N: usize> From<String> for Digits<N> {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl<const N: usize> From<Arc<str>> for Digits<N> {
    fn from(text: Arc<str>) -> Self {
        Self::from(&*text)
    }
}

/// In the order of the texts.
impl<const N: usize> Ord for Digits<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Form::Number(one), Form::Number(other)) => one.cmp(other),
            (Form::Text(one), Form::Text(other)) => one.cmp(other),
            _ => self.read(|one| other.read(|other| one.cmp(other))),
        }
    }
}

impl<const N: usize> PartialOrd for Digits<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> fmt::Display for Digits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read(|text| f.pad(text))
    }
}

impl<const N: usize> fmt::Debug for Digits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read(|text| fmt::Debug::fmt(text, f))
    }
}

impl<const N: usize> Serialize for Digits<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.read(|text| serializer.serialize_str(text))
    }
}

impl<'de, const N: usize> Deserialize<'de> for Digits<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer).map(|text| Self::from(&*text))
    }
}

impl<const N: usize> JsonSchema for Digits<N> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Digits".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// The digits of a number.
fn written(number: u64) -> [u8; 16] {
    let mut digits = [[0; 2]; 8];
    for (pair, byte) in digits.iter_mut().zip(number.to_be_bytes()) {
        *pair = PAIRS[usize::from(byte)];
    }
    *digits.as_flattened().as_array().expect("eight pairs are sixteen digits")
}

/// Every byte as two digits.
const PAIRS: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [digits[byte >> 4], digits[byte & 15]];
        byte += 1;
    }
    pairs
};

/// The numbers that a text writes, if it is nothing but their digits.
fn numbers<const N: usize>(text: &str) -> Option<[u64; N]> {
    let (words, rest) = text.as_bytes().as_chunks::<16>();
    let words = <&[[u8; 16]; N]>::try_from(words).ok().filter(|_| rest.is_empty())?;
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(words) {
        *number = number_of(digits)?;
    }
    Some(numbers)
}

/// The number that digits write; nothing if one is no lower-case digit.
fn number_of(digits: &[u8; 16]) -> Option<u64> {
    digits.iter().try_fold(0, |number, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u64::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_span_is_called_is_kept() {
        let texts = ["0123456789abcdef", "0123456789ABCDEF", "", "no digits at all", "sixteen letters!"];
        let twice = "0123456789abcdeffedcba9876543210";
        for text in texts.into_iter().chain([twice, "0123456789abcdef0", "0123456789abcdef-123456789abcdef"])
        {
            assert_eq!(SpanId::from(text).to_string(), text);
            assert_eq!(TraceId::from(text).to_string(), text);
            let json = serde_json::to_string(&SpanId::from(text)).expect("text");
            assert_eq!(serde_json::from_str::<SpanId>(&json).expect("text"), SpanId::from(text));
        }
    }

    #[test]
    fn they_stand_in_the_order_of_their_texts() {
        let mut texts = ["ffffffffffffffff", "0000000000000001", "zz", "", "0000000000000001x", "FFFF"];
        texts.sort_unstable();
        let mut ids = texts.map(SpanId::from);
        ids.reverse();
        ids.sort();
        assert_eq!(ids.map(|id| id.to_string()), texts);
    }
}
