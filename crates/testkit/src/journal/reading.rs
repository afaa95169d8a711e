//! Rules of reading: pages, hashes, and that everything is there again later.

use antiphon_port::{Branch, Form, Hash};

use super::{Room, Rule, all, says, told};

pub(super) const RULES: &[Rule] = &[
    ("pages meet without gaps or repeats, wherever batches end", pages),
    ("hashes lead from the beginning to the head", hashes),
    ("the same history has the same hash in every journal", same_hash),
    ("everything is there when the journal is opened again", reopened),
];

const FOLD: Form = Form { name: "fold", version: 1 };

fn pages(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    let mut end = 0;
    for words in ["a b c", "d", "e f g h i", "j k"] {
        end = journal.append(&branch, end, says(words)).wait().expect("fits").last;
    }
    let whole = "1:a 2:b 3:c 4:d 5:e 6:f 7:g 8:h 9:i 10:j 11:k";
    assert_eq!(all(&*journal, &branch), whole);
    for limit in 1..=12 {
        let (mut pages, mut after) = (Vec::new(), 0);
        loop {
            let events = journal.read(&branch, after, limit).wait().expect("reads");
            let Some(last) = events.last() else {
                break;
            };
            assert!(events.len() <= limit);
            pages.push(told(&*journal, &branch, after, limit));
            after = last.head.seq.expect("given");
        }
        assert_eq!(pages.join(" "), whole, "pages of {limit}");
    }
    for (after, limit) in [(0, 0), (11, 5), (12, 5), (u64::MAX, 5), (u64::MAX, usize::MAX)] {
        assert_eq!(told(&*journal, &branch, after, limit), "", "{limit} after {after}");
    }
}

fn hashes(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    let empty = journal.head(&branch).wait().expect("there").hash;
    journal.append(&branch, 0, says("a b c")).wait().expect("fits");
    journal.append(&branch, 3, says("d e")).wait().expect("fits");
    let exported = journal.export(&branch, 0, 100).wait().expect("exports");
    let opens: Vec<_> = exported.iter().map(|exported| exported.opens).collect();
    assert_eq!(opens, [true, false, false, true, false]);
    let mut hashes: Vec<Hash> = exported.iter().map(|exported| exported.hash).collect();
    assert_eq!(hashes.last(), Some(&journal.head(&branch).wait().expect("there").hash));
    let part = journal.export(&branch, 2, 2).wait().expect("exports");
    assert_eq!(part, exported[2..4]);
    let read = journal.read(&branch, 0, 100).wait().expect("reads");
    assert_eq!(exported.into_iter().map(|exported| exported.event).collect::<Vec<_>>(), read);
    hashes.push(empty);
    hashes.sort_by_key(|hash| hash.0);
    hashes.dedup();
    assert_eq!(hashes.len(), 6, "no two are the same");
}

fn same_hash(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    journal.append(&branch, 0, says("to be or")).wait().expect("fits");
    journal.append(&branch, 3, says("not")).wait().expect("fits");
    let head = journal.head(&branch).wait().expect("there");
    // Kept for ever: whoever wrote a hash down elsewhere wants to find it again.
    let kept = "7d37462b07a07fcb5c07bffe043d11e9cc50ed9a50688a75fc802848bae8ad47";
    assert_eq!(head.hash.to_string(), kept);
}

fn reopened(room: &Room<'_>) {
    let (journal, branch) = room.begin();
    let other = Branch::new("s", "other");
    journal.append(&branch, 0, says("a b c")).wait().expect("fits");
    journal.fork(&branch, 2, &other).wait().expect("forks");
    journal.append(&other, 2, says("x")).wait().expect("fits");
    journal.save(&branch, FOLD, 3, b"saved".to_vec()).wait().expect("saves");
    journal.send(&"s".into(), "{}").wait().expect("sends");
    let heads = |journal: &dyn antiphon_port::Journal| {
        [&branch, &other].map(|branch| journal.head(branch).wait().expect("there"))
    };
    let before = heads(&*journal);
    // What nobody waited for is there, too.
    drop(journal.append(&branch, 3, says("d")));
    drop(journal);
    let journal = room.open();
    assert_eq!(all(&*journal, &branch), "1:a 2:b 3:c 4:d");
    assert_eq!(all(&*journal, &other), "1:a 2:b 3:x");
    assert_eq!(heads(&*journal)[1], before[1]);
    assert_eq!(journal.saved(&branch, FOLD, 9).wait().expect("reads").expect("kept").bytes, b"saved");
    assert_eq!(journal.take(&"s".into(), 0).wait().expect("takes").len(), 1);
    journal.append(&branch, 4, says("e")).wait().expect("goes on");
    assert_eq!(all(&*journal, &branch), "1:a 2:b 3:c 4:d 5:e");
}
