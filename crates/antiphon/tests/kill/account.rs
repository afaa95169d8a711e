//! What agents came to, and whether their tools ran as often as they should have.
//!
//! In: a story. Out: nothing, or a panic that says which rule was broken. Start reading at [`compare`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon::{Body, Event};

use super::act::Act;
use super::story::Story;
use super::{person, process};

/// What agents came to.
#[derive(Debug, PartialEq)]
pub(crate) struct Account {
    /// What they gave in the end.
    gave: String,
    /// What each call gave, by the way to the agent and the call.
    results: BTreeSet<(String, String, String)>,
    /// How each run of an agent ended.
    ends: BTreeMap<String, Vec<String>>,
}

/// What an act comes to if nobody kills it.
pub(crate) fn undisturbed(act: &Act) -> Account {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let journal = antiphon_store::open("memory:").expect("a store in memory");
    let report = runtime.block_on(async {
        let engine = process::engine(Arc::clone(&journal), folder.path(), act);
        let mut run = process::start(&engine, act, None).await;
        process::follow(&mut run, folder.path(), |_| {}).await
    });
    assert_eq!(report.outcome, antiphon::Outcome::Completed, "{report:?}");
    of(&process::everywhere(&*journal), report.output.as_str())
}

fn of(events: &[Event], gave: &str) -> Account {
    let mut account = Account { gave: gave.to_owned(), results: BTreeSet::new(), ends: BTreeMap::new() };
    for event in events {
        match &event.body {
            Body::ToolResult(result) => {
                let (way, call) = (way(event), raw(result.id.as_str()));
                account.results.insert((way, call, result.output.as_str().to_owned()));
            }
            Body::HarnessEnd(end) => {
                let reason = end.reason.as_ref().map(|reason| reason.as_str().to_owned());
                account.ends.entry(way(event)).or_default().push(reason.unwrap_or_default());
            }
            _ => {}
        }
    }
    account
}

/// The nodes and agents around an event.
fn way(event: &Event) -> String {
    let node = || event.head.node_id.iter().cloned().collect();
    let path: Vec<_> = event.head.node_path.clone().unwrap_or_else(node);
    let nodes = path.iter().map(|id| id.as_str());
    let agents = event.head.agent.iter().flat_map(|agent| agent.chain.iter().map(String::as_str));
    nodes.chain(agents).collect::<Vec<_>>().join("/")
}

/// The id that the model gave a call.
fn raw(id: &str) -> String {
    let raw = id.rsplit('/').next().unwrap_or(id);
    raw.split('~').next().unwrap_or(raw).to_owned()
}

/// Checks a story against a run that nobody disturbed, and its tools against its events.
pub(crate) fn compare(story: &Story, undisturbed: &Account) {
    assert_eq!(of(&story.all, &story.gave), *undisturbed);
    every_run_ends_once(&story.all);
    let calls = calls(&story.all);
    for (id, call) in &calls {
        let expected = usize::from(!call.discarded);
        assert_eq!(call.results, expected, "{id} has {} results", call.results);
    }
    let mut traces: BTreeMap<&str, u32> = BTreeMap::new();
    for line in story.log.lines() {
        *traces.entry(line).or_default() += 1;
    }
    for (id, call) in calls.iter().filter(|(_, call)| call.writes) {
        // A command leaves the same trace however often its model proposes it; a discarded note, none.
        if call.discarded {
            assert!(!traces.contains_key(id.as_str()), "{id} ran, and was never let through");
            continue;
        }
        let ran = traces.remove(call.trace.as_str()).unwrap_or(0);
        assert!(ran >= 1, "{id} is done and never ran");
        let most = 1 + call.again;
        assert!(ran <= most, "{id} ran {ran} times, and may have {most} times");
    }
    assert!(traces.is_empty(), "something ran that was no call: {traces:?}");
}

fn every_run_ends_once(events: &[Event]) {
    let (mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        let run = event.head.run_id.clone();
        match &event.body {
            Body::HarnessStart(_) => assert!(begun.insert(run), "{} began twice", way(event)),
            Body::HarnessEnd(_) => assert!(ended.insert(run), "{} ended twice", way(event)),
            _ => {}
        }
    }
    assert_eq!(begun, ended, "what begins ends");
}

/// What became of a call.
#[derive(Default)]
struct Call {
    /// Whether it was of an answer that was cut off.
    discarded: bool,
    results: usize,
    writes: bool,
    /// What it leaves in the log.
    trace: String,
    /// How often a person said that it is to run again.
    again: u32,
}

fn calls(events: &[Event]) -> BTreeMap<String, Call> {
    let mut calls: BTreeMap<String, Call> = BTreeMap::new();
    let mut doubts: BTreeMap<String, String> = BTreeMap::new();
    for event in events {
        match &event.body {
            Body::ToolCall(made) => {
                let call = calls.entry(made.id.to_string()).or_default();
                assert_eq!(call.results, 0, "{} was let through after its result", made.id);
                call.writes = matches!(made.name.as_str(), "note" | "bash");
                if call.writes {
                    call.trace = person::trace(&made.name, made.id.as_str(), &made.input);
                }
            }
            Body::ModelRetry(retry) => {
                for id in &retry.discards {
                    if let Some(call) = calls.get_mut(id.as_str()) {
                        call.discarded = true;
                    }
                }
            }
            Body::ToolResult(result) => {
                calls.get_mut(result.id.as_str()).expect("a result is of a call").results += 1;
            }
            Body::Relay(relay) if person::is_doubt(relay) => {
                let call = relay.tool_call_id.as_ref().expect("a call").to_string();
                assert!(calls[&call].writes, "{call} could have been made again without asking");
                doubts.insert(relay.id.to_string(), call);
            }
            Body::RelayResolved(answer) => {
                let again = answer.answer.as_ref().is_some_and(|answer| answer.to_text() == "run again");
                if let (Some(call), true) = (doubts.get(answer.relay_id.as_str()), again) {
                    calls.get_mut(call).expect("it was seen").again += 1;
                }
            }
            _ => {}
        }
    }
    calls
}
