//! Reads one word of a shell line: its quotes, its wildcards, what it substitutes.
//!
//! In: a [`Reader`] at the start of a word. Out: a [`Word`]. Start reading at [`Reader::word`].

use super::super::{DEPTH_MAX, Word};
use super::{Read, Reader};

impl<'a> Reader<'a> {
    /// A word up to what ends it; empty if that comes at once.
    pub(super) fn word(&mut self) -> Read<'a, Word> {
        let start = self.at;
        let mut word = Word::default();
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' | '<' | '>' => break,
                '(' => return self.stop("it is not understood"),
                '\\' => self.escaped(&mut word)?,
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '$' => self.dollar(&mut word, Quotes::Outside)?,
                '`' => self.backticks(&mut word)?,
                '*' => {
                    word.stars.push(word.text.len());
                    self.literal(&mut word, c);
                }
                '?' | '[' | '{' => self.odd(&mut word, c),
                '~' if self.at == start || word.text.ends_with([':', '=']) => self.odd(&mut word, c),
                c => self.literal(&mut word, c),
            }
        }
        Ok(word)
    }

    fn literal(&mut self, word: &mut Word, c: char) {
        word.text.push(c);
        self.at += c.len_utf8();
    }

    fn odd(&mut self, word: &mut Word, c: char) {
        word.odd = true;
        self.literal(word, c);
    }

    /// A backslash outside of quotes.
    fn escaped(&mut self, word: &mut Word) -> Read<'a> {
        word.quoted = true;
        if self.take("\\\n") {
            return Ok(());
        }
        self.at += 1;
        match self.next() {
            Some(c) => self.literal(word, c),
            None => return self.stop("the line is not complete"),
        }
        Ok(())
    }

    fn single(&mut self, word: &mut Word) -> Read<'a> {
        word.quoted = true;
        let Some((inside, _)) = self.rest()[1..].split_once('\'') else {
            return self.stop("a quote is not closed");
        };
        word.text.push_str(inside);
        self.at += inside.len() + 2;
        Ok(())
    }

    fn double(&mut self, word: &mut Word) -> Read<'a> {
        word.quoted = true;
        let from = self.at;
        self.at += 1;
        loop {
            match self.next() {
                None => {
                    self.at = from;
                    return self.stop("a quote is not closed");
                }
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') if self.take("\\\n") => {}
                Some('\\') => {
                    let escapes = self.rest()[1..].starts_with(['$', '`', '"', '\\']);
                    self.at += usize::from(escapes);
                    if let Some(c) = self.next() {
                        self.literal(word, c);
                    }
                }
                Some('$') => self.dollar(word, Quotes::Inside)?,
                Some('`') => self.backticks(word)?,
                Some(c) => self.literal(word, c),
            }
        }
    }

    /// What begins with `$`.
    fn dollar(&mut self, word: &mut Word, quotes: Quotes) -> Read<'a> {
        let from = self.at;
        let after = &self.rest()[1..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match after.chars().next() {
            Some('(') if !after.starts_with("((") => {
                self.at += 2;
                word.dynamic = true;
                return self.nested("a substitution", from);
            }
            Some('{') => {
                let name = after[1..].find(|c| !is_name(c)).unwrap_or(after.len() - 1);
                if name == 0 || !after[1 + name..].starts_with('}') {
                    return self.stop("it is not understood");
                }
                self.at += name + 3;
            }
            Some('(' | '[') => return self.stop("it is not understood"),
            Some('\'' | '"') if quotes == Quotes::Outside => return self.stop("it is not understood"),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.at += 1 + after.find(|c| !is_name(c)).unwrap_or(after.len());
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => self.at += 2,
            Some(_) | None => {
                self.literal(word, '$');
                return Ok(());
            }
        }
        word.dynamic = true;
        Ok(())
    }

    /// A substitution in backticks, without backslashes in it.
    fn backticks(&mut self, word: &mut Word) -> Read<'a> {
        let Some((inside, _)) = self.rest()[1..].split_once('`') else {
            return self.stop("a quote is not closed");
        };
        if inside.contains('\\') || self.depth == DEPTH_MAX {
            return self.stop("it is not understood");
        }
        let from = self.at;
        let mut inner = Reader::new(inside);
        inner.depth = self.depth + 1;
        let read = inner.all();
        self.line.commands.append(&mut inner.line.commands);
        self.line.beyond.append(&mut inner.line.beyond);
        read?;
        self.at += inside.len() + 2;
        self.beyond("a substitution", from);
        word.dynamic = true;
        Ok(())
    }
}

/// Where a `$` stands.
#[derive(Clone, Copy, PartialEq)]
enum Quotes {
    Inside,
    Outside,
}
