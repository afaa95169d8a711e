//! [`Said`]: a conversation as a model is told it, shared by all who hold it.

use std::sync::Arc;

use imbl::Vector;
use serde::{Serialize, Serializer};

use crate::Message;

/// What was said, the oldest first. A clone shares it; adding to either of the two then costs what is added, however
/// long it is.
///
/// ```
/// use antiphon_agent::{Content, Message, Said};
///
/// let user = |text: &str| Message::User { content: Content::Text(text.to_owned()) };
/// let mut said = Said::from_iter([user("hello")]);
/// let before = said.clone();
/// said.push(user("again"));
/// assert_eq!((before.len(), said.len()), (1, 2));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    messages: Vector<Arc<Message>>,
    weight: usize,
}

impl Said {
    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The messages, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.messages.iter().map(|message| &**message)
    }

    /// Adds a message to the end.
    pub fn push(&mut self, message: Message) {
        self.weight += message.weight();
        self.messages.push_back(Arc::new(message));
    }

    /// Takes messages away from the end until there are no more than so many.
    pub fn truncate(&mut self, len: usize) {
        while self.messages.len() > len {
            let gone = self.messages.pop_back().expect("there are more than none");
            self.weight -= gone.weight();
        }
    }

    /// About how many bytes all of it is for a model, which is known without a look at it.
    pub fn weight(&self) -> usize {
        self.weight
    }
}

impl Extend<Message> for Said {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

impl FromIterator<Message> for Said {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        let mut said = Self::default();
        said.extend(messages);
        said
    }
}

impl From<Vec<Message>> for Said {
    fn from(messages: Vec<Message>) -> Self {
        Self::from_iter(messages)
    }
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Content;

    #[test]
    fn what_it_weighs_is_what_its_messages_weigh_and_a_clone_stays_as_it_was() {
        let user = |nth: usize| Message::User { content: Content::Text("a".repeat(nth)) };
        let mut said = Said::default();
        let mut held = Vec::new();
        for nth in 0..300 {
            said.push(user(nth));
            if nth % 7 == 0 {
                said.truncate(said.len() - 2.min(said.len()));
            }
            held.push((said.clone(), said.iter().cloned().collect::<Vec<_>>()));
        }
        for (clone, was) in held {
            assert_eq!(clone.weight(), was.iter().map(Message::weight).sum::<usize>());
            assert_eq!(clone, Said::from(was));
        }
    }
}
