//! [`Parser`]: server-sent events from bytes that arrive in pieces of any size.
//!
//! In: bytes. Out: the name and the data of each event. Lines end with LF, CRLF or CR; comments and members nobody asked
//! for are passed over; what is not UTF-8 is replaced. Start reading at [`Parser::feed`].

use std::borrow::Cow;

/// How many bytes one event may have.
pub const EVENT_MAX: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// What it is called; empty if it has no name.
    pub name: &'a str,
    /// Its lines of data, with line breaks between them.
    pub data: &'a str,
}

/// An event that has more bytes than one may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {max} bytes")]
pub struct TooLong {
    /// How many it may have.
    pub max: usize,
}

/// Takes bytes, gives events. After an error it must not be fed again.
///
/// ```
/// let mut parser = antiphon_model::sse::Parser::new();
/// let mut seen = Vec::new();
/// for piece in [b"data: he".as_slice(), b"llo\r", b"\n\r\n"] {
///     parser.feed(piece, |event| {
///         seen.push(event.data.to_owned());
///         Ok::<_, antiphon_model::sse::TooLong>(())
///     })?;
/// }
/// assert_eq!(seen, ["hello"]);
/// # Ok::<_, antiphon_model::sse::TooLong>(())
/// ```
#[derive(Debug)]
pub struct Parser {
    event_max: usize,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    name: String,
    data: String,
    /// Whether there was data, be it empty.
    has_data: bool,
    /// Whether the last byte was CR: an LF after it ends no second line.
    after_cr: bool,
    is_first_line: bool,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// One for events of up to [`EVENT_MAX`] bytes.
    pub fn new() -> Self {
        Self {
            event_max: EVENT_MAX,
            line: Vec::new(),
            name: String::new(),
            data: String::new(),
            has_data: false,
            after_cr: false,
            is_first_line: true,
        }
    }

    /// How many bytes an event may have; [`EVENT_MAX`] if nobody says so.
    #[must_use]
    pub fn event_max(mut self, bytes: usize) -> Self {
        self.event_max = bytes;
        self
    }

    /// Takes the next bytes and hands over the events that are whole. The first error of `take` ends it.
    pub fn feed<E: From<TooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                return self.keep(bytes).map_err(E::from);
            };
            self.after_cr = bytes[end] == b'\r';
            self.end_line(&bytes[..end], &mut take)?;
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// There is nothing more: hands over an event that lacks its last line breaks.
    pub fn finish<E: From<TooLong>>(
        mut self,
        mut take: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_line(b"", &mut take)?;
        }
        self.dispatch(&mut take)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.check(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn check(&self, more: usize) -> Result<(), TooLong> {
        let max = self.event_max;
        if self.data.len() + more > max { Err(TooLong { max }) } else { Ok(()) }
    }

    fn end_line<E: From<TooLong>>(
        &mut self,
        rest: &[u8],
        take: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check(self.line.len() + rest.len())?;
        let mut whole = std::mem::take(&mut self.line);
        let mut line = rest;
        if !whole.is_empty() {
            whole.extend_from_slice(rest);
            line = &whole;
        }
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        let taken = if line.is_empty() { self.dispatch(take) } else { self.member(line).map_err(E::from) };
        whole.clear();
        self.line = whole;
        taken
    }

    fn member(&mut self, line: &[u8]) -> Result<(), TooLong> {
        let colon = memchr::memchr(b':', line);
        let (name, value) = colon.map_or((line, &b""[..]), |at| (&line[..at], &line[at + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                let value = text(value);
                self.check(value.len())?;
                self.data.push_str(&value);
            }
            b"event" => self.name = text(value).into_owned(),
            // A comment has no name; the others are for those who reconnect.
            _ => {}
        }
        Ok(())
    }

    fn dispatch<E>(&mut self, take: &mut impl FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let event = Event { name: &self.name, data: &self.data };
        let taken = if self.has_data { take(event) } else { Ok(()) };
        self.has_data = false;
        self.name.clear();
        self.data.clear();
        taken
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::{Parser, TooLong};

    fn events(pieces: &[&[u8]], event_max: usize) -> Result<Vec<String>, TooLong> {
        let mut parser = Parser::new().event_max(event_max);
        let mut seen = Vec::new();
        let mut take = |event: super::Event<'_>| {
            seen.push(format!("{}={:?}", event.name, event.data));
            Ok::<_, TooLong>(())
        };
        for piece in pieces {
            parser.feed(piece, &mut take)?;
        }
        parser.finish(&mut take)?;
        Ok(seen)
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: Expect) {
        let seen = events(&[bytes], 40);
        expected.assert_eq(&seen.map_or_else(|error| error.to_string(), |seen| seen.join(" ")));
    }

    #[test]
    fn lines_end_in_three_ways() {
        check(b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata:d\n\r\n", expect![[r#"="a" ="b" ="c" ="d""#]]);
    }

    #[test]
    fn data_of_several_lines_is_one_event() {
        check(b"event: x\ndata: a\ndata:\ndata:  b\n\ndata: c\n\n", expect![[r#"x="a\n\n b" ="c""#]]);
    }

    #[test]
    fn comments_and_other_members_are_passed_over() {
        check(b": OPENROUTER PROCESSING\n\nid: 1\nretry: 5\nnonsense\ndata\n\n:\n\n", expect![[r#"="""#]]);
    }

    #[test]
    fn an_event_without_data_is_none_and_its_name_is_forgotten() {
        check(b"event: ping\n\ndata: a\n\n", expect![[r#"="a""#]]);
    }

    #[test]
    fn the_last_event_may_lack_its_end() {
        check(b"\xef\xbb\xbfdata: a\n\ndata: [DONE]", expect![[r#"="a" ="[DONE]""#]]);
    }

    #[test]
    fn what_is_not_utf8_is_replaced() {
        check(b"data: a\xffb \xc3\xa9\n\n", expect![[r#"="a�b é""#]]);
    }

    #[test]
    fn an_event_is_bounded() {
        check(&[b"data: ".as_slice(), &[b'x'; 40]].concat(), expect!["an event of more than 40 bytes"]);
        check(&b"data: 0123456789\n".repeat(5), expect!["an event of more than 40 bytes"]);
        check(&[b": ".as_slice(), &[b'x'; 50], b"\n"].concat(), expect!["an event of more than 40 bytes"]);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            text in "(data: ?|event: |:|id: )?[a-zé😀\\r\\n: ]{0,12}(\\n|\\r\\n|\\r){0,2}([dat:\\n\\r é😀]{0,20})",
            times in 1_usize..6,
            cuts in prop::collection::vec(0_usize..400, 0..12),
        ) {
            let bytes = text.repeat(times).into_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(events(&pieces, 4096), events(&[&bytes], 4096));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let each: Vec<_> = bytes.chunks(1).collect();
            prop_assert_eq!(events(&each, 4096), events(&[&bytes], 4096));
        }
    }
}
