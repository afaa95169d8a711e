//! [`Written`]: where in a file the characters of a text stand.
//!
//! In: a text, and the file from where it begins. Out: the place of each of its characters, also where the file breaks,
//! indents or escapes what the text does not. Start reading at [`Written::find`].

use std::str::Chars;

use saphyr_parser::ScalarStyle;

use super::tree::Place;

/// Where in a file the characters of a text stand.
#[derive(Debug, Clone)]
pub(super) struct Written {
    runs: Vec<Run>,
    /// How many characters there are up to the last one that is no white space, and with it.
    end: u32,
}

/// Characters that follow one another in the text as in the file.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// How many characters of the text come before it.
    before: u32,
    /// Where it begins.
    place: Place,
}

impl Run {
    fn at(&self, character: u32) -> Place {
        let column = self.place.column + character.saturating_sub(self.before);
        Place { column, ..self.place }
    }
}

impl Written {
    /// Looks a text up in the file, of which `rest` is what begins at the place; nothing if it is not written there with
    /// characters of its own. Breaks and indentations differ, and are white space here and there: the other characters
    /// are the same, in the same order.
    pub(super) fn find(text: &str, style: ScalarStyle, rest: Chars<'_>, place: Place) -> Option<Self> {
        let mut source = Source { rest, place, style };
        if matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
            source.next()?;
        }
        let mut found = Self { runs: Vec::new(), end: 0 };
        for (before, c) in (0_u32..).zip(text.chars()).filter(|(_, c)| !c.is_whitespace()) {
            let (place, _) = source.character().filter(|(_, there)| *there == c)?;
            if found.runs.last().is_none_or(|run| run.at(before) != place) {
                found.runs.push(Run { before, place });
            }
            found.end = before + 1;
        }
        (found.end > 0).then_some(found)
    }

    /// The place of a character, counted from 0; what comes after the last one stands right behind it.
    pub(super) fn place(&self, character: u32) -> Place {
        let character = character.min(self.end);
        let begun = self.runs.partition_point(|run| run.before <= character);
        self.runs[begun.saturating_sub(1)].at(character)
    }
}

/// The file from somewhere within a text on.
struct Source<'t> {
    rest: Chars<'t>,
    place: Place,
    style: ScalarStyle,
}

impl Source<'_> {
    /// The next character of the text that is no white space, and where it begins; nothing where its code stands for it.
    fn character(&mut self) -> Option<(Place, char)> {
        loop {
            let place = self.place;
            match (self.next()?, self.style) {
                ('\'', ScalarStyle::SingleQuoted) => return Some((place, self.next()?)),
                ('\\', ScalarStyle::DoubleQuoted) => match self.next()? {
                    c @ ('"' | '\\' | '/') => return Some((place, c)),
                    c if c.is_whitespace() || matches!(c, 'n' | 'r' | 't') => {}
                    _ => return None,
                },
                (c, _) if c.is_whitespace() => {}
                (c, _) => return Some((place, c)),
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        let ends_line = c == '\n' || (c == '\r' && !self.rest.as_str().starts_with('\n'));
        let Place { line, column } = self.place;
        self.place =
            if ends_line { Place { line: line + 1, column: 1 } } else { Place { line, column: column + 1 } };
        Some(c)
    }
}
