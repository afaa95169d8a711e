//! Old shapes: what earlier versions wrote, brought up to date before anything else looks at it.
//!
//! The only place that knows them. An event is lifted while it is still a list of raw members, so nothing
//! behind the decoder ever sees an old shape.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::Kind;
use crate::decode::{Member, Raw};

/// Brings the members of an event up to date.
type Lift = fn(&mut Vec<Member<'_>>);

/// One line per shape: the type it is found on, and what brings it up to date.
const LIFTS: &[(Kind, Lift)] = &[
    (Kind::Error, error_object),
    (Kind::HarnessEnd, reason_final),
    (Kind::NodeEnd, status_implied),
    (Kind::ToolCall, |members| left_out("input", members)),
    (Kind::ToolProgress, |members| left_out("content", members)),
    (Kind::ToolResult, |members| left_out("output", members)),
    (Kind::NodeEnd, |members| left_out("output", members)),
    (Kind::RunEnd, |members| left_out("finalOutput", members)),
];

pub(crate) fn lift(kind: Kind, members: &mut Vec<Member<'_>>) {
    for (found_on, bring_up) in LIFTS {
        if *found_on == kind {
            bring_up(members);
        }
    }
}

fn find<'a>(members: &'a [Member<'_>], name: &str) -> Option<&'a RawValue> {
    members.iter().find(|(found, _)| found == name).and_then(|(_, raw)| raw.get())
}

fn text(value: &str) -> Raw<'static> {
    Raw::Lifted(to_raw_value(value).expect("text is JSON"))
}

/// `error{error: {code, message}}`, and `error{error: "…"}`, became `error{message, code?}`.
fn error_object(members: &mut Vec<Member<'_>>) {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Old {
        Text(String),
        Object { message: String, code: Option<String> },
    }
    if find(members, "message").is_some() {
        return;
    }
    let Some(old) = find(members, "error").and_then(|raw| serde_json::from_str(raw.get()).ok()) else {
        return;
    };
    let (message, code) = match old {
        Old::Text(message) => (message, None),
        Old::Object { message, code } => (message, code),
    };
    members.retain(|(name, _)| name != "error");
    members.push((Cow::Borrowed("message"), text(&message)));
    if let Some(code) = code {
        members.push((Cow::Borrowed("code"), text(&code)));
    }
}

/// `harness_end{reason: "final"}` became `done`.
fn reason_final(members: &mut Vec<Member<'_>>) {
    for (name, raw) in members {
        if name == "reason" && raw.get().is_some_and(|old| old.get() == "\"final\"") {
            *raw = text("done");
        }
    }
}

/// `node_end` without a status was written by completed nodes, and by failed ones with an `error`.
fn status_implied(members: &mut Vec<Member<'_>>) {
    if find(members, "status").is_none() {
        let status = if find(members, "error").is_some() { "FAILED" } else { "COMPLETED" };
        members.push((Cow::Borrowed("status"), text(status)));
    }
}

/// A payload that is nothing is left out by writers whose language tells nothing from null; it became null.
fn left_out(payload: &'static str, members: &mut Vec<Member<'_>>) {
    if members.iter().all(|(name, _)| name != payload) {
        let null = to_raw_value(&()).expect("null is JSON");
        members.push((Cow::Borrowed(payload), Raw::Lifted(null)));
    }
}

#[cfg(test)]
mod tests {
    use crate::Event;

    #[track_caller]
    fn check(old: &str, new: &str) {
        let event = Event::from_json(old).expect("an old shape is read");
        assert_eq!(event.to_json(), new);
    }

    #[test]
    fn an_error_object_becomes_a_message() {
        check(
            r#"{"type":"error","runId":"r","error":{"code":"E1","message":"no"}}"#,
            r#"{"type":"error","runId":"r","message":"no","code":"E1"}"#,
        );
        check(r#"{"type":"error","error":"no"}"#, r#"{"type":"error","message":"no"}"#);
    }

    #[test]
    fn final_becomes_done() {
        check(
            r#"{"type":"harness_end","runId":"r","reason":"final"}"#,
            r#"{"type":"harness_end","runId":"r","reason":"done"}"#,
        );
    }

    #[test]
    fn a_node_end_without_status_was_completed() {
        check(
            r#"{"type":"node_end","runId":"r","nodeId":"n","output":1,"durationMs":5}"#,
            concat!(
                r#"{"type":"node_end","runId":"r","nodeId":"n","status":"COMPLETED","#,
                r#""execution":1,"attempt":1,"output":1,"durationMs":5,"edges":[]}"#
            ),
        );
    }
    #[test]
    fn a_payload_that_is_left_out_is_null() {
        for (head, payload, rest) in [
            (r#"{"type":"tool_call","runId":"r","id":"c","name":"n""#, "input", ""),
            (r#"{"type":"tool_progress","runId":"r","id":"p","toolCallId":"c","name":"n""#, "content", ""),
            (r#"{"type":"tool_result","runId":"r","id":"c","name":"n""#, "output", ""),
            (
                r#"{"type":"node_end","runId":"r","nodeId":"n","status":"FAILED","execution":1,"attempt":1"#,
                "output",
                r#","durationMs":5,"error":{"message":"no"},"edges":[]"#,
            ),
            (r#"{"type":"run_end","runId":"r","status":"FAILED""#, "finalOutput", r#","totalDurationMs":5"#),
        ] {
            check(&format!("{head}{rest}}}"), &format!("{head},\"{payload}\":null{rest}}}"));
        }
    }

    #[test]
    fn a_tool_that_is_left_out_stays_out() {
        for line in [
            r#"{"type":"tool_progress","runId":"r","id":"p","toolCallId":"c","content":1}"#,
            r#"{"type":"tool_result","runId":"r","id":"c","output":1}"#,
        ] {
            check(line, line);
        }
    }
}
