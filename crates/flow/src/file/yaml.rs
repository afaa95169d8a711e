//! YAML to a tree, within bounds.
//!
//! In: text, at most [`SIZE_MAX`] bytes. Out: one [`Tree`] and the names in it that came twice, or what is wrong and where. JSON is YAML, too. Words
//! are read by the core schema of YAML 1.2: `yes` and `on` are texts. Aliases are copies, and what they copy
//! counts against [`VALUES_MAX`]. Start reading at [`parse`].

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::{Number, Value};

use super::tree::{Kind, Name, Place, Scalar, Tree};

/// The largest file, in bytes.
pub const SIZE_MAX: usize = 1024 * 1024;

/// How deep a file may be nested.
pub const DEPTH_MAX: usize = 64;

/// How many values a file may have, with those that aliases repeat.
pub const VALUES_MAX: usize = 200_000;

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) place: Place,
    pub(super) message: String,
    /// Whether it is no YAML at all.
    is_syntax: bool,
}

impl Broken {
    fn at(place: Place, message: String) -> Self {
        Self { place, message, is_syntax: false }
    }
}

/// What a text holds.
pub(super) struct Parsed {
    pub(super) tree: Tree,
    /// Names that came again in their map; what they came with is left out.
    pub(super) repeated: Vec<Broken>,
}

/// Reads a text that holds one document.
pub(super) fn parse(text: &str) -> Result<Parsed, Broken> {
    if text.len() > SIZE_MAX {
        let message = format!("the file is {} bytes long, at most {SIZE_MAX} are allowed", text.len());
        return Err(Broken::at(Place::default(), message));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let events = Parser::new_from_str(text);
    let mut loader = Loader { events, anchors: BTreeMap::new(), values: 0, repeated: Vec::new() };
    let found = loader.document();
    // YAML knows no pairs of surrogates, which JSON writes what is beyond the first plane with.
    if matches!(found, Err(Broken { is_syntax: true, .. }))
        && let Ok(value @ Value::Object(_)) = serde_json::from_str(text)
    {
        return Ok(Parsed { tree: Tree::of_json(&value), repeated: Vec::new() });
    }
    found.map(|tree| Parsed { tree, repeated: loader.repeated })
}

struct Loader<'t> {
    events: Parser<'t, StrInput<'t>>,
    /// What aliases stand for, with how many values each has.
    anchors: BTreeMap<usize, (Tree, usize)>,
    values: usize,
    repeated: Vec<Broken>,
}

impl<'t> Loader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Broken> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(scan_error(&error)),
            None => Err(Broken::at(Place::default(), "the file ends too early".to_owned())),
        }
    }

    fn document(&mut self) -> Result<Tree, Broken> {
        let mut found = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => {
                    let empty = || Broken::at(Place { line: 1, column: 1 }, "the file is empty".to_owned());
                    return found.ok_or_else(empty);
                }
                Event::DocumentStart(_) if found.is_some() => {
                    return Err(broken(&span, "a file holds one flow: take out what follows `---`"));
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
            return Err(broken(span, &format!("nested too deep, at most {DEPTH_MAX} levels are allowed")));
        }
        let before = self.values;
        self.count(1, span)?;
        let (anchor, kind) = match event {
            Event::Alias(anchor) => return self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                if tag.is_some() {
                    return Err(broken(span, "tags are not supported: write the value as it is"));
                }
                (anchor, Kind::Scalar(scalar(&text, style, span)))
            }
            Event::SequenceStart(anchor, _) => (anchor, Kind::List(self.list(depth)?)),
            Event::MappingStart(anchor, _) => (anchor, Kind::Map(self.map(depth)?)),
            _ => return Err(broken(span, "expected a value")),
        };
        let tree = Tree { place: place(span), kind };
        if anchor > 0 {
            self.count(self.values - before, span)?;
            self.anchors.insert(anchor, (tree.clone(), self.values - before));
        }
        Ok(tree)
    }

    fn count(&mut self, values: usize, span: &Span) -> Result<(), Broken> {
        self.values += values;
        if self.values > VALUES_MAX {
            return Err(broken(
                span,
                &format!("the file has more than {VALUES_MAX} values, aliases counted"),
            ));
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: &Span) -> Result<Tree, Broken> {
        let found = self.anchors.get(&anchor).map(|(_, values)| *values);
        let values = found.ok_or_else(|| broken(span, "the alias stands for something that contains it"))?;
        self.count(values, span)?;
        let mut tree = self.anchors[&anchor].0.clone();
        tree.place = place(span);
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
                _ => return Err(broken(&span, "the name of a member must be a text")),
            };
            let name = Name { place: place(&span), text };
            let first = seen.get(&name.text).map(|place: &Place| place.line);
            let (event, value) = self.next()?;
            let tree = self.tree(event, &value, depth + 1)?;
            if let Some(line) = first {
                let message = format!("`{}` is there twice, first in line {line}", name.text);
                self.repeated.push(broken(&span, &message));
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

fn broken(span: &Span, message: &str) -> Broken {
    Broken::at(place(span), message.to_owned())
}

fn scan_error(error: &ScanError) -> Broken {
    let mark = error.marker();
    let place = Place { line: mark.line() as u32, column: mark.col() as u32 + 1 };
    Broken { place, message: format!("no YAML: {}", error.info()), is_syntax: true }
}

fn scalar(text: &str, style: ScalarStyle, span: &Span) -> Scalar {
    let value = if style == ScalarStyle::Plain { plain(text) } else { text.into() };
    let quotes = match style {
        ScalarStyle::Plain => Some(0),
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Some(1),
        ScalarStyle::Literal | ScalarStyle::Folded => None,
    };
    // Escapes and line breaks make the text in the file longer than what it stands for.
    let to_the_letter = |quotes: &u32| span.len() == text.chars().count() + 2 * *quotes as usize;
    Scalar { text: text.to_owned(), value, lead: quotes.filter(to_the_letter) }
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
