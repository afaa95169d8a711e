//! Nodes as they are read: calls looked up and bounded, and the words for what was not expected.

use antiphon_event::near::did_you_mean;
use regex::Regex;
use serde_json::Value;

use super::call::pattern;
use super::function::{Form, Function, ROWS};
use super::parse::Parsed;
use super::token::Word;
use super::tree::{Kind, Node, Shape};
use super::{ParseError, Root};

/// How high a tree may be; a chain of operators is as high as it is long.
pub(super) const HEIGHT_MAX: u32 = 128;

/// A node, unless it makes the tree too high.
pub(super) fn bounded(at: u32, kind: Kind) -> Parsed {
    let node = Node::new(at, kind);
    if node.height > HEIGHT_MAX {
        let message = format!("too many steps one after another, at most {HEIGHT_MAX} are allowed");
        return Err(ParseError::at(at, &message));
    }
    Ok(node)
}

/// `of[by]`, a member if the name is known.
pub(super) fn indexed(at: u32, of: Node, by: Node) -> Parsed {
    let (of, by) = (Box::new(of), Box::new(by));
    match by.kind {
        Kind::Literal(Value::String(name)) => bounded(at, Kind::Member { of, name }),
        _ => bounded(at, Kind::Index { of, by }),
    }
}

/// The function that a call means, if it exists and takes as many arguments; and a pattern that stands in the text.
pub(super) fn callee(
    at: u32,
    form: Form,
    name: &str,
    arguments: &[Node],
) -> Result<(Function, Option<Regex>), ParseError> {
    let Some(row) = ROWS.iter().find(|row| row.name == name && row.form.allows(form)) else {
        return Err(ParseError::at(at, &unknown_function(name, form)));
    };
    if !(row.least..=row.most).contains(&arguments.len()) {
        let own = usize::from(form == Form::Member);
        let message = format!(
            "`{name}` takes {}, found {}",
            counted(row.least - own, row.most.saturating_sub(own)),
            arguments.len() - own
        );
        return Err(ParseError::at(at, &message));
    }
    let compiled = match arguments {
        [_, Node { kind: Kind::Literal(Value::String(text)), at, .. }]
            if row.function == Function::Matches =>
        {
            Some(pattern(text).map_err(|message| ParseError::at(*at, &message))?)
        }
        _ => None,
    };
    Ok((row.function, compiled))
}

pub(super) fn roots() -> String {
    Root::ALL.iter().map(|root| root.as_str()).collect::<Vec<_>>().join(", ")
}

fn unknown_function(name: &str, form: Form) -> String {
    if let Some(row) = ROWS.iter().find(|row| row.name == name) {
        let how = match row.form {
            Form::Global => format!("{name}(x)"),
            Form::Member | Form::Both => format!("x.{name}(…)"),
            Form::Math => format!("math.{name}(x)"),
        };
        return format!("`{name}` is called as `{how}`");
    }
    if form == Form::Member && Shape::of(name, 2).is_some() {
        return format!("`{name}` begins with the name of its variable: `list.{name}(x, …)`");
    }
    let loops = ["all", "exists", "exists_one", "map", "filter", "has"];
    let near = did_you_mean(name, ROWS.iter().map(|row| row.name).chain(loops));
    format!("unknown function `{name}`{near}")
}

fn counted(least: usize, most: usize) -> String {
    let plural = |count: usize| if count == 1 { "argument" } else { "arguments" };
    match (least, most) {
        (least, most) if least == most => format!("{least} {}", plural(least)),
        (least, most) if most > 100 => format!("at least {least} {}", plural(least)),
        (least, most) => format!("{least} to {most} arguments"),
    }
}

pub(super) fn shown(word: &Word) -> String {
    match word {
        Word::Name(name) | Word::Quoted(name) => format!("`{name}`"),
        Word::Text(_) => "a text".to_owned(),
        Word::Int(_) | Word::Double(_) => "a number".to_owned(),
        Word::Mark(mark) => format!("`{mark}`"),
        Word::End => "the end".to_owned(),
    }
}
