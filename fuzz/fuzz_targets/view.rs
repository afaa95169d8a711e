//! Whatever can be read, through every view: no panic, and the laws that bind views hold.
//!
//! The input is JSON lines as they stand, so that recorded histories are seeds.

#![no_main]

use antiphon_event::{Event, Lines};
use antiphon_view::Changes;
use antiphon_view::catalogue::{CATALOGUE, Entry};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let events = read(input);
    for entry in CATALOGUE {
        check(entry, &events);
    }
});

fn read(input: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut lines = Lines::new();
    lines.feed(input, |event| events.extend(event));
    lines.finish(|event| events.extend(event));
    events
}

/// Folds with somebody watching, through a save in the middle, and compares with folding at once.
fn check(entry: &Entry, events: &[Event]) {
    let name = entry.name;
    let (mut watched, mut alone) = ((entry.make)(), (entry.make)());
    let mut snapshot = watched.snapshot();
    let (mut changes, mut nobody) = (Changes::wanted(), Changes::unwanted());
    for (index, event) in events.iter().enumerate() {
        if index == events.len() / 2 {
            watched = (entry.load)(&watched.save()).expect("a saved view can be loaded");
        }
        alone.apply(event, &mut nobody);
        watched.apply(event, &mut changes);
        for change in changes.take() {
            assert!(change.apply(&mut snapshot), "{name}: a change leads somewhere");
        }
    }
    let whole = alone.snapshot();
    assert_eq!(watched.snapshot(), whole, "{name}: two halves through a saved view are the whole");
    assert_eq!(snapshot, whole, "{name}: the old snapshot and the changes are the new snapshot");
}
