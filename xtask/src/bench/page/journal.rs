//! What keeping events costs: its bars and its table.

use super::super::figures::{Figures, Journal};
use super::{Bar, figure, grouped};

/// Where a bare commit takes no longer than this, in microseconds, a step has a bar of its own.
const QUICK_DISK: f64 = 200.0;

pub(super) fn bars(Figures { journal, .. }: &Figures) -> Vec<Bar> {
    let least =
        |work: &str, asked, unit, measured, reached| Bar::new(work, asked, unit, Some(measured), reached);
    let quick = (journal.bare_micros <= QUICK_DISK).then_some(journal.step_micros);
    let open = format!("open a session of {} events", grouped(journal.events));
    vec![
        least(
            "durable step over a bare SQLite commit, p50",
            "≤ 1.5 ×",
            "×",
            journal.step_ratio,
            |ratio| ratio <= 1.5,
        ),
        Bar::new(
            "durable step, p50, where a bare commit is ≤ 200 µs",
            "≤ 300 µs",
            "µs",
            quick,
            |micros| micros <= 300.0,
        ),
        least(
            "durable steps of many together",
            "≥ 20 k/s",
            "k/s",
            journal.grouped_steps_per_second / 1e3,
            |rate| rate >= 20.0,
        ),
        least("bytes of a step, 10,000 messages", "≤ 1 kB", "bytes", journal.bytes_per_step, |bytes| {
            bytes <= 1e3
        }),
        least(
            "small events in batches, durable",
            "≥ 200 k/s",
            "k/s",
            journal.batched_events_per_second / 1e3,
            |rate| rate >= 200.0,
        ),
        least(&open, "< 1,000 ms", "ms", journal.open_millis + journal.tail_millis, |millis| millis < 1e3),
    ]
}

pub(super) fn section(journal: &Journal) -> String {
    let rows = [
        ("in memory, batches of 5, processor time", journal.memory_ns_per_event, "ns per event"),
        ("durable, batches of 100", journal.batched_events_per_second, "events/s"),
        ("a durable step of 5 events, p50", journal.step_micros, "µs"),
        ("a bare SQLite commit of as many bytes, p50", journal.bare_micros, "µs"),
        ("durable steps of 256 branches together", journal.grouped_steps_per_second, "steps/s"),
        ("a step in the file", journal.bytes_per_step, "bytes"),
        ("a small event in the file, batches of 100", journal.stored_bytes_per_event, "bytes"),
        ("open a long session", journal.open_millis, "ms"),
        ("read its last 100 events", journal.tail_millis, "ms"),
        ("read 100 events in its middle", journal.middle_millis, "ms"),
        ("read all of it", journal.read_events_per_second, "events/s"),
    ];
    let lines: String =
        rows.iter().map(|(work, value, unit)| format!("| {work} | {} {unit} |\n", figure(*value))).collect();
    format!(
        "\n## Journal\n\n\
        SQLite with `synchronous=FULL`; wall time, as waiting for the disk is what is measured. The long session has\n\
        {} events.\n\n| work | measured |\n|---|---:|\n{lines}",
        grouped(journal.events)
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A slow disk, and a journal that makes the best of it.
    pub(in super::super) fn figures() -> Journal {
        Journal {
            events: 1_000_000,
            memory_ns_per_event: 100.0,
            batched_events_per_second: 300_000.0,
            step_micros: 1_300.0,
            bare_micros: 1_000.0,
            step_ratio: 1.3,
            grouped_steps_per_second: 15_000.0,
            bytes_per_step: 420.0,
            stored_bytes_per_event: 20.0,
            open_millis: 3.0,
            tail_millis: 1.0,
            middle_millis: 2.0,
            read_events_per_second: 1e6,
        }
    }
}
