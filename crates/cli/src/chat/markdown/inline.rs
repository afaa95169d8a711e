//! [`Inline`]: the text of one block, as its pieces come.

use crate::render::{Ink, Line};

/// The text of one block.
#[derive(Default)]
pub(super) struct Inline {
    /// Its lines so far: more than one where the text breaks them itself.
    lines: Vec<Line>,
    inks: Vec<Ink>,
    /// Where links lead, and what stands there so far.
    links: Vec<(String, String)>,
}

impl Inline {
    /// Adds text in the ink that holds.
    pub(super) fn text(&mut self, text: &str) {
        if let Some((_, shown)) = self.links.last_mut() {
            shown.push_str(text);
        }
        self.inked(self.inks.last().copied().unwrap_or(Ink::Plain), text);
    }

    /// Adds text in an ink.
    pub(super) fn inked(&mut self, ink: Ink, text: &str) {
        let line = self.lines.pop().unwrap_or_default();
        self.lines.push(line.ink(ink, text));
    }

    /// Goes on in a new line.
    pub(super) fn line_break(&mut self) {
        self.lines.push(Line::new());
    }

    /// From here on text has this ink.
    pub(super) fn push(&mut self, ink: Ink) {
        self.inks.push(ink);
    }

    /// From here on it has the ink it had before.
    pub(super) fn pop(&mut self) {
        self.inks.pop();
    }

    /// A link begins.
    pub(super) fn link(&mut self, to: &str) {
        self.links.push((to.to_owned(), String::new()));
    }

    /// A link ends; where it leads is shown if its text does not say so.
    pub(super) fn end_link(&mut self) {
        let Some((to, shown)) = self.links.pop() else { return };
        if !to.is_empty() && to != shown && to.strip_prefix("mailto:") != Some(&shown) {
            self.inked(Ink::Faint, &format!(" ({to})"));
        }
    }

    /// The lines of the block; the next one begins.
    pub(super) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }
}
