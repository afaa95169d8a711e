//! [`Line`]: one line of output, made of pieces of inked text.
//!
//! In: any text, also hostile. Out: text that is safe for a terminal: whatever enters a line is cleaned on
//! the way, so no escape sequence of an event can ever be printed. Start reading at [`Line::ink`].

use std::fmt::Write;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::ink::{Ink, Palette};

/// One line, never with a line break in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Line {
    spans: Vec<(Ink, String)>,
}

impl Line {
    /// An empty line.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds text in an ink; line breaks in it become spaces.
    #[must_use]
    pub(crate) fn ink(mut self, ink: Ink, text: impl AsRef<str>) -> Self {
        self.push(ink, text.as_ref());
        self
    }

    /// Adds plain text.
    #[must_use]
    pub(crate) fn plain(self, text: impl AsRef<str>) -> Self {
        self.ink(Ink::Plain, text)
    }

    /// Adds another line at the end.
    #[must_use]
    pub(crate) fn join(mut self, other: Self) -> Self {
        let mut spans = other.spans.into_iter();
        if let (Some((last, before)), Some((ink, text))) = (self.spans.last_mut(), spans.as_slice().first())
            && last == ink
        {
            before.push_str(text);
            spans.next();
        }
        self.spans.extend(spans);
        self
    }

    fn push(&mut self, ink: Ink, text: &str) {
        let text: String = text.chars().map(harmless).collect();
        if text.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some((last, before)) if *last == ink => before.push_str(&text),
            _ => self.spans.push((ink, text)),
        }
    }

    /// Columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// The same line in at most so many columns, with an ellipsis where something is left out.
    #[must_use]
    pub(crate) fn cut(self, width: usize) -> Self {
        if self.width() <= width {
            return self;
        }
        let mut cut = Self::new();
        let mut room = width.saturating_sub(1);
        for (ink, text) in self.spans {
            let end = fitting(&text, room);
            room -= text[..end].width();
            cut.push(ink, &text[..end]);
            if end < text.len() {
                break;
            }
        }
        if width > 0 {
            cut.push(Ink::Faint, "…");
        }
        cut
    }

    /// The same line, filled up with spaces to so many columns.
    #[must_use]
    pub(crate) fn fill(self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        self.plain(" ".repeat(missing))
    }

    /// The same text in lines of at most so many columns, broken between words.
    pub(crate) fn wrap(self, width: usize) -> Vec<Self> {
        let width = width.max(8);
        if self.width() <= width {
            return vec![self];
        }
        let mut lines = vec![Self::new()];
        let mut used = 0;
        for (ink, text) in self.spans {
            for word in words(&text) {
                let mut word = word;
                if used > 0 && fitting(word.trim_end(), width.saturating_sub(used)) < word.trim_end().len() {
                    lines.push(Self::new());
                    used = 0;
                }
                while fitting(word.trim_end(), width) < word.trim_end().len() {
                    let end = fitting(word, width).max(first_char(word));
                    push_last(&mut lines, ink, &word[..end]);
                    word = &word[end..];
                    lines.push(Self::new());
                    used = 0;
                }
                push_last(&mut lines, ink, word);
                used += word.width();
            }
        }
        lines.into_iter().map(Self::trim_end).collect()
    }

    /// The same line without spaces at its end, which need no room.
    fn trim_end(mut self) -> Self {
        while let Some((_, text)) = self.spans.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            self.spans.pop();
        }
        self
    }

    /// Appends the line to `out` in the colours of a palette, without spaces at its end.
    pub(crate) fn paint(&self, palette: Palette, out: &mut String) {
        let kept = self.spans.iter().rposition(|(_, text)| !text.trim_end().is_empty());
        let Some(last) = kept else {
            return;
        };
        for (index, (ink, text)) in self.spans[..=last].iter().enumerate() {
            let text = if index == last { text.trim_end() } else { text };
            let style = palette.style(*ink);
            write!(out, "{style}{text}{style:#}").expect("a string takes any text");
        }
    }
}

fn push_last(lines: &mut [Line], ink: Ink, text: &str) {
    lines.last_mut().expect("there is always a line under way").push(ink, text);
}

/// Text of several lines, each wrapped to the width; no line at all for an empty text.
pub(crate) fn paragraphs(ink: Ink, text: &str, width: usize) -> Vec<Line> {
    text.trim_end().lines().flat_map(|line| Line::new().ink(ink, line).wrap(width)).collect()
}

/// Lines as text, each with a line break behind it.
pub(crate) fn paint(lines: &[Line], palette: Palette) -> String {
    let mut out = String::new();
    for line in lines {
        line.paint(palette, &mut out);
        out.push('\n');
    }
    out
}

/// The character, or what stands for one that could do something to a terminal: control characters, and
/// those that change the direction of writing and so let text pose as other text.
pub(crate) fn harmless(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).expect("pictures of control characters"),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    }
}

/// How many bytes of a text fit into so many columns.
fn fitting(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (start, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            return start;
        }
    }
    text.len()
}

fn first_char(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Words with the spaces behind them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = rest.find(|c: char| c != ' ').unwrap_or(rest.len());
        let end = rest[word..].find(' ').map_or(rest.len(), |end| word + end);
        let end = rest[end..].find(|c: char| c != ' ').map_or(rest.len(), |next| end + next);
        let (first, after) = rest.split_at(end);
        rest = after;
        (!first.is_empty()).then_some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: &[Line]) -> Vec<String> {
        paint(lines, Palette::Plain).lines().map(str::to_owned).collect()
    }

    #[test]
    fn text_breaks_between_words_and_long_words_anywhere() {
        let line = |text: &str| Line::new().plain(text).wrap(10);
        assert_eq!(shown(&line("one two three four")), ["one two", "three four"]);
        assert_eq!(shown(&line("abcdefghijklmnop q")), ["abcdefghij", "klmnop q"]);
        assert_eq!(shown(&line("日本語日本語日本語")), ["日本語日本", "語日本語"]);
        assert_eq!(shown(&line("  indented text")), ["  indented", "text"]);
    }

    #[test]
    fn lines_that_text_is_broken_into_are_no_wider_than_they_may_be() {
        let line = Line::new().plain("exactly te").ink(Ink::Strong, "n ").plain("  then some  more ");
        let widths = line.wrap(11).iter().map(Line::width).collect::<Vec<_>>();
        assert_eq!(widths, [11, 11, 4]);
    }

    #[test]
    fn a_cut_line_ends_with_an_ellipsis_within_the_width() {
        let line = Line::new().plain("日本").ink(Ink::Bad, "語 and more");
        assert_eq!(shown(&[line.clone().cut(6)]), ["日本…"]);
        assert_eq!(shown(&[line.cut(40)]), ["日本語 and more"]);
        assert_eq!(Line::new().plain("abc").cut(0).width(), 0);
    }

    #[test]
    fn nothing_that_moves_the_cursor_gets_through() {
        let hostile = "\u{1b}[2J\u{7}\u{8}\u{9b}31m\u{202e}x\r\ty\u{7f}";
        let mut out = String::new();
        Line::new().plain(hostile).paint(Palette::Plain, &mut out);
        assert_eq!(out, "␛[2J␇␈\u{fffd}31m\u{fffd}x  y␡");
    }
}
