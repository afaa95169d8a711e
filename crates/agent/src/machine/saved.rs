//! What an agent was told before, as it is written down with it.
//!
//! For vendors a message names its kind beside its members; here around them, so that payloads can be read as they came.

use antiphon_event::body::content::Part;
use antiphon_view::messages::{Call, Content, Message, Thought};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
enum Told {
    User(Held),
    Assistant { content: Option<String>, reasoning: Option<Vec<Thought>>, tool_calls: Option<Vec<Call>> },
    Tool { tool_call_id: String, name: String, content: Held, is_error: Option<bool> },
}

#[derive(Serialize, Deserialize)]
enum Held {
    Text(String),
    Parts(Vec<Part>),
}

pub(super) fn serialize<S: Serializer>(messages: &[Message], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(messages.iter().cloned().map(Told::from))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Message>, D::Error> {
    let told = Vec::<Told>::deserialize(deserializer)?;
    Ok(told.into_iter().map(Message::from).collect())
}

impl From<Message> for Told {
    fn from(message: Message) -> Self {
        match message {
            Message::User { content } => Self::User(content.into()),
            Message::Assistant { content, reasoning, tool_calls } => {
                Self::Assistant { content, reasoning, tool_calls }
            }
            Message::Tool { tool_call_id, name, content, is_error } => {
                Self::Tool { tool_call_id, name, content: content.into(), is_error }
            }
        }
    }
}

impl From<Told> for Message {
    fn from(told: Told) -> Self {
        match told {
            Told::User(content) => Self::User { content: content.into() },
            Told::Assistant { content, reasoning, tool_calls } => {
                Self::Assistant { content, reasoning, tool_calls }
            }
            Told::Tool { tool_call_id, name, content, is_error } => {
                Self::Tool { tool_call_id, name, content: content.into(), is_error }
            }
        }
    }
}

impl From<Content> for Held {
    fn from(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::Text(text),
            Content::Parts(parts) => Self::Parts(parts),
        }
    }
}

impl From<Held> for Content {
    fn from(held: Held) -> Self {
        match held {
            Held::Text(text) => Self::Text(text),
            Held::Parts(parts) => Self::Parts(parts),
        }
    }
}
