//! The process that is killed: plays the act, or goes on with it, and says what is durable.
//!
//! In: a folder. Out, on standard output: `at` and an event for each one that was acknowledged, those of the processes
//! before included, `gave` and what came of it, and `done`. Start reading at [`play`].

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use antiphon::{
    Body, Engine, Event, Invocation, Journal, Outcome, Refused, Report, Run, Wardrobe, Workspace,
};
use antiphon_event::SessionId;
use antiphon_port::{Branch, Page};

use super::act::{Act, Scene};
use super::player::Player;
use super::{person, tools};

/// Names the folder with the journal to the process.
pub(crate) const FOLDER: &str = "ANTIPHON_TEST_FOLDER";

/// Tells the process that its first model stops in the middle of an answer. What others say may be on other branches, where
/// nobody listens.
pub(crate) const HUSHED: &str = "ANTIPHON_TEST_HUSHED";

pub(crate) fn journal(folder: &Path) -> Arc<dyn Journal> {
    let path = folder.join("journal.db");
    antiphon_store::open(&format!("sqlite:{}", path.display())).expect("a journal")
}

/// The session of the run, then those of agents that were called. One without events is that of the run only if there is
/// no other.
pub(crate) fn sessions(journal: &dyn Journal) -> Vec<SessionId> {
    let listed = journal.sessions(Page { after: None, limit: usize::MAX }).wait().expect("readable");
    let mut sessions: Vec<SessionId> = listed.into_iter().map(|session| session.id).collect();
    sessions.sort_by_key(|session| {
        let first = journal.read(&Branch::main(session.clone()), 0, 1).wait().expect("readable");
        !matches!(&first[..], [Event { body: Body::SessionCreated(made), .. }] if made.metadata.is_none())
    });
    sessions
}

/// The branches of a session.
pub(crate) fn branches(journal: &dyn Journal, session: &SessionId) -> Vec<Branch> {
    let listed = journal.branches(session).wait().expect("readable");
    listed.into_iter().map(|summary| Branch { session: session.clone(), branch: summary.branch }).collect()
}

/// What happened on all branches of all sessions, the first branch of the run first. What agents on other branches ask
/// is told to those who watch their callers too; here it is told once.
pub(crate) fn everywhere(journal: &dyn Journal) -> Vec<Event> {
    let mut all = Vec::new();
    for branch in sessions(journal).iter().flat_map(|session| branches(journal, session)) {
        let events = journal.read(&branch, 0, usize::MAX).wait().expect("readable");
        let starts = |event: &&Event| matches!(event.body, Body::HarnessStart(_) | Body::RunStart(_));
        let own: BTreeSet<_> = events.iter().filter(starts).map(|event| event.head.run_id.clone()).collect();
        let asks = |event: &Event| matches!(event.body, Body::Relay(_) | Body::RelayResolved(_));
        all.extend(events.into_iter().filter(|event| !asks(event) || own.contains(&event.head.run_id)));
    }
    all
}

/// Plays until all is through, or until somebody kills this process.
pub(crate) fn play(folder: &Path, act: &Act) -> ! {
    let journal = journal(folder);
    let session = sessions(&*journal).into_iter().next();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let engine = engine(journal, folder, act);
        let mut run = begin(&engine, act, session).await;
        let report = follow(&mut run, folder, say_event).await;
        say(&format!("gave {}", report.output.as_str()));
    });
    say("done");
    std::process::exit(0)
}

pub(crate) fn engine(journal: Arc<dyn Journal>, folder: &Path, act: &Act) -> Engine {
    let mut wardrobe = Wardrobe::new(Workspace::new(folder).expect("a folder"));
    let hush = std::env::var_os(HUSHED).is_some();
    for (nth, (name, steps)) in act.models.iter().enumerate() {
        let player = Player { name, steps: steps.clone(), hushed: hush && nth == 0 };
        wardrobe = wardrobe.model(*name, Arc::new(player));
    }
    let wardrobe = tools::all(folder).into_iter().fold(wardrobe, Wardrobe::tool);
    // Often, so that most deaths have one before them.
    Engine::new(journal).agents(wardrobe).checkpoint_every(8)
}

/// Goes on with the run in the journal, or starts it if no process lived long enough to.
async fn begin(engine: &Engine, act: &Act, session: Option<SessionId>) -> Run {
    if let Some(session) = &session {
        match engine.resume(Branch::main(session.clone()), None).await {
            Err(Refused::NoRun(_)) => {}
            resumed => return resumed.expect("what another process left can be gone on with"),
        }
    }
    start(engine, act, session).await
}

pub(crate) async fn start(engine: &Engine, act: &Act, session: Option<SessionId>) -> Run {
    let invocation = Invocation { session, ..Invocation::new("begin") };
    let run = match &act.scene {
        Scene::Talk(agent) => engine.talk(agent.as_ref().clone(), invocation).await,
        Scene::Flow(text) => {
            let none = |_: &str| Err("there is no other".to_owned());
            let read = antiphon_flow::file::read("flow.yaml", text, &none);
            engine.start(read.unwrap_or_else(|problems| panic!("{problems}")).flow, invocation).await
        }
    };
    run.expect("accepted")
}

/// Tells every event and answers every request, until the run has ended.
pub(crate) async fn follow(run: &mut Run, folder: &Path, mut tell: impl FnMut(&Event)) -> Report {
    let mut tail = run.events_after(0);
    let mut asked: Vec<Event> = Vec::new();
    loop {
        while let Some(events) = tail.next().await.expect("readable") {
            for event in events {
                tell(&event);
                if matches!(event.body, Body::Relay(_)) {
                    asked.push(event);
                }
            }
        }
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            return report;
        }
        for relay in &report.relays {
            let request = asked.iter().find(|event| person::is_asked(event, relay));
            let answer = person::answer(request.expect("what waits was asked for"), folder);
            run.answer(answer).await.expect("it waits for an answer");
        }
    }
}

fn say_event(event: &Event) {
    say(&format!("at {}", event.to_json()));
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("somebody listens");
}
