//! Long input, input that is still coming, and readers that go away.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::door::{antiphon, command, recorded};
use crate::place::Place;
use crate::views::VIEWS;

#[test]
fn changes_lead_from_the_first_snapshot_to_the_last() {
    for view in VIEWS {
        for history in recorded() {
            let ran = antiphon(&["view", view, "--changes", &history]);
            assert_eq!(ran.code, Some(0), "{view} {history}: {}", ran.err);
            let mut lines = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
            let mut snapshot = lines.next().expect("a snapshot comes first")["snapshot"].take();
            for change in lines {
                make(&change, &mut snapshot);
            }
            let last = antiphon(&["view", view, "--json", &history]);
            let last: Value = serde_json::from_str(&last.out).expect("JSON");
            assert_eq!(snapshot, last, "{view} of {history}");
        }
    }
}

/// Makes a change, as a reader in another language would.
fn make(change: &Value, snapshot: &mut Value) {
    let pointer = change["path"].as_str().expect("a path");
    let (place, last) = pointer.rsplit_once('/').unwrap_or(("", ""));
    let last = last.replace("~1", "/").replace("~0", "~");
    let value = change["value"].clone();
    if pointer.is_empty() {
        *snapshot = value;
        return;
    }
    if change["op"] == "append" {
        match (snapshot.pointer_mut(pointer).expect("leads somewhere"), value) {
            (Value::String(text), Value::String(more)) => text.push_str(&more),
            (Value::Array(elements), value) => elements.push(value),
            other => panic!("cannot append: {other:?}"),
        }
        return;
    }
    match (snapshot.pointer_mut(place).expect("leads somewhere"), change["op"].as_str().expect("an op")) {
        (Value::Object(members), "set") => drop(members.insert(last, value)),
        (Value::Object(members), "remove") => drop(members.shift_remove(&last).expect("is there")),
        (Value::Array(elements), op) => {
            let index: usize = last.parse().expect("an index");
            match op {
                "set" => elements[index] = value,
                "insert" => elements.insert(index, value),
                _ => drop(elements.remove(index)),
            }
        }
        (place, op) => panic!("cannot {op} in {place}"),
    }
}

#[test]
fn changes_are_written_while_events_still_come() {
    let mut child = command(&["view", "runs", "--changes"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("piped");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    assert!(lines.next().expect("a line").expect("UTF-8").starts_with("{\"snapshot\":"));
    stdin.write_all(b"{\"type\":\"harness_start\",\"runId\":\"r1\"}\n").expect("it reads");
    let change = lines.next().expect("comes before the input ends").expect("UTF-8");
    assert!(change.contains("r1"), "{change}");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn time_travel_shows_what_was_and_equals_a_shorter_history() {
    for view in VIEWS {
        for history in recorded() {
            let path = crate::door::histories().join(&history);
            let text = std::fs::read_to_string(path).expect("readable");
            let half: String = text.lines().take(30).fold(String::new(), |mut half, line| {
                writeln!(half, "{line}").expect("a string takes any text");
                half
            });
            let then = antiphon(&["view", view, "--json", "--at", "30", &history]);
            let short = crate::door::fed(&["view", view, "--json", "-"], half.as_bytes());
            assert_eq!(then.out, short.out, "{view} of {history}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for args in [
        &["view", "replay", "--json"][..],
        &["view", "transcript"],
        &["view", "transcript", "--changes"],
        &["--help"],
    ] {
        let mut child = command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().expect("piped");
        for n in 0..3000 {
            let line =
                format!("{{\"type\":\"user\",\"runId\":\"u{n}\",\"content\":\"{}\"}}\n", "word ".repeat(40));
            if stdin.write_all(line.as_bytes()).is_err() {
                break;
            }
        }
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_told() {
    let histories = [&["view", "thread", "simple-chat.jsonl"][..], &["tour"]];
    let explanations = [&["--help"][..], &["-h"], &["--version"], &["view", "--help"]];
    for args in histories.into_iter().chain(explanations) {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let child = command(args).stdout(full).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.starts_with("error: cannot write to standard output: "), "{args:?}: {told}");
    }
}

/// The most memory a process has held, in kB; read while it waits for the end of its input.
#[cfg(target_os = "linux")]
#[test]
fn a_long_stream_is_read_in_bounded_memory() {
    for view in ["usage", "runs"] {
        let mut child = command(&["view", view, "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdin = child.stdin.take().expect("piped");
        let line = |n: u32| {
            format!(
                "{{\"type\":\"text\",\"runId\":\"r{}\",\"id\":\"t\",\"content\":\"{}\"}}\n",
                n % 100,
                "word ".repeat(200)
            )
        };
        let mut written = 0;
        for n in 0.. {
            let line = line(n);
            stdin.write_all(line.as_bytes()).expect("it reads");
            written += line.len();
            if written > 64 << 20 {
                break;
            }
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("Linux");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("is there");
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(peak < 40_000, "{view} held {peak} kB of {written} bytes");
        drop(stdin);
        assert!(child.wait_with_output().expect("it ends").status.success());
    }
}

#[test]
fn an_output_that_takes_longer_to_read_than_a_frame_to_draw_is_shown() {
    let flow = "antiphon: 1\nnodes:\n  a: {command: [sh, -c, 'head -c 6000000 /dev/zero | tr \"\\0\" x']}\n";
    let place = Place::new(&[("large.yaml", flow)]);
    let ran = place.run(&["run", "large.yaml", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.lines().last().is_some_and(|line| line.contains("\"run_end\"")), "it ends with the end");
}
