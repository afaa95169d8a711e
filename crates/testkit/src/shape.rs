//! Streams of any size and a known shape, for measuring. The same arguments give the same events.
//!
//! Every function returns about `n` of what it is named after, a million as readily as ten.

use std::sync::Arc;

use antiphon_event::body::content::{Reasoning, Text, User, UserContent};
use antiphon_event::body::lifecycle::{HarnessEnd, HarnessStart};
use antiphon_event::body::session::{ActiveChanged, Summary};
use antiphon_event::body::system::Usage;
use antiphon_event::body::tool::{ToolCall, ToolResult};
use antiphon_event::{Body, CallId, Context, EndReason, Event, FlowNodeId, Head, Json, RunId, StreamId};

/// `n` pieces of text, spread evenly over as many runs as there are messages, one run after the other.
pub fn deltas(n: usize, messages: usize) -> Vec<Event> {
    each_delta(n, messages).collect()
}

/// The same pieces one at a time, for what is to be measured without holding them.
pub fn each_delta(n: usize, messages: usize) -> impl Iterator<Item = Event> {
    let messages = messages.max(1);
    (0..messages).flat_map(move |message| {
        let run = run(message);
        let id = stream(&run, 1);
        let pieces = n * (message + 1) / messages - n * message / messages;
        (0..pieces).map(move |_| text(&run, &id))
    })
}

/// One run in which an agent goes round `n` times: it speaks, calls a tool, and gets the result.
pub fn tools(n: usize) -> Vec<Event> {
    let run = run(0);
    let mut events = vec![start(&run, None)];
    for step in 1..=n {
        let call = CallId::from(format!("{}/c{step}", run.id));
        events.push(text(&run, &stream(&run, step)));
        events.push(tool_call(&run, &call, "bash"));
        events.push(usage(&run));
        events.push(tool_call(&run, &call, "bash"));
        events.push(tool_result(&run, &call, "bash"));
    }
    events.push(end(&run));
    events
}

/// `n` pieces of text from so many runs, one piece each in turn.
pub fn interleaved(n: usize, runs: usize) -> Vec<Event> {
    let runs: Vec<_> = (0..runs.max(1)).map(run).map(|run| (stream(&run, 1), run)).collect();
    runs.iter().cycle().take(n).map(|(id, run)| text(run, id)).collect()
}

/// `n` pieces of text in one run from so many flow nodes, one piece each in turn.
pub fn nodes(n: usize, nodes: usize) -> Vec<Event> {
    let nodes: Vec<_> = (0..nodes.max(1)).map(|number| of_node(&run(0), number)).collect();
    nodes.iter().cycle().take(n).map(|node| text(node, &stream(node, 1))).collect()
}

/// What a run does in a flow node, with a name of its own for what is said there.
fn of_node(run: &Run, number: usize) -> Run {
    let node = FlowNodeId::from(format!("node-{number}"));
    let context = Context { node_id: Some(node), ..Context::clone(&run.context) };
    Run { id: format!("{}/{number}", run.id).into(), context: Arc::new(context) }
}

/// One agent that calls `n` subagents at once; they speak in turns, end, and give their results.
pub fn subagents(n: usize) -> Vec<Event> {
    let root = run(0);
    let calls: Vec<_> = (1..=n).map(|child| CallId::from(format!("{}/c{child}", root.id))).collect();
    let children: Vec<_> = (1..=n).map(run).map(|run| (stream(&run, 1), run)).collect();
    let mut events = vec![start(&root, None)];
    events.extend(calls.iter().map(|call| tool_call(&root, call, "agent")));
    events.push(usage(&root));
    events.extend(children.iter().zip(&calls).map(|((_, run), call)| start(run, Some(call))));
    for _ in 0..3 {
        events.extend(children.iter().map(|(id, run)| text(run, id)));
    }
    events.extend(children.iter().map(|(_, run)| usage(run)));
    events.extend(children.iter().map(|(_, run)| end(run)));
    events.extend(calls.iter().map(|call| tool_result(&root, call, "agent")));
    events.push(end(&root));
    events
}

/// `n` pieces of one run, text and reasoning in turn.
pub fn alternating(n: usize) -> Vec<Event> {
    let run = run(0);
    let (said, thought) = (stream(&run, 1), StreamId::from(format!("{}/r1", run.id)));
    let piece =
        |index: usize| if index.is_multiple_of(2) { text(&run, &said) } else { reasoning(&run, &thought) };
    (0..n).map(piece).collect()
}

/// One run of `n` model calls, each with a text of its own and its usage.
pub fn iterations(n: usize) -> Vec<Event> {
    let run = run(0);
    let mut events = vec![start(&run, None)];
    for step in 1..=n {
        events.push(text(&run, &stream(&run, step)));
        events.push(usage(&run));
    }
    events.push(end(&run));
    events
}

/// A conversation that is summed up again and again: `n` times somebody speaks, and a summary takes the place of that and
/// of the summary before it.
pub fn summaries(n: usize) -> Vec<Event> {
    let spoken = |number: usize| {
        let before = number.checked_sub(1).map(|before| format!("s{before}"));
        let sources = before.into_iter().chain([message(number)]).collect();
        [user(number), summary(number, sources)]
    };
    (0..n).flat_map(spoken).collect()
}

/// The same from the last summary to the first: what each stands for comes after it.
pub fn late_sources(n: usize) -> Vec<Event> {
    let mut events = summaries(n);
    events.reverse();
    events
}

/// `n` times somebody speaks, and one summary takes the place of it all.
pub fn long_summary(n: usize) -> Vec<Event> {
    let mut events: Vec<_> = (0..n).map(user).collect();
    events.push(summary(0, (0..n).map(message).collect()));
    events
}

/// A conversation of `n` summaries of summaries, as in [`summaries`], and `n` choices of what is active: the summaries
/// are opened and closed from the innermost to the outermost, messages are switched off and on, and what was chosen is
/// chosen again.
pub fn choices(n: usize) -> Vec<Event> {
    let mut events = summaries(n);
    for number in 0..n / 8 {
        let (inner, outer) = (format!("s{number}"), format!("s{}", n - 1));
        events.push(choice("expand", Some(&inner)));
        events.push(choice("collapse", Some(&inner)));
        events.push(choice("expand", Some(&outer)));
        events.push(choice("toggle", Some(&message(n - 1))));
        events.push(choice("append", Some(&message(n - 1))));
        events.push(choice("branch", Some(&outer)));
        events.push(choice("default", None));
        events.push(choice("default", None));
    }
    events
}

fn user(number: usize) -> Event {
    let content = UserContent::Text("a few words".into());
    run(number).event(Body::User(User { content, delivery: None, provenance: None }))
}

fn message(number: usize) -> String {
    format!("msg:run-{number}:user")
}

fn summary(number: usize, sources: Vec<String>) -> Event {
    let summary = Summary { id: format!("s{number}"), sources, content: "they spoke".into() };
    Event::of(Head::default(), Body::Summary(summary))
}

fn choice(op: &str, id: Option<&str>) -> Event {
    let ids = id.into_iter().map(str::to_owned).collect();
    Event::of(Head::default(), Body::ActiveChanged(ActiveChanged { op: op.to_owned(), ids }))
}

/// A run, and what its events belong to.
struct Run {
    id: RunId,
    context: Arc<Context>,
}

impl Run {
    fn event(&self, body: Body) -> Event {
        Event::of(Head::from(Arc::clone(&self.context)), body)
    }
}

fn run(number: usize) -> Run {
    let id = RunId::from(format!("run-{number}"));
    let context = Context { run_id: Some(id.clone()), ..Context::default() };
    Run { id, context: Arc::new(context) }
}

fn stream(run: &Run, number: usize) -> StreamId {
    format!("{}/t{number}", run.id).into()
}

fn text(run: &Run, id: &StreamId) -> Event {
    let text = Text { id: id.clone(), content: "a few words ".into(), provenance: None };
    run.event(Body::Text(text))
}

fn reasoning(run: &Run, id: &StreamId) -> Event {
    let reasoning =
        Reasoning { id: id.clone(), content: "a thought ".into(), signature: None, provenance: None };
    run.event(Body::Reasoning(reasoning))
}

fn tool_call(run: &Run, id: &CallId, name: &str) -> Event {
    let input = Json::from(serde_json::json!({"command": "ls -l"}));
    let call = ToolCall { id: id.clone(), name: name.into(), input, call_type: None, harness: None };
    run.event(Body::ToolCall(call))
}

fn tool_result(run: &Run, id: &CallId, name: &str) -> Event {
    let output = Json::from("file1 file2");
    let result = ToolResult { id: id.clone(), name: name.into(), output, is_error: None, provenance: None };
    run.event(Body::ToolResult(result))
}

fn usage(run: &Run) -> Event {
    let usage = Usage {
        input_tokens: 50,
        output_tokens: 20,
        cache_read_tokens: None,
        cache_creation_tokens: None,
        model: Some("small".into()),
        cost_usd: Some(0.0001),
    };
    run.event(Body::Usage(usage.into()))
}

fn start(run: &Run, parent: Option<&CallId>) -> Event {
    let start =
        HarnessStart { agent_id: None, depth: None, max_iterations: None, definition: None, folder: None };
    let mut event = run.event(Body::HarnessStart(start));
    event.head.parent_id = parent.map(|call| call.shared().into());
    event
}

fn end(run: &Run) -> Event {
    let end =
        HarnessEnd { agent_id: None, reason: Some(EndReason::Done), iterations: None, total_usage: None };
    run.event(Body::HarnessEnd(Box::new(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_the_size_they_are_asked_for() {
        assert_eq!(deltas(1000, 7).len(), 1000);
        assert_eq!(tools(10).len(), 52);
        assert_eq!(interleaved(1000, 7).len(), 1000);
        assert_eq!(subagents(10).len(), 83);
        assert_eq!(alternating(1000).len(), 1000);
        assert_eq!(iterations(10).len(), 22);
        assert_eq!(deltas(3, 0).len(), 3);
    }
}
