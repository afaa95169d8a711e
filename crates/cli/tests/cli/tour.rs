//! What somebody sees who does not know it yet.

use crate::door::antiphon;

#[test]
fn alone_it_says_what_it_can_do() {
    let ran = antiphon(&[]);
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
