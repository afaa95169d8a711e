//! [`Words`]: what is said in a chat completion: text, nothing, or a list of parts, some of them thoughts. What else it may
//! be is passed over.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What is said in a piece of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) text: String,
    pub(super) thought: String,
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Parts)
    }
}

struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, or a list of parts")
    }

    fn visit_unit<E>(self) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<Words, E> {
        Ok(Words { text: text.to_owned(), thought: String::new() })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Words, E> {
        Ok(Words::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Words, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Words::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
        let mut words = Words::default();
        while let Some(part) = list.next_element::<Value>()? {
            match part.get("thinking") {
                Some(Value::Array(thoughts)) => words.thought.extend(thoughts.iter().filter_map(text)),
                Some(thought) => words.thought.push_str(thought.as_str().unwrap_or_default()),
                None => words.text.push_str(text(&part).unwrap_or_default()),
            }
        }
        Ok(words)
    }
}

fn text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| part.get("text")?.as_str())
}
