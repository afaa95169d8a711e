//! The laws that bind every view, tested for all of the catalogue on streams that nobody wrote.
//!
//! A view that is added to the catalogue is tested here without another line; one that keeps orphans has
//! rows in [`orphans`] besides. Transcript, usage and replay have none: what they show belongs to nothing.

use antiphon_event::Event;
use antiphon_testkit::{history, numbered, stream};
use antiphon_view::catalogue::{AnyView, CATALOGUE, Entry, find};
use antiphon_view::{Change, Changes};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn config() -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: wanted.unwrap_or(40), failure_persistence: None, ..ProptestConfig::default() }
}

fn fold<'e>(entry: &Entry, events: impl IntoIterator<Item = &'e Event>) -> Box<dyn AnyView> {
    let mut view = (entry.make)();
    for event in events {
        view.apply(event, &mut Changes::unwanted());
    }
    view
}

fn step(view: &mut dyn AnyView, event: &Event) -> Vec<Change> {
    let mut changes = Changes::wanted();
    view.apply(event, &mut changes);
    changes.take()
}

/// A view, and the snapshot of somebody who watched it from the beginning.
fn watch(entry: &Entry, events: &[Event]) -> Result<(), TestCaseError> {
    let mut view = (entry.make)();
    let mut kept = view.snapshot();
    for (position, event) in events.iter().enumerate() {
        for change in step(&mut *view, event) {
            let said = serde_json::to_string(&change).expect("changes are JSON");
            prop_assert!(change.apply(&mut kept), "{}: {said} leads nowhere at {position}", entry.name);
        }
        prop_assert_eq!(&kept, &view.snapshot(), "{} after {}: {}", entry.name, position, event.to_json());
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn changes_lead_from_one_snapshot_to_the_next(events in stream()) {
        for entry in CATALOGUE {
            watch(entry, &events)?;
        }
    }

    #[test]
    fn a_replay_shows_what_was_seen_live(events in stream()) {
        let lines: Vec<_> = events.iter().map(Event::to_json).collect();
        let recorded: Vec<_> = lines.iter().map(|line| Event::from_json(line).expect("was written")).collect();
        for entry in CATALOGUE {
            let mut live = (entry.make)();
            for event in &events {
                step(&mut *live, event);
            }
            let replayed = fold(entry, &recorded);
            prop_assert_eq!(live.snapshot(), replayed.snapshot(), "{}", entry.name);
            let mut json = Vec::new();
            replayed.write_json(&mut json);
            let read: Value = serde_json::from_slice(&json).expect("snapshots are JSON");
            prop_assert_eq!(read, replayed.snapshot(), "{}", entry.name);
        }
    }

    #[test]
    fn a_view_saved_and_loaded_goes_on_as_if_nothing_had_happened(events in stream(), cut in any::<Index>()) {
        let (before, after) = events.split_at(cut.index(events.len() + 1));
        for entry in CATALOGUE {
            let saved = fold(entry, before).save();
            let mut loaded = (entry.load)(&saved).expect("was saved");
            prop_assert_eq!(loaded.save(), saved, "{}", entry.name);
            for event in after {
                loaded.apply(event, &mut Changes::unwanted());
            }
            let whole = fold(entry, &events);
            prop_assert_eq!(loaded.snapshot(), whole.snapshot(), "{}", entry.name);
            prop_assert_eq!(loaded.save(), whole.save(), "{}", entry.name);
        }
    }

    #[test]
    fn unknown_and_repeated_events_change_nothing(events in stream(), again in any::<Index>()) {
        let events = numbered(events);
        let unknown = Event::from_json(r#"{"type":"of_a_later_version","runId":"a0","id":"a0/t1"}"#).expect("valid");
        let repeated = again.index(events.len() + 1);
        for entry in CATALOGUE {
            let mut view = fold(entry, &events);
            let saved = view.save();
            prop_assert!(step(&mut *view, &unknown).is_empty(), "{}", entry.name);
            for event in &events[..repeated] {
                if event.head.seq.is_some() {
                    prop_assert!(step(&mut *view, event).is_empty(), "{}", entry.name);
                }
            }
            let after: Value = serde_json::from_str(&view.save()).expect("saved as JSON");
            let before: Value = serde_json::from_str(&saved).expect("saved as JSON");
            prop_assert_eq!(&after["view"], &before["view"], "{}", entry.name);
        }
    }

    #[test]
    fn what_was_said_reads_the_same_from_the_records(events in stream()) {
        let mut records = events;
        for event in &mut records {
            (event.head.session_id, event.head.branch_id, event.head.seq) = (None, None, None);
        }
        let records = numbered(records);
        let live = fold(find("transcript").expect("in the catalogue"), &records).snapshot();
        let replayed = fold(find("replay").expect("in the catalogue"), &records).snapshot();
        let nothing = json!([]);
        let messages = replayed.pointer("/branches/0/messages").unwrap_or(&nothing);
        prop_assert_eq!(&live["messages"], messages);
        prop_assert!(replayed["branches"].as_array().is_none_or(|all| all.iter().all(|one| one["gaps"] == json!([]))));
    }
}

/// A view, what comes too early, what it belongs to, and a place in the snapshot before and after that.
type Orphan = (&'static str, &'static str, &'static str, &'static str, Value, Value);

fn orphans() -> Vec<Orphan> {
    vec![
        (
            "tools",
            "a tool_result c1 done",
            "a tool_call c1 bash",
            "/calls/0/orphan",
            json!(true),
            json!(false),
        ),
        (
            "tools",
            "a tool_progress p1 c1 half",
            "b tool_call c1 bash",
            "/calls/0/name",
            json!("tool"),
            json!("bash"),
        ),
        (
            "tools",
            "a relay r1 permission c1 bash",
            "a tool_progress p1 c1 half",
            "/calls/0/status",
            json!(null),
            json!("awaiting_permission"),
        ),
        (
            "tools",
            "- relay_resolved r1 false\na relay r1 permission c1",
            "a tool_call c1 bash",
            "/calls/0/status",
            json!(null),
            json!("denied"),
        ),
        (
            "permissions",
            "- relay_resolved r1 true",
            "a relay r1 question",
            "/requests/0/orphan",
            json!(true),
            json!(false),
        ),
        (
            "runs",
            "b^c1 harness_start",
            "a tool_call c1 agent",
            "/runs/0/parentRunId",
            json!(null),
            json!("a"),
        ),
        (
            "agents",
            "b^c1 harness_start agentId=kid",
            "a tool_call c1 agent agent={\"id\":\"lead\"}",
            "/agents/0/parent",
            json!(null),
            json!(1),
        ),
        ("runs", "b^a:x:1:start text t hi", "a node_start x", "/runs/0/orphan", json!(true), json!(false)),
        ("runs", "b^a harness_start", "a user hi", "/runs/1/children", json!(null), json!(1)),
        (
            "thread",
            r#"- summary s ["a:user"] "they spoke""#,
            "a user hi",
            "/entries",
            json!([{"id": "msg:s", "role": "summary", "status": "complete", "text": "they spoke", "sources": [], "parts": []}]),
            json!([{"id": "msg:s", "role": "summary", "status": "complete", "text": "they spoke", "sources": ["msg:a:user"], "parts": []}]),
        ),
        (
            "messages",
            r#"- summary s ["a:user"] "they spoke""#,
            "a user hi",
            "/messages",
            json!([{"role": "user", "content": "they spoke"}]),
            json!([{"role": "user", "content": "they spoke"}]),
        ),
        (
            "dag",
            r#"- summary s ["a:user"] "they spoke""#,
            "a user hi",
            "/groups/0/summary",
            json!(null),
            json!("msg:s"),
        ),
    ]
}

#[test]
fn orphans_are_kept_and_adopted() {
    for (name, early, late, place, before, after) in orphans() {
        let mut view = fold(find(name).expect("in the catalogue"), &history(early));
        assert_eq!(
            view.snapshot().pointer(place).unwrap_or(&Value::Null),
            &before,
            "{name} {early}: {place}"
        );
        view.apply(&history(late)[0], &mut Changes::unwanted());
        assert_eq!(view.snapshot().pointer(place), Some(&after), "{name} {early}, {late}: {place}");
    }
}

#[test]
fn payloads_that_are_hard_to_hold_harm_no_view() {
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    for payload in ["1e999", "[1e999]", "null", "\"\\u0000\"", "12345678901234567890123", &deep] {
        let lines = [
            format!(r#"{{"type":"tool_call","runId":"a","id":"c","name":"t","input":{payload}}}"#),
            format!(
                r#"{{"type":"tool_progress","runId":"a","id":"p","toolCallId":"c","name":"t","content":{payload}}}"#
            ),
            format!(
                r#"{{"type":"relay","runId":"a","id":"r","kind":"permission","toolCallId":"c","params":{payload}}}"#
            ),
            format!(
                r#"{{"type":"relay_resolved","relayId":"r","by":"u","answer":{payload},"input":{payload}}}"#
            ),
            format!(r#"{{"type":"tool_result","runId":"a","id":"c","name":"t","output":{payload}}}"#),
            format!(r#"{{"type":"grant_added","rule":{payload},"scope":"session","by":"u"}}"#),
            format!(r#"{{"type":"session_created","seq":1,"metadata":{payload}}}"#),
            format!(r#"{{"type":"user","runId":"u","content":[{payload}]}}"#),
            format!(
                r#"{{"type":"usage","runId":"a","inputTokens":{0},"outputTokens":{0},"costUsd":1e300}}"#,
                u64::MAX
            ),
            format!(
                r#"{{"type":"usage","runId":"a","inputTokens":{0},"outputTokens":{0},"costUsd":-5}}"#,
                u64::MAX
            ),
            format!(
                r#"{{"type":"branch_created","seq":{},"from":{{"branchId":"m","seq":{}}}}}"#,
                u64::MAX,
                u64::MAX
            ),
        ];
        let events: Vec<_> = lines.iter().filter_map(|line| Event::from_json(line).ok()).collect();
        assert!(events.len() >= lines.len() - 1, "all but the user message of some payloads");
        for entry in CATALOGUE {
            watch(entry, &events).expect("the laws hold");
            let view = fold(entry, &events);
            assert_eq!((entry.load)(&view.save()).expect("was saved").snapshot(), view.snapshot());
        }
    }
}
