//! The person who is asked: always says yes and, where a tool may or may not have run, looks whether it left its trace.

use std::path::Path;

use antiphon::{Body, Event};
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Json, RelayId, RelayKind};

use super::tools;

/// Whether this event asks this.
pub(crate) fn is_asked(event: &Event, id: &RelayId) -> bool {
    matches!(&event.body, Body::Relay(relay) if relay.id == *id)
}

/// Whether it asks what to do about a call that nobody knows the end of.
pub(crate) fn is_doubt(relay: &Relay) -> bool {
    relay.kind == RelayKind::Approval
}

/// What a call leaves in the log.
pub(crate) fn trace(tool: &str, call: &str, input: &Json) -> String {
    match tool {
        "bash" => {
            let input = input.value();
            let command = input["command"].as_str().expect("a command");
            command.split_whitespace().nth(1).expect("a mark").to_owned()
        }
        _ => call.to_owned(),
    }
}

pub(crate) fn answer(request: &Event, folder: &Path) -> RelayResolved {
    let Body::Relay(relay) = &request.body else { panic!("{} asks nothing", request.body.tag()) };
    let mut answer = RelayResolved {
        relay_id: relay.id.clone(),
        approved: Some(true),
        answer: None,
        input: None,
        scope: None,
        reason: None,
        by: "tester".to_owned(),
    };
    if relay.kind == RelayKind::Question {
        answer.answer = Some(Json::from("blue"));
    }
    if is_doubt(relay) {
        let (tool, input) =
            (relay.tool.as_deref().expect("a tool"), relay.params.as_ref().expect("arguments"));
        let call = relay.tool_call_id.as_ref().expect("a call");
        let trace = trace(tool, call.as_str(), input);
        let log = std::fs::read_to_string(tools::log(folder)).unwrap_or_default();
        let done = log.lines().any(|line| line == trace);
        answer.answer = Some(Json::from(if done { "take as done" } else { "run again" }));
        answer.input = done.then(|| Json::from(gave(tool, input).as_str()));
    }
    answer
}

/// What a call that was done gave.
fn gave(tool: &str, input: &Json) -> String {
    match tool {
        "bash" => "exit code: 0\n(it printed nothing)".to_owned(),
        _ => tools::noted(input.value()["text"].as_str().expect("a text")),
    }
}
