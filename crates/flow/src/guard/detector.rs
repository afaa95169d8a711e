//! A detector: a pattern, what it finds, and a test that what looks right is right.

use regex::Regex;

/// Finds one kind of thing in a text.
#[derive(Debug)]
pub(super) struct Detector {
    /// What it finds, as in `[removed: email]`.
    pub(super) label: &'static str,
    pattern: Regex,
    /// Which group of the pattern is the thing; 0 is all of it.
    group: usize,
    /// Whether what was found is one, by its checksum and the like.
    is_one: fn(&str) -> bool,
}

impl Detector {
    /// With a pattern of our own.
    pub(super) fn new(label: &'static str, pattern: &str, is_one: fn(&str) -> bool) -> Self {
        Self::in_group(label, pattern, 0, is_one)
    }

    /// The same for a thing that is a part of what the pattern finds.
    pub(super) fn in_group(
        label: &'static str,
        pattern: &str,
        group: usize,
        is_one: fn(&str) -> bool,
    ) -> Self {
        let pattern = Regex::new(pattern).expect("our own pattern compiles");
        Self { label, pattern, group, is_one }
    }

    /// With the pattern of a user.
    pub(super) fn own(pattern: &Regex) -> Self {
        Self { label: "match", pattern: pattern.clone(), group: 0, is_one: anything }
    }

    /// Where there is one in a text, from left to right.
    pub(super) fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
        let found = self.pattern.captures_iter(text).filter_map(|found| found.get(self.group));
        let found = found.filter(|found| !found.is_empty() && (self.is_one)(found.as_str()));
        found.map(|found| (found.start(), found.end()))
    }
}

/// For patterns that find nothing else.
pub(super) fn anything(_: &str) -> bool {
    true
}
