//! One replacement in one text.

use std::borrow::Cow;

use memchr::memmem::Finder;

use super::{Edit, near};

/// How many places are named when there are too many.
const PLACES_SHOWN: usize = 5;

/// Replaces text and says in how many places; or why not, with the text as it was.
pub(super) fn apply(content: &mut Vec<u8>, edit: &Edit, bytes_max: usize) -> Result<usize, String> {
    if edit.old.is_empty() {
        return Err(
            "`old` is empty: give the text to put something beside, and put it into `new` too".to_owned()
        );
    }
    if edit.old == edit.new {
        return Err("`old` and `new` are the same".to_owned());
    }
    let with_returns = ends_lines_with_returns(content);
    let (old, new) = (fit(&edit.old, with_returns), fit(&edit.new, with_returns));
    let places = places(content, old.as_bytes(), edit.all);
    if places.is_empty() {
        return Err(near::miss(content, &edit.old));
    }
    if places.len() > 1 && !edit.all {
        return Err(ambiguous(content, &places));
    }
    let size = content.len() - places.len() * old.len() + places.len().saturating_mul(new.len());
    if size > bytes_max {
        return Err(format!("the file would have {size} bytes: {bytes_max} at most"));
    }
    let mut changed = Vec::with_capacity(size);
    let mut end = 0;
    for &place in &places {
        changed.extend_from_slice(&content[end..place]);
        changed.extend_from_slice(new.as_bytes());
        end = place + old.len();
    }
    changed.extend_from_slice(&content[end..]);
    *content = changed;
    Ok(places.len())
}

/// Whether every line ends with a carriage return before its line feed.
fn ends_lines_with_returns(content: &[u8]) -> bool {
    let mut feeds = memchr::memchr_iter(b'\n', content).peekable();
    feeds.peek().is_some() && feeds.all(|feed| feed > 0 && content[feed - 1] == b'\r')
}

/// Text with the line ends of the file: models see lines, not how they end.
fn fit(text: &str, with_returns: bool) -> Cow<'_, str> {
    if with_returns && !text.contains('\r') {
        return Cow::Owned(text.replace('\n', "\r\n"));
    }
    Cow::Borrowed(text)
}

/// Where a text begins: one behind the other to replace all of them; also those that overlap to see if it is one.
fn places(content: &[u8], old: &[u8], all: bool) -> Vec<usize> {
    let finder = Finder::new(old);
    let step = if all { old.len() } else { 1 };
    let mut places = Vec::new();
    let mut start = 0;
    while let Some(found) = content.get(start..).and_then(|rest| finder.find(rest)) {
        places.push(start + found);
        start += found + step;
        if !all && places.len() > 1000 {
            break;
        }
    }
    places
}

fn ambiguous(content: &[u8], places: &[usize]) -> String {
    let line = |place: &usize| (memchr::memchr_iter(b'\n', &content[..*place]).count() + 1).to_string();
    let mut lines: Vec<_> = places.iter().take(PLACES_SHOWN).map(line).collect();
    if places.len() > PLACES_SHOWN {
        lines.push("…".to_owned());
    }
    format!(
        "`old` stands there {} times (lines {}): give more of what is around the one you mean, or set `all`",
        places.len(),
        lines.join(", "),
    )
}
