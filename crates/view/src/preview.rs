//! The beginning of a payload, on one line, for a row in a table.

use antiphon_event::Json;

/// How many characters of a payload are shown.
const PREVIEW_MAX: usize = 120;

/// The beginning of a payload as a person would read it; absent if it is `null`.
pub(crate) fn preview(json: &Json) -> Option<String> {
    (!json.is_null()).then(|| first_words(&json.to_text()))
}

/// The beginning of a text, on one line, with an ellipsis if there is more.
pub(crate) fn first_words(text: &str) -> String {
    let mut rest = text.trim().chars();
    let mut shown: String =
        rest.by_ref().take(PREVIEW_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}
