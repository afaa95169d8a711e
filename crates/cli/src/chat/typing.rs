//! [`Typing`]: what a person types while a turn runs.

use super::keys::{Key, Keys};
use crate::render::{Ink, Line};

/// How many characters may be typed.
const TYPED_MAX: usize = 100_000;

/// A line that is being typed while something else is shown.
pub(super) struct Typing {
    /// Nothing while somebody else reads the keyboard.
    keys: Option<Keys>,
    text: String,
}

/// What a person wants with the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entered {
    /// The running turn is to hear it.
    Steer(String),
    /// It begins the next turn.
    Queue(String),
}

impl Typing {
    pub(super) fn begin() -> Self {
        Self { keys: Some(Keys::overhear()), text: String::new() }
    }

    /// Leaves the keyboard to others until it is [taken up](Self::go_on) again; what was typed is kept. The lines that
    /// were entered and nobody has heard.
    pub(super) fn rest(&mut self) -> Vec<String> {
        let left = self.keys.take().map(Keys::finish).unwrap_or_default();
        let entered = left.into_iter().filter_map(|key| self.press(key));
        entered
            .map(|entered| match entered {
                Entered::Steer(text) | Entered::Queue(text) => text,
            })
            .collect()
    }

    pub(super) fn go_on(&mut self) {
        self.keys.get_or_insert_with(Keys::overhear);
    }

    /// The next key; never one while others read the keyboard.
    pub(super) async fn next(&mut self) -> Key {
        if let Some(keys) = &mut self.keys
            && let Some(key) = keys.next().await
        {
            return key;
        }
        std::future::pending().await
    }

    /// Takes a key; what is to be done if it ends the line.
    pub(super) fn press(&mut self, key: Key) -> Option<Entered> {
        match key {
            Key::Letter(letter) if self.text.len() < TYPED_MAX => self.text.push(letter),
            Key::Letter(_) => {}
            Key::Back => drop(self.text.pop()),
            Key::Wipe | Key::Leave => self.text.clear(),
            Key::Enter => return self.line().map(Entered::Steer),
            Key::Tab => return self.line().map(Entered::Queue),
        }
        None
    }

    fn line(&mut self) -> Option<String> {
        let text = std::mem::take(&mut self.text);
        (!text.trim().is_empty()).then_some(text)
    }

    /// What was typed and not entered.
    pub(super) fn left(self) -> String {
        self.text
    }

    /// The line as it is shown, if there is something on it.
    pub(super) fn shown(&self, width: usize) -> Option<Line> {
        if self.text.is_empty() {
            return None;
        }
        let room = width.saturating_sub(3).max(1);
        let typed = self.text.chars().count();
        let end: String = self.text.chars().skip(typed.saturating_sub(room)).collect();
        Some(Line::new().ink(Ink::Person, "> ").plain(end).ink(Ink::Faint, "▏"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &[Key], entered: Option<Entered>, left: &str) {
        let mut typing = Typing { keys: None, text: String::new() };
        let mut last = None;
        for key in keys {
            last = typing.press(*key);
        }
        assert_eq!((last, typing.left()), (entered, left.to_owned()), "{keys:?}");
    }

    #[test]
    fn enter_steers_tab_queues_and_an_empty_line_is_nothing() {
        let (h, i) = (Key::Letter('h'), Key::Letter('i'));
        check(&[h, i, Key::Enter], Some(Entered::Steer("hi".to_owned())), "");
        check(&[h, i, Key::Tab], Some(Entered::Queue("hi".to_owned())), "");
        check(&[Key::Enter], None, "");
        check(&[h, i, Key::Back], None, "h");
        check(&[h, i, Key::Wipe], None, "");
    }
}
