//! Words and numbers as models are shown them.

use std::borrow::Cow;

/// A line of at most so many characters, with a notice if it was longer.
pub(crate) fn cut(line: &str, chars_max: usize) -> Cow<'_, str> {
    match line.char_indices().nth(chars_max) {
        None => Cow::Borrowed(line),
        Some((end, _)) => {
            let rest = line[end..].chars().count();
            Cow::Owned(format!("{}… ({} more)", &line[..end], count(rest, "character")))
        }
    }
}

/// A number with its noun.
pub(crate) fn count(number: usize, noun: &str) -> String {
    match (number, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "match") => format!("{number} matches"),
        _ => format!("{number} {noun}s"),
    }
}

/// Bytes as text: UTF-8, UTF-16 if they begin with its mark, and whether some of it could not be read.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    let (text, _, broken) = encoding_rs::UTF_8.decode(bytes);
    (text, broken)
}

/// Whether bytes begin like text and not like a program, an archive or a picture.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(8192)];
    start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) || !start.contains(&0)
}
