//! [`Lines`]: events from JSON lines that arrive in chunks of any size.
//!
//! From a file, a pipe or a socket; a chunk may end in the middle of a line, or of a character. Lines that
//! lie within one chunk are read where they are; only the rest of a chunk is kept. No length is trusted: of a
//! line longer than the limit no more than that is held. Start reading at [`Lines::feed_with_lines`].

use memchr::memchr;

use crate::{Decoder, Error, Event, Place};

/// The longest line that is read, in bytes, unless told otherwise.
pub const LINE_MAX: usize = 16 * 1024 * 1024;

/// Takes chunks of bytes, gives events. Blank lines are passed over.
///
/// ```
/// use antiphon_event::Lines;
///
/// let mut lines = Lines::new();
/// let mut events = Vec::new();
/// for chunk in [&b"{\"type\":\"resumed\",\"ru"[..], b"nId\":\"r1\"}\n{\"type\":"] {
///     lines.feed(chunk, |event| events.push(event));
/// }
/// lines.finish(|event| events.push(event));
/// assert!(events[0].is_ok());
/// assert_eq!(
///     events[1].as_ref().unwrap_err().to_string(),
///     "line 2, column 8: the line is cut off: EOF while parsing a value"
/// );
/// ```
#[derive(Debug)]
pub struct Lines {
    decoder: Decoder,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
    /// Whether the line under way is too long and only its end is waited for.
    skipping: bool,
    line: u64,
    line_max: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    /// A reader at the start of its input, with the limit of [`LINE_MAX`].
    pub fn new() -> Self {
        Self { decoder: Decoder::default(), rest: Vec::new(), skipping: false, line: 0, line_max: LINE_MAX }
    }

    /// Refuses lines of more than so many bytes.
    #[must_use]
    pub fn line_max(mut self, bytes: usize) -> Self {
        self.line_max = bytes;
        self
    }

    /// Lines begun so far.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Takes one more chunk and hands over an event, or an error, for every line that ends in it.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(Result<Event, Error>)) {
        self.feed_with_lines(chunk, |event, _| each(event));
    }

    /// The same, and what the line was: of one that is too long, as much of it as is read.
    pub fn feed_with_lines(&mut self, chunk: &[u8], mut each: impl FnMut(Result<Event, Error>, &[u8])) {
        let mut chunk = chunk;
        while let Some(end) = memchr(b'\n', chunk) {
            let (part, after) = chunk.split_at(end);
            chunk = &after[1..];
            if self.skipping {
                self.skipping = false;
            } else if self.rest.is_empty() {
                self.whole(part, &mut each);
            } else if self.keep(part, &mut each) {
                let line = std::mem::take(&mut self.rest);
                self.whole(&line, &mut each);
                self.rest = line;
                self.rest.clear();
            } else {
                self.skipping = false;
            }
        }
        if !self.skipping && !chunk.is_empty() {
            self.keep(chunk, &mut each);
        }
    }

    /// Says that no more comes: a last line without a line break counts too.
    pub fn finish(self, mut each: impl FnMut(Result<Event, Error>)) {
        self.finish_with_line(|event, _| each(event));
    }

    /// The same, and what that line was.
    pub fn finish_with_line(mut self, mut each: impl FnMut(Result<Event, Error>, &[u8])) {
        let line = std::mem::take(&mut self.rest);
        self.whole(&line, &mut each);
    }

    /// Keeps a part of a line, or gives the line up as too long.
    fn keep(&mut self, part: &[u8], each: &mut impl FnMut(Result<Event, Error>, &[u8])) -> bool {
        let size = self.rest.len() + part.len();
        let last = part.last().or(self.rest.last());
        // What may be the first half of a line break is not counted.
        if size - usize::from(last == Some(&b'\r')) <= self.line_max {
            self.rest.extend_from_slice(part);
            return true;
        }
        let room = self.line_max.saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&part[..part.len().min(room)]);
        self.skipping = true;
        self.line += 1;
        each(Err(self.too_long()), &self.rest[..self.rest.len().min(self.line_max)]);
        self.rest.clear();
        false
    }

    fn whole(&mut self, line: &[u8], each: &mut impl FnMut(Result<Event, Error>, &[u8])) {
        self.line += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(event) = self.read(line) {
            let shown = &line[..line.len().min(self.line_max)];
            each(event.map_err(|error| error.on_line(self.line)), shown);
        }
    }

    fn read(&mut self, line: &[u8]) -> Option<Result<Event, Error>> {
        if line.is_empty() {
            return None;
        }
        if line.len() > self.line_max {
            return Some(Err(self.too_long()));
        }
        let mut text = match std::str::from_utf8(line) {
            Ok(text) => text,
            Err(error) => return Some(Err(not_utf8(line, error.valid_up_to()))),
        };
        if self.line == 1 {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return None;
        }
        Some(self.decoder.decode(text))
    }

    fn too_long(&self) -> Error {
        let message = format!("the line is longer than {} bytes", self.line_max);
        Error { place: Place { line: self.line, column: self.line_max as u64 + 1 }, message }
    }
}

fn not_utf8(line: &[u8], valid: usize) -> Error {
    let before = String::from_utf8_lossy(&line[..valid]);
    Error::at(&before, valid, format!("the byte 0x{:02x} is not UTF-8", line[valid]))
}
