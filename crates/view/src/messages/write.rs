//! Turns as messages: `{role: user|assistant|tool, content, …}`.

use std::borrow::Cow;

use antiphon_event::body::content::UserContent;
use antiphon_event::{Body, Json, Kind};
use antiphon_graph::{Conversation, Node, Place};
use serde::{Serialize, Serializer};

use super::{Messages, Turn};

/// What stands for the result of a call that has none yet.
const NO_RESULT: &str = "no result yet";

/// One message as a vendor wants it. Ids are those the vendor gave, without the run before them.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum Message {
    User { content: Content },
    Assistant { content: Option<String>, reasoning: Option<Vec<Thought>>, tool_calls: Option<Vec<Call>> },
    Tool { tool_call_id: String, name: String, content: Content, is_error: Option<bool> },
}

/// What a message holds: text, or parts as they came.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(UserContent),
}

/// Reasoning with the signature its vendor wants to see again.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Thought {
    text: String,
    signature: Option<String>,
}

/// A call that the model made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Call {
    id: String,
    name: String,
    arguments: Json,
}

/// `{messages: […]}`
#[derive(Serialize)]
pub(super) struct Snapshot<'a> {
    pub(super) messages: List<'a>,
}

pub(super) struct List<'a> {
    pub(super) messages: Cow<'a, Messages>,
    pub(super) conversation: &'a Conversation,
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let turns = self.messages.turns.iter();
        serializer.collect_seq(turns.flat_map(|turn| self.messages.messages_of(turn, self.conversation)))
    }
}

impl Messages {
    /// The messages of a turn: what the user said; what the model said and called; what came of each call.
    pub(super) fn messages_of(&self, turn: &Turn, conversation: &Conversation) -> Vec<Message> {
        if let Some(text) = conversation.message(turn.message).and_then(|message| message.summary()) {
            return vec![Message::User { content: Content::Text(text.to_owned()) }];
        }
        let mut messages = Vec::new();
        let (mut text, mut thoughts) = (None::<String>, Vec::new());
        for block in &turn.said {
            let Some(node) = kept(conversation, *block) else {
                continue;
            };
            let said = || {
                conversation.block(*block).and_then(|block| conversation.text_of(block)).unwrap_or_default()
            };
            match node.body() {
                Body::User(user) => messages.push(Message::User { content: user_content(&user.content) }),
                Body::Text(_) => text.get_or_insert_default().push_str(&said()),
                Body::Reasoning(_) => {
                    let signature = self.signatures.get(block).cloned();
                    thoughts.push(Thought { text: said(), signature });
                }
                _ => {}
            }
        }
        let kept_call = |block: &Place| {
            kept(conversation, *block).zip(conversation.block(*block).map(|block| block.node))
        };
        let calls: Vec<_> = turn.calls.iter().filter_map(kept_call).collect();
        let tool_calls: Vec<_> = calls.iter().filter_map(|(node, _)| call(conversation, node)).collect();
        if text.is_some() || !thoughts.is_empty() || !calls.is_empty() {
            let (reasoning, tool_calls) = (some(thoughts), some(tool_calls));
            messages.push(Message::Assistant { content: text, reasoning, tool_calls });
        }
        messages.extend(calls.iter().filter_map(|(_, place)| answer(conversation, *place)));
        messages
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// The node of a block, unless a repeated model call made it void.
fn kept(conversation: &Conversation, block: Place) -> Option<&Node> {
    let node = conversation.block(block).and_then(|block| conversation.node(block.node));
    node.filter(|node| !node.is_discarded())
}

fn user_content(content: &UserContent) -> Content {
    match content {
        UserContent::Text(text) => Content::Text(text.clone()),
        UserContent::Parts(_) => Content::Parts(content.clone()),
    }
}

/// The id as the vendor knows it: without the run before it, and without the number that a run adds when the
/// vendor uses an id again.
fn raw_id(conversation: &Conversation, node: &Node) -> String {
    let id = node.id().as_str();
    let Some(own) = id.strip_prefix(node.run().as_str()).and_then(|rest| rest.strip_prefix('/')) else {
        return id.to_owned();
    };
    let again = own.rsplit_once('~').filter(|(raw, number)| {
        let first = &id[..id.len() - own.len() + raw.len()];
        number.parse::<u32>().is_ok() && conversation.resolve(node.run(), first, Kind::ToolCall).is_some()
    });
    again.map_or(own, |(raw, _)| raw).to_owned()
}

pub(super) fn call(conversation: &Conversation, node: &Node) -> Option<Call> {
    match node.body() {
        Body::ToolCall(call) => Some(Call {
            id: raw_id(conversation, node),
            name: call.name.clone(),
            arguments: call.input.clone(),
        }),
        _ => None,
    }
}

/// What came of a call, or of code: its result, or that there is none yet.
pub(super) fn answer(conversation: &Conversation, place: Place) -> Option<Message> {
    let (node, result) = (conversation.node(place)?, conversation.answer_to(place));
    match node.body() {
        Body::ToolCall(call) => {
            let (content, is_error) = match result.map(Node::body) {
                Some(Body::ToolResult(result)) => (result.output.to_text().into_owned(), result.is_error),
                _ => (NO_RESULT.to_owned(), Some(true)),
            };
            let content = Content::Text(content);
            let tool_call_id = raw_id(conversation, node);
            Some(Message::Tool { tool_call_id, name: call.name.clone(), content, is_error })
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

fn repl_text(stdout: &str, error: Option<&str>) -> String {
    match error {
        Some(error) if stdout.is_empty() => format!("error: {error}"),
        Some(error) => format!("{stdout}\nerror: {error}"),
        None => stdout.to_owned(),
    }
}
