//! What the node of an event is called.
//!
//! Names depend on the event and on what its run has done before, on nothing else, so they are the same on
//! every replay.

use std::fmt::Write;
use std::sync::Arc;

use antiphon_event::{Body, Event, Kind, RunId};

/// How the node of an event gets its name.
pub(crate) enum Naming {
    /// By the id the event carries: the same id is the same node.
    Given(Arc<str>),
    /// By the run and the type: one per run.
    Once,
    /// By the run and the type: the second is `:2`, and so on.
    Repeated,
    /// By the run, the type and a number from 1.
    Counted,
}

pub(crate) fn naming(event: &Event, words: &mut String) -> Naming {
    match &event.body {
        Body::Text(text) => Naming::Given(text.id.shared()),
        Body::Reasoning(reasoning) => Naming::Given(reasoning.id.shared()),
        Body::ToolCall(call) => Naming::Given(call.id.shared()),
        Body::ToolProgress(progress) => Naming::Given(progress.id.shared()),
        Body::ToolResult(result) => suffixed(result.id.as_str(), "result", words),
        Body::Relay(relay) => Naming::Given(relay.id.shared()),
        Body::ReplInput(input) => Naming::Given(input.id.shared()),
        Body::ReplProgress(progress) => suffixed(progress.id.as_str(), "progress", words),
        Body::ReplOutput(output) => suffixed(output.id.as_str(), "output", words),
        Body::NodeStart(start) => flow_node(event, start.execution, "start", start.attempt),
        Body::NodeEnd(end) => flow_node(event, end.execution, "end", end.attempt),
        Body::NodeSkipped(skipped) => flow_node(event, skipped.execution, "skipped", 1),
        body => match body.kind() {
            Kind::HarnessStart | Kind::RunStart => Naming::Once,
            Kind::HarnessEnd | Kind::RunEnd | Kind::User | Kind::Error => Naming::Repeated,
            _ => Naming::Counted,
        },
    }
}

/// The name of a node that is called after its run and its type.
pub(crate) fn named(run: &RunId, kind: Kind, number: Option<u32>, words: &mut String) -> Arc<str> {
    join(run.as_str(), kind.tag(), words);
    if let Some(number) = number {
        write!(words, ":{number}").expect("writing to a string cannot fail");
    }
    words.as_str().into()
}

fn suffixed(id: &str, suffix: &str, words: &mut String) -> Naming {
    join(id, suffix, words);
    Naming::Given(words.as_str().into())
}

/// Puts a name together where the one before was: it is copied once, to where it stays.
fn join(id: &str, suffix: &str, words: &mut String) {
    words.clear();
    words.push_str(id);
    words.push(':');
    words.push_str(suffix);
}

fn flow_node(event: &Event, execution: u32, what: &str, attempt: u32) -> Naming {
    let run = event.head.run_id.as_ref().map_or("", |run| run.as_str());
    let node = event.head.node_id.as_ref().map_or("", |node| node.as_str());
    let mut name = format!("{run}:{node}:{execution}:{what}");
    if attempt > 1 {
        write!(name, ":{attempt}").expect("writing to a string cannot fail");
    }
    Naming::Given(name.into())
}
