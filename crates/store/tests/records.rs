//! Whatever can happen is read back to the letter, by any cut of the stream into batches and pages.

use antiphon_event::Event;
use antiphon_port::{Batch, Branch, Journal, Verdict};
use antiphon_store::{Memory, Sqlite};
use antiphon_testkit::stream;
use proptest::collection::vec;
use proptest::prelude::*;

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
        prop_assert_eq!(file.verify(&branch).wait(), Ok(Verdict::Whole(head)));
        let exported = |journal: &dyn Journal| journal.export(&branch, 3, 40).wait().unwrap();
        prop_assert_eq!(exported(&file), exported(&memory));
    }
}
