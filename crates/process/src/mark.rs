//! Marks: what all that a program started carries in its environment.
//!
//! A program of ours may itself be one that was started with a mark. What it starts carries both, the outer one first,
//! so that it ends with either. Start reading at [`beside`].

use std::ffi::OsString;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use memchr::memmem::Finder;

/// The variable with the marks.
pub(crate) const VARIABLE: &str = "ANTIPHON_PROCESS";

/// A mark that nobody else has, here or in another program.
pub(crate) fn new() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{}-{now}-{count}", std::process::id())
}

/// The value of the variable: what we carry ourselves, and the mark.
pub(crate) fn beside(ours: Option<OsString>, mark: &str) -> OsString {
    let mut marks = ours.unwrap_or_default();
    if !marks.is_empty() {
        marks.push(" ");
    }
    marks.push(mark);
    marks
}

/// The marks in an environment.
pub(crate) fn marks(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("ANTIPHON_PROCESS="));
    FINDER.find_iter(environment).flat_map(|at| {
        let value = environment[at + VARIABLE.len() + 1..].split(|byte| *byte == 0).next();
        value.unwrap_or_default().split(|byte| *byte == b' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_carries_a_mark_hands_it_on_with_the_new_one() {
        let rows: [(Option<&str>, &str); 3] = [(None, "new"), (Some(""), "new"), (Some("a b"), "a b new")];
        for (ours, expected) in rows {
            assert_eq!(beside(ours.map(OsString::from), "new"), expected);
        }
    }

    #[test]
    fn marks_are_found_whole_wherever_the_variable_stands() {
        let rows: [(&str, &[&str]); 6] = [
            ("", &[]),
            ("A=1\0B=2\0", &[]),
            ("ANTIPHON_PROCESS=1-2-3\0A=1\0", &["1-2-3"]),
            ("A=1\0ANTIPHON_PROCESS=1-2-3 4-5-6\0", &["1-2-3", "4-5-6"]),
            ("ANTIPHON_PROCESS=1", &["1"]),
            ("ANTIPHON_PROCESS=1\0ANTIPHON_PROCESS=2\0", &["1", "2"]),
        ];
        for (environment, expected) in rows {
            let found: Vec<&[u8]> = marks(environment.as_bytes()).collect();
            let expected: Vec<&[u8]> = expected.iter().map(|mark| mark.as_bytes()).collect();
            assert_eq!(found, expected, "{environment:?}");
        }
    }

    #[test]
    fn no_two_marks_are_the_same() {
        assert_ne!(new(), new());
    }
}
