//! [`Broken`]: why a text is no YAML or no JSON, where, and what to do about it.
//!
//! In: what a parser says. Out: a place that is in the file, and what helps. Start reading at [`Broken::yaml`].

use saphyr_parser::ScanError;

use super::tree::Place;

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) place: Place,
    pub(super) message: String,
    pub(super) help: String,
    /// Whether it is no YAML at all.
    pub(super) is_syntax: bool,
}

/// A bracket that was opened and not closed yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    pub(super) place: Place,
    pub(super) opens: char,
}

/// What to do about what the parser of YAML says, by a part of it; the first that is in it counts.
const YAML: &[(&str, &str)] = &[
    (" tab", "indent with spaces"),
    ("tabs", "indent with spaces"),
    ("quoted scalar, found unexpected", "close the quote that begins here"),
    ("hexadecimal", ESCAPE),
    ("escape", ESCAPE),
    ("trailing content after", "take out what follows the closing quote, or put all of it in quotes"),
    (
        "unknown anchor",
        "mark what is meant with `&` and this name before it; a text that begins with `*` stands in quotes",
    ),
    (
        "mapping values are not allowed",
        "put what is within on lines of its own, after a name and its colon; a text with a colon stands in quotes",
    ),
    ("simple key", "write a colon and a space after the name: `name: value`"),
    ("invalid indentation in quoted", "indent the text, or close its quote"),
    ("block", INDENT),
    ("indent", INDENT),
    ("misplaced bracket", "take the bracket out; a text with brackets stands in quotes"),
    ("document", "take out what follows the first document"),
    ("unexpected character", "a text that begins with this character stands in quotes"),
    ("unprintable", "take it out: a flow is written as text"),
    ("tag", "write the value as it is, without `!`"),
    ("", "texts with special characters stand in quotes"),
];

const ESCAPE: &str = r"for a backslash write `\\`, or put the text in single quotes";
const INDENT: &str = "let what belongs together begin in the same column";

/// What to do about what the parser of JSON says.
const JSON: &[(&str, &str)] = &[
    ("trailing comma", "take the comma out"),
    ("trailing characters", "take out what follows the value"),
    ("key must be a string", "put the name in double quotes"),
    ("EOF", "close what is open"),
    ("control character", r"write it as an escape, such as `\n` or `\t`"),
    ("escape", r"for a backslash write `\\`"),
    ("expected `,`", "put a comma in between, or close what is open"),
    ("expected `:`", "put a colon after the name"),
    ("", "texts stand in double quotes, and there are no comments; a file that ends in `.yaml` may say more"),
];

fn help_of(said: &str, table: &[(&str, &str)]) -> String {
    let row = table.iter().find(|(part, _)| said.contains(part));
    row.map(|(_, help)| (*help).to_owned()).unwrap_or_default()
}

impl Broken {
    /// What is wrong with YAML as such or with what a flow may have of it.
    pub(super) fn at(place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place, message: message.into(), help: help.into(), is_syntax: false }
    }

    /// What the parser of YAML says of a text in which this bracket, if any, was open.
    pub(super) fn yaml(error: &ScanError, text: &str, open: Option<Bracket>) -> Self {
        let (mark, said) = (error.marker(), error.info());
        let found = Place { line: mark.line() as u32, column: mark.col() as u32 + 1 };
        let mut place = within(found, text);
        if said.contains("tab")
            && let Some(tab) = line(text, place).chars().position(|c| c == '\t')
        {
            place.column = tab as u32 + 1;
        }
        let Some(bracket) = open.filter(|_| said.contains("flow") || said.contains("eof")) else {
            return Self { help: help_of(said, YAML), ..Self::syntax(place, format!("no YAML: {said}")) };
        };
        let Bracket { place: opened, opens } = bracket;
        let closes = if opens == '{' { '}' } else { ']' };
        if found.line > place.line || said.contains("indentation") {
            let message = format!("no YAML: this `{opens}` is not closed");
            return Self { help: format!("add a `{closes}`"), ..Self::syntax(opened, message) };
        }
        let help =
            format!("put a comma before it, or close the `{opens}` of line {} with `{closes}`", opened.line);
        Self { help, ..Self::syntax(place, format!("no YAML: {said}")) }
    }

    /// What the parser of JSON says.
    pub(super) fn json(error: &serde_json::Error, text: &str) -> Self {
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        let found = Place { line: error.line() as u32, column: 1 };
        // It counts bytes.
        let before = line(text, found).char_indices().filter(|(at, _)| *at < error.column()).count();
        let place = within(Place { column: before.max(1) as u32, ..found }, text);
        Self { help: help_of(said, JSON), ..Self::syntax(place, format!("no JSON: {said}")) }
    }

    fn syntax(place: Place, message: String) -> Self {
        Self { is_syntax: true, ..Self::at(place, message, "") }
    }
}

fn line(text: &str, place: Place) -> &str {
    text.lines().nth((place.line as usize).saturating_sub(1)).unwrap_or_default()
}

/// The place, or the end of the last line if it is behind it.
fn within(place: Place, text: &str) -> Place {
    let lines = text.lines().count() as u32;
    if place.line <= lines {
        return place;
    }
    let last = Place { line: lines.max(1), column: 1 };
    Place { column: line(text, last).chars().count().max(1) as u32, ..last }
}
