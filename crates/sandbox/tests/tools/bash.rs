//! `bash`: how commands end, what is kept of what they print, and that nothing of them is left.

use std::time::{Duration, Instant};

use antiphon_event::ErrorCode;
use antiphon_sandbox::Limits;
use expect_test::expect;
use serde_json::json;

use super::Bench;
use super::process::{gone, ids};

#[tokio::test]
async fn a_command_comes_to_its_code_and_what_it_printed() {
    let bench = Bench::with(&[("sub/file", "x")]);
    let rows = [
        json!({"command": "echo hello"}),
        json!({"command": "echo out; echo err >&2"}),
        json!({"command": "printf 'a\\n\\n'; exit 3"}),
        json!({"command": "true"}),
        json!({"command": "kill -9 $$"}),
        json!({"command": "cat; echo end of input"}),
        json!({"command": "pwd; ls", "dir": "sub"}),
        json!({"command": "pwd", "dir": "missing"}),
        json!({"command": "[[ a == a ]] && echo $0"}),
        json!({"command": "if"}),
        json!({"command": "printf '\\xff\\xfe|\\xc3\\xa4'"}),
        json!({"command": "echo $ANTIPHON_IDEMPOTENCY_KEY $TERM"}),
        json!({"command": "exec 1>&- 2>&-; exit 7"}),
        json!({"command": "a\u{0}b"}),
        json!({"command": "x", "background": true}),
        json!({}),
    ];
    bench.check(&rows.map(|row| ("bash", row)), expect![[r#"
        bash {"command":"echo hello"}
          exit code: 0
          stdout:
          hello
        bash {"command":"echo out; echo err >&2"}
          exit code: 0
          stdout:
          out
          stderr:
          err
        bash {"command":"printf 'a\\n\\n'; exit 3"}
          exit code: 3
          stdout:
          a
        bash {"command":"true"}
          exit code: 0
          (it printed nothing)
        bash {"command":"kill -9 $$"}
          killed by signal 9
          (it printed nothing)
        bash {"command":"cat; echo end of input"}
          exit code: 0
          stdout:
          end of input
        bash {"command":"pwd; ls","dir":"sub"}
          exit code: 0
          stdout:
          ROOT/sub
          file
        bash {"command":"pwd","dir":"missing"}
          failed: `missing` is no folder to run a command in
        bash {"command":"[[ a == a ]] && echo $0"}
          exit code: 0
          stdout:
          bash
        bash {"command":"if"}
          exit code: 2
          stderr:
          bash: -c: line 2: syntax error: unexpected end of file
        bash {"command":"printf '\\xff\\xfe|\\xc3\\xa4'"}
          exit code: 0
          stdout:
          ��|ä
        bash {"command":"echo $ANTIPHON_IDEMPOTENCY_KEY $TERM"}
          exit code: 0
          stdout:
          run/node/1 dumb
        bash {"command":"exec 1>&- 2>&-; exit 7"}
          exit code: 7
          (it printed nothing)
        bash {"command":"a\u0000b"}
          failed: the shell could not be started: nul byte found in provided data
        bash {"command":"x","background":true}
          schema: the arguments of `bash` do not fit: unknown field `background`, expected one of `command`, `timeout_ms`, `dir` at line 1 column 27
        bash {}
          schema: the arguments of `bash` do not fit: missing field `command` at line 1 column 2
    "#]]).await;
}

#[tokio::test]
async fn both_streams_share_the_room() {
    let bench =
        Bench::new().set(|workspace| workspace.limits(Limits { result_chars: 100, ..Limits::default() }));
    let rows = [
        json!({"command": "printf 'o%.0s' {1..90}; printf 'e%.0s' {1..10} >&2"}),
        json!({"command": "printf 'o%.0s' {1..900}; printf 'e%.0s' {1..10} >&2"}),
        json!({"command": "printf 'o%.0s' {1..900}; printf 'e%.0s' {1..900} >&2"}),
    ];
    bench
        .check(
            &rows.map(|row| ("bash", row)),
            expect![[r#"
        bash {"command":"printf 'o%.0s' {1..90}; printf 'e%.0s' {1..10} >&2"}
          exit code: 0
          stdout:
          oooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooooo
          stderr:
          eeeeeeeeee
        bash {"command":"printf 'o%.0s' {1..900}; printf 'e%.0s' {1..10} >&2"}
          exit code: 0
          stdout:
          ooooooooooooooooooooooooooooooooooooooooooooo
          … (810 of 900 bytes left out) …
          ooooooooooooooooooooooooooooooooooooooooooooo
          stderr:
          eeeeeeeeee
        bash {"command":"printf 'o%.0s' {1..900}; printf 'e%.0s' {1..900} >&2"}
          exit code: 0
          stdout:
          ooooooooooooooooooooooooo
          … (850 of 900 bytes left out) …
          ooooooooooooooooooooooooo
          stderr:
          eeeeeeeeeeeeeeeeeeeeeeeee
          … (850 of 900 bytes left out) …
          eeeeeeeeeeeeeeeeeeeeeeeee
    "#]],
        )
        .await;
}

#[tokio::test]
async fn what_takes_too_long_is_stopped_with_all_its_children() {
    let bench = Bench::new();
    let command = "echo $$; for i in 1 2 3; do sleep 1000 & echo $!; (sleep 1000 & echo $!); done; wait";
    let fault = bench.call("bash", json!({"command": command, "timeout_ms": 1500})).await.unwrap_err();
    assert_eq!(fault.code, ErrorCode::Timeout);
    assert!(
        fault.message.starts_with("the command took longer than 1500 ms and was stopped\nstdout:\n"),
        "{fault}"
    );
    let ids = ids(&fault.message);
    assert_eq!(ids.len(), 7);
    gone(&ids).await;
}

#[tokio::test]
async fn who_is_asked_to_end_may_say_goodbye() {
    let bench = Bench::new();
    let command = "trap 'echo bye; exit 0' TERM; sleep 1000 & wait";
    let said = bench.say("bash", json!({"command": command, "timeout_ms": 1000})).await;
    expect![[r#"
        timeout: the command took longer than 1000 ms and was stopped
        stdout:
        bye"#]]
    .assert_eq(&said);
}

#[tokio::test]
async fn who_does_not_want_to_end_is_killed() {
    let limits = Limits { grace: Duration::from_millis(200), ..Limits::default() };
    let bench = Bench::new().set(|workspace| workspace.limits(limits));
    let command = "trap '' TERM; echo $$; sleep 1000 & echo $!; while true; do sleep 1000; done";
    let begun = Instant::now();
    let fault = bench.call("bash", json!({"command": command, "timeout_ms": 1000})).await.unwrap_err();
    assert!(begun.elapsed() >= Duration::from_millis(1200));
    let ids = ids(&fault.message);
    assert_eq!(ids.len(), 2);
    gone(&ids).await;
}

#[tokio::test]
async fn children_do_not_outlive_their_command() {
    let bench = Bench::new();
    let commands = [
        "sleep 1000 & echo $!",
        "(sleep 1000 & echo $!)",
        "nohup sleep 1000 >/dev/null 2>&1 & echo $!; disown",
        "set -m; sleep 1000 & echo $!",
        "setsid sleep 1000 & echo $!",
        "setsid bash -c 'echo $$ > one; exec sleep 1000' & until [ -s one ]; do sleep 0.01; done; cat one",
        "setsid bash -c 'trap \"\" TERM HUP; sleep 1000 & echo $!; echo $$ >two; cat two; wait' & until [ -s two ]; do sleep 0.01; done; cat two",
    ];
    for command in commands {
        let begun = Instant::now();
        let said = bench.say("bash", json!({"command": command})).await;
        assert!(begun.elapsed() < Duration::from_secs(10), "{command} was waited for");
        assert!(said.starts_with("exit code: 0\n"), "{command}: {said}");
        let ids = ids(&said);
        assert!(!ids.is_empty(), "{command}: {said}");
        gone(&ids).await;
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_takes_everything_with_it() {
    let bench = Bench::new();
    let command =
        "trap '' TERM; echo $$; sleep 1000 & echo $!; setsid sleep 1000 & echo $!; echo ready; wait";
    let call = bench.call("bash", json!({"command": command}));
    let ready = async {
        while !bench.said.text("stdout").contains("ready") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        ended = call => panic!("it ended: {ended:?}"),
        () = ready => {}
    }
    let ids = ids(&bench.said.text("stdout"));
    assert_eq!(ids.len(), 3);
    gone(&ids).await;
}

#[tokio::test]
async fn one_call_does_not_end_the_processes_of_another() {
    let bench = Bench::new();
    let long = bench.say(
        "bash",
        json!({"command": "sleep 1000 & id=$!; echo $id; read -t 2 < <(sleep 3); kill -0 $id && echo lives"}),
    );
    let short = async {
        while bench.said.len() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bench.say("bash", json!({"command": "true"})).await
    };
    let (long, short) = tokio::join!(long, short);
    assert_eq!(short, "exit code: 0\n(it printed nothing)");
    assert!(long.ends_with("lives"), "{long}");
    let ids = ids(&long);
    assert_eq!(ids.len(), 1, "{long}");
    gone(&ids).await;
}

#[tokio::test]
async fn what_is_printed_is_passed_on_while_it_runs() {
    let bench = Bench::new();
    let said = bench
        .say(
            "bash",
            json!({"command": "echo one; echo two >&2; sleep 0.3; printf 'dr\\xc3'; printf '\\xa4i\\n'"}),
        )
        .await;
    assert_eq!(said, "exit code: 0\nstdout:\none\ndräi\nstderr:\ntwo");
    assert_eq!(bench.said.text("stdout"), "one\ndräi\n");
    assert_eq!(bench.said.text("stderr"), "two\n");
    assert!((3..=5).contains(&bench.said.len()), "{}", bench.said.len());
}

#[tokio::test]
async fn progress_is_not_without_end() {
    let bench = Bench::new();
    let begun = Instant::now();
    bench.say("bash", json!({"command": "for i in {1..20000}; do echo line $i; done"})).await;
    let most = begun.elapsed().as_millis() / 50 + 3;
    assert!((bench.said.len() as u128) <= most, "{} pieces", bench.said.len());
}

#[tokio::test]
async fn what_looks_like_a_secret_is_not_handed_on() {
    let bench = Bench::new();
    let said = bench.say("bash", json!({"command": "env"})).await;
    assert!(said.contains("\nPATH="), "{said}");
    let names = said.lines().filter_map(|line| line.split_once('=').map(|(name, _)| name));
    assert!(!names.clone().any(|name| name.ends_with("_TOKEN") || name.ends_with("_API_KEY")), "{said}");
}

#[tokio::test]
async fn many_commands_run_at_once() {
    let bench = Bench::new();
    let calls = (0..20).map(|index| bench.say("bash", json!({"command": format!("echo {index}")})));
    for (index, said) in futures_util::future::join_all(calls).await.into_iter().enumerate() {
        assert_eq!(said, format!("exit code: 0\nstdout:\n{index}"));
    }
}
