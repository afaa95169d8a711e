//! [`Lines`]: lines of a stream, none of them longer than a bound.
//!
//! A line that is too long is skipped, not kept: only the id of the message in it is looked for, so that whoever
//! waits for it can be told. Reading may be dropped at any time and goes on where it was.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// A line that was too long, with the number in the member `id` of the object in it.
    Huge(Option<i64>),
}

/// Reads lines.
pub(super) struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    bytes_max: usize,
    /// The line is too long already.
    huge: Option<IdFinder>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(read: R, bytes_max: usize) -> Self {
        Self { read: BufReader::new(read), line: Vec::new(), bytes_max, huge: None }
    }

    /// The next line; none at the end, and none if reading fails.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            let bytes = self.read.fill_buf().await.ok()?;
            if bytes.is_empty() {
                return self.finish();
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            match &mut self.huge {
                Some(finder) => finder.feed(piece),
                None if self.line.len() + piece.len() > self.bytes_max => {
                    let mut finder = IdFinder::default();
                    finder.feed(&self.line);
                    finder.feed(piece);
                    self.line = Vec::new();
                    self.huge = Some(finder);
                }
                None => self.line.extend_from_slice(piece),
            }
            let consumed = piece.len() + usize::from(end.is_some());
            self.read.consume(consumed);
            if end.is_some() {
                return Some(self.take());
            }
        }
    }

    /// A last line without an end counts, too.
    fn finish(&mut self) -> Option<Line> {
        (self.huge.is_some() || !self.line.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> Line {
        match self.huge.take() {
            Some(finder) => Line::Huge(finder.id),
            None => Line::Whole(std::mem::take(&mut self.line)),
        }
    }
}

/// The number in the member `id` of an object.
pub(super) fn id_in(object: &[u8]) -> Option<i64> {
    let mut finder = IdFinder::default();
    finder.feed(object);
    finder.id
}

/// Looks for the member `id` of an object that comes in pieces.
#[derive(Debug, Default)]
struct IdFinder {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The start of the string or number that was read last, at the level of the members.
    word: Vec<u8>,
    /// The value of the member `id` is next.
    is_id: bool,
    id: Option<i64>,
}

impl IdFinder {
    /// Longer words are neither `id` nor an id of ours.
    const WORD_MAX: usize = 20;

    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = byte == b'\\' && !self.escaped;
            if self.in_string {
                self.keep(byte);
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.start_word();
            }
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.is_id = false;
            }
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_value(),
            b':' if self.depth == 1 => {
                self.is_id = self.word == b"id";
                self.word.clear();
            }
            _ => self.keep(byte),
        }
    }

    fn start_word(&mut self) {
        if self.depth == 1 {
            self.word.clear();
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.word.len() < Self::WORD_MAX && !byte.is_ascii_whitespace() {
            self.word.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_id {
            self.id = std::str::from_utf8(&self.word).ok().and_then(|word| word.parse().ok());
        }
        self.is_id = false;
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{Line, Lines};

    fn check(text: &str, expected: Expect) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
        let read = runtime.block_on(async {
            let mut lines = Lines::new(text.as_bytes(), 24);
            let mut read = Vec::new();
            while let Some(line) = lines.next().await {
                match line {
                    Line::Whole(line) => read.push(String::from_utf8_lossy(&line).into_owned()),
                    Line::Huge(id) => read.push(format!("huge, {id:?}")),
                }
            }
            read.push(String::new());
            read.join("\n")
        });
        expected.assert_eq(&read);
    }

    #[test]
    fn lines_up_to_the_bound_are_kept_and_longer_ones_skipped() {
        check(
            "short\n\n123456789012345678901234\n1234567890123456789012345\nlast",
            expect![[r"
                short

                123456789012345678901234
                huge, None
                last
            "]],
        );
    }

    #[test]
    fn the_id_of_a_message_too_long_is_found_wherever_it_stands() {
        check(
            concat!(
                "{\"jsonrpc\":\"2.0\", \"id\" : 7 , \"result\":{\"id\":8,\"text\":\"\\\"id\\\":9\"}}\n",
                "{\"result\":{\"id\":[8,{}],\"text\":\"a\\\\\"},\"jsonrpc\":\"2.0\",\"id\":12}\n",
                "{\"result\":{\"id\":8},\"jsonrpc\":\"2.0\",\"id\":\"twelve\"}\n",
                "{\"result\":{\"id\":8},\"jsonrpc\":\"2.0\",\"method\":\"id\"}\n",
                "[{\"id\":8,\"jsonrpc\":\"2.0\",\"method\":\"id\"}]\n",
                "]]]]]]]]]]]]]]]]]]]]]]]]]]]]\"id\":5,,,,::::{{{{{{{{{\"\n",
                "{\"id\":99999999999999999999999999999999999999999999}\n",
            ),
            expect![[r"
                huge, Some(7)
                huge, Some(12)
                huge, None
                huge, None
                huge, None
                huge, None
                huge, None
            "]],
        );
    }
}
