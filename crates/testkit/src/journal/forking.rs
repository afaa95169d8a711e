//! Rules of forking: a branch that begins in another.

use antiphon_port::{Branch, Fault, Fork, Head};

use super::{Room, Rule, all, says, told};

pub(super) const RULES: &[Rule] = &[
    ("a fork has what was before it and goes its own way", own_way),
    ("a fork may begin anywhere, within a batch too", anywhere),
    ("a fork of a fork reads through both", of_a_fork),
    ("a fork begins with the hash at its fork point", hash),
    ("a fork may lead into another session", other_session),
    ("nothing forks from where nobody has been", beyond),
];

fn fork_name(name: &str) -> Branch {
    Branch::new("s", name)
}

fn own_way(room: &Room<'_>) {
    let (journal, main) = room.begin();
    journal.append(&main, 0, says("a b c")).wait().expect("fits");
    let other = fork_name("other");
    assert_eq!(journal.fork(&main, 3, &other).wait().expect("forks").seq, 3);
    journal.append(&main, 3, says("d")).wait().expect("fits");
    assert_eq!(journal.append(&other, 4, says("x")).wait(), Err(Fault::Conflict { expected: 4, actual: 3 }));
    journal.append(&other, 3, says("x y")).wait().expect("fits");
    assert_eq!(all(&*journal, &main), "1:a 2:b 3:c 4:d");
    assert_eq!(all(&*journal, &other), "1:a 2:b 3:c 4:x 5:y");
    let events = journal.read(&other, 2, 2).wait().expect("reads");
    let written_to: Vec<_> = events.iter().filter_map(|event| event.head.branch_id.as_ref()).collect();
    assert_eq!(written_to, ["main", "other"], "events keep the branch they were written to");
}

fn anywhere(room: &Room<'_>) {
    let (journal, main) = room.begin();
    journal.append(&main, 0, says("a b")).wait().expect("fits");
    journal.append(&main, 2, says("c d e")).wait().expect("fits");
    let words = ["1:a", "2:b", "3:c", "4:d", "5:e"];
    for at in 0..=5 {
        let fork = fork_name(&format!("at {at}"));
        journal.fork(&main, at, &fork).wait().expect("forks");
        assert_eq!(all(&*journal, &fork), words[..at as usize].join(" "));
        journal.append(&fork, at, says("x")).wait().expect("fits");
        let last = format!("{}:x", at + 1);
        let whole: Vec<_> = words[..at as usize].iter().copied().chain([last.as_str()]).collect();
        assert_eq!(all(&*journal, &fork), whole.join(" "));
        assert_eq!(told(&*journal, &fork, at, 5), last);
    }
}

fn of_a_fork(room: &Room<'_>) {
    let (journal, main) = room.begin();
    let (one, two, three) = (fork_name("one"), fork_name("two"), fork_name("three"));
    journal.append(&main, 0, says("a b c d")).wait().expect("fits");
    journal.fork(&main, 3, &one).wait().expect("forks");
    journal.append(&one, 3, says("x y")).wait().expect("fits");
    journal.fork(&one, 4, &two).wait().expect("forks");
    journal.append(&two, 4, says("p q")).wait().expect("fits");
    // Before the point at which the one it forks from begins.
    journal.fork(&two, 2, &three).wait().expect("forks");
    journal.append(&three, 2, says("z")).wait().expect("fits");
    assert_eq!(all(&*journal, &two), "1:a 2:b 3:c 4:x 5:p 6:q");
    assert_eq!(told(&*journal, &two, 2, 3), "3:c 4:x 5:p");
    assert_eq!(all(&*journal, &three), "1:a 2:b 3:z");
    let branches = journal.branches(&"s".into()).wait().expect("lists");
    let listed: Vec<_> = branches.iter().map(|branch| (branch.branch.as_str(), branch.seq)).collect();
    assert_eq!(listed, [("main", 4), ("one", 5), ("two", 6), ("three", 3)]);
    let hash = journal.export(&one, 3, 1).wait().expect("exports")[0].hash;
    assert_eq!(branches[2].fork, Some(Fork { from: one, seq: 4, hash }));
}

fn hash(room: &Room<'_>) {
    let (journal, main) = room.begin();
    let empty = journal.head(&main).wait().expect("there");
    journal.append(&main, 0, says("a b c")).wait().expect("fits");
    let exported = journal.export(&main, 0, 3).wait().expect("exports");
    for at in 0..=3_usize {
        let fork = fork_name(&format!("at {at}"));
        let hash = at.checked_sub(1).map_or(empty.hash, |index| exported[index].hash);
        let head = journal.fork(&main, at as u64, &fork).wait();
        assert_eq!(head, Ok(Head { seq: at as u64, hash }));
        assert_eq!(journal.head(&fork).wait(), head);
    }
    // The same words on both: as long as nothing differs, neither do the hashes.
    let (one, two) = (fork_name("at 1"), fork_name("at 2"));
    journal.append(&one, 1, says("b c")).wait().expect("fits");
    journal.append(&two, 2, says("c")).wait().expect("fits");
    let at_two = |branch| journal.export(branch, 1, 1).wait().expect("exports")[0].hash;
    assert_ne!(at_two(&one), at_two(&two), "it was another batch");
}

fn other_session(room: &Room<'_>) {
    let (journal, main) = room.begin();
    journal.append(&main, 0, says("a b")).wait().expect("fits");
    let copy = Branch::main("t");
    journal.fork(&main, 1, &copy).wait().expect("forks");
    journal.append(&copy, 1, says("x")).wait().expect("fits");
    assert_eq!(all(&*journal, &copy), "1:a 2:x");
    let events = journal.read(&copy, 0, 2).wait().expect("reads");
    let written_to: Vec<_> = events.iter().filter_map(|event| event.head.session_id.as_ref()).collect();
    assert_eq!(written_to, ["s", "t"]);
}

fn beyond(room: &Room<'_>) {
    let (journal, main) = room.begin();
    journal.append(&main, 0, says("a b")).wait().expect("fits");
    let fault = journal.fork(&main, 3, &fork_name("other")).wait();
    assert_eq!(fault, Err(Fault::Beyond { branch: main.clone(), at: 3, head: 2 }));
    assert_eq!(journal.branches(&"s".into()).wait().expect("lists").len(), 1);
}
