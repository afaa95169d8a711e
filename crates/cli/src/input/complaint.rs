//! [`Complaint`]: a line that is no event, shown with a caret under the place where it goes wrong.

use antiphon_event::Error;
use unicode_width::UnicodeWidthChar;

use crate::render::harmless;

/// A line that is no event.
pub(super) struct Complaint<'a> {
    /// The file, made harmless.
    pub(super) name: &'a str,
    /// What is wrong, and where.
    pub(super) error: &'a Error,
    /// The line as it was read.
    pub(super) line: &'a [u8],
}

impl Complaint<'_> {
    /// The place and the reason, then the line around the place, cut to the width, and a caret.
    pub(super) fn text(&self, width: usize) -> String {
        let message: String = self.error.to_string().chars().map(harmless).collect();
        let head = format!("{}: {message}", self.name);
        let column = (self.error.place.column as usize).saturating_sub(1);
        let (line, column) = near(self.line, column);
        if line.trim().is_empty() {
            return head;
        }
        let (shown, caret) = window(&line, column, width.saturating_sub(4).max(16));
        format!("{head}\n  | {shown}\n  | {}^", " ".repeat(caret))
    }
}

/// Characters on each side of a place that may be shown.
const NEAR: usize = 4096;

/// What of a line stands around a column, and where in it the column is: a line can be very long.
fn near(line: &[u8], column: usize) -> (String, usize) {
    let mut line = line;
    while let Some(rest) = line.strip_prefix("\u{feff}".as_bytes()) {
        line = rest;
    }
    let start = column.saturating_sub(NEAR);
    let chars = line.utf8_chunks().flat_map(|chunk| {
        let broken = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        chunk.valid().chars().chain(broken)
    });
    (chars.skip(start).take(2 * NEAR).collect(), column - start)
}

/// A part of a line that holds a column, in at most `width` columns of the terminal, and where in it the
/// column stands.
pub(crate) fn window(line: &str, column: usize, width: usize) -> (String, usize) {
    let line = line.trim_end();
    let place = line.char_indices().nth(column).map_or(line.len(), |(place, _)| place);
    let (before, after) = line.split_at(place);
    // The place may be far into a very long line.
    let mut left: Vec<char> = before.chars().rev().take(width).map(harmless).collect();
    let kept = fitting(&left, width * 2 / 3);
    if kept < left.len() {
        left.truncate(kept);
        left.push('…');
    }
    let caret = left.iter().map(|c| wide(*c)).sum();
    let mut right: Vec<char> = after.chars().take(width).map(harmless).collect();
    let kept = fitting(&right, width.saturating_sub(caret + 1));
    if kept < right.len() {
        right.truncate(kept);
        right.push('…');
    }
    (left.into_iter().rev().chain(right).collect(), caret)
}

/// How many characters fit into so many columns.
fn fitting(chars: &[char], width: usize) -> usize {
    let mut used = 0;
    chars
        .iter()
        .take_while(|c| {
            used += wide(**c);
            used <= width
        })
        .count()
}

fn wide(c: char) -> usize {
    c.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_place_also_in_long_and_wide_lines() {
        assert_eq!(window("{\"a\": x}", 6, 40), ("{\"a\": x}".into(), 6));
        let (shown, caret) = window(&format!("{}!{}", "日".repeat(30), "b".repeat(99)), 30, 30);
        assert_eq!(caret, shown.find('!').map(|at| 1 + (at - "…".len()) / "日".len() * 2).expect("shown"));
        assert_eq!(window("cut", 3, 40), ("cut".into(), 3));
        assert_eq!(window("a\u{1b}[31m", 1, 40), ("a␛[31m".into(), 1));
    }
}
