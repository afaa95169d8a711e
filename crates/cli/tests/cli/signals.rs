//! Ctrl-C, other processes, and readers that go away.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::door;
use crate::place::Place;

const WAITS: &str = "\
antiphon: 1
nodes:
  first: {command: [sh, -c, 'until test -e go; do sleep 0.02; done; cat'], effect: pure}
  then: {function: \"'done'\"}
edges: [first -> then]
";

fn begin(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Starts a run and waits until its first node is at work.
fn start(place: &Place, args: &[&str]) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = begin(place, args);
    let mut err = BufReader::new(child.stderr.take().expect("piped"));
    until(&mut err, "first  started");
    (child, err)
}

/// Reads lines until one says so.
fn until(err: &mut impl BufRead, words: &str) {
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert!(err.read_line(&mut line).expect("readable") > 0, "it ended before it said: {words}");
    }
}

fn interrupt(child: &Child) {
    kill(Pid::from_raw(i32::try_from(child.id()).expect("an id")), Signal::SIGINT).expect("it runs");
}

fn end(mut child: Child, mut err: impl Read) -> (Option<i32>, String) {
    let mut told = String::new();
    err.read_to_string(&mut told).expect("readable");
    (child.wait().expect("it ends").code(), told)
}

#[test]
fn the_first_ctrl_c_lets_nodes_finish_and_resume_goes_on() {
    let place = Place::new(&[("waits.yaml", WAITS)]);
    let (child, mut err) = start(&place, &["run", "waits.yaml"]);
    interrupt(&child);
    until(&mut err, "cancelling: what runs may finish");
    place.write("go", "");
    let (code, told) = end(child, err);
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("first  completed") && !told.contains("then  started"), "{told}");
    let resumed = place.run(&["resume", "last"]);
    assert_eq!((resumed.code, &*resumed.out), (Some(0), "done\n"), "{}", resumed.err);
    assert!(!resumed.err.contains("first  started"), "{}", resumed.err);
}

#[test]
fn the_second_ctrl_c_cuts_off_at_once() {
    let place = Place::new(&[("waits.yaml", WAITS)]);
    let (child, mut err) = start(&place, &["run", "waits.yaml"]);
    interrupt(&child);
    until(&mut err, "cancelling: what runs may finish");
    interrupt(&child);
    let (code, told) = end(child, err);
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("cancelling at once") && told.contains("first  cancelled"), "{told}");
}

#[test]
fn another_process_cancels_and_the_order_is_heard_once() {
    let place = Place::new(&[("waits.yaml", WAITS)]);
    let (child, err) = start(&place, &["run", "waits.yaml"]);
    let refused = place.run(&["resume", "last"]);
    assert_eq!((refused.code, refused.err.contains("the session is running in process")), (Some(2), true));
    let asked = place.run(&["cancel", "last", "--now"]);
    assert_eq!((asked.code, asked.err.contains("it was asked to stop")), (Some(0), true), "{}", asked.err);
    let (code, told) = end(child, err);
    assert_eq!(code, Some(130), "{told}");
    place.write("go", "");
    let resumed = place.run(&["resume", "last"]);
    assert_eq!((resumed.code, &*resumed.out), (Some(0), "done\n"), "{}", resumed.err);
}

#[test]
fn an_answer_reaches_the_process_that_waits_for_it() {
    let flow = "\
antiphon: 1
nodes:
  first: {command: [sh, -c, 'until test -e go; do sleep 0.02; done'], effect: pure}
  gate: {human: {prompt: \"Publish?\"}}
  pick: {human: {prompt: \"Which?\", options: [red, blue]}}
  tell: {function: \"outputs.gate.approved ? 'yes' : 'no'\"}
edges: [gate -> tell]
output: outputs.tell
";
    let place = Place::new(&[("gate.yaml", flow)]);
    let (mut child, mut err) = start(&place, &["run", "gate.yaml"]);
    until(&mut err, "gate  asks");
    until(&mut err, "pick  asks");
    let wrong = place.run(&["resume", "last", "--answer", "pick=green"]);
    assert_eq!(
        (wrong.code, wrong.err.contains("does not fit: answer with one of: red, blue")),
        (Some(2), true),
        "{}",
        wrong.err
    );
    assert_eq!(place.run(&["resume", "last", "--answer", "pick=red"]).code, Some(0));
    let left = place.run(&["resume", "last", "--approve", "gate"]);
    assert_eq!((left.code, left.err.contains("the answer was left for it")), (Some(0), true), "{}", left.err);
    until(&mut err, "approved by user");
    place.write("go", "");
    let mut out = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut out).expect("readable");
    assert_eq!((end(child, err).0, &*out), (Some(0), "yes\n"));
}

const GATE: &str = "\
antiphon: 1
nodes:
  first: {command: [sh, -c, 'until test -e go; do sleep 0.02; done'], effect: pure}
  gate: {human: {prompt: \"Publish?\"}}
  tell: {function: \"outputs.gate.approved ? 'published' : 'kept'\"}
edges: [gate -> tell]
output: outputs.tell
";

#[test]
fn who_answers_what_another_has_answered_hears_what_that_was() {
    let place = Place::new(&[("gate.yaml", GATE)]);
    let (child, mut err) = start(&place, &["run", "gate.yaml"]);
    until(&mut err, "gate  asks");
    let taken = place.run(&["resume", "last", "--approve", "gate"]);
    assert_eq!((taken.code, taken.err.contains("the answer was taken")), (Some(0), true), "{}", taken.err);
    let late = place.run(&["resume", "last", "--deny", "gate", "--reason", "no"]);
    assert_eq!((late.code, late.err.contains("it was approved by user")), (Some(2), true), "{}", late.err);
    place.write("go", "");
    assert_eq!(end(child, err).0, Some(0));
    let over = place.run(&["resume", "last", "--deny", "gate"]);
    assert_eq!((over.code, over.err.contains("it was approved by user")), (Some(2), true), "{}", over.err);
}

#[test]
fn the_answer_that_was_left_first_wins_also_if_whoever_it_was_left_for_dies() {
    let place = Place::new(&[("gate.yaml", GATE)]);
    let (mut child, mut err) = start(&place, &["run", "gate.yaml"]);
    until(&mut err, "gate  asks");
    let id = Pid::from_raw(i32::try_from(child.id()).expect("an id"));
    kill(id, Signal::SIGSTOP).expect("it runs");
    let mut leaving = place.command(&["resume", "last", "--approve", "gate"]);
    let mut leaving = leaving.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    until(&mut BufReader::new(leaving.stderr.take().expect("piped")), "the answer was left for it");
    // It has said that it begins to leave it; it waits after that.
    until_left(&place);
    leaving.kill().expect("it waits");
    leaving.wait().expect("it ended");
    child.kill().expect("it is stopped");
    child.wait().expect("it ended");
    place.write("go", "");
    let late = place.run(&["resume", "last", "--deny", "gate", "--reason", "no"]);
    assert_eq!((late.code, &*late.out), (Some(2), "published\n"), "{}", late.err);
    assert!(late.err.contains("came too late: it was approved by user"), "{}", late.err);
}

/// Waits until something is left for the process that runs a session.
fn until_left(place: &Place) {
    let file = rusqlite::Connection::open(place.path().join("kept/store.db")).expect("a SQLite file");
    let deadline = Instant::now() + Duration::from_secs(20);
    let left = || file.query_row("SELECT count(*) FROM inbox", [], |row| row.get::<_, u32>(0));
    while left().unwrap_or(0) == 0 {
        assert!(Instant::now() < deadline, "nothing was left");
        std::thread::yield_now();
    }
}

/// A store that somebody else is writing to.
fn locked(place: &Place) -> rusqlite::Connection {
    let file = rusqlite::Connection::open(place.path().join("kept/store.db")).expect("a SQLite file");
    file.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
    file
}

#[test]
fn a_ctrl_c_before_the_run_has_begun_is_heard() {
    let place = Place::new(&[("waits.yaml", WAITS), ("go", "")]);
    assert_eq!(place.run(&["run", "waits.yaml"]).code, Some(0));
    std::fs::remove_file(place.path().join("go")).expect("it is there");
    let writer = locked(&place);
    let mut child = begin(&place, &["run", "waits.yaml"]);
    let mut err = BufReader::new(child.stderr.take().expect("piped"));
    while !listens(&child) {
        assert_eq!(child.try_wait().expect("it can be asked"), None, "it ended before it listened");
        std::thread::yield_now();
    }
    interrupt(&child);
    writer.execute_batch("ROLLBACK").expect("it was begun");
    until(&mut err, "cancelling: what runs may finish");
    place.write("go", "");
    let (code, told) = end(child, err);
    assert_eq!(code, Some(130), "{told}");
    assert!(!told.contains("then  started"), "{told}");
}

/// Whether a process has said what is to be done at Ctrl-C.
fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    caught & 1 << (Signal::SIGINT as u64 - 1) != 0
}

#[test]
fn who_goes_on_while_somebody_else_writes_is_told_so() {
    let place = Place::new(&[("gate.yaml", GATE), ("go", "")]);
    assert_eq!(place.run(&["run", "gate.yaml"]).code, Some(3));
    let writer = locked(&place);
    let resume = ["resume", "last", "--approve", "gate"];
    let whole = place.command(&resume);
    let mut bounded = std::process::Command::new("timeout");
    bounded.arg("60").arg(whole.get_program()).args(whole.get_args()).current_dir(place.path());
    bounded.env("ANTIPHON_STORE", "sqlite:kept/store.db");
    let held = door::feed(bounded, b"");
    assert_eq!(held.code, Some(2), "{}", held.err);
    assert!(held.err.contains("another program holds the file: try again when it is done"), "{}", held.err);
    writer.execute_batch("ROLLBACK").expect("it was begun");
    let ran = place.run(&resume);
    assert_eq!((ran.code, &*ran.out), (Some(0), "published\n"), "{}", ran.err);
}

#[test]
fn of_two_who_answer_at_once_one_is_heard_and_the_other_is_told() {
    let flow = GATE.replace("until test -e go; do sleep 0.02; done", "true");
    let place = Place::new(&[("gate.yaml", &flow)]);
    for _ in 0..3 {
        assert_eq!(place.run(&["run", "gate.yaml"]).code, Some(3));
        let answer = |args: &[&str]| begin(&place, &[&["resume", "last"], args].concat());
        let both = [answer(&["--approve", "gate"]), answer(&["--deny", "gate", "--reason", "no"])];
        let mut came = both.map(|child| child.wait_with_output().expect("it ends"));
        came.sort_by_key(|output| output.status.code());
        let told = came.each_ref().map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
        assert_eq!(came.each_ref().map(|output| output.status.code()), [Some(0), Some(2)], "{told:?}");
        assert!(told[1].contains("gate:1:1:ask"), "{}", told[1]);
    }
}

#[test]
fn a_reader_that_goes_away_does_not_stop_the_run() {
    let place = Place::new(&[("waits.yaml", WAITS)]);
    let mut command = place.command(&["run", "waits.yaml", "--json"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    until(&mut out, "node_start");
    drop(out);
    place.write("go", "");
    let deadline = Instant::now() + Duration::from_secs(30);
    while child.try_wait().expect("a child").is_none() {
        assert!(Instant::now() < deadline, "it hangs");
        std::thread::yield_now();
    }
    assert_eq!(child.wait().expect("it ended").code(), Some(0));
    let kept = place.run(&["sessions", "events", "last"]).out;
    assert!(kept.lines().last().is_some_and(|line| line.contains("\"run_end\"")), "{kept}");
}
