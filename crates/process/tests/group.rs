//! Groups of real processes: who ends with whom.

use std::time::{Duration, Instant};

use antiphon_process::{Group, settled};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Programs that say the numbers of their processes, and then `ready`.
const PROGRAMS: &[&str] = &[
    "sleep 1000 & echo $!; echo ready; wait",
    "setsid sleep 1000 & echo $!; echo ready; wait",
    "setsid sleep 1000 & echo $!; echo ready",
    "set -m; sleep 1000 & echo $!; echo ready",
    "setsid sh -c 'trap \"\" TERM HUP; setsid sleep 1000 & echo $!; echo $$; echo ready; wait' & wait",
    "setsid sh -c 'echo $$; echo ready; exec sh -c \"exec sleep 1000\"'",
    // As a program of ours would that was started by one of ours.
    "ANTIPHON_PROCESS=\"$ANTIPHON_PROCESS 1-2-3\" setsid sleep 1000 & echo $!; echo ready",
];

/// Starts a program, and waits until it is ready.
async fn start(program: &str) -> (Child, Group, Vec<u32>) {
    let mut command = Command::new("sh");
    command.args(["-c", program]).stdout(std::process::Stdio::piped());
    let (mut child, group) = Group::spawn(&mut command).expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it prints")).lines();
    let mut ids = Vec::new();
    while let Some(line) = lines.next_line().await.expect("it prints lines").filter(|line| line != "ready") {
        ids.push(line.parse().expect("the number of a process"));
    }
    assert!(!ids.is_empty(), "{program}");
    (child, group, ids)
}

/// Whether a process runs; one that has ended and was not yet taken note of does not.
fn is_running(id: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Waits until processes have ended, which a kill does not wait for.
async fn gone(program: &str, ids: &[u32]) {
    let until = Instant::now() + Duration::from_secs(10);
    while let Some(id) = ids.iter().find(|id| is_running(**id)) {
        assert!(Instant::now() < until, "process {id} still runs: {program}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn all_that_a_program_started_is_killed_with_it() {
    for program in PROGRAMS {
        let (mut child, group, mut ids) = start(program).await;
        ids.extend(child.id());
        group.kill().await;
        gone(program, &ids).await;
        child.wait().await.expect("it has ended");
    }
}

#[tokio::test]
async fn all_that_a_program_left_behind_is_killed() {
    for program in PROGRAMS.iter().filter(|program| program.ends_with("ready")) {
        let (mut child, group, ids) = start(program).await;
        child.wait().await.expect("it ends by itself");
        group.kill().await;
        gone(program, &ids).await;
    }
}

#[tokio::test]
async fn all_that_a_program_started_is_killed_when_it_is_dropped() {
    for program in PROGRAMS {
        let (child, group, mut ids) = start(program).await;
        ids.extend(child.id());
        drop((child, group));
        settled().await;
        gone(program, &ids).await;
    }
}

#[test]
fn what_is_dropped_with_the_runtime_is_killed_as_well() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for program in PROGRAMS {
        let first = runtime();
        let (child, group, mut ids) = first.block_on(start(program));
        ids.extend(child.id());
        first.spawn(async move {
            let _held = (child, group);
            std::future::pending::<()>().await;
        });
        drop(first);
        runtime().block_on(gone(program, &ids));
    }
}

#[tokio::test]
async fn many_are_killed_at_once() {
    let started = futures(PROGRAMS.iter().map(|program| start(program))).await;
    let ids: Vec<u32> = started.iter().flat_map(|(_, _, ids)| ids.clone()).collect();
    drop(started);
    settled().await;
    gone("all of them", &ids).await;
}

#[tokio::test]
async fn one_group_does_not_end_another() {
    let (_other, spared, spared_ids) = start(PROGRAMS[1]).await;
    let (_child, group, ids) = start(PROGRAMS[1]).await;
    group.kill().await;
    gone(PROGRAMS[1], &ids).await;
    assert!(spared_ids.iter().all(|id| is_running(*id)));
    spared.kill().await;
    gone(PROGRAMS[1], &spared_ids).await;
}

#[tokio::test]
async fn who_is_asked_may_say_no_and_a_second_kill_is_none() {
    let program = "trap '' TERM; echo $$; echo ready; while true; do sleep 1000; done";
    let (mut child, group, ids) = start(program).await;
    group.ask();
    assert!(is_running(ids[0]));
    group.kill().await;
    group.kill().await;
    group.ask();
    gone(program, &ids).await;
    assert!(!child.wait().await.expect("it has ended").success());
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let error = Group::spawn(&mut Command::new("there-is-no-such-program")).expect_err("it is not there");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// Waits for all of them at once.
async fn futures<T: Send + 'static>(
    work: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = work.map(tokio::spawn).collect();
    let mut done = Vec::new();
    for task in tasks {
        done.push(task.await.expect("nobody panics"));
    }
    done
}
