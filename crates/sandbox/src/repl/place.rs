//! [`placed`]: where in the code of which turn something was thrown.
//!
//! In: a message and a stack, with a NUL between them. Out: the message with its turn and line. Start reading at
//! [`placed`].

/// The message, with the innermost place in the code of a turn if the stack has one.
pub(super) fn placed(text: &str) -> String {
    let (message, stack) = text.split_once('\0').unwrap_or((text, ""));
    match stack.lines().find_map(place) {
        // The first line of the file is the wrapper's.
        Some((turn, line)) => format!("{message} (turn {turn}, line {})", line.saturating_sub(1).max(1)),
        None => message.to_owned(),
    }
}

/// The turn and line of a frame such as `    at f (turn3:2:7)`.
fn place(frame: &str) -> Option<(u64, u64)> {
    let (_, from) = frame.rsplit_once("turn")?;
    let mut parts = from.trim_end_matches(')').split(':');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::placed;

    #[test]
    fn a_message_says_where() {
        for (text, shown) in [
            ("Error: no\0    at f (turn3:4:7)\n    at <anonymous> (turn9:1:1)", "Error: no (turn 3, line 3)"),
            ("Error: no\0    at g (prelude:4:7)\n    at turn2:5", "Error: no (turn 2, line 4)"),
            ("Error: no\0    at return (native)", "Error: no"),
            ("Error: no", "Error: no"),
        ] {
            assert_eq!(placed(text), shown);
        }
    }
}
