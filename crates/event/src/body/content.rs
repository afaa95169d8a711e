//! Content: what people and models say.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

use crate::{Delivery, Json, Provenance, StreamId};

/// A person, or whoever speaks for one, said something.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// What was said.
    pub content: UserContent,
    /// When it is heard if a run is under way; the next turn if absent.
    pub delivery: Option<Delivery>,
    /// Where it came from, if not from the user.
    pub provenance: Option<Provenance>,
}

/// A piece of a stream of text from a model.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// The stream; the same for all its pieces.
    pub id: StreamId,
    /// The piece.
    pub content: String,
    /// Where it came from, if not from the model.
    pub provenance: Option<Provenance>,
}

/// A piece of a stream of reasoning from a model.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reasoning {
    /// The stream; the same for all its pieces.
    pub id: StreamId,
    /// The piece.
    pub content: String,
    /// The vendor's signature, needed to send the turn back to it.
    pub signature: Option<String>,
    /// Where it came from, if not from the model.
    pub provenance: Option<Provenance>,
}

/// What a user message holds: plain text, or parts of several kinds.
#[derive(Debug, Clone, PartialEq)]
pub enum UserContent {
    /// Plain text.
    Text(String),
    /// Text, images and documents in order.
    Parts(Vec<Part>),
}

impl UserContent {
    /// What a person would read: the text, with media in brackets.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => {
                Cow::Owned(parts.iter().map(|part| part.kind.to_text()).collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

/// One part of a message. What it is made of is kept whole; `kind` says what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What kind of part it is.
    pub kind: PartKind,
    /// The part as it came, with its data.
    pub json: Json,
}

/// What kind of part of a message.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum PartKind {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image, base64 in `data`.
    Image {
        /// Its media type.
        media_type: String,
    },
    /// A document, base64 in `data`.
    Document {
        /// Its media type.
        media_type: String,
    },
    /// A part of a later version.
    #[serde(skip)]
    Other,
}

impl PartKind {
    fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text { text } => Cow::Borrowed(text),
            Self::Image { media_type } | Self::Document { media_type } => {
                Cow::Owned(format!("[{media_type}]"))
            }
            Self::Other => Cow::Borrowed("[media]"),
        }
    }
}

impl Serialize for UserContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => serializer.collect_seq(parts),
        }
    }
}

impl<'de> Deserialize<'de> for UserContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Spoken)
    }
}

/// Reads what a user message holds.
struct Spoken;

impl<'de> Visitor<'de> for Spoken {
    type Value = UserContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of parts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<UserContent, E> {
        Ok(UserContent::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<UserContent, E> {
        Ok(UserContent::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<UserContent, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(parts)).map(UserContent::Parts)
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        if !is_typed(&json) {
            return Err(D::Error::custom("expected a part as an object with a `type`"));
        }
        let kind = serde_json::from_str(json.as_str()).unwrap_or(PartKind::Other);
        Ok(Self { kind, json })
    }
}

/// Whether it is what every part is, whatever its type.
fn is_typed(json: &Json) -> bool {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, rename = "type")]
        _type: Cow<'a, str>,
    }
    // A list would be read as the members of the object in order.
    json.as_str().starts_with('{') && serde_json::from_str::<Typed<'_>>(json.as_str()).is_ok()
}

impl JsonSchema for UserContent {
    fn schema_name() -> Cow<'static, str> {
        "UserContent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "Plain text, or parts of several kinds.",
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "examples": ["text", "image", "document"]},
                        "text": {"type": "string"},
                        "mediaType": {"type": "string"},
                        "data": {"type": "string", "contentEncoding": "base64"}
                    },
                    "required": ["type"]
                }}
            ]
        })
    }
}
