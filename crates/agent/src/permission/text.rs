//! How what an agent wants to do is shown to a person: on one line, cut, with nothing that cannot be seen.

/// How many characters of a text are shown.
const SHOWN_MAX: usize = 120;

/// A text that came from outside, safe to show.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars().take(SHOWN_MAX) {
        let is_plain = c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric();
        if is_plain {
            out.push(c);
        } else {
            out.extend(c.escape_default());
        }
    }
    if text.trim().chars().nth(SHOWN_MAX).is_some() {
        out.push('…');
    }
    out
}
