//! The folder of a run: it works where it says, whoever goes on with it and wherever that is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_event::{Body, Event};
use antiphon_flow::{Flow, file};
use antiphon_port::{Batch, Branch, Fault, Journal};
use antiphon_runtime::{Engine, Forking, Invocation, Outcome, Refused, Run};
use expect_test::{Expect, expect};
use tempfile::TempDir;

use crate::hands::yes;

/// Programs that say where they are, and people in between.
const FLOW: &str = r#"
antiphon: 1
nodes:
  a: {command: [pwd]}
  gate: {human: "Go on?"}
  b: {command: {run: [pwd], dir: .}}
  again: {human: "Go on?"}
  c: {command: {run: [pwd], dir: sub}}
  d: {command: {run: [pwd], dir: /}}
  e: {command: [sh, -c, 'cd sub && printf %s "$PWD"']}
edges: [a -> gate -> b -> again -> c -> d -> e]
"#;

/// Folders, and a journal that all engines share.
struct Place {
    root: TempDir,
    journal: Arc<dyn Journal>,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        for name in ["one/sub", "two/sub"] {
            std::fs::create_dir_all(root.path().join(name)).expect("a folder");
        }
        Self { root, journal: antiphon_store::open("memory:").expect("a store in memory") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// An engine that starts runs in a folder.
    fn engine(&self, name: &str) -> Engine {
        Engine::new(Arc::clone(&self.journal)).folder(self.path(name)).checkpoint_every(4)
    }

    /// Runs the flow in a folder until it asks somebody.
    async fn start(&self, name: &str) -> Branch {
        let mut run = self.engine(name).start(flow(), Invocation::new("")).await.expect("accepted");
        run.wait().await.expect("no fault");
        run.branch().clone()
    }

    /// Goes on from the journal with a yes, until it asks again or has ended.
    async fn go_on(&self, from: &str, branch: &Branch, folder: Option<&str>) {
        let mut run = self.resumed(from, branch, folder).await.expect("it goes on");
        let report = run.wait().await.expect("no fault");
        assert_eq!(report.outcome, Outcome::Paused);
        run.answer(yes(report.relays[0].clone())).await.expect("it waits");
        run.wait().await.expect("no fault");
    }

    async fn resumed(&self, from: &str, branch: &Branch, folder: Option<&str>) -> Result<Run, Refused> {
        let engine = self.engine(from);
        loop {
            let resumed = match folder {
                Some(folder) => engine.resume_in(self.path(folder), branch.clone(), None).await,
                None => engine.resume(branch.clone(), None).await,
            };
            match resumed {
                // The driver before has not let go of the session yet.
                Err(Refused::Journal(Fault::Owned { .. })) => tokio::task::yield_now().await,
                resumed => return resumed,
            }
        }
    }

    async fn events(&self, branch: &Branch) -> Vec<Event> {
        self.journal.read(branch, 0, usize::MAX).await.expect("readable")
    }

    /// What a branch says of folders, and what programs said of where they are.
    async fn check(&self, branch: &Branch, expected: Expect) {
        let lines = self.events(branch).await.into_iter().filter_map(|event| match &event.body {
            Body::RunStart(_) | Body::Resumed(_) => {
                Some(format!("{} {}\n", event.body.tag(), event.body.folder().unwrap_or("-")))
            }
            Body::NodeEnd(end) if event.head.node_id.as_ref().is_some_and(|id| id.as_str().len() == 1) => {
                Some(format!("{} {}\n", event.head.node_id.as_ref().expect("a node"), end.output.to_text()))
            }
            _ => None,
        });
        expected.assert_eq(&self.plain(&lines.collect::<String>()));
    }

    fn plain(&self, text: &str) -> String {
        text.replace(&*self.root.path().to_string_lossy(), "ROOT")
    }
}

fn flow() -> Flow {
    let load = |_: &str| Err("there is no other".to_owned());
    file::read("flow.yaml", FLOW, &load).expect("sound").flow
}

#[tokio::test]
async fn a_run_goes_on_in_its_folder_wherever_that_is_done() {
    let place = Place::new();
    let branch = place.start("one").await;
    place.go_on("two", &branch, None).await;
    place.go_on("two", &branch, None).await;
    place
        .check(
            &branch,
            expect![[r#"
                run_start ROOT/one
                a ROOT/one
                resumed -
                b ROOT/one
                resumed -
                c ROOT/one/sub
                d /
                e ROOT/one/sub
            "#]],
        )
        .await;
}

#[tokio::test]
async fn in_another_folder_it_goes_on_knowingly_and_from_then_on() {
    let place = Place::new();
    let branch = place.start("one").await;
    std::fs::remove_dir_all(place.path("one")).expect("it is there");
    place.go_on("two", &branch, Some("two")).await;
    std::fs::create_dir_all(place.path("one/sub")).expect("a folder");
    place.go_on("one", &branch, None).await;
    place
        .check(
            &branch,
            expect![[r#"
                run_start ROOT/one
                a ROOT/one
                resumed ROOT/two
                b ROOT/two
                resumed -
                c ROOT/two/sub
                d /
                e ROOT/two/sub
            "#]],
        )
        .await;
}

#[tokio::test]
async fn a_fork_goes_on_in_the_folder_that_the_run_had_there() {
    let place = Place::new();
    let branch = place.start("one").await;
    let at = place.events(&branch).await.len() as u64;
    place.go_on("two", &branch, Some("two")).await;
    let into = Branch::new(branch.session.clone(), "other");
    let forking = Forking { from: branch, at, into, writes: [].into(), by: "tester".to_owned() };
    let into = forking.into.clone();
    place.engine("two").fork(forking, None).await.expect("it forks");
    place.go_on("two", &into, None).await;
    place
        .check(
            &into,
            expect![[r#"
                run_start ROOT/one
                a ROOT/one
                resumed -
                b ROOT/one
            "#]],
        )
        .await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_refused_and_nothing_is_written() {
    let place = Place::new();
    let branch = place.start("one").await;
    let before = place.events(&branch).await;
    std::fs::remove_dir_all(place.path("one")).expect("it is there");
    std::fs::write(place.path("file"), "").expect("a file");
    let rows = [
        (None, "the run cannot work in the folder ROOT/one: No such file or directory (os error 2)"),
        (Some("none"), "the run cannot work in the folder ROOT/none: No such file or directory (os error 2)"),
        (Some("file"), "the run cannot work in the folder ROOT/file: not a directory"),
    ];
    for (folder, expected) in rows {
        let refused = place.resumed("two", &branch, folder).await.map(|_| ()).expect_err("there is none");
        assert_eq!(place.plain(&refused.to_string()), expected);
    }
    assert_eq!(place.events(&branch).await, before);
    let invocation = Invocation { folder: Some(place.path("file")), ..Invocation::new("") };
    let refused = place.engine("two").start(flow(), invocation).await.map(|_| ()).expect_err("it is a file");
    assert_eq!(place.plain(&refused.to_string()), rows[2].1);
}

#[tokio::test]
async fn a_run_that_does_not_say_its_folder_goes_on_where_that_is_done() {
    let place = Place::new();
    let branch = place.start("one").await;
    let mut events = place.events(&branch).await;
    for event in &mut events {
        if let Some(folder) = event.body.folder_mut() {
            *folder = None;
        }
        event.head.seq = None;
    }
    let old = Branch::main("old");
    place.journal.create(&old).await.expect("it is new");
    place.journal.append(&old, 0, Batch::new(events).expect("events")).await.expect("they are kept");
    place.go_on("two", &old, None).await;
    place
        .check(
            &old,
            expect![[r#"
                run_start -
                a ROOT/one
                resumed -
                b ROOT/two
            "#]],
        )
        .await;
}

#[tokio::test]
async fn who_says_no_folder_gets_that_of_the_process() {
    let engine = Engine::new(antiphon_store::open("memory:").expect("a store in memory"));
    let mut run = engine.start(flow(), Invocation::new("")).await.expect("accepted");
    run.wait().await.expect("no fault");
    assert_eq!(run.folder(), Some(&*std::env::current_dir().expect("it is somewhere")));
    let first = engine.journal().read(run.branch(), 0, 2).await.expect("readable");
    assert_eq!(first[1].body.folder().map(Path::new), run.folder());
}
