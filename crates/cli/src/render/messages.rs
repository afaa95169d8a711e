//! The conversation as a model's vendor wants it: every message with its role, every call with its result.

use antiphon_view::messages::Messages;
use antiphon_view::{Projected, View};
use serde::Deserialize;
use serde_json::Value;

use super::payload::{brief_value, full};
use super::{Ink, Line, Page, nothing, paragraphs};

/// Lines of a result that are shown.
const RESULT_LINES: usize = 8;

/// The snapshot, as far as it is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Snapshot {
    messages: Vec<Message>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    role: String,
    content: Value,
    reasoning: Vec<Thought>,
    tool_calls: Vec<Call>,
    tool_call_id: String,
    name: String,
    is_error: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Thought {
    text: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Call {
    id: String,
    name: String,
    arguments: Value,
}

/// Lays out all messages, in order.
pub(super) fn lines(messages: &Projected<Messages>, page: Page) -> Vec<Line> {
    let snapshot = serde_json::to_value(messages.snapshot()).expect("snapshots are JSON");
    let snapshot = Snapshot::deserialize(snapshot).expect("the snapshot is a list of messages");
    let mut lines = Vec::new();
    for message in &snapshot.messages {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        lines.push(title(message).cut(page.width));
        let body = body(message, page.width.saturating_sub(2));
        lines.extend(body.into_iter().map(|line| Line::new().plain("  ").join(line)));
    }
    if lines.is_empty() { nothing("there is nothing to send to a model") } else { lines }
}

fn title(message: &Message) -> Line {
    match message.role.as_str() {
        "user" => Line::new().ink(Ink::Person, "user"),
        "tool" => {
            let line = Line::new().ink(Ink::Tool, format!("tool {}", message.name));
            line.ink(Ink::Faint, format!(" {}", message.tool_call_id))
        }
        role => Line::new().ink(Ink::Agent, role),
    }
}

fn body(message: &Message, width: usize) -> Vec<Line> {
    let thought = message.reasoning.iter().flat_map(|thought| paragraphs(Ink::Faint, &thought.text, width));
    let mut lines: Vec<Line> = thought.collect();
    let ink = if message.is_error { Ink::Bad } else { Ink::Plain };
    let said = paragraphs(ink, &text(&message.content), width);
    lines.extend(if message.role == "tool" { folded(said) } else { said });
    for call in &message.tool_calls {
        let line =
            Line::new().ink(Ink::Tool, format!("● {}", call.name)).ink(Ink::Faint, format!(" {} ", call.id));
        lines.push(line.plain(brief_value(&call.arguments)).cut(width));
    }
    lines
}

/// Text, or the text of all parts with what is no text in brackets.
fn text(content: &Value) -> String {
    let Value::Array(parts) = content else {
        return if content.is_null() { String::new() } else { full(content) };
    };
    let member = |part: &Value, name: &str| part.get(name).and_then(Value::as_str).map(str::to_owned);
    let shown = parts.iter().map(|part| {
        let media = || member(part, "mediaType").or_else(|| member(part, "type")).unwrap_or_default();
        member(part, "text").unwrap_or_else(|| format!("[{}]", media()))
    });
    shown.collect::<Vec<_>>().join("\n")
}

fn folded(mut lines: Vec<Line>) -> Vec<Line> {
    let more = lines.len().saturating_sub(RESULT_LINES);
    if more > 1 {
        lines.truncate(RESULT_LINES);
        lines.push(Line::new().ink(Ink::Faint, format!("… {more} more lines")));
    }
    lines
}
