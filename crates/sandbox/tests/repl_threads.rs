//! No thread outlives its session; alone in its process, because it counts threads.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_event::{StreamName, Timestamp};
use antiphon_port::{Future, Host, Opening, Repl, ReplLimits, Sandbox};
use antiphon_sandbox::repl::JavaScript;

struct Silent;

impl Host for Silent {
    fn print(&self, _: StreamName, _: String) {}

    fn query(&self, _: u32, _: String, _: Option<String>) -> Future<Result<String, String>> {
        Box::pin(std::future::pending())
    }

    fn exec(&self, _: u32, _: String) -> Future<Result<String, String>> {
        Box::pin(std::future::pending())
    }
}

fn open(time: Duration) -> Box<dyn Repl> {
    let limits = ReplLimits { time, ..ReplLimits::default() };
    let now = Timestamp::from_millis(0).unwrap();
    JavaScript.open(Opening { context: String::new(), limits, now, seed: 0 }).unwrap()
}

/// How many threads of sessions there are.
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter(|task| {
            let name = task.as_ref().unwrap().path().join("comm");
            fs::read_to_string(name).is_ok_and(|name| name.trim() == "antiphon-repl")
        })
        .count()
}

fn until_none(most: Duration) {
    let begun = Instant::now();
    while threads() > 0 {
        assert!(begun.elapsed() < most, "{} threads are left", threads());
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn threads_end_with_their_sessions() {
    let mut sessions: Vec<_> = (0..12).map(|_| open(Duration::from_hours(1))).collect();
    let host = Arc::new(Silent);
    for session in &mut sessions {
        session.run("1 + 1".to_owned(), host.clone()).await;
    }
    assert_eq!(threads(), 12);
    let endless = sessions[4].run("for (;;) ;".to_owned(), host.clone());
    assert!(tokio::time::timeout(Duration::from_millis(20), endless).await.is_err());
    let waiting = sessions[5].run("await llm_query('x')".to_owned(), host.clone());
    assert!(tokio::time::timeout(Duration::from_millis(20), waiting).await.is_err());
    let running = tokio::spawn(sessions[6].run("for (;;) await null".to_owned(), host.clone()));
    drop(sessions);
    assert_eq!(running.await.unwrap().error.as_deref(), Some("the session is closed"));
    until_none(Duration::from_secs(10));

    // A built-in that never looks at the clock: the turn ends, and later its thread.
    let mut session = stuck(&host).await;
    let turn = session.run("FINAL(typeof scope.kept)".to_owned(), host).await;
    assert_eq!(turn.answer.as_deref(), Some("undefined"));
    drop(session);
    until_none(Duration::from_mins(1));
}

/// A session whose code was left behind in a built-in. Each level takes twice as long as the one before, so that one of them
/// takes long enough on any machine, and none much longer than that.
async fn stuck(host: &Arc<Silent>) -> Box<dyn Repl> {
    const STUCK: &str =
        "the code is in a built-in that cannot be stopped; the engine was replaced, and scope is empty";
    const LATE: &str = "out of time: at work for 100ms, which is the bound of a turn";
    for levels in 22..40 {
        let mut session = open(Duration::from_millis(100));
        let nest = format!(
            "scope.kept = 1; let deep = []; for (let i = 0; i < {levels}; i += 1) deep = [deep, deep]"
        );
        session.run(nest, host.clone()).await;
        let turn = session.run("deep.flat(Infinity)".to_owned(), host.clone()).await;
        match turn.error.as_deref() {
            Some(STUCK) => return session,
            error => assert!(error.is_none_or(|error| error == LATE), "{error:?}"),
        }
    }
    panic!("no built-in took long enough");
}
