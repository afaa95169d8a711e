//! How sessions begin and end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_port::{Opening, ReplLimits, Sandbox};
use antiphon_sandbox::repl::JavaScript;
use expect_test::expect;

use crate::door::{Bench, Rule, limits, opening, show};

fn patient() -> ReplLimits {
    ReplLimits { time: Duration::from_hours(1), ..limits() }
}

#[tokio::test]
async fn a_turn_that_is_dropped_stops_at_once() {
    let mut session = JavaScript.open(opening(patient())).unwrap();
    let host = Arc::new(Rule::default());
    for code in ["const before = 1; console.log('on'); for (;;) ;", "console.log('on'); for (;;) await null"]
    {
        let mut turn = session.run(code.to_owned(), host.clone());
        while host.heard.lock().unwrap().is_empty() {
            tokio::select! { biased; turn = &mut turn => panic!("it ends: {turn:?}"), () = tokio::task::yield_now() => {} }
        }
        host.heard.lock().unwrap().clear();
        drop(turn);
        let dropped = Instant::now();
        let next = session.run("FINAL(typeof before)".to_owned(), host.clone()).await;
        assert_eq!(next.answer.as_deref(), Some("number"));
        assert!(dropped.elapsed() < Duration::from_secs(1), "took {:?}", dropped.elapsed());
    }
}

#[tokio::test]
async fn a_turn_that_is_never_polled_never_runs() {
    let mut session = JavaScript.open(opening(limits())).unwrap();
    let host = Arc::new(Rule::default());
    drop(session.run("scope.ran = true".to_owned(), host.clone()));
    let turn = session.run("FINAL(typeof ran)".to_owned(), host).await;
    assert_eq!(turn.answer.as_deref(), Some("undefined"));
}

#[tokio::test]
async fn a_session_that_is_closed_stops_its_turn() {
    let mut session = JavaScript.open(opening(patient())).unwrap();
    let host = Arc::new(Rule::default());
    let endless = tokio::spawn(session.run("console.log('on'); for (;;) ;".to_owned(), host.clone()));
    let unstarted = session.run("1".to_owned(), host.clone());
    while host.heard.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(session);
    expect![[r#"
        > on
        ! stopped
    "#]]
    .assert_eq(&show(&endless.await.unwrap()));
    expect![[r#"
        ! the session is closed
    "#]]
    .assert_eq(&show(&unstarted.await));
}

#[test]
fn a_context_has_to_fit() {
    let big = Opening { context: "x".repeat(5 << 20), ..opening(limits()) };
    let refused = JavaScript.open(big).err().unwrap();
    expect![
        "cannot open a session: the context has 5242880 bytes, at most a fourth of its memory of 16777216"
    ]
    .assert_eq(&refused);

    let odd = Opening { context: "a\0b\u{2028}😀".repeat(1000), ..opening(limits()) };
    let mut session = JavaScript.open(odd).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let turn = runtime
        .block_on(session.run("FINAL([context.length, context[1]])".to_owned(), Arc::new(Rule::default())));
    assert_eq!(turn.answer.as_deref(), Some(r#"[6000,"\u0000"]"#));

    let tiny = ReplLimits { memory_bytes: 10_000, ..limits() };
    let mut session = JavaScript.open(opening(tiny)).unwrap();
    for _ in 0..2 {
        let turn = runtime.block_on(session.run("1".to_owned(), Arc::new(Rule::default())));
        assert!(turn.error.unwrap().starts_with("cannot start the engine"));
    }
}

/// The fastest of some is what the machine allows; even where nothing is optimised it is far below what a turn may cost.
#[test]
fn a_turn_costs_little() {
    let mut fastest = [Duration::MAX; 4];
    let mut note = |at: usize, since: Instant| fastest[at] = fastest[at].min(since.elapsed());
    for _ in 0..30 {
        let begun = Instant::now();
        let mut bench = Bench::new(ReplLimits::default());
        note(3, begun);
        bench.run("");
        note(0, begun);
        let begun = Instant::now();
        bench.run("");
        note(1, begun);
        let begun = Instant::now();
        bench.run("const n = await llm_query('up x'); console.log(n); FINAL(n)");
        note(2, begun);
    }
    let [first, empty, call, open] = fastest;
    println!(
        "open {open:?}, until the first turn ended {first:?}, empty turn {empty:?}, turn with a call {call:?}"
    );
    assert!(open.max(call) < Duration::from_millis(2), "took {open:?} and {call:?}");
}
