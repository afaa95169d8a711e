//! [`Glob`]: a pattern for names, paths and addresses.
//!
//! `*` is any run of characters up to a stop (`/` in a path), `**` any run at all, `?` one character that is no stop,
//! `\` takes the next character as it is. Matching costs the product of both lengths at most, whatever the pattern.

use std::iter;

/// The longest pattern, in bytes.
pub(super) const PATTERN_MAX: usize = 4096;

/// A pattern, ready to be matched.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glob {
    parts: Vec<Part>,
    /// Whether what comes after a `/` fits too: a folder stands for all that is in it.
    covers_inside: bool,
    /// What `*` and `?` do not go past.
    stops: &'static [char],
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// This character.
    One(char),
    /// A character that is no stop.
    Any,
    /// Any number of characters that are no stops.
    Run,
    /// Any number of characters.
    All,
    /// Nothing, or anything that ends in `/`.
    Folders,
}

impl Glob {
    /// A pattern for one word: nothing stops `*`.
    pub(super) fn word(pattern: &str) -> Self {
        Self::new(pattern, &[])
    }

    /// A pattern with stops.
    pub(super) fn new(pattern: &str, stops: &'static [char]) -> Self {
        let mut parts = Vec::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            let part = match c {
                '\\' => Part::One(chars.next().unwrap_or('\\')),
                '?' => Part::Any,
                '*' if chars.next_if_eq(&'*').is_some() => {
                    let at_start = matches!(parts.last(), None | Some(Part::One('/')));
                    if at_start && chars.next_if_eq(&'/').is_some() { Part::Folders } else { Part::All }
                }
                '*' => Part::Run,
                c => Part::One(c),
            };
            parts.push(part);
        }
        Self { parts, covers_inside: false, stops }
    }

    /// A pattern for a path that begins with `/`: it covers what is inside, too.
    pub(super) fn path(pattern: &str) -> Self {
        let folder = pattern.strip_suffix("/**").unwrap_or(pattern).trim_end_matches('/');
        let mut glob = Self::new(folder, &['/']);
        glob.covers_inside = true;
        glob
    }

    /// A word of a shell pattern: only the `*` at these places are wild.
    pub(super) fn with_stars(text: &str, stars: &[usize]) -> Self {
        let part = |(at, c)| if stars.contains(&at) { Part::Run } else { Part::One(c) };
        Self { parts: text.char_indices().map(part).collect(), covers_inside: false, stops: &[] }
    }

    /// Whether it stands for this text and, inside aside, for no other.
    pub(super) fn is(&self, text: &str) -> bool {
        self.parts.iter().copied().eq(text.chars().map(Part::One))
    }

    /// Whether the whole text fits.
    pub(super) fn fits(&self, text: &str) -> bool {
        let mut live = vec![false; self.parts.len() + 1];
        live[0] = true;
        self.skip(&mut live, true);
        for c in text.chars() {
            if c == '/' && self.covers_inside && live[self.parts.len()] {
                return true;
            }
            live = self.step(&live, c);
            if !live.contains(&true) {
                return false;
            }
        }
        live[self.parts.len()]
    }

    /// The places in the pattern that can be reached over one more character.
    fn step(&self, live: &[bool], c: char) -> Vec<bool> {
        let mut next = vec![false; live.len()];
        let is_stop = self.stops.contains(&c);
        for (at, part) in self.parts.iter().enumerate().filter(|(at, _)| live[*at]) {
            match part {
                Part::One(one) if *one == c => next[at + 1] = true,
                Part::Any if !is_stop => next[at + 1] = true,
                Part::Run if !is_stop => next[at] = true,
                Part::All | Part::Folders => next[at] = true,
                Part::One(_) | Part::Any | Part::Run => {}
            }
        }
        self.skip(&mut next, c == '/');
        next
    }

    /// Goes past what may match nothing.
    fn skip(&self, live: &mut [bool], at_start: bool) {
        for (at, part) in self.parts.iter().enumerate() {
            let may_be_empty = match part {
                Part::Run | Part::All => true,
                Part::Folders => at_start,
                Part::One(_) | Part::Any => false,
            };
            if live[at] && may_be_empty {
                live[at + 1] = true;
            }
        }
    }
}

/// The text as a pattern for itself alone.
pub(super) fn escape(text: &str) -> String {
    let is_wild = |c: &char| matches!(c, '*' | '?' | '\\');
    text.chars().flat_map(|c| is_wild(&c).then_some('\\').into_iter().chain(iter::once(c))).collect()
}
