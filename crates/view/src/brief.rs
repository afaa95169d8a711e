//! Texts and sums cut down to what people read.

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

/// A sum of prices without what adding up left behind the ninth decimal, so that sums of the same prices in
/// another order are equal.
pub(crate) fn dollars(sum: f64) -> f64 {
    (sum * 1e9).round() / 1e9
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

    #[test]
    fn sums_do_not_depend_on_the_order() {
        assert_eq!(dollars(0.1 + 0.2 + 0.3).to_bits(), dollars(0.3 + 0.2 + 0.1).to_bits());
    }
}
