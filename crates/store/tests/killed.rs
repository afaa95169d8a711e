//! A process that is killed in the middle of its appends loses nothing that was acknowledged, and holds nothing.
//!
//! The test starts its own executable again as the process that appends; that one says each position on its standard
//! output once it was acknowledged, until it is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use antiphon_port::{Branch, Fault, Journal};
use antiphon_store::Sqlite;
use antiphon_testkit::journal::says;

/// Names the file to the process that appends.
const FILE: &str = "ANTIPHON_TEST_JOURNAL";

/// How many processes are killed, one after the other, on one file.
const KILLED: usize = 24;

/// How many appends are under way at once.
const AHEAD: usize = 8;

#[test]
fn a_killed_process_loses_nothing_that_was_acknowledged() {
    if let Some(path) = std::env::var_os(FILE) {
        append_until_killed(Path::new(&path));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let branch = Branch::main("s");
    let mut acknowledged = 0;
    for round in 0..KILLED {
        // Killed after so many acknowledgements, among them at once.
        acknowledged = acknowledged.max(kill_after(&path, round * 3 % 40));
        let journal = Sqlite::open(&path).unwrap();
        let _claim = journal.claim(&branch.session).expect("the lock died with its process");
        match journal.head(&branch).wait() {
            Err(Fault::NoBranch(_)) => assert_eq!(acknowledged, 0),
            head => {
                let head = head.unwrap();
                assert!(head.seq >= acknowledged, "{} of {acknowledged} are left", head.seq);
                assert_eq!(head.seq % 3, 0, "a batch is there as a whole");
                assert_eq!(journal.verify(&branch).wait().map(|verdict| verdict.head()), Ok(Some(head)));
                let events = journal.read(&branch, 0, usize::MAX).wait().unwrap();
                assert_eq!(events.len() as u64, head.seq);
            }
        }
    }
    assert!(acknowledged > 0);
}

/// Lets a process append, and kills it when it has said so many positions; the last one it said.
fn kill_after(path: &Path, lines: usize) -> u64 {
    let mut child = Command::new(std::env::current_exe().expect("this test has a file"))
        .args(["--exact", "a_killed_process_loses_nothing_that_was_acknowledged", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let said = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut positions = said.map_while(Result::ok).filter_map(|line| line.strip_prefix("at ")?.parse().ok());
    let last = positions.by_ref().take(lines).last();
    child.kill().expect("it runs until it is killed");
    child.wait().expect("it was started");
    // What it said between the last line that was read and its end counts, too.
    positions.last().or(last).unwrap_or_default()
}

fn append_until_killed(path: &Path) -> ! {
    let journal = Sqlite::open(path).expect("opens");
    let branch = Branch::main("s");
    let _claim = journal.claim(&branch.session).expect("nobody has it");
    match journal.create(&branch).wait() {
        Ok(_) | Err(Fault::Exists(_)) => {}
        Err(fault) => panic!("{fault}"),
    }
    let mut end = journal.head(&branch).wait().expect("there").seq;
    let mut acks = std::collections::VecDeque::new();
    loop {
        while acks.len() < AHEAD {
            acks.push_back(journal.append(&branch, end, says("one two three")));
            end += 3;
        }
        let position = acks.pop_front().expect("some are under way").wait().expect("fits");
        let mut out = std::io::stdout();
        writeln!(out, "at {}", position.last).and_then(|()| out.flush()).expect("somebody listens");
    }
}
