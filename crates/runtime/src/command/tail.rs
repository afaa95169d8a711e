//! [`Tail`]: the last of what a program writes, without any part of a secret.
//!
//! Where the text is cut, the rest of a secret may stand, by which nobody would know it. So more is kept than is told.

use antiphon_event::secret::Secrets;

/// By how much bytes grow at most that are read as text and are none.
const UNREADABLE: usize = '\u{fffd}'.len_utf8();

/// The end of a text that comes in pieces.
pub(super) struct Tail<'s> {
    secrets: &'s Secrets,
    /// How many bytes of it are told.
    told: usize,
    kept: Vec<u8>,
    is_cut: bool,
}

impl<'s> Tail<'s> {
    pub(super) fn new(told: usize, secrets: &'s Secrets) -> Self {
        Self { secrets, told, kept: Vec::new(), is_cut: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        let wanted = self.told + self.margin();
        if self.kept.len() > 2 * wanted {
            self.kept.drain(..self.kept.len() - wanted);
            self.is_cut = true;
        }
    }

    /// How long the rest of a secret may be at the beginning of what is kept.
    fn margin(&self) -> usize {
        UNREADABLE * self.secrets.longest()
    }

    /// The end of the text.
    pub(super) fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.kept);
        let hidden = self.secrets.hide(&text);
        let doubtful = if self.is_cut { self.margin() } else { 0 };
        let start = hidden.len().saturating_sub(self.told).max(doubtful);
        hidden[hidden.ceil_char_boundary(start)..].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_secret_is_left_wherever_it_is_cut() {
        for secret in ["abcdefghijklmnop", "äöüßéèêëñçåæøïîôû"] {
            let secrets = Secrets::of([("API_TOKEN".to_owned(), secret.to_owned())]);
            for after in 0..400 {
                let mut tail = Tail::new(50, &secrets);
                let written = format!("{}{secret}{}", ".".repeat(300), ".".repeat(after));
                for byte in written.bytes() {
                    tail.push(&[byte]);
                }
                let text = tail.text();
                assert!(!text.contains(|letter| secret.contains(letter)), "{after} after it: {text}");
                assert!(text.len() <= 50, "{text}");
                assert!(text.ends_with(&".".repeat(after.min(20))), "{after} after it: {text}");
            }
        }
    }

    #[test]
    fn a_text_that_is_short_is_told_whole() {
        let secrets = Secrets::of([("API_TOKEN".to_owned(), "abcdefghijklmnop".to_owned())]);
        let mut tail = Tail::new(50, &secrets);
        tail.push(b"it is abcdefghijklmnop, ");
        tail.push(b"or so");
        assert_eq!(tail.text(), "it is $API_TOKEN, or so");
    }
}
