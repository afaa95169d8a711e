//! Texts and payloads cut down to a line that people read.

use antiphon_event::Json;

/// The most characters a description has.
const BRIEF_MAX: usize = 60;

/// The most characters that are shown of a payload.
const PREVIEW_MAX: usize = 120;

/// The beginning of a text, for a description.
pub(crate) fn brief(text: &str) -> String {
    cut(text, BRIEF_MAX)
}

/// The beginning of a payload as a person would read it, for a row in a table; absent if it is `null`.
pub(crate) fn preview(json: &Json) -> Option<String> {
    (!json.is_null()).then(|| cut(json.to_text().trim_end(), PREVIEW_MAX))
}

/// The beginning of code or of what it printed, as of a payload; absent if there is nothing.
pub(crate) fn excerpt(text: &str) -> Option<String> {
    let text = text.trim_end();
    (!text.is_empty()).then(|| cut(text, PREVIEW_MAX))
}

/// The first characters on one line; an ellipsis says that there is more.
fn cut(text: &str, max: usize) -> String {
    let mut short = String::new();
    for (length, c) in text.trim_start().chars().enumerate() {
        if length == max {
            short.pop();
            short.push('…');
            break;
        }
        short.push(if c.is_control() { ' ' } else { c });
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!(brief("short"), "short");
        assert_eq!(brief("\n two\nlines\t"), "two lines ");
        let exact = "é".repeat(BRIEF_MAX);
        assert_eq!(brief(&exact), exact);
        assert_eq!(brief(&"é".repeat(BRIEF_MAX + 1)), "é".repeat(BRIEF_MAX - 1) + "…");
    }
}
