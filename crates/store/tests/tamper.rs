//! What somebody did to the file behind the journal's back is found, and named.

use antiphon_port::{Branch, Journal, Verdict};
use antiphon_store::Sqlite;
use antiphon_testkit::journal::says;
use expect_test::{Expect, expect};
use rusqlite::Connection;

/// Writes three records of main and two of a fork, lets somebody at the file, and verifies both branches.
#[track_caller]
fn check(tampering: &str, expected: Expect) {
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
    let said = [&main, &other].map(|branch| match journal.verify(branch).wait() {
        Ok(Verdict::Whole(head)) => format!("{branch}: whole, {} events", head.seq),
        Ok(Verdict::Broken(damage)) => format!("{branch}: {damage}"),
        Err(fault) => format!("{branch}: {}", fault.to_string().replace(&path.display().to_string(), "FILE")),
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
        s/other: FILE: what is stored is not what was written: Integer 2 out of range at index 7"#]],
    );
    check(
        "UPDATE branch SET parent = NULL WHERE key = 2",
        expect![[r#"
            s/main: whole, 7 events
            s/other: event 4 of s/other was changed: the branch does not begin with the hash of what it forks from"#]],
    );
}
