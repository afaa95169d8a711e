//! YAML to a tree, within bounds.
//!
//! In: text, at most [`SIZE_MAX`] bytes. Out: one [`Tree`] and the names in it that came twice, or what is wrong and where.
//! JSON is YAML, too; a file that is named as JSON is held to be no more than that. Words are read by the core schema of
//! YAML 1.2: `yes` and `on` are texts. Aliases are copies, and what they copy
//! counts against [`VALUES_MAX`]. Start reading at [`parse`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::Chars;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use serde::de::IgnoredAny;
use serde_json::{Number, Value};

use super::broken::{Bracket, Broken};
use super::tree::{Kind, Name, Place, Scalar, Tree};
use super::written::Written;

/// The largest file, in bytes.
pub const SIZE_MAX: usize = 1024 * 1024;

/// How deep a file may be nested.
pub const DEPTH_MAX: usize = 64;

/// How many values a file may have, with those that aliases repeat.
pub const VALUES_MAX: usize = 200_000;

/// What a text holds.
pub(super) struct Parsed {
    pub(super) tree: Tree,
    /// Names that came again in their map; what they came with is left out.
    pub(super) repeated: Vec<Broken>,
}

/// Reads a text that holds one document; as JSON, if its file says so.
pub(super) fn parse(text: &str, is_json: bool) -> Result<Parsed, Broken> {
    if text.len() > SIZE_MAX {
        let message = format!("the file is {} bytes long, at most {SIZE_MAX} are allowed", text.len());
        return Err(Broken::at(BEGINNING, message, "put parts of it into flows of their own"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut text = Cow::Borrowed(text);
    if is_json && !text.trim().is_empty() {
        is_json_as_well(&text)?;
        // Between its values JSON may have tabs where YAML does not; within them it has none.
        text = Cow::Owned(text.replace('\t', " "));
    }
    let events = Parser::new_from_str(&text);
    let mut loader = Loader {
        text: &text,
        rest: text.chars(),
        passed: 0,
        events,
        anchors: BTreeMap::new(),
        values: 0,
        open: Vec::new(),
        repeated: Vec::new(),
    };
    let found = loader.document();
    // YAML knows no pairs of surrogates, which JSON writes what is beyond the first plane with.
    if matches!(found, Err(Broken { is_syntax: true, .. }))
        && let Ok(value @ Value::Object(_)) = serde_json::from_str(&text)
    {
        return Ok(Parsed { tree: Tree::of_json(&value), repeated: Vec::new() });
    }
    found.map(|tree| Parsed { tree, repeated: loader.repeated })
}

fn is_json_as_well(text: &str) -> Result<(), Broken> {
    // Whatever is looked at in vain may be nested as deep as it likes; what is read is told of in better words.
    let Err(passed_over) = serde_json::from_str::<IgnoredAny>(text) else { return Ok(()) };
    let error = serde_json::from_str::<Value>(text).err().unwrap_or(passed_over);
    Err(Broken::json(&error, text))
}

const BEGINNING: Place = Place { line: 1, column: 1 };

struct Loader<'t> {
    text: &'t str,
    /// What of the text comes after so many characters.
    rest: Chars<'t>,
    passed: usize,
    events: Parser<'t, StrInput<'t>>,
    /// What aliases stand for, with how many values each has.
    anchors: BTreeMap<usize, (Tree, usize)>,
    values: usize,
    /// Where the lists and maps around begin, outermost first.
    open: Vec<Span>,
    repeated: Vec<Broken>,
}

impl<'t> Loader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Broken> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(Broken::yaml(&error, self.text, self.bracket())),
            None => Err(Broken::at(BEGINNING, "the file ends too early", "write the rest of it")),
        }
    }

    fn document(&mut self) -> Result<Tree, Broken> {
        let mut found = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => {
                    let help = "begin it with `antiphon: 1`";
                    return found.ok_or_else(|| Broken::at(BEGINNING, "the file is empty", help));
                }
                Event::DocumentStart(_) if found.is_some() => {
                    let help = "take out the `---` and what follows it";
                    return Err(broken(&span, "a second document begins here, and a file holds one", help));
                }
                Event::DocumentStart(_) => {
                    let (event, span) = self.next()?;
                    found = Some(self.tree(event, &span, 0)?);
                }
                _ => {}
            }
        }
    }

    fn tree(&mut self, event: Event<'t>, span: &Span, depth: usize) -> Result<Tree, Broken> {
        if depth > DEPTH_MAX {
            let message = format!("nested too deep, at most {DEPTH_MAX} levels are allowed");
            return Err(broken(span, message, "put parts of it into flows of their own"));
        }
        let before = self.values;
        self.count(1, span)?;
        let (anchor, kind) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                if tag.is_some() {
                    let help = "write the value as it is, without `!`";
                    return Err(broken(span, "tags are not supported", help));
                }
                (anchor, Kind::Scalar(self.scalar(&text, style, span)))
            }
            Event::SequenceStart(anchor, _) => {
                (anchor, Kind::List(self.within(span, |own| own.list(depth))?))
            }
            Event::MappingStart(anchor, _) => (anchor, Kind::Map(self.within(span, |own| own.map(depth))?)),
            _ => return Err(broken(span, "expected a value", "write a value")),
        };
        let tree = Tree { place: place(span), kind };
        if anchor > 0 {
            self.count(self.values - before, span)?;
            self.anchors.insert(anchor, (tree.clone(), self.values - before));
        }
        Ok(tree)
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, span: &Span) -> Scalar {
        let value = if style == ScalarStyle::Plain { plain(text) } else { text.into() };
        let rest = self.rest_from(span);
        let written = rest.and_then(|rest| Written::find(text, style, rest, place(span)));
        Scalar { text: text.to_owned(), value, written }
    }

    /// The text from where something begins; nothing if that is before what was asked for last.
    fn rest_from(&mut self, span: &Span) -> Option<Chars<'t>> {
        let ahead = span.start.index().checked_sub(self.passed)?;
        self.passed += ahead;
        if ahead > 0 {
            self.rest.nth(ahead - 1);
        }
        Some(self.rest.clone())
    }

    /// Reads what is in a list or a map, remembering where it began.
    fn within<T>(
        &mut self,
        span: &Span,
        read: impl FnOnce(&mut Self) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        self.open.push(*span);
        let found = read(self)?;
        self.open.pop();
        Ok(found)
    }

    /// The innermost bracket that is open.
    fn bracket(&self) -> Option<Bracket> {
        let bracket = |span: &Span| match self.text.chars().nth(span.start.index()) {
            Some(opens @ ('[' | '{')) => Some(Bracket { place: place(span), opens }),
            _ => None,
        };
        self.open.iter().rev().find_map(bracket)
    }

    fn count(&mut self, values: usize, span: &Span) -> Result<(), Broken> {
        self.values += values;
        if self.values > VALUES_MAX {
            let message = format!("the file has more than {VALUES_MAX} values, aliases counted");
            return Err(broken(
                span,
                message,
                "use fewer aliases, or put parts of it into flows of their own",
            ));
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: &Span) -> Result<Tree, Broken> {
        let found = self.anchors.get(&anchor).map(|(_, values)| *values);
        let values = found.ok_or_else(|| {
            broken(span, "the alias stands for something that contains it", "write out what is meant")
        })?;
        self.count(values, span)?;
        let mut tree = self.anchors[&anchor].0.clone();
        tree.place = place(span);
        if let Kind::Scalar(scalar) = &mut tree.kind {
            scalar.written = None;
        }
        Ok(tree)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Tree>, Broken> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.tree(event, &span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(Name, Tree)>, Broken> {
        let mut members: Vec<(Name, Tree)> = Vec::new();
        let mut seen = BTreeMap::new();
        loop {
            let (event, span) = self.next()?;
            let text = match event {
                Event::MappingEnd => return Ok(members),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => {
                    let help = "write a name, or put the text in quotes";
                    return Err(broken(&span, "the name of a member must be a text", help));
                }
            };
            let name = Name { place: place(&span), text };
            let first = seen.get(&name.text).map(|place: &Place| place.line);
            let (event, value) = self.next()?;
            let from = if is_empty_block(&event) { &span } else { &value };
            let tree = self.tree(event, from, depth + 1)?;
            if let Some(line) = first {
                let message = format!("`{}` is there twice, first in line {line}", name.text);
                self.repeated.push(broken(&span, message, "give one of them another name"));
                continue;
            }
            seen.insert(name.text.clone(), name.place);
            members.push((name, tree));
        }
    }
}

fn place(span: &Span) -> Place {
    Place { line: span.start.line() as u32, column: span.start.col() as u32 + 1 }
}

fn broken(span: &Span, message: impl Into<String>, help: &str) -> Broken {
    Broken::at(place(span), message, help)
}

/// Whether it is a block without a text, which the parser lets begin where what follows it does.
fn is_empty_block(event: &Event<'_>) -> bool {
    let Event::Scalar(text, style, ..) = event else { return false };
    matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) && text.trim().is_empty()
}

/// What a word without quotes stands for.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let radix =
        |digits: &str, radix| i64::from_str_radix(digits, radix).ok().filter(|n| *n >= 0).map(Number::from);
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Ok(int) = text.parse::<i64>() {
        return Some(int.into());
    }
    // Rust also reads `inf`, `nan` and the like, which are words here.
    let looks_right =
        text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
            && text.bytes().any(|b| b.is_ascii_digit());
    looks_right.then(|| text.parse::<f64>().ok().and_then(Number::from_f64)).flatten()
}
