//! What a command started ends with its node, however that ends: real processes, which left their group.

use std::path::Path;
use std::time::{Duration, Instant};

use antiphon_event::Mode;
use antiphon_flow::{Flow, Node};
use antiphon_runtime::{Engine, Invocation, Outcome, Run};
use serde_json::Value;
use tempfile::TempDir;

/// Starts processes that write their numbers down, and goes on when they have.
const CHILDREN: &str = "
    setsid sh -c 'echo $$ > one; exec sleep 1000' &
    setsid sh -c 'trap \"\" TERM HUP; sleep 1000 >/dev/null 2>&1 & echo $! > two; wait' >/dev/null 2>&1 &
    sleep 1000 & echo $! > three
    until [ -s one ] && [ -s two ]; do sleep 0.01; done
";

/// A node with children, in a folder of its own.
struct Parent {
    folder: TempDir,
    node: Node,
}

impl Parent {
    fn then(rest: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!("cd \"$0\" || exit\n{CHILDREN}\n{rest}");
        let node = Node::command(["sh", "-c", &script, &folder.path().display().to_string()]);
        Self { folder, node }
    }

    fn timeout(self, timeout: Duration) -> Self {
        Self { node: self.node.timeout(timeout), ..self }
    }

    async fn start(&self) -> Run {
        let flow = Flow::new("parent").node("a", self.node.clone().isolate()).build().expect("sound");
        let engine = Engine::new(antiphon_store::open("memory:").expect("a store in memory"));
        engine.start(flow, Invocation::new(Value::Null)).await.expect("accepted")
    }

    /// Runs it to its end: what it printed, or what was wrong.
    async fn said(&self) -> String {
        let output = self.start().await.wait().await.expect("no fault").output.value();
        let said = output["error"]["message"].as_str().or(output.as_str());
        said.expect("a text, or an error").to_owned()
    }

    /// The children, if all of them were started.
    fn ids(&self) -> Option<[u32; 3]> {
        let id = |name| read(&self.folder.path().join(name)).trim().parse().ok();
        Some([id("one")?, id("two")?, id("three")?])
    }

    /// Waits until they have ended, which a kill does not wait for.
    async fn is_alone(&self) {
        let ids = self.ids().expect("all children were started");
        until("all children are gone", || !ids.iter().any(|id| is_running(*id))).await;
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Whether a process runs; one that has ended and was not yet taken note of does not.
fn is_running(id: u32) -> bool {
    let stat = read(Path::new(&format!("/proc/{id}/stat")));
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let latest = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < latest, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn a_command_that_ends_leaves_nobody_and_is_not_kept_waiting() {
    let rows = [
        ("echo done", "done"),
        ("exec >&- 2>&-", ""),
        ("exit 3", "`sh` ended with code 3"),
        ("kill -9 $$", "`sh` was killed"),
        ("exec yes", "`sh`: it printed more than 8388608 bytes and was stopped"),
    ];
    for (rest, expected) in rows {
        let parent = Parent::then(rest);
        assert_eq!(parent.said().await, expected, "{rest}");
        parent.is_alone().await;
    }
}

#[tokio::test]
async fn a_command_that_takes_too_long_leaves_nobody() {
    // How long it takes until the children are there is the machine's to say.
    let mut timeout = Duration::from_millis(200);
    let parent = loop {
        let parent = Parent::then("sleep 1000").timeout(timeout);
        let said = parent.said().await;
        assert!(said.contains("it took longer than"), "{said}");
        if parent.ids().is_some() {
            break parent;
        }
        timeout *= 2;
    };
    parent.is_alone().await;
}

#[tokio::test]
async fn a_command_that_is_cancelled_leaves_nobody() {
    let parent = Parent::then("sleep 1000");
    let mut run = parent.start().await;
    until("all children were started", || parent.ids().is_some()).await;
    run.cancel("tester", Mode::Now).await.expect("taken");
    assert_eq!(run.wait().await.expect("no fault").outcome, Outcome::Cancelled);
    parent.is_alone().await;
}
