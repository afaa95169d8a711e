//! [`Text`]: text that grows at its end while readers hold on to what it was.

use std::fmt;
use std::sync::Arc;

use imbl::Vector;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How much text is copied at most when a text that a reader holds is added to.
const TAIL_MAX: usize = 1024;

/// Text in pieces. Adding to the end costs the same however long it is, also when a clone is held.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// Everything but the end, never changed again.
    pieces: Option<Box<Vector<Arc<str>>>>,
    tail: String,
    len: usize,
}

impl Text {
    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds to the end.
    pub fn push_str(&mut self, more: &str) {
        self.len += more.len();
        if self.tail.len() + more.len() <= TAIL_MAX {
            self.tail.push_str(more);
            return;
        }
        self.seal();
        if more.len() > TAIL_MAX {
            self.pieces.get_or_insert_default().push_back(more.into());
        } else {
            self.tail.push_str(more);
        }
    }

    /// The text piece by piece.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        let sealed = self.pieces.iter().flat_map(|pieces| pieces.iter().map(|piece| &**piece));
        sealed.chain((!self.tail.is_empty()).then_some(&*self.tail))
    }

    /// The part of the text between two byte positions, both on character boundaries.
    pub fn slice(&self, from: usize, to: usize) -> String {
        let mut part = String::with_capacity(to.saturating_sub(from));
        let mut start = 0;
        for piece in self.pieces() {
            let (first, last) = (from.max(start), to.min(start + piece.len()));
            if first < last {
                part.push_str(&piece[first - start..last - start]);
            }
            start += piece.len();
            if start >= to {
                break;
            }
        }
        part
    }

    fn seal(&mut self) {
        if !self.tail.is_empty() {
            let piece = self.tail.as_str().into();
            self.pieces.get_or_insert_default().push_back(piece);
            self.tail.clear();
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        let mut whole = Self::default();
        whole.push_str(text);
        whole
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::from(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_what_it_was_however_much_is_added() {
        let mut text = Text::default();
        let mut whole = String::new();
        let mut held = Vec::new();
        for n in 0..2000 {
            let piece = format!("{n} é");
            text.push_str(&piece);
            whole.push_str(&piece);
            held.push((text.clone(), whole.clone()));
        }
        for (clone, was) in held {
            assert_eq!(clone.to_string(), was);
            assert_eq!(clone.len(), was.len());
        }
        assert_eq!(text.slice(900, 1500), &whole[900..1500]);
    }
}
