//! [`prose`]: what a model said around its code, which is shown by itself.

/// The lines of a text outside of fenced blocks.
pub(crate) fn prose(text: &str) -> String {
    let mut inside = false;
    let outside = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    outside.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_blocks_are_left_out() {
        assert_eq!(prose("Look:\n```js\n1 + 1\n```\nThere."), "Look:\nThere.");
        assert_eq!(prose("no code"), "no code");
    }
}
