//! What somebody sees who does not know it yet.

use crate::door::{antiphon, command, feed};

#[test]
fn a_tour_says_what_it_can_do() {
    let ran = antiphon(&["tour"]);
    assert_eq!((ran.code, &*ran.err), (Some(0), ""));
    for word in ["Antiphon", "antiphon view thread", "antiphon why", "antiphon diff", "--help"] {
        assert!(ran.out.contains(word), "{word} is missing in:\n{}", ran.out);
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [&["--help"][..], &["--version"], &["view", "--help"], &["why", "--help"], &["diff", "-h"]] {
        let ran = antiphon(args);
        assert_eq!((ran.code, &*ran.err), (Some(0), ""), "{args:?}");
        assert!(!ran.out.is_empty());
    }
}

#[test]
fn alone_it_shows_a_team_at_work_that_plans_asks_and_reports() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut alone = command(&[]);
    alone.env("ANTIPHON_STORE", format!("sqlite:{}", folder.path().join("demo.db").display()));
    let ran = feed(alone, b"");
    assert_eq!(ran.code, Some(0), "{}", ran.told());
    assert!(ran.out.starts_with("# Tidal power"), "{}", ran.out);
    for told in
        ["plan  completed", "risks  completed", "Publish the report?", "approved by user", "antiphon chat"]
    {
        assert!(ran.err.contains(told), "{told} is missing in:\n{}", ran.err);
    }
}
