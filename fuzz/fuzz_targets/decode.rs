//! Bytes in chunks of any size through [`Lines`]: no panic, and every event survives being written and read.
//!
//! The input is JSON lines as they stand, so that recorded histories are seeds. The sizes of the chunks follow
//! from the input's last byte.

#![no_main]

use antiphon_event::{Event, Lines};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // Short enough for the fuzzer to reach.
    let mut lines = Lines::new().line_max(4096);
    let mut rest = input;
    let mut size = usize::from(input.last().copied().unwrap_or_default());
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at((size % 67 + 1).min(rest.len()));
        lines.feed(chunk, check);
        rest = after;
        size = size.wrapping_mul(31).wrapping_add(7);
    }
    lines.finish(check);
});

fn check<E>(read: Result<Event, E>) {
    let Ok(event) = read else {
        return;
    };
    let written = event.to_json();
    assert!(!written.contains('\n'), "an event is one line");
    let again = Event::from_json(&written).expect("what was written can be read");
    assert_eq!(again, event, "nothing is lost on the way");
}
