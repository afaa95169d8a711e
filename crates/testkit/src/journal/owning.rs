//! Rules of owning a session, and of what others leave for its owner.

use antiphon_event::SessionId;
use antiphon_port::Fault;

use super::{Room, Rule};

pub(super) const RULES: &[Rule] = &[
    ("a session has one owner at a time", one_owner),
    ("what was left is handed over until it was dealt with", inbox),
];

fn one_owner(room: &Room<'_>) {
    let journal = room.open();
    let (one, two) = (SessionId::from("one"), SessionId::from("../two/\0 of any form"));
    let held = journal.claim(&one).expect("nobody has it");
    let _other = journal.claim(&two).expect("nobody has it");
    let fault = journal.claim(&one).expect_err("somebody has it");
    assert!(matches!(&fault, Fault::Owned { session, .. } if *session == one), "{fault}");
    assert!(fault.is_passing());
    drop(held);
    let _held = journal.claim(&one).expect("it was given up");
}

fn inbox(room: &Room<'_>) {
    let (journal, _) = room.begin();
    let session = SessionId::from("s");
    assert_eq!(journal.take(&session, 0).wait(), Ok(Vec::new()));
    assert_eq!(journal.take(&"t".into(), 0).wait(), Ok(Vec::new()));
    assert_eq!(journal.send(&"t".into(), "{}").wait(), Err(Fault::NoSession("t".into())));
    let numbers = ["1", "2", "3"].map(|text| journal.send(&session, text).wait().expect("sends"));
    assert!(numbers.is_sorted());
    let take = |done| {
        let sent = journal.take(&session, done).wait().expect("takes");
        sent.into_iter().map(|sent| (sent.number, sent.text)).collect::<Vec<_>>()
    };
    let all: Vec<_> = numbers.into_iter().zip(["1", "2", "3"].map(str::to_owned)).collect();
    assert_eq!(take(0), all);
    assert_eq!(take(0), all, "nobody has dealt with it");
    assert_eq!(take(numbers[1]), all[2..]);
    assert_eq!(take(numbers[1]), all[2..], "it was said before");
    assert_eq!(take(0), all[2..], "what was dealt with is gone");
    assert_eq!(take(numbers[2]), []);
    let next = journal.send(&session, "4").wait().expect("sends");
    assert!(next > numbers[2], "numbers are not given twice");
    assert_eq!(take(numbers[2]), [(next, "4".to_owned())]);
}
