//! The process that is killed: runs the flow, or goes on with it, and says what is durable.
//!
//! In: a folder. Out, on standard output: `at` and an event for each one that was acknowledged, those of the processes
//! before included, and `done` at the end. Start reading at [`play`].

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use antiphon_event::{Body, Event};
use antiphon_flow::{Flow, file};
use antiphon_port::{Branch, Journal, Page};
use antiphon_runtime::{Engine, Invocation, Outcome, Refused, Run};

use super::person;

/// Names the folder with the journal to the process.
pub(crate) const FOLDER: &str = "ANTIPHON_TEST_FOLDER";

/// Gives a trace of itself and of what it reads, takes a moment, and adds its name to that.
const WORK: &str = r#"read=$(cat); echo "$ANTIPHON_IDEMPOTENCY_KEY $ANTIPHON_ATTEMPT $read" >> "$LOG"; sleep 0.002; printf "%s.%s" "$read" "$ANTIPHON_NODE_ID""#;

/// The flow with programs in it that leave their trace in this folder.
pub(crate) fn flow(text: &str, folder: &Path) -> Flow {
    let program = |script: &str| {
        let log = folder.join("log").to_string_lossy().into_owned();
        let run = serde_json::json!({"run": ["sh", "-c", script], "env": {"LOG": log}});
        format!("command: {run}}}")
    };
    let flaky = format!("{WORK}; test $ANTIPHON_ATTEMPT -gt 1");
    let broken = format!("{WORK}; exit 1");
    let text = text
        .replace(": WORK", ": {WORK")
        .replace("WORK", &program(WORK))
        .replace("FLAKY", &program(&flaky))
        .replace("BROKEN", &program(&broken));
    let load = |_: &str| Err("there is no other".to_owned());
    file::read("flow.yaml", &text, &load).unwrap_or_else(|problems| panic!("{problems}\n{text}")).flow
}

pub(crate) fn journal(folder: &Path) -> Arc<dyn Journal> {
    let path = folder.join("journal.db");
    antiphon_store::open(&format!("sqlite:{}", path.display())).expect("a journal")
}

/// Runs the flow until it is through, or until somebody kills this process.
pub(crate) fn play(folder: &Path, text: &str) -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        // Often, so that most deaths have one before them.
        let engine = Engine::new(journal(folder)).checkpoint_every(8);
        let mut run = begin(&engine, flow(text, folder)).await;
        follow(&mut run).await;
    });
    say("done");
    std::process::exit(0)
}

/// Goes on with the run in the journal, or starts it if no process lived long enough to.
async fn begin(engine: &Engine, flow: Flow) -> Run {
    let sessions = engine.journal().sessions(Page { after: None, limit: 1 }).await.expect("readable");
    let session = sessions.into_iter().next().map(|summary| summary.id);
    if let Some(session) = &session {
        match engine.resume(Branch::main(session.clone()), None).await {
            Err(Refused::NoRun(_)) => {}
            resumed => return resumed.expect("what another process left can be gone on with"),
        }
    }
    engine.start(flow, Invocation { session, ..Invocation::new("task") }).await.expect("accepted")
}

/// Says every event and answers every request, until the run has ended.
async fn follow(run: &mut Run) {
    let mut tail = run.events_after(0);
    let mut asked: Vec<Event> = Vec::new();
    loop {
        while let Some(events) = tail.next().await.expect("readable") {
            for event in events {
                say(&format!("at {}", event.to_json()));
                if matches!(event.body, Body::Relay(_)) {
                    asked.push(event);
                }
            }
        }
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            return;
        }
        for relay in &report.relays {
            let request = asked.iter().find(|event| person::is_asked(event, relay));
            let answer = person::answer(request.expect("what waits was asked for"));
            run.answer(answer).await.expect("it waits for an answer");
        }
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("somebody listens");
}
