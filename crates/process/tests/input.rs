//! What real programs read, also of a process that is killed while it starts them.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use antiphon_process::{Group, input};

/// Tells the process that is killed how many bytes its programs are to read.
const BYTES: &str = "ANTIPHON_TEST_BYTES";
/// How many processes are killed for each length.
const KILLS: u64 = 24;

/// What a program prints that is given these bytes.
async fn said(program: &str, bytes: Vec<u8>) -> String {
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", program]).stdin(input(bytes).await.expect("there is room")).stdout(Stdio::piped());
    let (child, _group) = Group::spawn(&mut command).expect("it starts");
    let output = child.wait_with_output().await.expect("it ends");
    String::from_utf8(output.stdout).expect("it prints text").trim().to_owned()
}

#[tokio::test]
async fn a_program_reads_all_of_it_in_pieces_or_none() {
    let rows: [(&str, &str, &str); 6] = [
        ("", "wc -c", "0"),
        ("", "cat", ""),
        ("one\ntwo\nthree\n", "read a; read b; echo $b $a; cat", "two one\nthree"),
        ("one\ntwo\n", "cat | cat; cat", "one\ntwo"),
        ("one", "exec 3<&0; (sleep 0.01; cat <&3) & wait", "one"),
        ("one", "echo two", "two"),
    ];
    for (bytes, program, expected) in rows {
        assert_eq!(said(program, bytes.into()).await, expected, "{program}");
    }
    assert_eq!(said("wc -c", vec![b'x'; 12 << 20]).await, (12 << 20).to_string());
}

#[tokio::test]
async fn no_room_for_it_is_said_with_the_place() {
    // The folder for temporary files is that of the whole process, so this one is its own.
    if std::env::var_os(BYTES).is_none() {
        let mut child = this_test("no_room_for_it_is_said_with_the_place");
        let output = child.env(BYTES, "0").env("TMPDIR", "/proc/none").output().expect("it starts");
        return assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let error = input(vec![b'x']).await.expect_err("there is no such folder").to_string();
    assert!(error.starts_with("its input cannot be kept in /proc/none: "), "{error}");
}

#[test]
fn a_program_of_a_process_that_was_killed_has_read_all_or_never_ran() {
    if let Some(bytes) = std::env::var(BYTES).ok().and_then(|bytes| bytes.parse().ok()) {
        start_programs(bytes);
    }
    for bytes in [1_usize, 70_000, 3 << 20] {
        for kill in 0..KILLS {
            let mut child = this_test("a_program_of_a_process_that_was_killed_has_read_all_or_never_ran");
            child.env(BYTES, bytes.to_string()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = child.spawn().expect("it starts");
            let (mut pipe, mut said) = (BufReader::new(child.stdout.take().expect("a pipe")), String::new());
            // The first one has run a program, however long that takes; the others are killed at some moment.
            while kill == 0 && !said.contains("read ") {
                assert!(pipe.read_line(&mut said).expect("text") > 0, "it ended: {said}");
            }
            std::thread::sleep(Duration::from_micros(kill * 1_700));
            child.kill().expect("it is ours");
            // Its programs write to the same pipe, so this ends when the last of them has.
            pipe.read_to_string(&mut said).expect("text");
            assert_eq!(child.wait().expect("it is ours").signal(), Some(9), "{said}");
            for line in said.lines().filter_map(|line| line.strip_prefix("read ")) {
                assert_eq!(line.trim(), bytes.to_string());
            }
        }
    }
}

fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test"));
    command.args(["--exact", name, "--nocapture"]);
    command
}

/// Starts programs that say how much they read, one after another, until somebody kills this process.
fn start_programs(bytes: usize) -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        loop {
            let mut command = tokio::process::Command::new("sh");
            command.args(["-c", "sleep 0.002; echo read $(wc -c)"]);
            command.stdin(input(vec![b'x'; bytes]).await.expect("there is room"));
            let (mut child, group) = Group::spawn(&mut command).expect("it starts");
            child.wait().await.expect("it ends");
            group.kill().await;
        }
    })
}
