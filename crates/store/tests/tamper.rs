//! What somebody did to the file behind the journal's back is found, and named.

use antiphon_event::body::session::{BranchCreated, BranchName};
use antiphon_event::{Body, Event};
use antiphon_port::{Branch, Fault, Journal, Verdict, Wrong};
use antiphon_store::Sqlite;
use antiphon_testkit::journal::says;
use expect_test::{Expect, expect};
use rusqlite::Connection;

/// Lets somebody at the file, and verifies both branches.
#[track_caller]
fn check(tampering: &str, expected: Expect) {
    check_each(tampering, expected, |journal, branch| match journal.verify(branch).wait()? {
        Verdict::Whole { head, .. } => Ok(format!("whole, {} events", head.seq)),
        Verdict::Broken(damage) => Ok(damage.to_string()),
    });
}

/// Writes three records of main and two of a fork, lets somebody at the file, and asks about both branches.
#[track_caller]
fn check_each(tampering: &str, expected: Expect, ask: impl Fn(&Sqlite, &Branch) -> Result<String, Fault>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let (main, other) = (Branch::main("s"), Branch::new("s", "other"));
    let journal = Sqlite::open(&path).expect("opens");
    journal.create(&main).wait().expect("fits");
    journal.append(&main, 0, says("a b")).wait().expect("fits");
    journal.append(&main, 2, says("c d e")).wait().expect("fits");
    journal.append(&main, 5, says("f g")).wait().expect("fits");
    journal.fork(&main, 4, &other).wait().expect("fits");
    journal.append(&other, 4, says("x y")).wait().expect("fits");
    journal.append(&other, 6, says("z")).wait().expect("fits");
    drop(journal);

    let changed = Connection::open(&path).expect("opens").execute_batch(tampering);
    changed.expect("is SQL");

    let journal = Sqlite::open(&path).expect("opens");
    let said = [&main, &other].map(|branch| {
        let told = ask(&journal, branch).unwrap_or_else(|fault| fault.to_string());
        format!("{branch}: {}", told.replace(&path.display().to_string(), "FILE"))
    });
    expected.assert_eq(&said.join("\n"));
}

#[test]
fn what_nobody_touched_is_whole() {
    check(
        "",
        expect![[r#"
        s/main: whole, 7 events
        s/other: whole, 7 events"#]],
    );
}

#[test]
fn a_changed_record_is_found_on_every_branch_that_has_it() {
    check(
        "UPDATE record SET lines = replace(lines, '\"d\"', '\"D\"') WHERE first = 3",
        expect![[r#"
            s/main: the record of events 3 to 5 of s/main was changed: the bytes do not give the hash that was written with them
            s/other: the record of events 3 to 5 of s/main was changed: the bytes do not give the hash that was written with them"#]],
    );
    check(
        "UPDATE record SET lines = replace(lines, '\"e\"', '\"E\"') WHERE first = 3",
        expect![[r#"
            s/main: the record of events 3 to 5 of s/main was changed: the bytes do not give the hash that was written with them
            s/other: the record of events 3 to 5 of s/main was changed: the bytes do not give the hash that was written with them"#]],
    );
    check(
        "UPDATE record SET lines = replace(lines, '\"y\"', '\"Y\"')",
        expect![[r#"
            s/main: whole, 7 events
            s/other: the record of events 5 to 6 of s/other was changed: the bytes do not give the hash that was written with them"#]],
    );
    check(
        "UPDATE record SET lines = lines || lines WHERE first = 1",
        expect![[r#"
            s/main: the record of events 1 to 2 of s/main was changed: the bytes do not give the hash that was written with them
            s/other: the record of events 1 to 2 of s/main was changed: the bytes do not give the hash that was written with them"#]],
    );
    check(
        "UPDATE record SET lines = '' WHERE first = 1",
        expect![[r#"
            s/main: the record of events 1 to 2 of s/main was changed: the bytes do not give the hash that was written with them
            s/other: the record of events 1 to 2 of s/main was changed: the bytes do not give the hash that was written with them"#]],
    );
    check(
        "UPDATE record SET lines = x'ff00' WHERE first = 1",
        expect![[r#"
            s/main: the record of events 1 to 2 of s/main was changed: the bytes do not give the hash that was written with them
            s/other: the record of events 1 to 2 of s/main was changed: the bytes do not give the hash that was written with them"#]],
    );
    check(
        "UPDATE record SET hash = x'00' WHERE first = 3",
        expect![[r#"
            s/main: the record of events 3 to 5 of s/main was changed: the bytes do not give the hash that was written with them
            s/other: the record of events 3 to 5 of s/main was changed: the bytes do not give the hash that was written with them"#]],
    );
    check(
        "UPDATE record SET last = 9 WHERE first = 6",
        expect![[r#"
            s/main: the record of events 6 to 9 of s/main was changed: it was written with other positions
            s/other: whole, 7 events"#]],
    );
}

#[test]
fn a_removed_record_is_found() {
    check(
        "DELETE FROM record WHERE first = 1",
        expect![[r#"
            s/main: the record of events 1 to 2 of s/main was removed: no record has these positions
            s/other: the record of events 1 to 2 of s/main was removed: no record has these positions"#]],
    );
    check(
        "DELETE FROM record WHERE first = 3",
        expect![[r#"
            s/main: the record of events 3 to 5 of s/main was removed: no record has these positions
            s/other: the record of events 3 to 4 of s/main was removed: no record has these positions"#]],
    );
    check(
        "DELETE FROM record WHERE branch = 2 AND first = 5",
        expect![[r#"
            s/main: whole, 7 events
            s/other: the record of events 5 to 6 of s/other was removed: no record has these positions"#]],
    );
}

#[test]
fn a_missing_tail_is_found() {
    check(
        "DELETE FROM record WHERE first = 6",
        expect![[r#"
            s/main: the record of events 6 to 7 of s/main was removed: no record has these positions
            s/other: whole, 7 events"#]],
    );
    check(
        "DELETE FROM record WHERE first = 7",
        expect![[r#"
            s/main: whole, 7 events
            s/other: event 7 of s/other was removed: no record has these positions"#]],
    );
    check(
        "DELETE FROM record",
        expect![[r#"
            s/main: the record of events 1 to 7 of s/main was removed: no record has these positions
            s/other: the record of events 1 to 4 of s/main was removed: no record has these positions"#]],
    );
}

#[test]
fn the_row_of_a_branch_that_says_what_none_says_is_found() {
    check(
        "UPDATE branch SET seq = -5 WHERE key = 1",
        expect![[r#"
        s/main: event 1 of s/main was changed: the row of the branch, or of one that it forks from, is not as it was: Integer -5 out of range at index 5
        s/other: event 1 of s/other was changed: the row of the branch, or of one that it forks from, is not as it was: Integer -5 out of range at index 5"#]],
    );
    check(
        "UPDATE branch SET parent = 77 WHERE key = 2",
        expect![[r#"
        s/main: whole, 7 events
        s/other: event 1 of s/other was changed: the row of the branch, or of one that it forks from, is not as it was: Integer 77 out of range at index 7"#]],
    );
    check(
        "DELETE FROM branch WHERE key = 1",
        expect![[r#"
        s/main: there is no branch s/main
        s/other: event 1 of s/other was changed: the row of the branch, or of one that it forks from, is not as it was: Query returned no rows"#]],
    );
}

#[test]
fn a_head_that_was_set_back_is_found() {
    check(
        "UPDATE branch SET seq = seq - 1",
        expect![[r#"
            s/main: event 7 of s/main was removed: the branch ends before it, within the record of events 6 to 7
            s/other: event 7 of s/other was added: the branch ends before that"#]],
    );
    check(
        "UPDATE branch SET seq = seq - 2 WHERE key = 2",
        expect![[r#"
            s/main: whole, 7 events
            s/other: event 6 of s/other was removed: the branch ends before it, within the record of events 5 to 6"#]],
    );
    check(
        "UPDATE branch SET seq = 3 WHERE key = 1",
        expect![[r#"
            s/main: the record of events 4 to 5 of s/main was removed: the branch ends before it, within the record of events 3 to 5
            s/other: event 4 of s/other was changed: the branch does not begin with the hash of what it forks from"#]],
    );
    check(
        "DELETE FROM record WHERE branch = 2; UPDATE branch SET seq = 3, hash = start WHERE key = 2",
        expect![[r#"
            s/main: whole, 7 events
            s/other: event 4 of s/other was removed: the branch ends before its fork point"#]],
    );
}

#[test]
fn nothing_is_appended_to_a_branch_whose_head_is_not_its_last_record() {
    let check = |tampering, expected| {
        check_each(tampering, expected, |journal, branch| {
            let head = journal.head(branch).wait()?;
            let position = journal.append(branch, head.seq, says("more")).wait()?;
            Ok(format!("appended at {}", position.first))
        });
    };
    check(
        "",
        expect![[r#"
            s/main: appended at 8
            s/other: appended at 8"#]],
    );
    check(
        "UPDATE branch SET seq = seq - 1",
        expect![[r#"
        s/main: FILE: s/main does not end where its last record does, so nothing is appended to it: run `antiphon verify`
        s/other: FILE: s/other does not end where its last record does, so nothing is appended to it: run `antiphon verify`"#]],
    );
    check(
        "UPDATE branch SET hash = zeroblob(32) WHERE key = 1",
        expect![[r#"
        s/main: FILE: s/main does not end where its last record does, so nothing is appended to it: run `antiphon verify`
        s/other: appended at 8"#]],
    );
    check(
        "DELETE FROM record WHERE first = 6",
        expect![[r#"
        s/main: FILE: s/main does not end where its last record does, so nothing is appended to it: run `antiphon verify`
        s/other: appended at 8"#]],
    );
    check(
        "DELETE FROM record WHERE branch = 2; UPDATE branch SET seq = 3, hash = start WHERE key = 2",
        expect![[r#"
            s/main: appended at 8
            s/other: FILE: s/other does not end where its last record does, so nothing is appended to it: run `antiphon verify`"#]],
    );
}

#[test]
fn a_branch_that_ends_within_a_record_is_not_read_as_if_that_were_all() {
    check_each(
        "UPDATE branch SET seq = seq - 1 WHERE key = 1",
        expect![[r#"
            s/main: FILE: events 6 to 7 of s/main are damaged: the branch ends within them, at event 6; run `antiphon verify`
            s/other: 7 events"#]],
        |journal, branch| {
            let events = journal.read(branch, 0, 100).wait()?;
            Ok(format!("{} events", events.len()))
        },
    );
}

/// Lets somebody at the file, and reads both branches a few events at a time, exports them at once, and forks at 6.
#[track_caller]
fn check_reads(tampering: &str, expected: Expect) {
    check_each(tampering, expected, |journal, branch| {
        let exported = journal.export(branch, 0, 100).wait();
        let mut after = 0;
        let read = loop {
            match journal.read(branch, after, 2).wait() {
                Err(fault) => break Err(fault),
                Ok(events) if events.is_empty() => break Ok(after),
                Ok(events) => after += events.len() as u64,
            }
        };
        assert_eq!(exported.map(|exported| exported.len() as u64).ok(), read.clone().ok(), "both or neither");
        let into = Branch::new("t", branch.branch.clone());
        let forked = journal.fork(branch, 6, &into).wait().is_ok();
        Ok(format!("{} events, forked: {forked}", read?))
    });
}

#[test]
fn a_history_with_a_hole_is_not_read_as_if_it_were_whole() {
    check_reads(
        "",
        expect![[r#"
        s/main: 7 events, forked: true
        s/other: 7 events, forked: true"#]],
    );
    check_reads(
        "DELETE FROM record WHERE branch = 1 AND first = 1",
        expect![[r#"
            s/main: FILE: event 1 of s/main is missing: run `antiphon verify`
            s/other: FILE: event 1 of s/main is missing: run `antiphon verify`"#]],
    );
    check_reads(
        "DELETE FROM record WHERE branch = 1 AND first = 3",
        expect![[r#"
            s/main: FILE: event 3 of s/main is missing: run `antiphon verify`
            s/other: FILE: event 3 of s/main is missing: run `antiphon verify`"#]],
    );
    check_reads(
        "DELETE FROM record WHERE first IN (6, 7)",
        expect![[r#"
        s/main: FILE: event 6 of s/main is missing: run `antiphon verify`
        s/other: FILE: event 7 of s/other is missing: run `antiphon verify`"#]],
    );
    check_reads(
        "DELETE FROM record WHERE branch = 2 AND first = 5",
        expect![[r#"
        s/main: 7 events, forked: true
        s/other: FILE: event 5 of s/other is missing: run `antiphon verify`"#]],
    );
    check_reads(
        "DELETE FROM record",
        expect![[r#"
        s/main: FILE: event 1 of s/main is missing: run `antiphon verify`
        s/other: FILE: event 1 of s/main is missing: run `antiphon verify`"#]],
    );
    check_reads(
        "UPDATE branch SET seq = 9",
        expect![[r#"
        s/main: FILE: event 8 of s/main is missing: run `antiphon verify`
        s/other: FILE: event 8 of s/other is missing: run `antiphon verify`"#]],
    );
}

#[test]
fn records_that_overlap_or_stand_behind_the_end_are_not_read_as_if_nothing_were_wrong() {
    check_reads(
        "INSERT INTO record (branch, first, last, hash, lines) SELECT branch, 8, 9, hash, lines FROM record WHERE first = 6",
        expect![[r#"
            s/main: FILE: events 8 to 9 of s/main are damaged: the branch ends before them, at event 7; run `antiphon verify`
            s/other: 7 events, forked: true"#]],
    );
    check_reads(
        "UPDATE branch SET seq = 5 WHERE key = 1",
        expect![[r#"
            s/main: FILE: events 6 to 7 of s/main are damaged: the branch ends before them, at event 5; run `antiphon verify`
            s/other: 7 events, forked: true"#]],
    );
    check_reads(
        "UPDATE record SET first = 2 WHERE first = 3",
        expect![[r#"
        s/main: FILE: events 2 to 5 of s/main are damaged: the record has another number of events; run `antiphon verify`
        s/other: FILE: events 2 to 5 of s/main are damaged: the record has another number of events; run `antiphon verify`"#]],
    );
    check_reads(
        "UPDATE branch SET seq = 3, hash = start WHERE key = 2",
        expect![[r#"
        s/main: 7 events, forked: true
        s/other: FILE: event 4 of s/other is missing: run `antiphon verify`"#]],
    );
    check_reads(
        "UPDATE branch SET parent = NULL WHERE key = 2",
        expect![[r#"
        s/main: 7 events, forked: true
        s/other: FILE: event 1 of s/other is missing: run `antiphon verify`"#]],
    );
    check_reads(
        "DELETE FROM record WHERE first > 2 AND branch = 1; UPDATE branch SET seq = 2 WHERE key = 1",
        expect![[r#"
            s/main: 2 events, forked: false
            s/other: FILE: event 3 of s/other is missing: run `antiphon verify`"#]],
    );
}

#[test]
fn what_follows_a_hole_is_read_by_those_who_need_not_what_was_before_and_never_exported() {
    check_each(
        "DELETE FROM record WHERE branch = 1 AND first = 3",
        expect![[r#"
            s/main: 2 events, exported: FILE: event 3 of s/main is missing: run `antiphon verify`
            s/other: 2 events, exported: 2"#]],
        |journal, branch| {
            let events = journal.read(branch, 5, 100).wait()?;
            let exported = journal.export(branch, 5, 100).wait().map(|exported| exported.len());
            Ok(format!(
                "{} events, exported: {}",
                events.len(),
                exported.map_or_else(|fault| fault.to_string(), |count| count.to_string())
            ))
        },
    );
}

#[test]
fn a_fork_is_called_what_its_first_event_says() {
    let check = |tampering: &str, expected: Expect| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.db");
        let main = Branch::main("s");
        let (one, two, old) = (Branch::new("s", "one"), Branch::new("s", "two"), Branch::new("s", "old"));
        let journal = Sqlite::open(&path).expect("opens");
        journal.create(&main).wait().expect("fits");
        journal.append(&main, 0, says("a b")).wait().expect("fits");
        for fork in [&one, &two, &old] {
            journal.fork(&main, 1, fork).wait().expect("fits");
            let name = BranchName { session_id: fork.session.clone(), branch_id: fork.branch.clone() };
            let created = BranchCreated { from: None, into: (fork != &old).then_some(name) };
            let first = Event::of(antiphon_event::Head::default(), Body::BranchCreated(created));
            journal.append(fork, 1, first.into()).wait().expect("fits");
        }
        drop(journal);
        Connection::open(&path).expect("opens").execute_batch(tampering).expect("is SQL");
        let journal = Sqlite::open(&path).expect("opens");
        let said = [one, two, old].map(|branch| {
            let verified = match journal.verify(&branch).wait() {
                Ok(Verdict::Whole { .. }) => "whole".to_owned(),
                Ok(Verdict::Broken(damage)) => damage.to_string(),
                Err(fault) => fault.to_string(),
            };
            let read = journal.read(&branch, 0, 10).wait().map(|events| events.len());
            let read = read.map_or_else(|fault| fault.to_string(), |count| format!("{count} events"));
            format!("{branch}: {verified}; {}\n", read.replace(&path.display().to_string(), "FILE"))
        });
        expected.assert_eq(&said.concat());
    };
    check(
        "",
        expect![[r#"
        s/one: whole; 2 events
        s/two: whole; 2 events
        s/old: whole; 2 events
    "#]],
    );
    check(
        "UPDATE branch SET id = 'x' WHERE id = 'one';
         UPDATE branch SET id = 'one' WHERE id = 'two';
         UPDATE branch SET id = 'two' WHERE id = 'x'",
        expect![[r#"
            s/one: s/one was renamed: it was called s/two when it began; FILE: s/one was renamed: it was called s/two when it began; run `antiphon verify`
            s/two: s/two was renamed: it was called s/one when it began; FILE: s/two was renamed: it was called s/one when it began; run `antiphon verify`
            s/old: whole; 2 events
        "#]],
    );
    check(
        "UPDATE branch SET id = 'old' || id WHERE id = 'old'; UPDATE branch SET id = 'old' WHERE id = 'two'",
        expect![[r#"
        s/one: whole; 2 events
        s/two: there is no branch s/two; there is no branch s/two
        s/old: s/old was renamed: it was called s/two when it began; FILE: s/old was renamed: it was called s/two when it began; run `antiphon verify`
    "#]],
    );
}

#[test]
fn a_removed_record_is_not_taken_for_the_one_that_a_fork_has_in_its_place() {
    for at in [0, 2] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.db");
        let (main, other) = (Branch::main("s"), Branch::new("s", "other"));
        let journal = Sqlite::open(&path).expect("opens");
        journal.create(&main).wait().expect("fits");
        journal.append(&main, 0, says("a b")).wait().expect("fits");
        journal.append(&main, 2, says("c d")).wait().expect("fits");
        journal.fork(&main, at, &other).wait().expect("fits");
        journal.append(&other, at, says("x")).wait().expect("fits");
        drop(journal);

        let file = Connection::open(&path).expect("opens");
        let removed = file.execute("DELETE FROM record WHERE branch = 1 AND first = ?1", [at as i64 + 1]);
        assert_eq!(removed, Ok(1));
        let journal = Sqlite::open(&path).expect("opens");
        let Ok(Verdict::Broken(damage)) = journal.verify(&main).wait() else {
            panic!("a record is gone");
        };
        assert_eq!((damage.wrong, damage.first, damage.last), (Wrong::Removed, at + 1, at + 2));
        assert!(matches!(journal.verify(&other).wait(), Ok(Verdict::Whole { .. })), "the fork is as it was");
    }
}

#[test]
fn a_moved_record_is_found() {
    check(
        "UPDATE record SET first = 100 + first, last = 100 + last WHERE branch = 1 AND first IN (1, 6);
         UPDATE record SET first = 6, last = 7 WHERE first = 101;
         UPDATE record SET first = 1, last = 2 WHERE first = 106;",
        expect![[r#"
            s/main: the record of events 1 to 2 of s/main was moved: it follows from another record than the one before it
            s/other: the record of events 1 to 2 of s/main was moved: it follows from another record than the one before it"#]],
    );
    check(
        "UPDATE record SET first = 13, last = 15 WHERE first = 3",
        expect![[r#"
            s/main: the record of events 3 to 5 of s/main was moved: found as events 13 to 15, in row 2
            s/other: the record of events 3 to 4 of s/main was moved: found as events 13 to 15, in row 2"#]],
    );
    check(
        "UPDATE record SET branch = 2, first = 8, last = 9 WHERE first = 6",
        expect![[r#"
            s/main: the record of events 6 to 7 of s/main was moved: found as events 8 to 9, in row 3
            s/other: the record of events 8 to 9 of s/other was added: the branch ends before that"#]],
    );
}

#[test]
fn what_was_never_written_is_found() {
    check(
        "INSERT INTO record (branch, first, last, hash, lines) SELECT branch, 8, 9, hash, lines FROM record WHERE first = 6",
        expect![[r#"
            s/main: the record of events 8 to 9 of s/main was added: the branch ends before that
            s/other: whole, 7 events"#]],
    );
    check(
        "UPDATE branch SET seq = 5 WHERE key = 1",
        expect![[r#"
            s/main: the record of events 6 to 7 of s/main was added: the branch ends before that
            s/other: whole, 7 events"#]],
    );
    check(
        "UPDATE branch SET hash = zeroblob(32) WHERE key = 1",
        expect![[r#"
            s/main: event 7 of s/main was changed: the branch knows another hash for its end
            s/other: whole, 7 events"#]],
    );
}

#[test]
fn a_fork_is_bound_to_its_fork_point() {
    check(
        "UPDATE branch SET fork = 3 WHERE key = 2",
        expect![[r#"
            s/main: whole, 7 events
            s/other: event 3 of s/other was changed: the branch does not begin with the hash of what it forks from"#]],
    );
    check(
        "UPDATE branch SET start = zeroblob(32) WHERE key = 2",
        expect![[r#"
            s/main: whole, 7 events
            s/other: event 4 of s/other was changed: the branch does not begin with the hash of what it forks from"#]],
    );
    check(
        "UPDATE branch SET parent = 2 WHERE key = 2",
        expect![[r#"
            s/main: whole, 7 events
            s/other: event 1 of s/other was changed: the row of the branch, or of one that it forks from, is not as it was: Integer 2 out of range at index 7"#]],
    );
    check(
        "UPDATE branch SET parent = NULL WHERE key = 2",
        expect![[r#"
            s/main: whole, 7 events
            s/other: event 4 of s/other was changed: the branch does not begin with the hash of what it forks from"#]],
    );
}
