//! [`history`]: events written as a table, one a line.
//!
//! ```text
//! u1           user         "List files"
//! a1^u1:user   harness_start
//! a1           text         t1 "I will look."
//! a1           tool_call    c1 bash {"command":"ls"}
//! a1           usage        50 20 model=small
//! a1           harness_end  done
//! -            summary      s1 ["u1:user"] "asked for files"
//! ```
//! The run, with what caused it behind a `^` (`-` for none); the type; the members in the order of the table
//! below, each a JSON value or a word; any other member as `name=value`. Members that are required and not
//! given get the table's default.

use antiphon_event::{Event, Within};
use serde_json::{Map, Value, json};

/// The members a type takes without their names, in order, and what stands in for those that are missing.
const TABLE: &[(&str, &[&str], &str)] = &[
    ("summary", &["id", "sources", "content"], "{}"),
    ("active_changed", &["op", "ids"], "{}"),
    ("history_compacted", &["summaryId", "sources"], "{}"),
    ("branch_created", &["from", "into"], "{}"),
    ("user", &["content"], "{}"),
    ("text", &["id", "content"], "{}"),
    ("reasoning", &["id", "content"], "{}"),
    ("tool_call", &["id", "name", "input"], r#"{"name":"tool","input":{}}"#),
    ("tool_progress", &["id", "toolCallId", "content"], r#"{"name":"tool","content":null}"#),
    ("tool_result", &["id", "output"], r#"{"name":"tool","output":null}"#),
    ("harness_end", &["reason"], "{}"),
    ("cancel_requested", &["by", "mode"], r#"{"by":"user","mode":"graceful"}"#),
    ("usage", &["inputTokens", "outputTokens"], r#"{"inputTokens":0,"outputTokens":0}"#),
    ("error", &["message"], r#"{"message":"went wrong"}"#),
    ("model_retry", &["attempt", "discards", "reason"], r#"{"attempt":2,"reason":"overloaded"}"#),
    ("budget_reserved", &["id", "amounts"], r#"{"amounts":{}}"#),
    ("budget_settled", &["id", "amounts"], r#"{"amounts":{}}"#),
    ("relay", &["id", "kind", "toolCallId", "tool", "params"], r#"{"kind":"permission"}"#),
    ("relay_resolved", &["relayId", "approved", "by"], r#"{"by":"user"}"#),
    ("grant_added", &["rule", "scope", "by"], r#"{"rule":{},"scope":"session","by":"user"}"#),
    ("repl_input", &["id", "code"], r#"{"code":""}"#),
    ("repl_progress", &["id", "chunk", "stream"], r#"{"chunk":"","stream":"stdout"}"#),
    ("repl_output", &["id", "stdout", "done"], r#"{"stdout":"","done":false}"#),
    ("run_start", &["graphId"], r#"{"graphId":"flow"}"#),
    ("node_start", &["nodeId", "execution", "attempt"], r#"{"nodeType":"function"}"#),
    ("node_end", &["nodeId", "status", "output"], r#"{"status":"COMPLETED","output":null,"durationMs":0}"#),
    ("node_skipped", &["nodeId", "reason"], r#"{"reason":"dead edge"}"#),
    ("node_retry", &["nodeId", "attempt"], r#"{"delayMs":0,"error":{"message":"failed"}}"#),
    ("node_timeout", &["nodeId", "timeoutMs"], r#"{"timeoutMs":0}"#),
    ("edge_transition", &["sourceId", "targetId", "edgeType"], r#"{"edgeType":"static"}"#),
    ("layer_start", &["layer"], "{}"),
    ("layer_end", &["layer"], "{}"),
    ("handoff", &["fromNodeId", "toNodeId", "message"], "{}"),
    ("interrupt", &["nodeId", "reason"], r#"{"reason":"human_approval"}"#),
    ("state_patched", &["writes", "by"], r#"{"writes":{},"by":"user"}"#),
    ("checkpoint_saved", &["checkpointId", "nodeId", "savedHash"], "{}"),
    (
        "guardrail_result",
        &["nodeId", "guardrailId", "passed", "action"],
        r#"{"passed":true,"action":"warn"}"#,
    ),
    ("diagnostic", &["level", "source", "message"], r#"{"level":"info","source":"test","message":""}"#),
    ("run_end", &["status", "finalOutput"], r#"{"finalOutput":null,"totalDurationMs":0}"#),
];

/// Reads a table of events; empty lines and lines that begin with `#` are passed over.
///
/// # Panics
/// When a line is no event: it says which.
pub fn history(table: &str) -> Vec<Event> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(event).collect()
}

/// Gives events what a journal gives them: session `s`, branch `main`, positions from 1, a second between them.
pub fn numbered(mut events: Vec<Event>) -> Vec<Event> {
    let mut within = Within::new("s".into(), "main".into());
    for (index, event) in events.iter_mut().enumerate() {
        within.put(&mut event.head, index as u64 + 1);
        let at = 1_800_000_000_000 + index as i64 * 1000;
        event.head.at = event.head.at.or(antiphon_event::Timestamp::from_millis(at));
    }
    events
}

fn event(line: &str) -> Event {
    let mut words = words(line).into_iter();
    let run = words.next().expect("a line begins with its run");
    let tag = words.next().unwrap_or_else(|| panic!("no type in: {line}"));
    let row = TABLE.iter().find(|(name, ..)| *name == tag);
    let (names, defaults) = row.map_or((&[][..], "{}"), |(_, names, defaults)| (*names, *defaults));
    let mut members: Map<String, Value> = serde_json::from_str(defaults).expect("defaults are JSON");
    members.insert("type".into(), json!(tag));
    let (run, parent) = run.split_once('^').map_or((run.as_str(), None), |(run, parent)| (run, Some(parent)));
    if run != "-" {
        members.insert("runId".into(), json!(run));
    }
    if let Some(parent) = parent {
        members.insert("parentId".into(), json!(parent));
    }
    let mut names = names.iter();
    for word in words {
        let (name, text) = match named(&word) {
            Some(pair) => pair,
            None => (*names.next().unwrap_or_else(|| panic!("too many members in: {line}")), word.as_str()),
        };
        members.insert(name.to_owned(), serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    }
    let json = Value::Object(members).to_string();
    Event::from_json(&json).unwrap_or_else(|error| panic!("{error} in: {line}"))
}

/// The two sides of `name=value`.
fn named(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    name.chars().all(|c| c.is_ascii_alphanumeric()).then_some((name, value))
}

/// Splits at spaces that stand in no string, list or object.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quoted, mut depth, mut escaped) = (false, 0_i32, false);
    for c in line.chars() {
        if c.is_whitespace() && !quoted && depth == 0 {
            words.push(String::new());
            continue;
        }
        match c {
            '"' if !escaped => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        words.last_mut().expect("there is always a word under way").push(c);
    }
    words.retain(|word| !word.is_empty());
    words
}
