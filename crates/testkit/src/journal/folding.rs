//! Rules of saved folds: which one is found, and that none is more than a help.

use antiphon_event::body::flow::CheckpointSaved;
use antiphon_event::{Body, Event};
use antiphon_port::{Branch, Damage, Fault, Form, Hash, Journal, RUN_FOLD, Verdict, Wrong};

use super::{Room, Rule, says};

pub(super) const RULES: &[Rule] = &[
    ("the saved fold with the latest position up to the one asked for is found", latest),
    ("saved folds of before the fork are those of the fork", before_the_fork),
    ("a fold that was written in another version is not found", other_version),
    ("a fold of what nobody has said yet is refused", beyond),
    ("of many folds the newest are kept, and some of every time", many),
    ("a fold of a run is held against what the branch says was saved", vouched),
];

const GRAPH: Form = Form { name: "graph", version: 1 };

fn saved(journal: &dyn Journal, branch: &Branch, form: Form, at: u64) -> Option<(u64, Vec<u8>)> {
    let saved = journal.saved(branch, form, at).wait().expect("looks");
    saved.map(|saved| (saved.seq, saved.bytes))
}

fn latest(room: &Room<'_>) {
    let (journal, main) = room.begin();
    assert_eq!(saved(&*journal, &main, GRAPH, 9), None);
    journal.append(&main, 0, says("a b c d e f")).wait().expect("fits");
    for seq in [2, 6, 4] {
        journal.save(&main, GRAPH, seq, vec![seq as u8]).wait().expect("saves");
    }
    assert_eq!(saved(&*journal, &main, GRAPH, u64::MAX), Some((6, vec![6])));
    assert_eq!(saved(&*journal, &main, GRAPH, 5), Some((4, vec![4])));
    assert_eq!(saved(&*journal, &main, GRAPH, 1), None);
    assert_eq!(saved(&*journal, &main, Form { name: "thread", version: 1 }, 9), None);
    journal.save(&main, GRAPH, 4, vec![44]).wait().expect("replaces");
    assert_eq!(saved(&*journal, &main, GRAPH, 5), Some((4, vec![44])));
    let nowhere = Branch::main("nowhere");
    assert_eq!(journal.saved(&nowhere, GRAPH, 1).wait(), Err(Fault::NoBranch(nowhere.clone())));
    assert_eq!(journal.save(&nowhere, GRAPH, 0, Vec::new()).wait(), Err(Fault::NoBranch(nowhere)));
}

fn before_the_fork(room: &Room<'_>) {
    let (journal, main) = room.begin();
    let other = Branch::new("s", "other");
    journal.append(&main, 0, says("a b c d e f")).wait().expect("fits");
    for seq in [2, 4, 6] {
        journal.save(&main, GRAPH, seq, vec![seq as u8]).wait().expect("saves");
    }
    journal.fork(&main, 5, &other).wait().expect("forks");
    assert_eq!(saved(&*journal, &other, GRAPH, 9), Some((4, vec![4])), "6 is beyond the fork");
    assert_eq!(saved(&*journal, &other, GRAPH, 3), Some((2, vec![2])));
    journal.save(&other, GRAPH, 5, vec![55]).wait().expect("saves");
    assert_eq!(saved(&*journal, &other, GRAPH, 9), Some((5, vec![55])));
    assert_eq!(saved(&*journal, &main, GRAPH, 5), Some((4, vec![4])), "that is another line");
}

fn other_version(room: &Room<'_>) {
    let (journal, main) = room.begin();
    let later = Form { version: 2, ..GRAPH };
    journal.append(&main, 0, says("a b c")).wait().expect("fits");
    journal.save(&main, GRAPH, 1, vec![1]).wait().expect("saves");
    assert_eq!(saved(&*journal, &main, later, 9), None);
    journal.save(&main, later, 3, vec![3]).wait().expect("saves");
    assert_eq!(saved(&*journal, &main, later, 9), Some((3, vec![3])));
    assert_eq!(saved(&*journal, &main, GRAPH, 9), None, "what is of no use any more is gone");
}

fn beyond(room: &Room<'_>) {
    let (journal, main) = room.begin();
    journal.append(&main, 0, says("a b")).wait().expect("fits");
    let fault = journal.save(&main, GRAPH, 3, Vec::new()).wait();
    assert_eq!(fault, Err(Fault::Beyond { branch: main.clone(), at: 3, head: 2 }));
    journal.save(&main, GRAPH, 0, vec![0]).wait().expect("saves");
    assert_eq!(saved(&*journal, &main, GRAPH, 2), Some((0, vec![0])));
}

fn many(room: &Room<'_>) {
    let (journal, main) = room.begin();
    for end in (0..600).step_by(10) {
        journal.append(&main, end, says("a b c d e f g h i j")).wait().expect("fits");
    }
    let saves: Vec<_> = (1..=600).map(|seq| journal.save(&main, GRAPH, seq, Vec::new())).collect();
    for save in saves {
        save.wait().expect("saves");
    }
    let at = |seq| saved(&*journal, &main, GRAPH, seq).map(|(seq, _)| seq);
    assert_eq!((at(600), at(599)), (Some(600), Some(599)), "the newest are kept");
    let mut kept: Vec<_> = (1..=600).filter(|seq| at(*seq) == Some(*seq)).collect();
    assert!(kept.len() < 400, "and not all of them");
    kept.insert(0, 0);
    let widest = kept.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(widest < Some(20), "some of every time: {kept:?}");
}

fn vouched(room: &Room<'_>) {
    let (journal, main) = room.begin();
    let run = Form { name: RUN_FOLD, version: 1 };
    let told = |seq: u64, hash: Hash| {
        let saved_hash = Some(hash.to_string());
        let saved = CheckpointSaved { checkpoint_id: format!("r@{seq}"), saved_hash };
        Event::new("r", Body::CheckpointSaved(saved)).into()
    };
    let whole = |branch: &Branch, vouched| {
        let head = journal.head(branch).wait().expect("there");
        assert_eq!(journal.verify(branch).wait(), Ok(Verdict::Whole { head, vouched }));
    };
    journal.append(&main, 0, says("a b")).wait().expect("fits");
    let hash = journal.save(&main, run, 2, vec![2]).wait().expect("saves");
    let kept = journal.saved(&main, run, 9).wait().expect("looks").expect("is there");
    assert_eq!((kept.hash, kept.bytes), (hash, vec![2]));
    // Until the branch says so, it is nothing that anybody could rely on, and nothing is wrong with it either.
    whole(&main, 0);
    let before = Branch::new("s", "before");
    journal.fork(&main, 2, &before).wait().expect("forks");
    journal.append(&main, 2, told(2, hash)).wait().expect("fits");
    let after = Branch::new("s", "after");
    journal.fork(&main, 3, &after).wait().expect("forks");
    for (branch, vouched) in [(&main, 1), (&before, 0), (&after, 1)] {
        whole(branch, vouched);
    }
    let other = journal.save(&main, run, 2, vec![3]).wait().expect("replaces");
    assert_ne!(other, hash);
    for branch in [&main, &after] {
        let Ok(Verdict::Broken(damage)) = journal.verify(branch).wait() else { panic!("it is another") };
        let Damage { branch, first, last, wrong, why: _ } = damage;
        assert_eq!((branch, first, last, wrong), (main.clone(), 2, 2, Wrong::Saved));
    }
    whole(&before, 0);
    // What was saved on a branch is for its own events to say.
    journal.append(&before, 2, told(2, hash)).wait().expect("fits");
    whole(&before, 0);
    journal.save(&before, run, 2, vec![2]).wait().expect("saves");
    whole(&before, 1);
}
