//! Rules of appending: positions, conflicts, order, all or none.

use std::sync::Arc;

use antiphon_event::body::session::Connected;
use antiphon_event::{Body, Event};
use antiphon_port::{Batch, Branch, Fault, Form, Journal, Page, Position};

use super::{Room, Rule, all, says, told};
use crate::history;

pub(super) const RULES: &[Rule] = &[
    ("positions count from one without gaps", positions),
    ("a wrong position is a conflict and changes nothing", conflict),
    ("the journal gives the place and keeps the rest", place),
    ("appends that nobody waits for keep their order", order),
    ("an event that cannot be read back takes its batch with it", all_or_none),
    ("a branch that is imported is there as a whole or not at all", imported),
    ("what there is not cannot be appended to", unknown),
    ("a branch is created once", once),
    ("many writers interleave whole batches", many_writers),
];

fn positions(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    assert_eq!(journal.append(&branch, 0, says("a b c")).wait(), Ok(Position { first: 1, last: 3 }));
    assert_eq!(journal.append(&branch, 3, says("d")).wait(), Ok(Position { first: 4, last: 4 }));
    assert_eq!(all(&*journal, &branch), "1:a 2:b 3:c 4:d");
    assert_eq!(journal.head(&branch).wait().expect("there").seq, 4);
}

fn conflict(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    journal.append(&branch, 0, says("a b")).wait().expect("fits");
    let before = journal.head(&branch).wait();
    for expected in [0, 1, 3, u64::MAX] {
        let fault = journal.append(&branch, expected, says("x")).wait();
        assert_eq!(fault, Err(Fault::Conflict { expected, actual: 2 }));
    }
    assert_eq!(journal.head(&branch).wait(), before);
    journal.append(&branch, 2, says("c")).wait().expect("fits");
    assert_eq!(all(&*journal, &branch), "1:a 2:b 3:c");
}

fn place(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    let mut written = history(
        r#"-    session_created  title="A title" mood=good
           u1   user             "hi" sessionId=other branchId=other seq=77 at=2026-01-01T00:00:00.000Z
           u1   text             t1 "kept" recordedAt=2026-01-02T00:00:00.000Z nodePath=["a","b"]
           a1   from_the_future  x={"deep":[1,2.50]}
           a1   tool_call        c1 bash {"command":"ls"} agent={"id":"a","depth":0,"later":[1]}
           a1   tool_call        c2 bash {"command":"ls"} agent={"id":"a","depth":0,"later":[2]}"#,
    );
    let batch = Batch::new(written.clone()).expect("not empty");
    journal.append(&branch, 0, batch).wait().expect("fits");
    for (index, event) in written.iter_mut().enumerate() {
        event.head.seq = Some(index as u64 + 1);
        event.head.session_id = Some("s".into());
        event.head.branch_id = Some("main".into());
    }
    let read = journal.read(&branch, 0, 10).wait().expect("reads");
    let lines = |events: &[Event]| events.iter().map(Event::to_json).collect::<Vec<_>>();
    assert_eq!(lines(&read), lines(&written));
}

fn order(room: &Room<'_>) {
    let (journal, branch) = (room.open(), Branch::main("s"));
    let created = journal.create(&branch);
    let acks: Vec<_> = (0..100).map(|n| journal.append(&branch, n, says(&n.to_string()))).collect();
    // One of the past in between: it is refused and disturbs nobody.
    let refused = journal.append(&branch, 7, says("x"));
    let after = journal.append(&branch, 100, says("end"));
    created.wait().expect("creates");
    for (n, ack) in (1..).zip(acks) {
        assert_eq!(ack.wait(), Ok(Position { first: n, last: n }));
    }
    assert_eq!(refused.wait(), Err(Fault::Conflict { expected: 7, actual: 100 }));
    after.wait().expect("follows");
    assert_eq!(told(&*journal, &branch, 98, 10), "99:98 100:99 101:end");
}

fn all_or_none(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    let good = || says("a")[0].clone();
    let mut without_run = good();
    without_run.head.run_id = None;
    let mut with_clash = good();
    with_clash.extra.push(("content".into(), "other".into()));
    let mut with_known_tag = good();
    with_known_tag.body = Body::Unknown("text".into());
    let connected = Event::new("r", Body::Connected(Connected { after: None }));
    for bad in [without_run, with_clash, with_known_tag, connected] {
        let batch = Batch::new(vec![good(), bad, good()]).expect("not empty");
        let fault = journal.append(&branch, 0, batch).wait().expect_err("refused");
        assert!(matches!(fault, Fault::Unfit { index: 1, .. }), "{fault}");
        assert!(!fault.is_passing());
    }
    assert_eq!(all(&*journal, &branch), "");
}

fn imported(room: &Room<'_>) {
    let (journal, branch) = (room.open(), Branch::main("s"));
    let connected = Batch::new(vec![Event::new("r", Body::Connected(Connected { after: None }))]);
    let bad = vec![says("a b"), connected.expect("not empty")];
    let fault = journal.import(&branch, bad).wait().expect_err("refused");
    assert!(matches!(fault, Fault::Unfit { index: 0, .. }), "{fault}");
    assert_eq!(journal.branches(&branch.session).wait(), Err(Fault::NoSession(branch.session.clone())));
    let titled = history(r#"-  session_created  title="A title""#);
    let batches = vec![Batch::new(titled).expect("not empty"), says("a b"), says("c")];
    let head = journal.import(&branch, batches).wait().expect("fits");
    assert_eq!((head.seq, journal.head(&branch).wait()), (4, Ok(head)));
    let kept = "1:<session_created> 2:a 3:b 4:c";
    assert_eq!(all(&*journal, &branch), kept);
    let sessions = journal.sessions(Page { after: None, limit: 9 }).wait().expect("lists");
    assert_eq!(sessions[0].title.as_deref(), Some("A title"));
    let again = journal.import(&branch, vec![says("x")]).wait();
    assert_eq!(again, Err(Fault::Exists(branch.clone())));
    assert_eq!(all(&*journal, &branch), kept);
    journal.append(&branch, 4, says("d")).wait().expect("fits");
    let empty = Branch::new("s", "empty");
    assert_eq!(journal.import(&empty, Vec::new()).wait().expect("fits").seq, 0);
}

fn unknown(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    for nowhere in [Branch::main("t"), Branch::new("s", "other"), Branch::new("main", "s")] {
        let missing = || Fault::NoBranch(nowhere.clone());
        assert_eq!(journal.append(&nowhere, 0, says("a")).wait(), Err(missing()));
        assert_eq!(journal.read(&nowhere, 0, 1).wait(), Err(missing()));
        assert_eq!(journal.head(&nowhere).wait(), Err(missing()));
        assert_eq!(journal.verify(&nowhere).wait(), Err(missing()));
        assert_eq!(journal.fork(&nowhere, 0, &Branch::new("s", "new")).wait(), Err(missing()));
        assert_eq!(
            journal.save(&nowhere, Form { name: "x", version: 1 }, 0, Vec::new()).wait(),
            Err(missing())
        );
    }
    assert_eq!(journal.branches(&"t".into()).wait(), Err(Fault::NoSession("t".into())));
    assert_eq!(journal.remove(&"t".into(), true).wait(), Err(Fault::NoSession("t".into())));
    assert_eq!(all(&*journal, &branch), "");
}

fn once(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    journal.append(&branch, 0, says("a")).wait().expect("fits");
    assert_eq!(journal.create(&branch).wait(), Err(Fault::Exists(branch.clone())));
    assert_eq!(journal.fork(&branch, 0, &branch).wait(), Err(Fault::Exists(branch.clone())));
    assert_eq!(all(&*journal, &branch), "1:a");
}

fn many_writers(room: &Room<'_>) {
    const WRITERS: usize = 8;
    const BATCHES: usize = 20;
    let (journal, branch) = room.begin();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (journal, branch) = (Arc::clone(&journal), branch.clone());
            scope.spawn(move || {
                let mut expected = 0;
                for batch in 0..BATCHES {
                    let words = format!("{writer}/{batch}/0 {writer}/{batch}/1 {writer}/{batch}/2");
                    expected = insist(&*journal, &branch, expected, &says(&words));
                }
            });
        }
    });
    let told = all(&*journal, &branch);
    let words: Vec<_> =
        told.split(' ').filter_map(|word| word.split_once(':')).map(|(_, word)| word).collect();
    assert_eq!(words.len(), WRITERS * BATCHES * 3);
    let mut next = [0; WRITERS];
    for batch in words.chunks(3) {
        let (writer, _) = batch[0].split_once('/').expect("says who wrote it");
        let writer: usize = writer.parse().expect("a number");
        let n = next[writer];
        assert_eq!(batch, [0, 1, 2].map(|piece| format!("{writer}/{n}/{piece}")));
        next[writer] += 1;
    }
}

/// Appends at the end, wherever that is by then; where it is afterwards.
fn insist(journal: &dyn Journal, branch: &Branch, mut expected: u64, batch: &Batch) -> u64 {
    loop {
        match journal.append(branch, expected, batch.clone()).wait() {
            Ok(position) => return position.last,
            Err(Fault::Conflict { actual, .. }) => expected = actual,
            Err(fault) => panic!("{fault}"),
        }
    }
}
