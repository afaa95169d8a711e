//! Rules of lists, and of removing what is on them.

use antiphon_event::{SessionId, Timestamp};
use antiphon_port::{Batch, Branch, Fault, Form, Journal, Page};

use super::{Room, Rule, all, says};
use crate::history;

pub(super) const RULES: &[Rule] = &[
    ("sessions are listed a page at a time, the newest first", pages),
    ("a session is listed with its title, moments and size", summary),
    ("a session is removed with everything in it", removed),
    ("a session that others fork from is removed only by force", forked_from),
];

fn ids(journal: &dyn Journal, after: Option<&str>, limit: usize) -> String {
    let page = Page { after: after.map(SessionId::from), limit };
    let sessions = journal.sessions(page).wait().expect("lists");
    sessions.iter().map(|session| session.id.to_string()).collect::<Vec<_>>().join(" ")
}

fn pages(room: &Room<'_>) {
    let journal = room.open();
    for id in ["b", "a", "c", "e", "d"] {
        journal.create(&Branch::main(id)).wait().expect("creates");
    }
    assert_eq!(ids(&*journal, None, 10), "d e c a b");
    assert_eq!(ids(&*journal, None, 2), "d e");
    assert_eq!(ids(&*journal, Some("e"), 2), "c a");
    assert_eq!(ids(&*journal, Some("b"), 2), "");
    assert_eq!(ids(&*journal, None, 0), "");
    let page = Page { after: Some("x".into()), limit: 1 };
    assert_eq!(journal.sessions(page).wait(), Err(Fault::NoSession("x".into())));
}

fn summary(room: &Room<'_>) {
    let (journal, main) = room.begin();
    let list = || journal.sessions(Page { after: None, limit: 9 }).wait().expect("lists").remove(0);
    let empty = list();
    assert_eq!((empty.title, empty.created_at, empty.updated_at, empty.seq), (None, None, None, 0));
    let begun = history(
        "- session_created title=\"First title\" at=2026-11-15T12:00:00.000Z
         - session_created title=\"A better one\" at=2026-11-15T12:00:01.000Z
         - session_created at=2026-11-15T12:00:02.000Z",
    );
    journal.append(&main, 0, Batch::new(begun).expect("not empty")).wait().expect("fits");
    journal.fork(&main, 1, &Branch::new("s", "other")).wait().expect("forks");
    let session = list();
    let moment = |text: &str| Some(text.parse::<Timestamp>().expect("a moment"));
    assert_eq!(session.title.as_deref(), Some("A better one"));
    assert_eq!(session.created_at, moment("2026-11-15T12:00:00.000Z"));
    assert_eq!(session.updated_at, moment("2026-11-15T12:00:02.000Z"));
    assert_eq!((session.branches, session.seq), (2, 3));
    let branches = journal.branches(&"s".into()).wait().expect("lists");
    assert_eq!(branches[0].updated_at, moment("2026-11-15T12:00:02.000Z"));
    assert_eq!(branches[1].updated_at, None, "nothing of its own yet");
}

fn removed(room: &Room<'_>) {
    let (journal, main) = room.begin();
    let (other, kept) = (Branch::new("s", "other"), Branch::main("kept"));
    let fold = Form { name: "fold", version: 1 };
    journal.create(&kept).wait().expect("creates");
    journal.append(&main, 0, says("a b")).wait().expect("fits");
    journal.fork(&main, 1, &other).wait().expect("forks");
    journal.save(&main, fold, 1, Vec::new()).wait().expect("saves");
    journal.send(&"s".into(), "{}").wait().expect("sends");
    // Together with an append to another session, which must not suffer from it.
    let append = journal.append(&kept, 0, says("x y"));
    let removed = journal.remove(&"s".into(), false);
    let after = journal.append(&kept, 2, says("z"));
    append.wait().expect("fits");
    removed.wait().expect("removes");
    after.wait().expect("fits");
    assert_eq!(journal.head(&main).wait(), Err(Fault::NoBranch(main.clone())));
    assert_eq!(journal.head(&other).wait(), Err(Fault::NoBranch(other)));
    assert_eq!(ids(&*journal, None, 9), "kept");
    assert_eq!(all(&*journal, &kept), "1:x 2:y 3:z");
    journal.create(&main).wait().expect("begins anew");
    assert_eq!(all(&*journal, &main), "");
    assert_eq!(journal.saved(&main, fold, 9).wait(), Ok(None));
    assert_eq!(journal.take(&"s".into(), 0).wait(), Ok(Vec::new()));
}

fn forked_from(room: &Room<'_>) {
    let (journal, main) = room.begin();
    let (child, grandchild, sibling) = (Branch::main("t"), Branch::main("u"), Branch::new("t", "own"));
    journal.append(&main, 0, says("a b")).wait().expect("fits");
    journal.fork(&main, 2, &child).wait().expect("forks");
    journal.fork(&child, 1, &grandchild).wait().expect("forks");
    journal.create(&sibling).wait().expect("creates");
    let fault = journal.remove(&"s".into(), false).wait();
    assert_eq!(fault, Err(Fault::ForkedFrom { session: "s".into(), by: child.clone() }));
    assert_eq!(all(&*journal, &grandchild), "1:a");
    journal.remove(&"s".into(), true).wait().expect("by force");
    for gone in [main, child, grandchild] {
        assert_eq!(journal.head(&gone).wait(), Err(Fault::NoBranch(gone)));
    }
    assert_eq!(ids(&*journal, None, 9), "t", "it has a branch that never depended on it");
    assert_eq!(all(&*journal, &sibling), "");
}
