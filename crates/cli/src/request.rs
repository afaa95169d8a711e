//! What a person is asked, as they see it: all that a yes would be about comes before the yes.
//!
//! In: a request, a width. Out: lines; [`fitted`] leaves out what there is no room for, and says how much that is. Line
//! ends that would be lost on the way are shown as `↵`. Start reading at [`told`].

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Body, Event, Json, RelayId, RelayKind};
use serde_json::Value;

use crate::render::{Ink, Line, paragraphs, payload, unit};

/// Who answers when nobody does in time.
pub(crate) const TIMEOUT: &str = "timeout";
/// Who answers what nobody needs to any more.
pub(crate) const RUN: &str = "run";
/// Why nobody is asked any more.
pub(crate) const IN_TIME: &str = "nobody had answered in time";
/// Why an answer to what nobody needs to know comes too late.
pub(crate) const OVER: &str = "the run had gone on without it";

/// The members of an input that say best what a call is about.
const TELLING: [&str; 9] =
    ["command", "url", "pattern", "files", "path", "query", "question", "task", "name"];

/// What a call is about, in brief and on one line.
pub(crate) fn about(tool: &str, input: &Json) -> String {
    let value = input.value();
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    if let ("agent", Some(agent), Some(task)) = (tool, text("agent"), text("task")) {
        return unit::one_line(&format!("{agent}: {task}"));
    }
    match telling(&value) {
        Some((_, telling)) => unit::one_line(telling),
        None => payload::brief_value(&value),
    }
}

/// All of a request: who asks (with the room behind it) and what, then what it is about, then why. The first line is
/// the heading.
pub(crate) fn told(who: &Line, relay: &Relay, width: usize) -> Vec<Line> {
    let params = relay.params.as_ref().map(Json::value);
    let Some(tool) = tool(relay) else {
        let mut lines = headed(who.clone(), relay.prompt.as_deref().unwrap_or("what now?"), "", width);
        lines.extend(params.iter().flat_map(|params| members(params, None, width)));
        return lines;
    };
    let telling = params.as_ref().and_then(telling);
    let head = who.clone().ink(Ink::Tool, tool).plain(" ");
    let mut lines = headed(head, telling.map(|(_, text)| text).unwrap_or_default(), " ↵", width);
    let name = telling.map(|(name, _)| name);
    lines.extend(params.iter().flat_map(|params| members(params, name, width)));
    lines.extend(why(relay, width));
    lines
}

/// The same with every argument by its name.
pub(crate) fn by_name(who: &Line, relay: &Relay, width: usize) -> Vec<Line> {
    let Some(tool) = tool(relay) else { return told(who, relay, width) };
    let mut lines = who.clone().ink(Ink::Tool, tool).wrap(width);
    let params = relay.params.as_ref().map(Json::value);
    lines.extend(params.iter().flat_map(|params| members(params, None, width)));
    lines.extend(why(relay, width));
    lines
}

/// As many of the lines as there is room for, and a last one that says how many more there are and where; whether any
/// are left out.
pub(crate) fn fitted(mut lines: Vec<Line>, room: usize, place: &str) -> (Vec<Line>, bool) {
    if lines.len() <= room {
        return (lines, false);
    }
    let more = lines.len() - room.saturating_sub(1);
    lines.truncate(lines.len() - more);
    let more = unit::count(more as u64);
    lines.push(Line::new().ink(Ink::Waiting, format!("… {more} more lines: {place}")));
    (lines, true)
}

/// What was decided, by whom, and why.
pub(crate) fn verdict(resolved: &RelayResolved) -> String {
    let said = match (resolved.approved, &resolved.answer) {
        (_, Some(answer)) => format!("answered {}", unit::one_line(&answer.to_text())),
        (Some(true), None) => "approved".to_owned(),
        (Some(false), None) => "denied".to_owned(),
        (None, None) => "left unanswered".to_owned(),
    };
    let why = resolved.reason.as_deref().map(|why| format!(": {}", unit::one_line(why)));
    format!("{said} by {}{}", resolved.by, why.unwrap_or_default())
}

/// Why a request is not asked any more that nobody has answered here.
pub(crate) fn gone(relay: &RelayId, events: &[Event]) -> String {
    let resolved = events.iter().find_map(|event| match &event.body {
        Body::RelayResolved(resolved) if resolved.relay_id == *relay => Some(resolved),
        _ => None,
    });
    match resolved {
        Some(resolved) if resolved.by == TIMEOUT => format!("({IN_TIME})"),
        Some(resolved) if resolved.by != RUN => format!("(answered elsewhere: {})", verdict(resolved)),
        _ => format!("({OVER})"),
    }
}

/// The tool that a request is about, if it is about its use and not asked by it.
fn tool(relay: &Relay) -> Option<&str> {
    relay.tool.as_deref().filter(|_| relay.kind != RelayKind::Question)
}

/// The member of an input that says best what a call is about.
fn telling(input: &Value) -> Option<(&'static str, &str)> {
    TELLING.iter().find_map(|name| Some((*name, input.get(name)?.as_str()?)))
}

fn why(relay: &Relay, width: usize) -> Vec<Line> {
    paragraphs(Ink::Faint, relay.prompt.as_deref().unwrap_or_default(), width)
}

/// A text behind a heading, each line end of it marked.
fn headed(head: Line, text: &str, end: &str, width: usize) -> Vec<Line> {
    let mut texts = text.trim_end().lines().peekable();
    let mut line = head.plain(texts.next().unwrap_or_default());
    let mut lines = Vec::new();
    for next in texts {
        lines.extend(line.ink(Ink::Faint, end).wrap(width));
        line = Line::new().plain(next);
    }
    lines.extend(line.wrap(width));
    lines
}

/// What a request is about: of content blocks the text, each with the node it comes from, of an object its members but
/// one, of anything else all there is.
fn members(params: &Value, without: Option<&str>, width: usize) -> Vec<Line> {
    if let Some(blocks) = blocks(params) {
        return blocks.iter().flat_map(|text| paragraphs(Ink::Plain, text, width)).collect();
    }
    match params {
        Value::Object(members) => {
            let others = members.iter().filter(|(name, _)| Some(name.as_str()) != without);
            others.flat_map(|(name, value)| member(name, value, width)).collect()
        }
        other => paragraphs(Ink::Plain, &payload::text(other), width),
    }
}

/// A member by its name; lines of it after the first stand further in.
fn member(name: &str, value: &Value, width: usize) -> Vec<Line> {
    let head = Line::new().ink(Ink::Faint, format!("{name}: "));
    let mut lines = headed(head, &payload::text(value), "", width.saturating_sub(2)).into_iter();
    let mut all: Vec<Line> = lines.next().into_iter().collect();
    all.extend(lines.map(|line| Line::new().plain("  ").join(line)));
    all
}

fn blocks(params: &Value) -> Option<Vec<String>> {
    let block = |block: &Value| {
        let text = block.get("text")?.as_str()?.to_owned();
        Some(match block.get("nodeId").and_then(Value::as_str) {
            Some(node) if !text.trim().is_empty() => format!("{node}: {text}"),
            _ => text,
        })
    };
    params.as_array()?.iter().map(block).collect()
}
