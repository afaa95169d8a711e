//! What a real shell makes of the lines that were allowed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use antiphon_agent::permission::{Ask, Policy, Subject, Verdict};
use antiphon_event::Json;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::laws::any_line;

/// Programs that only write down that they were run, and with what.
const PROGRAMS: &[&str] = &["git", "ls", "rm", "id", "x", "file", "sh", "env", "xargs", "-c"];

/// A shell in which nothing but those can be run.
struct Shell {
    folder: tempfile::TempDir,
}

impl Shell {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("programs")).expect("a folder");
        for name in PROGRAMS {
            let path = folder.path().join("programs").join(name);
            fs::write(&path, format!("#!/bin/sh\necho \"{name} $*\" >> \"$LOG\"\n")).expect("a program");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
        }
        Self { folder }
    }

    /// Runs a line: what it ran, and how many files it made.
    fn run(&self, line: &str) -> (Vec<String>, usize) {
        let [programs, work, log] = ["programs", "work", "log"].map(|name| self.folder.path().join(name));
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).expect("a folder");
        fs::write(&log, "").expect("the log");
        let mut shell = Command::new("/bin/bash");
        shell.args(["-c", line]).current_dir(&work).env_clear().env("PATH", &programs).env("LOG", &log);
        shell
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("bash is there");
        let ran =
            fs::read_to_string(&log).expect("the log").lines().map(|ran| ran.trim().to_owned()).collect();
        (ran, fs::read_dir(&work).expect("the folder").count())
    }
}

/// Runs lines that were allowed in a real shell: nothing but what was granted may have been run, and no file made.
#[test]
fn a_shell_runs_nothing_but_what_was_granted() {
    let shell = Shell::new();
    assert_eq!(shell.run("git status; rm x > file"), (vec!["git status".to_owned(), "rm x".to_owned()], 1));

    let grants = ["allow bash: git status", "allow bash: ls *"].map(|rule| rule.parse().expect("a rule"));
    let policy = Policy::new(grants);
    let mut runner = TestRunner::deterministic();
    let mut runs = 0;
    while runs < LINES {
        let line = any_line().new_tree(&mut runner).expect("a line").current();
        let subjects = [Subject::Command(line.clone())];
        let ask = Ask { tool: "bash", input: &Json::from(""), subjects: &subjects, sources: &[] };
        if policy.judge(&ask) != Verdict::Allow {
            continue;
        }
        runs += 1;
        let (ran, files) = shell.run(&line);
        let is_granted = |ran: &String| ran == "git status" || ran == "ls" || ran.starts_with("ls ");
        assert!(ran.iter().all(is_granted), "{line:?} ran {ran:?}");
        assert_eq!(files, 0, "{line:?} made a file");
    }
}

/// How many lines that were allowed are run.
const LINES: usize = 120;
