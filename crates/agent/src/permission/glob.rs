//! [`Glob`]: a pattern for names, paths and addresses.
//!
//! `*` is any run of characters up to a stop (`/` in a path), `**` any run at all, `?` one character that is no stop,
//! `\` takes the next character as it is. Matching costs the product of both lengths at most, whatever the pattern.

use std::{iter, mem};

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
        let mut rest = text.chars();
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::One(c) if rest.next() == Some(*c) => {}
                Part::One(_) => return false,
                Part::Any | Part::Run | Part::All | Part::Folders => {
                    return self.fits_from(at, rest.as_str());
                }
            }
        }
        rest.as_str().is_empty() || (self.covers_inside && rest.as_str().starts_with('/'))
    }

    /// Whether a text fits the pattern from its first wildcard on. Follows all ways at once.
    fn fits_from(&self, at: usize, text: &str) -> bool {
        let parts = &self.parts[at..];
        let (mut live, mut next) = (vec![false; parts.len() + 1], vec![false; parts.len() + 1]);
        live[0] = true;
        skip(parts, &mut live, true);
        for c in text.chars() {
            if c == '/' && self.covers_inside && live[parts.len()] {
                return true;
            }
            next.fill(false);
            self.step(parts, c, &live, &mut next);
            skip(parts, &mut next, c == '/');
            mem::swap(&mut live, &mut next);
            if !live.contains(&true) {
                return false;
            }
        }
        live[parts.len()]
    }

    /// Marks the places in the pattern that can be reached over one more character.
    fn step(&self, parts: &[Part], c: char, live: &[bool], next: &mut [bool]) {
        let is_stop = self.stops.contains(&c);
        for (at, part) in parts.iter().enumerate().filter(|(at, _)| live[*at]) {
            match part {
                Part::One(one) if *one == c => next[at + 1] = true,
                Part::Any if !is_stop => next[at + 1] = true,
                Part::Run if !is_stop => next[at] = true,
                Part::All | Part::Folders => next[at] = true,
                Part::One(_) | Part::Any | Part::Run => {}
            }
        }
    }
}

/// Goes past what may match nothing.
fn skip(parts: &[Part], live: &mut [bool], at_start: bool) {
    for (at, part) in parts.iter().enumerate() {
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

/// The text as a pattern for itself alone.
pub(super) fn escape(text: &str) -> String {
    let is_wild = |c: &char| matches!(c, '*' | '?' | '\\');
    text.chars().flat_map(|c| is_wild(&c).then_some('\\').into_iter().chain(iter::once(c))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Glob, escape};

    #[test]
    fn patterns_fit_what_they_say() {
        for (pattern, fits, fits_not) in [
            ("/a/b", "/a/b /a/b/c /a/b/", "/a /a/bc /a/B"),
            ("/a/**", "/a /a/b /a/b/c", "/ab /"),
            ("/a/*", "/a/b /a/b/c /a/", "/a /b/c"),
            ("/a/*.rs", "/a/b.rs /a/.rs /a/b.rs/c", "/a/b/c.rs /a/b.rst"),
            ("/a/**/b", "/a/b /a/x/b /a/x/y/b/c", "/a/xb /ab"),
            ("/**/b", "/b /a/b /a/b/c", "/ab /a/bc"),
            ("/a?c", "/abc /abc/d", "/a/c /ac"),
            (r"/a\*c", "/a*c", "/abc"),
            ("", "/a / /a/b", ""),
            ("/a**c", "/ac /a/b/c", "/a/b"),
        ] {
            let glob = Glob::path(pattern);
            for text in fits.split(' ') {
                assert!(glob.fits(text), "`{pattern}` fits `{text}`");
            }
            for text in fits_not.split_whitespace() {
                assert!(!glob.fits(text), "`{pattern}` does not fit `{text}`");
            }
        }
    }

    #[test]
    fn a_text_made_a_pattern_fits_itself_alone() {
        let text = r"a*b?c\d[e]";
        assert!(Glob::word(&escape(text)).is(text));
        assert!(Glob::word("a*b").fits("a/x/b") && !Glob::word("a*b").is("a*b"));
    }

    #[test]
    fn many_stars_cost_little() {
        let glob = Glob::word(&"*a".repeat(1000));
        assert!(!glob.fits(&"a".repeat(999)) && glob.fits(&"a".repeat(1000)));
    }
}
