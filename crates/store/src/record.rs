//! A record: the events of one append as lines of JSON, and back.
//!
//! ```text
//! {"at":"2026-11-15T12:00:00.000Z","runId":"r1"}     what the heads of all of them share
//! {"type":"text","id":"t1","content":"hel"}          the rest of each
//! {"type":"text","id":"t1","content":"lo"}
//! ```
//! `seq`, `sessionId` and `branchId` are not in it: where the record is kept says them. Start reading at [`encode`].

mod chain;
mod fit;
mod head;
mod pack;
mod proof;

use std::collections::BTreeMap;

use antiphon_event::{Body, Decoder, Event, Head, Json, LINE_MAX};
use antiphon_port::Fault;
use memchr::memchr;

pub(crate) use chain::{chain, genesis, parts};
pub(crate) use fit::fit;
use head::shared;
pub(crate) use pack::{pack, unpack};
pub use proof::prove;

/// How many bytes a record may have.
pub(crate) const RECORD_MAX: usize = 64 * 1024 * 1024;

/// The events as lines. They are [`fit`].
pub(crate) fn encode(events: &[Event]) -> String {
    let payloads: usize = events.iter().map(payload).sum();
    let mut out = Vec::with_capacity(64 + 192 * events.len() + payloads);
    let shared = shared(events);
    write_shared(&mut out, &shared);
    for event in events {
        write_event(&mut out, event, &shared);
    }
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// About how many bytes of an event are what nodes were given and gave, which may be a lot.
fn payload(event: &Event) -> usize {
    let all = |named: &Option<BTreeMap<String, Json>>| {
        named.iter().flatten().map(|(name, json)| name.len() + json.size() + 4).sum::<usize>()
    };
    match &event.body {
        Body::RunStart(start) => start.input.as_ref().map_or(0, Json::size) + all(&start.state),
        Body::NodeStart(start) => start.input.as_ref().map_or(0, Json::size),
        Body::NodeEnd(end) => end.output.size() + all(&end.writes),
        Body::RunEnd(end) => end.final_output.size(),
        _ => 0,
    }
}

/// Writes the first line.
fn write_shared(out: &mut Vec<u8>, shared: &Head) {
    serde_json::to_writer(&mut *out, shared).expect("writing our own types to memory cannot fail");
    out.push(b'\n');
}

/// Writes the line of an event.
fn write_event(out: &mut Vec<u8>, event: &Event, shared: &Head) {
    event.write_rest(shared, out);
    out.push(b'\n');
}

/// Refuses a record that is too large to be kept, or that has an event that nobody would take in again.
pub(crate) fn within(record: &str) -> Result<(), Fault> {
    let largest = parts(record).map(str::len).max().unwrap_or_default();
    for (what, bytes, max) in [("a batch", record.len(), RECORD_MAX), ("an event", largest, LINE_MAX)] {
        if bytes > max {
            return Err(Fault::TooLarge { what, bytes, max });
        }
    }
    Ok(())
}

/// Reads records: the events of one after the other, with ids shared between them.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    decoder: Decoder,
    /// A line put together again.
    line: String,
}

impl Reader {
    /// Hands over the events of a record, each with what it says of its `place`, leaving out the first `skip`, until `each`
    /// says no; what is wrong if it is no record.
    pub(crate) fn decode(
        &mut self,
        place: &Head,
        record: &str,
        skip: usize,
        mut each: impl FnMut(Event) -> bool,
    ) -> Result<(), String> {
        let Some((first, mut rest)) = cut(record) else {
            return Err("the record has no line".into());
        };
        let head = self.decoder.head_with(place, first);
        let Some(shared) = first.strip_prefix('{').and_then(|first| first.strip_suffix('}')) else {
            return Err("the first line of the record is no object".into());
        };
        let mut index = 0;
        while let Some((line, after)) = cut(rest) {
            rest = after;
            index += 1;
            if index <= skip {
                continue;
            }
            let event = match &head {
                Some(head) => self.decoder.decode_with(head, line),
                None => self.event(place, shared, line),
            };
            let event = event.map_err(|error| format!("line {}: {error}", index + 1))?;
            if !each(event) {
                return Ok(());
            }
        }
        if rest.is_empty() { Ok(()) } else { Err("the record is cut off".into()) }
    }

    /// The event of a line, where what it shares with others is not as we write it.
    fn event(&mut self, place: &Head, shared: &str, line: &str) -> Result<Event, antiphon_event::Error> {
        let (true, Some(own)) = (!shared.is_empty(), line.strip_prefix('{')) else {
            return self.decoder.decode_with(place, line);
        };
        self.line.clear();
        for part in ["{", shared, ",", own] {
            self.line.push_str(part);
        }
        self.decoder.decode_with(place, &self.line)
    }
}

/// The first line without its end, and what follows.
fn cut(text: &str) -> Option<(&str, &str)> {
    let end = memchr(b'\n', text.as_bytes())?;
    Some((&text[..end], &text[end + 1..]))
}
