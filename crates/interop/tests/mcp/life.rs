//! How servers begin and end, and calls with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::Server;
use antiphon_interop::mcp::{Connected, Options};
use expect_test::expect;

use crate::door::{Heard, call, check, fake, open, options, tool, until};

#[tokio::test]
async fn a_server_that_dies_is_named_with_its_last_words_and_started_again() {
    check(
        &fake(""),
        options(),
        r#"
            die
            echo {"text": "again"}
            die
            specs
        "#,
        expect![[r#"
            > die
            failed: MCP server `it` ended (exit status: 7) while `die` was called; it last said:
            out of cheese
            redo from start
            > echo {"text": "again"}
            "again"
            > die
            failed: MCP server `it` ended (exit status: 7) while `die` was called; it last said:
            out of cheese
            redo from start
            > specs
            it_echo Read {"type":"object","properties":{"text":{"type":"string"}}}
            it_set Idempotent {"type":"object"}
            it_steps Write {"type":"object"}
            it_hang Write {"type":"object"}
            it_die Write {"type":"object"}
            it_huge Write {"type":"object"}
            it_fail Write {"type":"object"}
            it_error Write {"type":"object"}
            it_change Write {"type":"object"}
            it_ask Write {"type":"object"}
            it_child Write {"type":"object"}
            it_env Write {"type":"object"}
            it_mumble Write {"type":"object"}
            it_deep Write {"type":"object"}
            it_strange Write {"type":"object"}
            it_flood Write {"type":"object"}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_dies_at_the_start_is_named_with_its_last_words() {
    check(
        &fake("dies"),
        options(),
        "",
        expect![[r#"
        MCP server `it` ended (exit status: 3) before it was ready; it last said:
        no licence
        I am leaving
        retryable: true
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_never_greets_is_given_up() {
    let options = Options { start: Duration::from_millis(300), ..options() };
    check(
        &fake("mute"),
        options,
        "",
        expect![[r#"
        MCP server `it` did not answer `initialize` within 0.3 s
        retryable: true
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_refuses_says_why() {
    check(
        &fake("refuses"),
        options(),
        "",
        expect![[r#"
        MCP server `it` cannot be connected to: not today (-32000)
        retryable: true
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let server =
        Server::Program { command: vec!["no-such-program".to_owned()], env: BTreeMap::new(), dir: None };
    check(
        &server,
        options(),
        "",
        expect![[r#"
        MCP server `it` cannot be started: `no-such-program`: No such file or directory (os error 2)
        retryable: false
    "#]],
    )
    .await;
    let server = Server::Program { command: vec![], env: BTreeMap::new(), dir: None };
    check(
        &server,
        options(),
        "",
        expect![[r#"
        MCP server `it` has no command: name a program
        retryable: false
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_call_that_is_never_answered_runs_out_of_time_and_the_server_is_told() {
    let (server, log) = logged();
    let options = Options { quiet: Duration::from_millis(200), ..options() };
    let connected = open(&server, options).await.expect("it starts");
    let hang = tool(&connected, "hang").await;
    let fault = call(&hang, "{}", &Arc::new(Heard::default())).await.expect_err("it hangs");
    expect!["timeout: MCP server `it` did not answer `hang` and said nothing for 0.2 s"]
        .assert_eq(&format!("{}: {fault}", fault.code));
    log.expect_cancelled().await;
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    let (server, log) = logged();
    let connected = open(&server, options()).await.expect("it starts");
    let hang = tool(&connected, "hang").await;
    let waiting = call(&hang, "{}", &Arc::new(Heard::default()));
    assert!(tokio::time::timeout(Duration::from_millis(200), waiting).await.is_err(), "it hangs");
    log.expect_cancelled().await;
}

#[tokio::test]
async fn nothing_of_a_server_outlives_it() {
    let (connected, pids) = with_children().await;
    drop(connected);
    until("the children are gone", || !pids.iter().any(|pid| is_running(pid))).await;
}

#[tokio::test]
async fn nothing_of_a_server_outlives_its_close() {
    let (connected, pids) = with_children().await;
    connected.close().await;
    until("the children are gone", || !pids.iter().any(|pid| is_running(pid))).await;
}

#[tokio::test]
async fn nothing_of_a_server_outlives_its_death() {
    let (connected, pids) = with_children().await;
    let die = tool(&connected, "die").await;
    call(&die, "{}", &Arc::new(Heard::default())).await.expect_err("it dies");
    until("the children are gone", || !pids.iter().any(|pid| is_running(pid))).await;
}

/// A server with two children, one of which has left its group.
async fn with_children() -> (Connected, [String; 2]) {
    let connected = open(&fake(""), options()).await.expect("it starts");
    let child = tool(&connected, "child").await;
    let mut pids = [String::new(), String::new()];
    for (pid, input) in pids.iter_mut().zip([r#"{"leaves": false}"#, r#"{"leaves": true}"#]) {
        let reply = call(&child, input, &Arc::new(Heard::default())).await.expect("it starts a child");
        *pid = reply.output.to_text().into_owned();
        assert!(is_running(pid), "the child runs");
    }
    until("one has left", || group_of(&pids[1]) == pids[1]).await;
    (connected, pids)
}

#[tokio::test]
async fn a_server_that_was_closed_is_called_no_more() {
    let connected = open(&fake(""), options()).await.expect("it starts");
    let echo = tool(&connected, "echo").await;
    connected.close().await;
    let fault = call(&echo, "{}", &Arc::new(Heard::default())).await.expect_err("it is closed");
    expect!["MCP server `it` was closed"].assert_eq(&fault.message);
}

/// A server that says what it heard, and where.
fn logged() -> (Server, LogFile) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let log = LogFile { path: folder.path().join("log"), _folder: folder };
    let Server::Program { command, mut env, dir } = fake("") else {
        unreachable!("the fake is a program");
    };
    env.insert("FAKE_LOG".to_owned(), log.path.display().to_string());
    (Server::Program { command, env, dir }, log)
}

struct LogFile {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl LogFile {
    async fn expect_cancelled(&self) {
        let last = "tools/call\nnotifications/cancelled\n";
        let log = || std::fs::read_to_string(&self.path).unwrap_or_default();
        until("the server hears that the call is cancelled", || log().ends_with(last)).await;
    }
}

/// A process that ended and was not waited for does not run.
fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

fn group_of(pid: &str) -> String {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
    after_name.split_whitespace().nth(2).unwrap_or_default().to_owned()
}
