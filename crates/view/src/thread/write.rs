//! A thread as JSON: entries with their parts.

use antiphon_event::body::content::{PartKind, UserContent};
use antiphon_event::{Body, Kind};
use antiphon_graph::{Conversation, Node, Place};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Thread;
use super::part::Answer;
use crate::Standing;
use crate::value::to_value;

/// `{entries: […]}`
pub(super) struct ThreadView<'a> {
    pub(super) thread: &'a Thread,
    pub(super) conversation: &'a Conversation,
}

impl Serialize for ThreadView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { thread, conversation } = *self;
        let mut view = serializer.serialize_map(Some(1))?;
        view.serialize_entry("entries", &Entries { thread, conversation, branch: 0 })?;
        view.end()
    }
}

struct Entries<'a> {
    thread: &'a Thread,
    conversation: &'a Conversation,
    branch: u32,
}

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { thread, conversation, branch } = *self;
        let entries = thread.branches[branch as usize].entries.shown();
        serializer.collect_seq(entries.map(|entry| EntryView { thread, conversation, entry: *entry }))
    }
}

/// `{id, role, runId?, agent?, nodeId?, at?, status, orphan?, parts: […]}`; for a summary `{…, text, sources}`.
pub(super) struct EntryView<'a> {
    pub(super) thread: &'a Thread,
    pub(super) conversation: &'a Conversation,
    pub(super) entry: u32,
}

impl Serialize for EntryView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { thread, conversation, entry } = *self;
        let entry = &thread.entries[entry as usize];
        let mut view = serializer.serialize_map(None)?;
        let Some(message) = conversation.message(entry.message) else {
            return view.end();
        };
        view.serialize_entry("id", message.id())?;
        view.serialize_entry("role", &message.speaker)?;
        optional(&mut view, "runId", message.run.as_ref())?;
        optional(&mut view, "agent", entry.agent.as_ref())?;
        optional(&mut view, "nodeId", entry.flow_node.as_ref())?;
        optional(&mut view, "at", entry.at.as_ref())?;
        view.serialize_entry("status", &entry.status)?;
        optional(&mut view, "orphan", entry.orphan.then_some(&true))?;
        if let Some(text) = message.summary() {
            view.serialize_entry("text", text)?;
            view.serialize_entry("sources", &sources(conversation, entry.message))?;
        }
        view.serialize_entry("parts", &Parts { thread, conversation, entry: self.entry })?;
        view.end()
    }
}

/// The ids of the messages that a summary stands for.
pub(super) fn sources(conversation: &Conversation, summary: Place) -> Vec<&str> {
    let messages = conversation.sources_of(summary).filter_map(|place| conversation.message(place));
    messages.map(|message| message.id().as_str()).collect()
}

fn optional<M: SerializeMap, T: Serialize>(
    view: &mut M,
    name: &str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| view.serialize_entry(name, value))
}

struct Parts<'a> {
    thread: &'a Thread,
    conversation: &'a Conversation,
    entry: u32,
}

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { thread, conversation, entry } = *self;
        let parts = thread.entries[entry as usize].parts.shown();
        serializer.collect_seq(parts.map(|part| PartView { thread, conversation, part: *part }))
    }
}

/// `{kind, id, …}` with the members of its kind.
pub(super) struct PartView<'a> {
    pub(super) thread: &'a Thread,
    pub(super) conversation: &'a Conversation,
    pub(super) part: u32,
}

/// The members a part of each kind may have, in order.
const MEMBERS: &[&str] = &[
    "kind",
    "id",
    "text",
    "content",
    "message",
    "code",
    "name",
    "input",
    "callType",
    "prompt",
    "options",
    "iteration",
    "progress",
    "output",
    "isError",
    "relay",
    "status",
];

/// Whether a member is left out of a part of this type when calls are folded: what a call was given and gave, also
/// as long as the call itself has not come.
fn is_detail(kind: Kind, name: &str) -> bool {
    match kind {
        Kind::ToolCall | Kind::ReplInput => matches!(name, "input" | "progress" | "output"),
        Kind::ToolResult | Kind::ReplOutput => name == "output",
        Kind::ToolProgress => name == "content",
        Kind::ReplProgress => name == "text",
        _ => false,
    }
}

impl Serialize for PartView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut view = serializer.serialize_map(None)?;
        for name in MEMBERS {
            if let Some(value) = self.member(name) {
                view.serialize_entry(name, &value)?;
            }
        }
        let branches = self.branches();
        if !branches.is_empty() {
            view.serialize_entry("branches", &branches)?;
        }
        view.end()
    }
}

impl<'a> PartView<'a> {
    /// The value of a member, if the part has it.
    pub(super) fn member(&self, name: &str) -> Option<Value> {
        let block = self.conversation.block(self.thread.parts[self.part as usize].block)?;
        let node = self.conversation.node(block.node)?;
        if self.thread.options.collapse_tools && is_detail(node.kind(), name) {
            return None;
        }
        match (name, node.body()) {
            ("kind", _) => Some(json!(part_kind(node.kind()))),
            ("id", _) => self.conversation.block_id(block).strip_prefix("block:").map(Value::from),
            ("text", Body::User(user)) => Some(json!(user.content.to_text())),
            ("content", Body::User(user)) => media(&user.content),
            ("text", _) => self.conversation.text_of(block).map(Value::from),
            ("message", Body::Error(error)) => Some(json!(error.message)),
            ("code", Body::Error(error)) => error.code.as_ref().map(|code| json!(code)),
            ("code", Body::ReplInput(input)) => Some(json!(input.code)),
            ("iteration", Body::ReplInput(input)) => input.iteration.map(Value::from),
            ("name", Body::ToolCall(call)) => Some(json!(call.name)),
            ("input", Body::ToolCall(call)) => Some(call.input.value()),
            ("callType", Body::ToolCall(call)) => call.call_type.as_ref().map(|kind| json!(kind)),
            ("name", Body::ToolResult(result)) => result.tool().map(Value::from),
            ("prompt", Body::Relay(relay)) => relay.prompt.as_ref().map(|prompt| json!(prompt)),
            ("options", Body::Relay(relay)) => relay.options.as_ref().map(|options| json!(options)),
            ("name", Body::Relay(relay)) => relay.tool.as_ref().map(|tool| json!(tool)),
            ("input", Body::Relay(relay)) => relay.params.as_ref().map(antiphon_event::Json::value),
            ("output", Body::ToolResult(_) | Body::ReplOutput(_)) => output(node),
            ("isError", Body::ToolResult(_)) => is_error(node),
            ("content", Body::ToolProgress(progress)) => Some(progress.content.value()),
            _ => self.of_answer(name, node),
        }
    }

    /// Members that say what came of a call, of code or of a request.
    fn of_answer(&self, name: &str, node: &Node) -> Option<Value> {
        let nothing = Answer::default();
        let answer = self.thread.parts[self.part as usize].answer.as_ref().unwrap_or(&nothing);
        let result = answer.result.and_then(|place| self.conversation.node(place));
        match name {
            "output" => result.and_then(output),
            "isError" => result.and_then(is_error),
            "relay" => answer.relay().map(to_value),
            "progress" if !answer.progress.is_empty() => Some(self.progress(answer)),
            "status" => status(node.kind(), answer, result).map(Value::from),
            _ => None,
        }
    }

    /// Progress of a tool as a list, output of code as text.
    fn progress(&self, answer: &Answer) -> Value {
        let nodes = || answer.progress.iter().filter_map(|place| self.conversation.node(*place));
        if nodes().any(|node| node.kind() == Kind::ReplProgress) {
            return nodes().filter_map(Node::text).map(ToString::to_string).collect::<String>().into();
        }
        let contents = nodes().filter_map(|node| match node.body() {
            Body::ToolProgress(progress) => Some(progress.content.value()),
            _ => None,
        });
        contents.collect()
    }

    /// What the runs that it started did.
    fn branches(&self) -> Vec<BranchView<'a>> {
        if self.thread.options.collapse_tools {
            return Vec::new();
        }
        let answer = self.thread.parts[self.part as usize].answer.as_ref();
        let branches = answer.map_or(&[][..], |answer| &answer.branches);
        let view = |branch: &u32| BranchView {
            thread: self.thread,
            conversation: self.conversation,
            branch: *branch,
        };
        branches.iter().map(view).collect()
    }
}

/// `{runId, entries: […]}`
pub(super) struct BranchView<'a> {
    pub(super) thread: &'a Thread,
    pub(super) conversation: &'a Conversation,
    pub(super) branch: u32,
}

impl Serialize for BranchView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { thread, conversation, branch } = *self;
        let mut view = serializer.serialize_map(None)?;
        optional(&mut view, "runId", thread.branches[branch as usize].run.as_ref())?;
        view.serialize_entry("entries", &Entries { thread, conversation, branch })?;
        view.end()
    }
}

fn part_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::User => "text",
        Kind::ReplInput => "code",
        Kind::ReplProgress | Kind::ReplOutput => "output",
        other => other.tag(),
    }
}

/// The parts of a user message that are not plain text, without their data.
fn media(content: &UserContent) -> Option<Value> {
    let UserContent::Parts(parts) = content else {
        return None;
    };
    let shown = parts.iter().map(|part| match &part.kind {
        PartKind::Text { text } => json!({"type": "text", "text": text}),
        PartKind::Image { media_type } => json!({"type": "image", "mediaType": media_type}),
        PartKind::Document { media_type } => json!({"type": "document", "mediaType": media_type}),
        PartKind::Other => json!({"type": "other"}),
    });
    Some(shown.collect())
}

fn output(node: &Node) -> Option<Value> {
    match node.body() {
        Body::ToolResult(result) => Some(result.output.value()),
        Body::ReplOutput(output) => serde_json::to_value(output).ok().map(|mut value| {
            if let Value::Object(members) = &mut value {
                members.shift_remove("id");
            }
            value
        }),
        _ => None,
    }
}

fn is_error(node: &Node) -> Option<Value> {
    match node.body() {
        Body::ToolResult(result) => result.is_error.map(Value::from),
        _ => None,
    }
}

/// How far a call, a piece of code or a request has come.
fn status(kind: Kind, answer: &Answer, result: Option<&Node>) -> Option<&'static str> {
    let relay = answer.relay().map(|relay| relay.status);
    let failed = result.is_some_and(|node| match node.body() {
        Body::ToolResult(result) => result.is_error == Some(true),
        Body::ReplOutput(output) => output.error.is_some(),
        _ => false,
    });
    if kind == Kind::Relay {
        return relay.map(|relay| match relay {
            Standing::Pending => "waiting",
            settled => settled.name(),
        });
    }
    match (kind, result, relay) {
        (Kind::ToolCall, _, Some(Standing::Denied | Standing::Expired)) => Some("denied"),
        (Kind::ToolCall | Kind::ReplInput, Some(_), _) => Some(if failed { "error" } else { "complete" }),
        (Kind::ToolCall | Kind::ReplInput, None, Some(Standing::Pending)) => Some("waiting"),
        // Progress proves that a call has started, if nothing else said so.
        (Kind::ToolCall, None, _) if answer.running || !answer.progress.is_empty() => Some("running"),
        (Kind::ToolCall, None, _) => Some("proposed"),
        (Kind::ReplInput, None, _) => Some("running"),
        _ => None,
    }
}
