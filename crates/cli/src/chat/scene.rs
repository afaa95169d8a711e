//! [`Scene`]: what an agent says and does in a turn, in order.
//!
//! In: events. Out: lines that will not change any more ([`Scene::settled`]), and those that may ([`Scene::moving`]).
//! Start reading at [`Scene::apply`].

use std::collections::{HashMap, VecDeque};

use antiphon_event::{Body, Event, RunId, Timestamp};
use antiphon_runtime::{Clock, SystemClock};

use super::call::Call;
use super::markdown;
use crate::render::{Ink, Line, paragraphs, payload, unit};

/// How deep agents that call agents are shown.
const DEPTH_MAX: usize = 6;
/// How many lines of what an agent thinks are shown while it does.
const THOUGHT_LINES: usize = 4;

/// How many bytes of an unfinished block are drawn again as more of it comes.
const BLOCK_MAX: usize = 64 * 1024;

/// Something that was said or done.
enum Item {
    /// What the agent says, as far as it is not settled.
    Text { id: String, source: String },
    /// What it thinks.
    Thought { id: String, text: String },
    /// A tool it called.
    Call(String),
    /// Something besides.
    Note(Line),
}

/// What an item is, as far as the room between items is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thought,
    Call,
    Note,
}

/// A turn as it is shown.
#[derive(Default)]
pub(super) struct Scene {
    items: VecDeque<Item>,
    calls: HashMap<String, Call>,
    /// The calls that started the runs of other agents.
    runs: HashMap<RunId, String>,
    last: Option<Kind>,
    /// Whether what is said last stays here until more happens.
    is_held: bool,
    /// How often it was drawn.
    turn: usize,
}

impl Scene {
    /// A turn whose reply is shown elsewhere: what is said last is not settled before something follows it.
    pub(super) fn without_reply() -> Self {
        Self { is_held: true, ..Self::default() }
    }

    /// Takes in one event.
    pub(super) fn apply(&mut self, event: &Event) {
        let at = event.head.at;
        let around = event.head.run_id.as_ref().and_then(|run| self.runs.get(run)).cloned();
        match &event.body {
            Body::Text(text) => match around {
                Some(call) => self.tail(&call, &text.content),
                None => self.say(text.id.as_str(), &text.content),
            },
            Body::Reasoning(thought) if around.is_none() => self.think(thought.id.as_str(), &thought.content),
            Body::HarnessStart(start) if start.depth.unwrap_or(0) > 0 => {
                if let (Some(run), Some(call)) = (&event.head.run_id, &event.head.parent_id) {
                    self.runs.insert(run.clone(), call.as_str().to_owned());
                }
            }
            Body::ToolCall(call) => {
                let id = call.id.as_str();
                match self.calls.get_mut(id) {
                    Some(known) => known.begin(call, at),
                    None => self.call(id, Call::new(call, at), around),
                }
            }
            Body::ToolProgress(progress) => {
                let value = progress.content.value();
                let text = value.get("text").and_then(|text| text.as_str()).map(str::to_owned);
                let text = text.unwrap_or_else(|| payload::brief_value(&value) + "\n");
                self.tail(progress.tool_call_id.as_str(), &text);
            }
            Body::ToolResult(result) => {
                if let Some(call) = self.calls.get_mut(result.id.as_str()) {
                    call.end(result, at);
                }
            }
            Body::Relay(relay) => self.asked(relay.tool_call_id.as_ref().map(|id| id.as_str()), true),
            Body::RelayResolved(resolved) => {
                let call = resolved.relay_id.as_str().rsplit_once(':').map(|(call, _)| call);
                self.asked(call, false);
            }
            Body::ModelRetry(retry) if around.is_none() => {
                self.items.retain(|item| match item {
                    Item::Text { id, .. } | Item::Thought { id, .. } => !retry.discards.contains(id),
                    Item::Call(_) | Item::Note(_) => true,
                });
                self.note(Ink::Faint, &unit::again(retry));
            }
            Body::ModelRetry(retry) => {
                let call = around.unwrap_or_default();
                self.tail(&call, &(unit::again(retry) + "\n"));
            }
            Body::HistoryCompacted(_) => {
                self.note(Ink::Faint, "(what was said before was put into a summary)");
            }
            _ => {}
        }
    }

    fn say(&mut self, stream: &str, text: &str) {
        match self.items.back_mut() {
            Some(Item::Text { id, source }) if id == stream => source.push_str(text),
            _ => self.items.push_back(Item::Text { id: stream.to_owned(), source: text.to_owned() }),
        }
    }

    fn think(&mut self, stream: &str, thought: &str) {
        match self.items.back_mut() {
            Some(Item::Thought { id, text }) if id == stream => text.push_str(thought),
            _ => self.items.push_back(Item::Thought { id: stream.to_owned(), text: thought.to_owned() }),
        }
    }

    fn call(&mut self, id: &str, call: Call, around: Option<String>) {
        match around.and_then(|around| self.calls.get_mut(&around)) {
            Some(around) => around.inner.push(id.to_owned()),
            None => self.items.push_back(Item::Call(id.to_owned())),
        }
        self.calls.insert(id.to_owned(), call);
    }

    fn tail(&mut self, call: &str, text: &str) {
        if let Some(call) = self.calls.get_mut(call) {
            call.say(text);
        }
    }

    fn asked(&mut self, call: Option<&str>, is_asked: bool) {
        if let Some(call) = call.and_then(|call| self.calls.get_mut(call)) {
            call.is_asked = is_asked;
        }
    }

    fn note(&mut self, ink: Ink, text: &str) {
        self.items.push_back(Item::Note(Line::new().ink(ink, unit::flat(text))));
    }

    /// The lines that will not change any more, each once; at the end of a turn all that are left.
    pub(super) fn settled(&mut self, width: usize, is_over: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(item) = self.items.pop_front() {
            let is_last = self.items.is_empty() && !is_over;
            match item {
                Item::Text { id, mut source } if is_last => {
                    let kept = if self.is_held { 0 } else { settled(&source) };
                    let rest = source.split_off(kept);
                    self.put(Kind::Text, markdown::lines(&source, width), &mut lines);
                    self.items.push_front(Item::Text { id, source: rest });
                    break;
                }
                Item::Text { source, .. } => {
                    self.put(Kind::Text, markdown::lines(&source, width), &mut lines);
                }
                Item::Thought { id, text } if is_last => {
                    self.items.push_front(Item::Thought { id, text });
                    break;
                }
                Item::Thought { text, .. } => {
                    self.put(Kind::Thought, paragraphs(Ink::Faint, text.trim(), width), &mut lines);
                }
                Item::Call(id) if !is_over && !self.calls.get(&id).is_none_or(Call::is_done) => {
                    self.items.push_front(Item::Call(id));
                    break;
                }
                Item::Call(id) => {
                    let call = self.tree(&id, None, width, 0);
                    self.put(Kind::Call, call, &mut lines);
                    self.calls.remove(&id);
                }
                Item::Note(note) => self.put(Kind::Note, note.wrap(width), &mut lines),
            }
        }
        lines
    }

    /// Takes away what is said last, if it was kept back.
    pub(super) fn take_reply(&mut self) {
        while self.is_held
            && let Some(Item::Text { .. }) = self.items.back()
        {
            self.items.pop_back();
        }
    }

    /// Something else is shown now: whether room is needed before it. What comes next needs none.
    pub(super) fn part(&mut self) -> bool {
        self.last.take().is_some()
    }

    /// Adds the lines of an item with the room before it.
    fn put(&mut self, kind: Kind, item: Vec<Line>, lines: &mut Vec<Line>) {
        if item.is_empty() {
            return;
        }
        if self.last.is_some_and(|last| last != kind || kind != Kind::Call) {
            lines.push(Line::new());
        }
        self.last = Some(kind);
        lines.extend(item);
    }

    /// The lines that may still change, at most so many: the last ones.
    pub(super) fn moving(&mut self, width: usize, rows: usize) -> Vec<Line> {
        self.turn += 1;
        let now = Some(SystemClock.now());
        let mut lines = Vec::new();
        let mut last = self.last;
        for item in &self.items {
            let (kind, item) = match item {
                Item::Text { source, .. } => (Kind::Text, markdown::lines(source, width)),
                Item::Thought { text, .. } => {
                    let mut thought = paragraphs(Ink::Faint, text.trim(), width);
                    thought.drain(..thought.len().saturating_sub(THOUGHT_LINES));
                    (Kind::Thought, thought)
                }
                Item::Call(id) => (Kind::Call, self.tree(id, now, width, 0)),
                Item::Note(note) => (Kind::Note, note.clone().wrap(width)),
            };
            if item.is_empty() {
                continue;
            }
            if last.is_some_and(|last| last != kind || kind != Kind::Call) {
                lines.push(Line::new());
            }
            last = Some(kind);
            lines.extend(item);
        }
        lines.drain(..lines.len().saturating_sub(rows));
        lines
    }

    /// A call with those of the agent it called below it.
    fn tree(&self, id: &str, now: Option<Timestamp>, width: usize, depth: usize) -> Vec<Line> {
        let Some(call) = self.calls.get(id) else { return Vec::new() };
        let mut lines = call.lines(now, self.turn, width);
        if depth < DEPTH_MAX {
            let inner =
                call.inner.iter().flat_map(|id| self.tree(id, now, width.saturating_sub(2), depth + 1));
            let inner: Vec<Line> = inner.map(|line| Line::new().ink(Ink::Faint, "  ").join(line)).collect();
            lines.splice(1..1, inner);
        }
        lines
    }
}

/// How many bytes of a text that is still coming will stay as they are: whole blocks, and of one that is too long to
/// be drawn again and again all whole lines.
fn settled(source: &str) -> usize {
    if source.len() > BLOCK_MAX {
        return source.rfind('\n').map_or(source.len(), |end| end + 1);
    }
    markdown::complete(source)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::render::{Palette, paint};

    /// Shows what is settled after each of some events, then what is left at the end of the turn.
    fn check(events: &str, expected: Expect) {
        let mut scene = Scene::default();
        let mut told = String::new();
        for (at, line) in events.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
            let (millis, rest) = line.split_once(' ').expect("a time before the event");
            let (run, rest) = rest.split_once(' ').expect("a run before the event");
            let head = format!(r#"{{"seq":{},"at":"2026-01-01T00:00:{millis}Z","runId":"{run}","#, at + 1);
            let event = Event::from_json(&format!("{head}{rest}}}")).expect("an event");
            scene.apply(&event);
            told += &paint(&scene.settled(40, false), Palette::Plain);
        }
        told.push_str("--\n");
        told += &paint(&scene.settled(40, true), Palette::Plain);
        expected.assert_eq(&told);
    }

    #[test]
    fn calls_are_told_in_order_with_those_of_other_agents_below_them() {
        check(
            r#"
            00.000 r "type":"reasoning","id":"t","content":"hm"
            00.100 r "type":"text","id":"a","content":"I ask.\n\nBoth"
            00.200 r "type":"text","id":"a","content":" of them."
            01.000 r "type":"tool_call","id":"r/1","name":"agent","input":{"agent":"bee","task":"fly"}
            01.000 r "type":"tool_call","id":"r/2","name":"bash","input":{"command":"true"}
            01.100 r "type":"tool_call","id":"r/2","name":"bash","input":{"command":"true"}
            01.300 r "type":"tool_result","id":"r/2","name":"bash","output":"","isError":true
            01.300 s "type":"harness_start","parentId":"r/1","depth":1
            01.400 s "type":"text","id":"b","content":"I fly."
            01.500 s "type":"tool_call","id":"s/1","name":"read","input":{"path":"a very long path to a file.txt"}
            01.750 s "type":"tool_result","id":"s/1","name":"read","output":{"error":"no such file"},"isError":true
            03.000 r "type":"tool_result","id":"r/1","name":"agent","output":"done"
            04.000 r "type":"text","id":"c","content":"half an ans"
            05.000 r "type":"model_retry","attempt":2,"discards":["c"],"reason":"overloaded"
            06.000 r "type":"text","id":"d","content":"- the answer"
            "#,
            expect![[r#"
                hm

                I ask.

                Both of them.

                ▸ agent bee: fly ✓ 2.0 s
                  ▸ read a very long path to a… ✗ 250 ms
                    no such file
                ▸ bash true ✗ 200 ms

                once more, for the last try failed:
                overloaded
                --

                • the answer
            "#]],
        );
    }
}
