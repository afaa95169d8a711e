//! Faults of the outside: what is said, that nothing acknowledged is lost, and that it works again afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use antiphon_event::SessionId;
use antiphon_port::{Branch, Fault, Form, Journal, Verdict};
use antiphon_testkit::journal::{says, told};
use expect_test::{Expect, expect};
use rusqlite::{Connection, OpenFlags};

use super::Sqlite;
use super::fault::Place;
use super::threads::Threads;

const RUN: Form = Form { name: "run", version: 1 };

/// A file in a folder that is gone after the test.
fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    (folder, path)
}

/// A journal in which something was said.
fn begun(path: &Path) -> (Sqlite, Branch) {
    let (journal, branch) = (Sqlite::open(path).unwrap(), Branch::main("s"));
    journal.create(&branch).wait().unwrap();
    journal.append(&branch, 0, says("a b c")).wait().unwrap();
    (journal, branch)
}

/// Has the writer's own connection do something, as the outside would not.
fn on_the_writer(journal: &Sqlite, pragma: &'static str) {
    let done = journal
        .threads
        .change(0, move |desk| Ok(desk.connection.prepare(pragma)?.query([])?.next().map(drop)?));
    done.wait().unwrap();
}

#[track_caller]
fn check(path: &Path, fault: &Fault, expected: Expect) {
    let name = path.display().to_string();
    assert!(fault.to_string().contains(&name), "{fault} does not name the file");
    let retry = if fault.is_passing() { "try again" } else { "do not try again" };
    expected.assert_eq(&format!("{} ({retry})", fault.to_string().replace(&name, "FILE")));
}

#[test]
fn a_full_disk_loses_nothing_and_is_gone_when_there_is_room() {
    let (_folder, path) = file();
    let (journal, branch) = begun(&path);
    on_the_writer(&journal, "PRAGMA max_page_count = 20");
    let large = says(&"x".repeat(3000));
    let mut end = 3;
    let fault = loop {
        match journal.append(&branch, end, large.clone()).wait() {
            Ok(position) => end = position.last,
            Err(fault) => break fault,
        }
    };
    check(&path, &fault, expect!["FILE: the disk is full: make room and try again (try again)"]);
    assert!(end > 3, "some had room");
    assert_eq!(journal.head(&branch).wait().unwrap().seq, end);
    on_the_writer(&journal, "PRAGMA max_page_count = 1000");
    journal.append(&branch, end, large).wait().expect("there is room");
    let head = journal.head(&branch).wait().unwrap();
    assert_eq!(journal.verify(&branch).wait(), Ok(Verdict::Whole { head, vouched: 0 }));
    assert_eq!(head.seq, end + 1);
}

#[test]
fn appends_that_share_a_commit_fail_together() {
    let (_folder, path) = file();
    let (journal, branch) = begun(&path);
    on_the_writer(
        &journal,
        "CREATE TEMP TRIGGER broken BEFORE INSERT ON record WHEN new.first = 40
         BEGIN SELECT raise(ABORT, 'a sector is bad'); END",
    );
    // While the writer waits, all of them queue.
    let ((here, is_here), (go, wait)) = (channel(), channel());
    let waited = journal.threads.change(0, move |_| {
        here.send(()).unwrap();
        wait.recv().unwrap();
        Ok(())
    });
    is_here.recv().unwrap();
    let acks: Vec<_> = (3..50).map(|end| journal.append(&branch, end, says("x"))).collect();
    go.send(()).unwrap();
    waited.wait().unwrap();
    let faults: BTreeSet<_> = acks.into_iter().map(|ack| ack.wait().unwrap_err().to_string()).collect();
    assert_eq!(faults, BTreeSet::from([format!("{}: a sector is bad", path.display())]));
    assert_eq!(told(&journal, &branch, 0, 9), "1:a 2:b 3:c");
    on_the_writer(&journal, "DROP TRIGGER broken");
    journal.append(&branch, 3, says("d")).wait().expect("it can be written again");
    assert_eq!(told(&journal, &branch, 0, 9), "1:a 2:b 3:c 4:d");
}

#[test]
fn a_file_that_cannot_be_written_is_said_to_be_read_only() {
    let (_folder, path) = file();
    drop(begun(&path));
    let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let error = connection.execute("DELETE FROM record", []).unwrap_err();
    check(
        &path,
        &Place::new(&path).fault(&error),
        expect![
            "FILE: the file, or the folder it is in, is read-only: allow writing, or choose another (do not try again)"
        ],
    );
}

#[test]
fn a_file_that_may_only_be_read_is_read_and_nothing_is_left_beside_it() {
    let (folder, path) = file();
    drop(begun(&path));
    let (place, branch) = (Place::new(&path), Branch::main("s"));
    let threads = Threads::looking_on(&path, &place).unwrap();
    let journal =
        Sqlite { place, locks: path.with_extension("db.locks"), threads, dealt: super::Dealt::default() };
    assert_eq!(told(&journal, &branch, 0, 9), "1:a 2:b 3:c");
    assert!(matches!(journal.verify(&branch).wait(), Ok(Verdict::Whole { .. })));
    assert_eq!(journal.saved(&branch, RUN, 9).wait(), Ok(None));
    let faults = [
        journal.append(&branch, 3, says("d")).wait().unwrap_err(),
        journal.create(&Branch::main("t")).wait().unwrap_err(),
        journal.claim(&SessionId::from("s")).unwrap_err(),
    ];
    for fault in faults {
        check(
            &path,
            &fault,
            expect![
                "FILE: the file, or the folder it is in, is read-only: allow writing, or choose another (do not try again)"
            ],
        );
    }
    drop(journal);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "the file alone");
}

#[test]
fn what_is_only_in_the_log_is_read_where_nothing_may_be_written() {
    let (_folder, path) = file();
    let (journal, branch) = begun(&path);
    let threads = Threads::looking_on(&path, &Place::new(&path)).unwrap();
    let head = threads.look(move |connection| super::read::head(connection, &branch)).wait().unwrap();
    assert_eq!(head.seq, 3);
    drop((threads, journal));
}

#[test]
fn what_others_write_is_seen_where_nothing_may_be_written() {
    let (_folder, path) = file();
    drop(begun(&path));
    let threads = Threads::looking_on(&path, &Place::new(&path)).unwrap();
    let head = || {
        let look = |connection: &Connection| super::read::head(connection, &Branch::main("s"));
        threads.look(look).wait().unwrap().seq
    };
    // Each of the two that read has looked while there was no log.
    assert_eq!([head(), head(), head(), head()], [3; 4]);
    let journal = Sqlite::open(&path).unwrap();
    journal.append(&Branch::main("s"), 3, says("d")).wait().unwrap();
    assert_eq!([head(), head(), head(), head()], [4; 4], "while it is in the log");
    drop(journal);
    assert_eq!([head(), head(), head(), head()], [4; 4], "and when it is in the file");
}

#[test]
fn a_name_of_any_letters_is_the_name_of_a_file_that_may_only_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("50% of it?immutable=0#ä.db");
    drop(begun(&path));
    assert!(Threads::looking_on(&path, &Place::new(&path)).is_ok());
    fs::write(&path, "").unwrap();
    let fault = Threads::looking_on(&path, &Place::new(&path)).err().unwrap();
    check(&path, &fault, expect!["FILE: it is empty, and may not be written (do not try again)"]);
}

#[test]
fn nothing_is_left_beside_the_file_when_the_journal_is_closed() {
    let (folder, path) = file();
    drop(begun(&path));
    for end in 3..100 {
        let (journal, branch) = (Sqlite::open(&path).unwrap(), Branch::main("s"));
        assert_eq!(told(&journal, &branch, 0, 1), "1:a");
        journal.append(&branch, end, says("x")).wait().unwrap();
        drop(journal);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "the file alone");
    }
}

#[test]
fn a_file_that_another_program_holds_is_said_to_be_held() {
    let (_folder, path) = file();
    let (journal, branch) = begun(&path);
    on_the_writer(&journal, "PRAGMA busy_timeout = 1");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let fault = journal.append(&branch, 3, says("d")).wait().unwrap_err();
    check(
        &path,
        &fault,
        expect!["FILE: another program holds the file: try again when it is done (try again)"],
    );
    assert_eq!(told(&journal, &branch, 0, 9), "1:a 2:b 3:c", "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    journal.append(&branch, 3, says("d")).wait().expect("nobody holds it");
}

#[test]
fn what_another_process_appends_is_noticed() {
    let (_folder, path) = file();
    let (journal, branch) = begun(&path);
    let other = Sqlite::open(&path).unwrap();
    other.append(&branch, 3, says("d")).wait().unwrap();
    let fault = journal.append(&branch, 3, says("x")).wait();
    assert_eq!(fault, Err(Fault::Conflict { expected: 3, actual: 4 }));
    journal.append(&branch, 4, says("e")).wait().unwrap();
    assert_eq!(told(&other, &branch, 0, 9), "1:a 2:b 3:c 4:d 5:e");
    let claim = journal.claim(&SessionId::from("s")).unwrap();
    assert_eq!(
        other.claim(&SessionId::from("s")).err(),
        Some(Fault::Owned { session: "s".into(), by: Some(std::process::id()) })
    );
    drop(claim);
    other.claim(&SessionId::from("s")).expect("it was given up");
}

#[test]
fn a_file_that_is_no_journal_is_refused() {
    let (folder, path) = file();
    let refused = |expected: Expect| check(&path, &Sqlite::open(&path).unwrap_err(), expected);
    fs::write(&path, "Dear diary, ".repeat(1000)).unwrap();
    refused(expect!["FILE: not a SQLite database: choose another file (do not try again)"]);
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    refused(expect!["FILE: a database of another program: choose another file (do not try again)"]);
    fs::remove_file(&path).unwrap();
    drop(begun(&path));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
    refused(expect![
        "FILE: written by a later version (format 7; this one knows 3): update antiphon (do not try again)"
    ]);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused(expect![
        "FILE: the file cannot be opened: unable to open database file: FILE: see that it may be read, and its folder written to (do not try again)"
    ]);
    let below = path.join("file/journal.db");
    fs::write(path.join("file"), "").unwrap();
    check(
        &below,
        &Sqlite::open(&below).unwrap_err(),
        expect!["FILE: its folder cannot be made: File exists (os error 17) (do not try again)"],
    );
    drop(folder);
}

#[test]
fn a_file_of_the_first_version_is_opened_and_brought_up_to_date() {
    let (_folder, path) = file();
    drop(begun(&path));
    let first = "DROP TABLE fold;
        CREATE TABLE fold (branch, name, seq, bytes, PRIMARY KEY (branch, name, seq));
        INSERT INTO fold VALUES (1, 'run', 2, x'00');
        PRAGMA user_version = 1;";
    Connection::open(&path).unwrap().execute_batch(first).unwrap();
    let (journal, branch) = (Sqlite::open(&path).unwrap(), Branch::main("s"));
    assert_eq!(told(&journal, &branch, 0, 9), "1:a 2:b 3:c");
    assert_eq!(journal.saved(&branch, RUN, 9).wait(), Ok(None));
    journal.save(&branch, RUN, 3, vec![7]).wait().unwrap();
    assert_eq!(journal.saved(&branch, RUN, 9).wait().unwrap().unwrap().bytes, [7]);
}

#[test]
fn a_fold_that_is_not_of_these_events_or_not_whole_is_passed_over() {
    for tampering in [
        "UPDATE record SET lines = replace(lines, '\"e\"', '\"E\"')",
        "UPDATE fold SET bytes = x'00' WHERE seq = 5",
        "UPDATE fold SET seq = 6 WHERE seq = 5",
        "UPDATE fold SET seq = 99 WHERE seq = 5",
    ] {
        let (_folder, path) = file();
        let (journal, branch) = begun(&path);
        journal.append(&branch, 3, says("d e f")).wait().unwrap();
        for seq in [2, 5] {
            journal.save(&branch, RUN, seq, vec![seq as u8]).wait().unwrap();
        }
        drop(journal);
        Connection::open(&path).unwrap().execute_batch(tampering).unwrap();
        let found = Sqlite::open(&path).unwrap().saved(&branch, RUN, 99).wait().unwrap();
        assert_eq!(found.map(|saved| saved.seq), Some(2), "{tampering}");
    }
}

#[test]
fn a_large_record_is_packed_and_read_and_proved_as_any_other() {
    let (_folder, path) = file();
    let (journal, branch) = begun(&path);
    let large = "x".repeat(100_000);
    journal.append(&branch, 3, says(&format!("{large} d"))).wait().unwrap();
    journal.append(&branch, 5, says("e")).wait().unwrap();
    assert_eq!(told(&journal, &branch, 3, 9), format!("4:{large} 5:d 6:e"));
    assert!(matches!(journal.verify(&branch).wait().unwrap(), Verdict::Whole { .. }));
    drop(journal);
    let connection = Connection::open(&path).unwrap();
    let kept = "SELECT group_concat(typeof(lines) || (length(lines) < 10000)) FROM record";
    assert_eq!(connection.query_row(kept, [], |row| row.get::<_, String>(0)).unwrap(), "text1,blob1,text1");
    connection.execute("UPDATE record SET lines = substr(lines, 1, 50) WHERE first = 4", []).unwrap();
    let journal = Sqlite::open(&path).unwrap();
    assert!(matches!(journal.verify(&branch).wait().unwrap(), Verdict::Broken(_)));
    check(
        &path,
        &journal.read(&branch, 3, 9).wait().unwrap_err(),
        expect![
            "FILE: what is stored is not what was written: Conversion error from type Blob at index: 2, they are not as they were packed (do not try again)"
        ],
    );
}

#[test]
fn a_truncated_file_is_said_to_be_damaged() {
    let (_folder, path) = file();
    let (journal, branch) = begun(&path);
    for end in 3..200 {
        drop(journal.append(&branch, end, says(&"x".repeat(500))));
    }
    drop(journal);
    let length = fs::metadata(&path).unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let fault = Sqlite::open(&path).and_then(|journal| journal.verify(&branch).wait()).unwrap_err();
    check(
        &path,
        &fault,
        expect![
            "FILE: the file is damaged: database disk image is malformed; restore it from a copy (do not try again)"
        ],
    );
}
