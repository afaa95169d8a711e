//! Text cut down to what fits a line.

/// The most characters a description has.
pub(crate) const BRIEF_MAX: usize = 60;

/// The first [`BRIEF_MAX`] characters on one line; an ellipsis says that there is more.
pub(crate) fn brief(text: &str) -> String {
    let mut short = String::new();
    for (length, c) in text.trim_start().chars().enumerate() {
        if length == BRIEF_MAX {
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
