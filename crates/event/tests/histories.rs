//! The recorded conversations in `examples/histories` are what a journal holds, to the byte.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon_event::{Event, Kind, Lines, schema};
use jsonschema::Validator;

fn histories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/histories");
    let entries = fs::read_dir(folder).expect("the folder of examples is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    assert_eq!(paths.len(), 6, "every history is found");
    paths
}

/// Runs a check on every event of every history, with the line it was read from.
fn each(mut check: impl FnMut(&str, &Event, &str)) {
    for path in histories() {
        let text = fs::read_to_string(&path).expect("a readable history");
        for (index, line) in text.lines().enumerate() {
            let place = format!("{}:{}", path.display(), index + 1);
            let event = Event::from_json(line).unwrap_or_else(|error| panic!("{place}: {error}"));
            check(&place, &event, line);
        }
    }
}

#[test]
fn every_line_is_a_known_event_without_members_nobody_knows() {
    each(|place, event, _| {
        assert_ne!(event.kind(), Kind::Unknown, "{place}");
        assert!(event.extra.is_empty(), "{place}: {:?}", event.extra);
    });
}

#[test]
fn every_line_is_written_as_it_was_read() {
    each(|place, event, line| assert_eq!(event.to_json(), line, "{place}"));
}

#[test]
fn every_line_conforms_to_the_schema() {
    let validator = Validator::new(&schema()).expect("the schema is a schema");
    each(|place, _, line| {
        let value = serde_json::from_str(line).expect("JSON");
        let problems: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{place}: {problems:?}");
    });
}

#[test]
fn positions_have_no_gaps_and_time_never_goes_back() {
    for path in histories() {
        let mut events = Vec::new();
        let mut reader = Lines::new();
        let bytes = fs::read(&path).expect("a readable history");
        reader.feed(&bytes, |event| events.push(event.expect("an event")));
        reader.finish(|_| panic!("the last line ends with a line break"));
        assert!((40..=200).contains(&events.len()), "{}: {}", path.display(), events.len());
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event.head.seq, Some(index as u64 + 1), "{}", path.display());
            assert!(index == 0 || event.head.at >= events[index - 1].head.at, "{}", path.display());
        }
    }
}
