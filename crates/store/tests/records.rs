//! Whatever can happen is read back to the letter, by any cut of the stream into batches and pages.

use antiphon_event::body::session::{BranchCreated, BranchName, ForkPoint};
use antiphon_event::{Body, Event, Json, Timestamp};
use antiphon_port::{Batch, Branch, Hash, Head, Journal};
use antiphon_store::{Memory, Sqlite, prove};
use antiphon_testkit::stream;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// Appends the stream in batches of these sizes, over and over.
fn write(journal: &dyn Journal, branch: &Branch, events: &[Event], sizes: &[usize]) {
    journal.create(branch).wait().expect("creates");
    let (mut rest, mut sizes, mut end) = (events, sizes.iter().cycle(), 0);
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(rest.len().min(*sizes.next().expect("there is one")));
        rest = after;
        end = journal
            .append(branch, end, Batch::new(batch.to_vec()).expect("not empty"))
            .wait()
            .expect("fits")
            .last;
    }
}

/// Reads everything in pages of this size.
fn read(journal: &dyn Journal, branch: &Branch, page: usize) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let events = journal.read(branch, lines.len() as u64, page).wait().expect("reads");
        if events.is_empty() {
            return lines;
        }
        lines.extend(events.iter().map(Event::to_json));
    }
}

/// The whole of a branch as an export has it: through text.
fn exported(journal: &dyn Journal, branch: &Branch) -> Vec<(Event, Hash)> {
    let exported = journal.export(branch, 0, 10_000).wait().expect("exports");
    let parsed = |event: Event| Event::from_json(&event.to_json()).expect("what was written can be read");
    exported.into_iter().map(|exported| (parsed(exported.event), exported.hash)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_is_read_back_to_the_letter(
        mut events in stream(),
        sizes in vec(1_usize..9, 1..5),
        page in 1_usize..50,
    ) {
        events.retain(|event| event.body.tag() != "connected");
        let branch = Branch::main("session");
        let folder = tempfile::tempdir().unwrap();
        let file = Sqlite::open(folder.path().join("journal.db")).unwrap();
        let memory = Memory::new();
        write(&file, &branch, &events, &sizes);
        write(&memory, &branch, &events, &sizes);
        for (index, event) in events.iter_mut().enumerate() {
            event.head.seq = Some(index as u64 + 1);
            event.head.session_id = Some("session".into());
            event.head.branch_id = Some("main".into());
        }
        let lines: Vec<_> = events.iter().map(Event::to_json).collect();
        prop_assert_eq!(&read(&file, &branch, page), &lines);
        prop_assert_eq!(&read(&memory, &branch, page), &lines);
        let head = memory.head(&branch).wait().unwrap();
        prop_assert_eq!(file.verify(&branch).wait().map(|verdict| verdict.head()), Ok(Some(head)));
        let part = |journal: &dyn Journal| journal.export(&branch, 3, 40).wait().unwrap();
        prop_assert_eq!(part(&file), part(&memory));
    }

    #[test]
    fn an_export_is_proved_by_its_hashes_and_a_changed_event_is_named(
        mut events in stream(),
        sizes in vec(1_usize..9, 1..5),
        (fork, changed) in any::<(Index, Index)>(),
    ) {
        events.retain(|event| event.body.tag() != "connected");
        prop_assume!(!events.is_empty());
        let (main, other) = (Branch::main("session"), Branch::new("session", "other"));
        let journal = Memory::new();
        write(&journal, &main, &events, &sizes);
        let at = fork.index(events.len());
        let head = journal.fork(&main, at as u64, &other).wait().unwrap();
        let mut own = vec![begins(&main, head, &other)];
        own.extend_from_slice(&events[at..]);
        journal.append(&other, head.seq, Batch::new(own).unwrap()).wait().unwrap();
        prop_assert_eq!(prove(&exported(&journal, &main)), Ok(()));
        let whole = exported(&journal, &other);
        prop_assert_eq!(prove(&whole), Ok(()));
        prop_assert_eq!(prove(&whole[..at]), Ok(()));

        let index = changed.index(whole.len());
        let tampered = |change: fn(&mut Event)| {
            let mut exported = whole.clone();
            change(&mut exported[index].0);
            prove(&exported)
        };
        let renamed = |event: &mut Event| event.head.run_id = Some("nobody".into());
        let member = |event: &mut Event| event.extra.push(("tampered".into(), Json::from("x")));
        prop_assert_eq!(tampered(renamed), Err(index));
        prop_assert_eq!(tampered(member), Err(index));
        prop_assert_eq!(tampered(|event| event.head.at = Timestamp::from_millis(7)), Err(index));
        let called = |first: usize, last: usize, name: &str| {
            let mut exported = whole.clone();
            exported[first..last].iter_mut().for_each(|(event, _)| event.head.branch_id = Some(name.into()));
            prove(&exported)
        };
        prop_assert_eq!(called(0, whole.len(), "another"), Err(0));
        prop_assert_eq!(called(at, whole.len(), "another"), Err(at));
        prop_assert_eq!(called(at, whole.len(), "main"), Err(at));
        prop_assert!(called(index, whole.len(), "another").is_err());
    }
}

/// The first event of a fork.
fn begins(from: &Branch, head: Head, into: &Branch) -> Event {
    let from = ForkPoint { branch_id: from.branch.clone(), seq: head.seq, hash: Some(head.hash.to_string()) };
    let into = BranchName { session_id: into.session.clone(), branch_id: into.branch.clone() };
    let created = BranchCreated { from: Some(from), into: Some(into) };
    Event::of(antiphon_event::Head::default(), Body::BranchCreated(created))
}
