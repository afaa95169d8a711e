//! Every view of every recorded conversation, as text for people.

use std::path::PathBuf;

use expect_test::expect_file;

use crate::door::{antiphon, recorded};

/// All views.
pub(crate) const VIEWS: &[&str] = &[
    "thread",
    "messages",
    "transcript",
    "nested",
    "tools",
    "permissions",
    "repl",
    "timeline",
    "agents",
    "runs",
    "usage",
    "risk",
    "trace",
    "replay",
];

#[test]
fn every_view_of_every_history_reads_as_recorded() {
    for view in VIEWS {
        for history in recorded() {
            let ran = antiphon(&["view", view, &history]);
            assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{view} of {history}");
            let name = format!("{view}.{}.txt", history.trim_end_matches(".jsonl"));
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots").join(name);
            expect_file![path].assert_eq(&ran.out);
        }
    }
}

#[test]
fn every_view_fits_the_page() {
    for view in VIEWS {
        for history in recorded() {
            let ran = antiphon(&["view", view, "--width", "60", &history]);
            let widest = ran.out.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
            assert!(widest.chars().count() <= 60, "{view} of {history}: {widest}");
        }
    }
}

#[test]
fn every_view_is_listed() {
    let help = antiphon(&["view", "--help"]).out;
    for view in VIEWS {
        assert!(help.contains(&format!("- {view}:")), "{view} is missing in:\n{help}");
    }
}
