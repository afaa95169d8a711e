//! What a run came to, and whether its programs ran as often as they should have.
//!
//! In: a story. Out: nothing, or a panic that says which rule was broken. Start reading at [`compare`].

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::{Body, Event, Json, NodeStatus, NodeType};
use antiphon_runtime::{Engine, Invocation, Outcome};

use super::story::Story;
use super::{person, process};

/// What a run came to.
#[derive(Debug, PartialEq)]
pub(crate) struct Account {
    /// The status and output at the end.
    end: Option<(Option<NodeStatus>, Json)>,
    /// What each execution of a node gave and wrote, by the way to the node and its number.
    executions: BTreeMap<(String, u32), (NodeStatus, Json, BTreeMap<String, Json>)>,
}

impl Account {
    /// What a flow comes to if nobody kills it.
    pub(crate) fn undisturbed(flow: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let events = runtime.block_on(async {
            let engine = Engine::new(antiphon_store::open("memory:").expect("a store in memory"));
            let flow = process::flow(flow, folder.path());
            let mut run = engine.start(flow, Invocation::new("task")).await.expect("accepted");
            loop {
                let report = run.wait().await.expect("no fault");
                let events = engine.journal().read(run.branch(), 0, usize::MAX).await.expect("readable");
                if report.outcome != Outcome::Paused {
                    break events;
                }
                for relay in report.relays {
                    let asked = events.iter().find(|event| person::is_asked(event, &relay));
                    run.answer(person::answer(asked.expect("it was asked"))).await.expect("it waits");
                }
            }
        });
        Self::of(&events)
    }

    fn of(events: &[Event]) -> Self {
        let mut account = Self { end: None, executions: BTreeMap::new() };
        for event in events {
            match &event.body {
                Body::RunEnd(end) if event.head.node_path.is_none() => {
                    let before = account.end.replace((end.status.clone(), end.final_output.clone()));
                    assert!(before.is_none(), "a run ends once");
                }
                Body::NodeEnd(end) => {
                    let gave =
                        (end.status.clone(), end.output.clone(), end.writes.clone().unwrap_or_default());
                    let before = account.executions.insert((way(event), end.execution), gave);
                    assert!(before.is_none(), "{}:{} ended twice", way(event), end.execution);
                }
                _ => {}
            }
        }
        account
    }
}

/// The nodes from the outermost flow to the one an event is about.
fn way(event: &Event) -> String {
    let node = || event.head.node_id.iter().cloned().collect();
    let path: Vec<_> = event.head.node_path.clone().unwrap_or_else(node);
    path.iter().map(|id| id.as_str()).collect::<Vec<_>>().join("/")
}

/// Checks a story against a run that nobody disturbed, and its programs against its events.
pub(crate) fn compare(story: &Story, undisturbed: &Account) {
    assert_eq!(Account::of(&story.events), *undisturbed);
    let mut ran: BTreeSet<(&str, u32)> = BTreeSet::new();
    let programs = programs(&story.events);
    for line in story.log.lines() {
        let (key, told) = line.split_once(' ').expect("a key, and an attempt");
        let (attempt, read) = told.split_once(' ').expect("an attempt, and what it read");
        let attempt = attempt.parse().expect("a number");
        assert!(ran.insert((key, attempt)), "attempt {attempt} at {key} ran twice");
        let node = key.rsplit('/').nth(1).expect("a key names its node");
        let gave = programs.get(key).and_then(|program| program.gave.as_ref());
        // One that always fails gives what its fallback does.
        if let Some(gave) = gave.filter(|_| !node.starts_with("bad")) {
            assert_eq!(*gave, format!("{read}.{node}"), "attempt {attempt} at {key} read something else");
        }
    }
    for (key, attempt) in &ran {
        let program = programs.get(*key).unwrap_or_else(|| panic!("{key} ran before it was durable"));
        assert!(*attempt <= program.started, "attempt {attempt} at {key} ran before it was durable");
        assert!(*attempt <= program.ended, "{key} ran again after it had completed");
    }
    for (key, program) in &programs {
        if program.completed && !program.taken_as_done {
            assert!(ran.contains(&(key.as_str(), program.ended)), "{key} completed and did not run");
        }
    }
}

/// One execution of a node that is a program.
#[derive(Default)]
struct Program {
    /// The last attempt.
    started: u32,
    /// The attempt it ended with.
    ended: u32,
    completed: bool,
    /// What it gave, or what a person said that it did.
    gave: Option<String>,
    taken_as_done: bool,
    /// Whether it failed, or a person said that it is to run again, since the last attempt.
    may_repeat: bool,
}

/// Every program by its key; one that writes is repeated only for a reason.
fn programs(events: &[Event]) -> BTreeMap<String, Program> {
    let mut programs: BTreeMap<String, Program> = BTreeMap::new();
    let mut current: BTreeMap<(String, String), String> = BTreeMap::new();
    for event in events {
        let (Some(run), Some(node)) = (&event.head.run_id, &event.head.node_id) else { continue };
        let here = (run.to_string(), node.to_string());
        let key = |execution: u32| format!("{run}/{node}/{execution}");
        match &event.body {
            Body::NodeStart(start) if start.node_type == Some(NodeType::Command) => {
                current.insert(here, key(start.execution));
                let program = programs.entry(key(start.execution)).or_default();
                assert!(!program.completed, "{} was started again", way(event));
                assert_eq!(start.attempt, program.started + 1, "{}", way(event));
                let looks = way(event).split('/').any(|id| id.starts_with("look"));
                let repeatable = start.attempt == 1 || looks || program.may_repeat;
                assert!(repeatable, "{} writes, and was repeated without being asked for", way(event));
                *program = Program { started: start.attempt, ..Program::default() };
            }
            Body::NodeRetry(retry) => {
                programs.entry(key(retry.execution)).or_default().may_repeat = true;
            }
            Body::RelayResolved(answer) => {
                let chosen = answer.answer.as_ref().map(Json::to_text).unwrap_or_default();
                if let Some(program) = current.get(&here).and_then(|key| programs.get_mut(key)) {
                    program.may_repeat |= chosen == "run again";
                    program.taken_as_done |= chosen == "take as done";
                }
            }
            Body::NodeEnd(end) => {
                if let Some(program) = programs.get_mut(&key(end.execution)) {
                    program.ended = end.attempt;
                    program.completed = end.status == NodeStatus::Completed && end.error.is_none();
                    program.gave = program.completed.then(|| end.output.to_text().into_owned());
                }
            }
            _ => {}
        }
    }
    programs
}
