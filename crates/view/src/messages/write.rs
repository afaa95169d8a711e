//! Turns as messages: `{role: user|assistant|tool, content, …}`.

use std::borrow::Cow;

use antiphon_event::body::content::{Part, PartKind, UserContent};
use antiphon_event::{Body, Json, Kind};
use antiphon_graph::{Conversation, Node, Place};
use serde::{Deserialize, Serialize, Serializer};

use super::{Messages, Turn};

/// What stands for the result of a call that has none yet.
const NO_RESULT: &str = "no result yet";

/// One message as a vendor wants it. Ids are those the vendor gave, without the run before them.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    /// What a user said.
    User {
        /// What was said.
        content: Content,
    },
    /// What the model said.
    Assistant {
        /// Its answer.
        content: Option<String>,
        /// What it thought before.
        reasoning: Option<Vec<Thought>>,
        /// What it wants called.
        tool_calls: Option<Vec<Call>>,
    },
    /// What a call came to.
    Tool {
        /// The call.
        tool_call_id: String,
        /// The tool.
        name: String,
        /// What it gave.
        content: Content,
        /// Whether it failed.
        is_error: Option<bool>,
    },
}

impl Message {
    /// About how many bytes it is for a model: four thousand for an image or a document, whatever its size.
    pub fn weight(&self) -> usize {
        match self {
            Self::User { content } | Self::Tool { content, .. } => content.weight(),
            Self::Assistant { content, reasoning, tool_calls } => {
                let said = content.as_ref().map_or(0, String::len);
                let thought: usize = reasoning.iter().flatten().map(|thought| thought.text.len()).sum();
                let called = tool_calls.iter().flatten();
                said + thought
                    + called.map(|call| call.name.len() + call.arguments.as_str().len()).sum::<usize>()
            }
        }
    }
}

/// What a message holds: text, or parts as they came.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// Text.
    Text(String),
    /// Text, images and documents in order.
    Parts(Vec<Part>),
}

impl Content {
    /// What a person would read: the text, with media in brackets.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => Cow::Owned(UserContent::Parts(parts.clone()).to_text().into_owned()),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Parts(parts) => parts.iter().map(part_weight).sum(),
        }
    }

    /// What a tool gave: parts if it is a list of them, else text.
    fn of_output(output: &Json) -> Self {
        let parts = || serde_json::from_str::<Vec<Part>>(output.as_str()).ok();
        let known = |part: &Part| part.kind != PartKind::Other;
        match output.as_str().starts_with('[').then(parts).flatten() {
            Some(parts) if !parts.is_empty() && parts.iter().all(known) => Self::Parts(parts),
            _ => Self::Text(output.to_text().into_owned()),
        }
    }
}

fn part_weight(part: &Part) -> usize {
    match &part.kind {
        PartKind::Text { text } => text.len(),
        PartKind::Image { .. } | PartKind::Document { .. } | PartKind::Other => 4000,
    }
}

/// Reasoning with the signature its vendor wants to see again.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thought {
    /// What was thought.
    pub text: String,
    /// The vendor's word for it.
    pub signature: Option<String>,
}

/// A call that the model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The vendor's id for it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Json,
}

/// `{messages: […]}`
#[derive(Serialize)]
pub(super) struct Snapshot<'a> {
    pub(super) messages: List<'a>,
}

pub(super) struct List<'a> {
    pub(super) messages: &'a Messages,
    pub(super) conversation: &'a Conversation,
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.messages.said_by_turn(self.conversation, 0).flatten())
    }
}

/// Writes the messages of one turn, or parts of them.
pub(super) struct Say<'a> {
    pub(super) messages: &'a Messages,
    pub(super) conversation: &'a Conversation,
    pub(super) turn: &'a Turn,
}

impl Say<'_> {
    /// What the user said; what the model said and called; what came of each call; what its code printed.
    pub(super) fn all(&self) -> Vec<Message> {
        let summary = self.conversation.message(self.turn.message).and_then(|message| message.summary());
        if let Some(text) = summary {
            return vec![Message::User { content: Content::Text(text.to_owned()) }];
        }
        let users = self.turn.said.iter().filter_map(|block| self.user_at(*block));
        let assistant = self.turn.has_assistant().then(|| self.assistant());
        let answers = (0..self.turn.calls.len()).filter_map(|nth| self.answer(nth));
        let printed = (0..self.turn.codes.len()).filter_map(|nth| self.printed(nth));
        users.chain(assistant).chain(answers).chain(printed).collect()
    }

    fn node(&self, block: Place) -> Option<&Node> {
        self.conversation.block(block).and_then(|block| self.conversation.node(block.node))
    }

    fn text(&self, block: Place) -> String {
        self.conversation.block(block).and_then(|block| self.conversation.text_of(block)).unwrap_or_default()
    }

    fn user_at(&self, block: Place) -> Option<Message> {
        match self.node(block)?.body() {
            Body::User(user) => Some(Message::User { content: user_content(&user.content) }),
            _ => None,
        }
    }

    /// What a user said last.
    pub(super) fn last_user(&self) -> Option<Message> {
        self.turn.said.last().and_then(|block| self.user_at(*block))
    }

    /// What the model said and called.
    pub(super) fn assistant(&self) -> Message {
        let (mut content, mut thoughts) = (None::<String>, Vec::new());
        for block in &self.turn.said {
            match self.node(*block).map(Node::kind) {
                Some(Kind::Text) => content.get_or_insert_default().push_str(&self.text(*block)),
                Some(Kind::Reasoning) => thoughts.push(self.thought(*block)),
                _ => {}
            }
        }
        let calls = self.turn.calls.iter().filter_map(|block| self.call_at(*block));
        Message::Assistant { content, reasoning: some(thoughts), tool_calls: some(calls.collect()) }
    }

    fn thought(&self, block: Place) -> Thought {
        Thought { text: self.text(block), signature: self.messages.signatures.get(&block).cloned() }
    }

    /// The piece of text that was said last.
    pub(super) fn last_text(&self) -> String {
        self.turn.said.last().map(|block| self.text(*block)).unwrap_or_default()
    }

    /// What was thought last.
    pub(super) fn last_thought(&self) -> Option<Thought> {
        self.turn.said.last().map(|block| self.thought(*block))
    }

    /// The nth call.
    pub(super) fn call(&self, nth: usize) -> Option<Call> {
        self.turn.calls.get(nth).and_then(|block| self.call_at(*block))
    }

    fn call_at(&self, block: Place) -> Option<Call> {
        let place = self.conversation.block(block)?.node;
        match self.conversation.node(place)?.body() {
            Body::ToolCall(call) => Some(Call {
                id: self.messages.ids.of(self.conversation, place)?,
                name: call.name.clone(),
                arguments: call.input.clone(),
            }),
            _ => None,
        }
    }

    /// What came of the nth call.
    pub(super) fn answer(&self, nth: usize) -> Option<Message> {
        let place = self.conversation.block(*self.turn.calls.get(nth)?)?.node;
        self.came_of(place)
    }

    /// What the nth piece of code printed.
    pub(super) fn printed(&self, nth: usize) -> Option<Message> {
        let place = self.conversation.block(*self.turn.codes.get(nth)?)?.node;
        self.came_of(place)
    }

    /// What came of a call, or of code: its result, or that there is none yet.
    fn came_of(&self, place: Place) -> Option<Message> {
        let conversation = self.conversation;
        let node = conversation.node(place)?;
        let result = conversation.answer_to(place).and_then(|result| conversation.node(result));
        match node.body() {
            Body::ToolCall(call) => {
                let (content, is_error) = match result.map(Node::body) {
                    Some(Body::ToolResult(result)) => (Content::of_output(&result.output), result.is_error),
                    _ => (Content::Text(NO_RESULT.to_owned()), Some(true)),
                };
                Some(Message::Tool {
                    tool_call_id: self.messages.ids.of(conversation, place)?,
                    name: call.name.clone(),
                    content,
                    is_error,
                })
            }
            Body::ReplInput(_) => {
                let content = match result.map(Node::body) {
                    Some(Body::ReplOutput(output)) => repl_text(&output.stdout, output.error.as_deref()),
                    _ => NO_RESULT.to_owned(),
                };
                Some(Message::User { content: Content::Text(content) })
            }
            _ => None,
        }
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

fn user_content(content: &UserContent) -> Content {
    match content {
        UserContent::Text(text) => Content::Text(text.clone()),
        UserContent::Parts(parts) => Content::Parts(parts.clone()),
    }
}

fn repl_text(stdout: &str, error: Option<&str>) -> String {
    match error {
        Some(error) if stdout.is_empty() => format!("error: {error}"),
        Some(error) => format!("{stdout}\nerror: {error}"),
        // Vendors refuse a message that says nothing.
        None if stdout.is_empty() => "(it printed nothing)".to_owned(),
        None => stdout.to_owned(),
    }
}
