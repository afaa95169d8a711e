//! What code asks of its host: in parallel, numbered, live, and dropped with the turn.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use antiphon_event::StreamName;
use antiphon_port::{Future, Host, Sandbox, Turn};
use antiphon_sandbox::repl::JavaScript;
use expect_test::expect;
use tokio::sync::{mpsc, oneshot};

use crate::door::{Bench, limits, opening, show};

/// What a host heard, with the way to answer it.
enum Heard {
    Print(String),
    Call(String, oneshot::Sender<Result<String, String>>),
}

/// Hands everything on to the test.
struct Relay(mpsc::UnboundedSender<Heard>);

impl Relay {
    fn ask(&self, what: String) -> Future<Result<String, String>> {
        let (answer, answered) = oneshot::channel();
        self.0.send(Heard::Call(what, answer)).unwrap();
        Box::pin(async { answered.await.unwrap() })
    }
}

impl Host for Relay {
    fn print(&self, _: StreamName, chunk: String) {
        self.0.send(Heard::Print(chunk)).unwrap();
    }

    fn query(&self, call: u32, prompt: String, _: Option<String>) -> Future<Result<String, String>> {
        self.ask(format!("query {call} {prompt}"))
    }

    fn exec(&self, call: u32, command: String) -> Future<Result<String, String>> {
        self.ask(format!("exec {call} {command}"))
    }
}

/// Runs code; as soon as `count` calls wait, answers them in the order that `order` says.
async fn relayed(code: &str, count: usize, order: impl Fn(usize) -> usize) -> (Vec<String>, Turn) {
    let (say, mut heard) = mpsc::unbounded_channel();
    let mut session = JavaScript.open(opening(limits())).unwrap();
    let turn = tokio::spawn(session.run(code.to_owned(), Arc::new(Relay(say))));
    let (mut log, mut calls) = (Vec::new(), Vec::new());
    while calls.len() < count {
        match heard.recv().await.expect("the calls are made before the turn ends") {
            Heard::Print(chunk) => log.push(chunk.trim_end().to_owned()),
            Heard::Call(what, answer) => {
                log.push(what.clone());
                calls.push(Some((what, answer)));
            }
        }
    }
    for i in 0..count {
        let (what, answer) = calls[order(i)].take().unwrap();
        answer.send(Ok(format!("<{what}>"))).unwrap();
    }
    (log, turn.await.unwrap())
}

#[tokio::test]
async fn parallel_calls_are_answered_in_any_order() {
    let code = "console.log('before'); const all = [0, 1, 2, 3].map(i => i % 2 ? exec('c' + i) : llm_query('q' + i));
        all.forEach(p => p.then(x => console.log('came', x))); console.log((await Promise.all(all)).join(' '))";
    let (log, turn) = relayed(code, 4, |i| 3 - i).await;
    expect![[r#"
        before
        query 0 q0
        exec 1 c1
        query 2 q2
        exec 3 c3
    "#]]
    .assert_eq(&(log.join("\n") + "\n"));
    expect![[r#"
        > before
        > came <exec 3 c3>
        > came <query 2 q2>
        > came <exec 1 c1>
        > came <query 0 q0>
        > <query 0 q0> <exec 1 c1> <query 2 q2> <exec 3 c3>
    "#]]
    .assert_eq(&show(&turn));
}

#[tokio::test]
async fn time_spent_waiting_does_not_count() {
    let mut bounds = limits();
    bounds.time = std::time::Duration::from_millis(50);
    let (say, mut heard) = mpsc::unbounded_channel();
    let mut session = JavaScript.open(opening(bounds)).unwrap();
    let turn = tokio::spawn(session.run("FINAL(await llm_query('slow'))".to_owned(), Arc::new(Relay(say))));
    let Some(Heard::Call(_, answer)) = heard.recv().await else { panic!("a call comes first") };
    // What is waited for is that much time has passed: longer than the code may work.
    tokio::time::sleep(bounds.time * 6).await;
    answer.send(Ok("late".to_owned())).unwrap();
    expect![[r#"
        = late
    "#]]
    .assert_eq(&show(&turn.await.unwrap()));
}

#[test]
fn the_same_code_and_answers_come_to_the_same_turns() {
    let code = [
        "const p = Math.random(); scope.t = Date.now(); console.log(p, await llm_query('up a' + p), new Date())",
        "const xs = Array.from({length: 5}, Math.random); await exec('up ' + xs[0]); console.log(p, xs, [3, 1, 2].sort())",
        "for (;;) Math.random() < 0.99 || FINAL(1) || undefined.x",
        "FINAL([p, t, Math.random(), Object.keys(scope)])",
    ];
    let run = || {
        let mut bench = Bench::new(limits());
        let turns: Vec<Turn> = code.iter().map(|code| bench.run(code)).collect();
        let heard = bench.host.heard.lock().unwrap().clone();
        (turns, heard)
    };
    let (first, again) = (run(), run());
    assert_eq!(first, again);
    assert!(
        first.1.iter().any(|heard| heard.starts_with("exec 0:")),
        "each turn counts from 0: {:?}",
        first.1
    );
}

/// Counts the calls that were begun, and those that were dropped before they ended.
#[derive(Default)]
struct Counting {
    begun: AtomicUsize,
    dropped: Arc<AtomicUsize>,
    printed: Mutex<String>,
}

struct Held(Arc<AtomicUsize>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Host for Counting {
    fn print(&self, _: StreamName, chunk: String) {
        self.printed.lock().unwrap().push_str(&chunk);
    }

    fn query(&self, _: u32, _: String, _: Option<String>) -> Future<Result<String, String>> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let held = Held(self.dropped.clone());
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(held);
            Ok(String::new())
        })
    }

    fn exec(&self, call: u32, command: String) -> Future<Result<String, String>> {
        self.query(call, command, None)
    }
}

#[tokio::test]
async fn calls_are_dropped_with_their_turn() {
    let host = Arc::new(Counting::default());
    let mut session = JavaScript.open(opening(limits())).unwrap();
    let code = "llm_query('a'); exec('b'); await null; throw new Error('enough')";
    let turn = session.run(code.to_owned(), host.clone()).await;
    expect![[r#"
        ! Error: enough (turn 1, line 1)
    "#]]
    .assert_eq(&show(&turn));
    assert_eq!((host.begun.load(Ordering::SeqCst), host.dropped.load(Ordering::SeqCst)), (2, 2));

    let mut waiting = session.run("await llm_query('c')".to_owned(), host.clone());
    while host.begun.load(Ordering::SeqCst) < 3 {
        tokio::select! { biased; _ = &mut waiting => panic!("nobody answers"), () = tokio::task::yield_now() => {} }
    }
    drop(waiting);
    assert_eq!(host.dropped.load(Ordering::SeqCst), 3);
    let turn = session.run("FINAL('here')".to_owned(), host).await;
    assert_eq!(turn.answer.as_deref(), Some("here"));
}
