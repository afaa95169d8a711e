//! [`Hits`]: what was found, with bounds on how much and how long.

use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use crate::blocking::Wanted;
use crate::file;
use crate::text::{count, cut};

/// How many characters of a line are given.
const LINE_CHARS_MAX: usize = 300;

/// How much is looked for, and how long.
pub(super) struct Bounds {
    pub(super) until: Instant,
    pub(super) wanted: Wanted,
    pub(super) hits_max: usize,
    pub(super) chars_max: usize,
    pub(super) context: usize,
    pub(super) line_bytes_max: usize,
}

/// What was found so far.
pub(super) struct Hits {
    bounds: Bounds,
    rows: Vec<String>,
    /// How many bytes the rows have.
    size: usize,
    hits: usize,
    noun: &'static str,
    searched: usize,
    with_hits: usize,
    unread: usize,
    left_out: usize,
    stop: Option<Stop>,
}

/// Why nothing more was looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stop {
    Hits,
    Chars,
    Time,
}

impl Hits {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            rows: Vec::new(),
            size: 0,
            hits: 0,
            noun: "file",
            searched: 0,
            with_hits: 0,
            unread: 0,
            left_out: 0,
            stop: None,
        }
    }

    /// Whether nothing more is to be looked for.
    pub(super) fn is_over(&mut self) -> bool {
        if self.stop.is_none() && Instant::now() >= self.bounds.until {
            self.stop = Some(Stop::Time);
        }
        self.stop.is_some() || self.bounds.wanted.is_over()
    }

    /// A file that may not be searched unasked.
    pub(super) fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// A file whose name fits.
    pub(super) fn name(&mut self, shown: &str) {
        self.searched += 1;
        if self.has_room(shown.len()) {
            self.hits += 1;
            self.push(shown.to_owned());
        }
    }

    /// Looks for lines in a file.
    pub(super) fn lines(&mut self, matcher: &RegexMatcher, path: &Path, shown: &str) {
        self.noun = "match";
        self.searched += 1;
        let mut searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.bounds.context)
            .after_context(self.bounds.context)
            .heap_limit(Some(self.bounds.line_bytes_max))
            .build();
        let reader = file::open(path).map(|file| Patient {
            file,
            until: self.bounds.until,
            wanted: self.bounds.wanted.clone(),
        });
        let hits_before = self.hits;
        let mut lines = Lines { hits: self, shown, begun: false };
        let done = reader.and_then(|reader| searcher.search_reader(matcher, reader, &mut lines));
        self.unread += usize::from(done.is_err() && !self.is_over());
        self.with_hits += usize::from(self.hits > hits_before);
    }

    /// Whether another hit of so many bytes may be taken in.
    fn has_room(&mut self, bytes: usize) -> bool {
        if self.hits == self.bounds.hits_max {
            self.stop = Some(Stop::Hits);
        } else if self.size + bytes > self.bounds.chars_max {
            self.stop = Some(Stop::Chars);
        }
        self.stop.is_none()
    }

    fn push(&mut self, row: String) {
        self.size += row.len() + 1;
        self.rows.push(row);
    }

    /// What was found, for the model.
    pub(super) fn render(mut self) -> String {
        let hits = count(self.hits, self.noun);
        let searched = count(self.searched, "file");
        self.rows.push(match (self.hits, self.noun) {
            (0, _) => format!("(nothing found in {searched})"),
            (_, "file") => format!("({hits})"),
            (_, _) => format!("({hits} in {} of {searched})", self.with_hits),
        });
        let notice = self.stop.map(|stop| match stop {
            Stop::Hits => "(there is more: narrow the search, or raise `limit`)",
            Stop::Chars => "(there is more: narrow the search)",
            Stop::Time => "(stopped, as it took too long: narrow the search)",
        });
        self.rows.extend(notice.map(str::to_owned));
        if self.unread > 0 {
            self.rows.push(format!("({} could not be read)", count(self.unread, "file")));
        }
        if self.left_out > 0 {
            let files = count(self.left_out, "file");
            self.rows.push(format!(
                "({files} left out: rules do not allow them; name one with `path` to ask for it)"
            ));
        }
        self.rows.join("\n")
    }
}

/// Takes in the lines of one file.
struct Lines<'a> {
    hits: &'a mut Hits,
    shown: &'a str,
    begun: bool,
}

impl Lines<'_> {
    fn line(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let line = cut(line.trim_end_matches(['\n', '\r']), LINE_CHARS_MAX);
        if !self.begun {
            self.hits.push(self.shown.to_owned());
            self.begun = true;
        }
        self.hits.push(format!("{:>6}{mark} {line}", number.unwrap_or(0)));
    }
}

impl Sink for &mut Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if !self.hits.has_room(found.bytes().len().min(LINE_CHARS_MAX)) {
            return Ok(false);
        }
        self.hits.hits += 1;
        self.line(found.line_number(), ':', found.bytes());
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        let has_room = self.hits.stop.is_none() && self.hits.size < self.hits.bounds.chars_max;
        if has_room {
            self.line(around.line_number(), '-', around.bytes());
        } else {
            self.hits.stop = self.hits.stop.or(Some(Stop::Chars));
        }
        Ok(has_room)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.hits.push("     …".to_owned());
        Ok(true)
    }
}

/// A file that can be read until the time is over or nobody wants it any more.
struct Patient {
    file: std::fs::File,
    until: Instant,
    wanted: Wanted,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.wanted.is_over() || Instant::now() >= self.until {
            return Err(io::Error::other("the search is over"));
        }
        self.file.read(buffer)
    }
}
