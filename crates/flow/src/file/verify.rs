//! A tree against the table of the format: every value of the wrong kind, every unknown and missing member.
//!
//! In: a tree and a form. Out: problems with places, all of them. What passes can be converted without looking
//! twice. Start reading at [`Verifier::form`].

use antiphon_event::near::nearest;
use serde_json::Value;

use super::format::{Form, Object};
use super::problem::Problem;
use super::tree::{Kind, Place, Tree};
use crate::expr::Expression;
use crate::guard::Pattern;
use crate::schema::Schema;
use crate::time;

/// How many problems are told of one file.
pub(super) const PROBLEMS_MAX: usize = 100;

/// What to write where no expression is.
const EXPRESSION: &str = "write an expression, such as `state.drafts < 3` or `'dear ' + input`";

/// Collects problems of one file.
pub(super) struct Verifier<'f> {
    pub(super) file: &'f str,
    pub(super) problems: Vec<Problem>,
}

impl Verifier<'_> {
    pub(super) fn error(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.problem(place, message.into(), Some(help.into()));
    }

    /// What somebody else found, who may know no help.
    pub(super) fn problem(&mut self, place: Place, message: String, help: Option<String>) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem::error(self.file, place, message, help));
        }
    }

    /// Checks a value; whether it and all in it is right.
    pub(super) fn form(&mut self, tree: &Tree, form: &Form) -> bool {
        let before = self.problems.len();
        match form {
            Form::Any => {}
            Form::Object(object) => self.object(tree, object),
            Form::List(items) => match &tree.kind {
                Kind::List(found) => found.iter().for_each(|item| {
                    self.form(item, items);
                }),
                _ => self.unexpected(tree, form),
            },
            Form::Filled(items) => match &tree.kind {
                Kind::List(found) if found.is_empty() => {
                    let help = "name at least one, or leave it out";
                    self.error(tree.place, "expected at least one, found an empty list", help);
                }
                Kind::List(_) => {
                    self.form(tree, &Form::List(items));
                }
                _ => self.unexpected(tree, form),
            },
            Form::Dict(values) => match &tree.kind {
                Kind::Map(members) => members.iter().for_each(|(_, value)| {
                    self.form(value, values);
                }),
                _ => self.unexpected(tree, form),
            },
            Form::Either(forms) => match forms.iter().find(|form| form.takes(tree)) {
                Some(form) => {
                    self.form(tree, form);
                }
                None => self.unexpected(tree, form),
            },
            Form::Schema => self.schema(tree, &tree.to_json()),
            _ => self.scalar(tree, form),
        }
        self.problems.len() == before
    }

    fn unexpected(&mut self, tree: &Tree, form: &Form) {
        let found = match tree.scalar() {
            Some(scalar) if scalar.value.is_number() || scalar.value.is_boolean() => {
                format!("`{}`", scalar.text)
            }
            _ => tree.described().to_owned(),
        };
        self.error(tree.place, format!("expected {}, found {found}", form.words()), form.example());
    }

    fn object(&mut self, tree: &Tree, object: &Object) {
        let Kind::Map(members) = &tree.kind else {
            return self.error(
                tree.place,
                format!("expected a mapping for the {}, found {}", object.name, tree.described()),
                "write `{…: …}`",
            );
        };
        for (name, value) in members {
            match object.member(&name.text) {
                Some(member) => {
                    self.form(value, &member.form);
                }
                None if object.is_schema() => {}
                None => self.unknown(name.place, &name.text, object),
            }
        }
        for name in object.required {
            if tree.get(name).is_none() {
                let message = format!("the {} has no `{name}`", object.name);
                self.error(tree.place, message, format!("add `{name}: …`"));
            }
        }
        self.one_of(tree, object);
        if object.is_schema() {
            self.schema(tree, &key_schema(tree));
        }
        if object.member("action").is_some() {
            self.reroute(tree);
        }
    }

    /// Who reroutes says where to, and nobody else does.
    fn reroute(&mut self, tree: &Tree) {
        let action = tree.get("action").filter(|action| action.text() == Some("reroute"));
        match (action, tree.get("to")) {
            (Some(action), None) => {
                self.error(action.place, "`reroute` needs the node to go to, as `to`", "add `to: <node>`");
            }
            (None, Some(to)) => {
                self.error(to.place, "`to` is for `action: reroute`", "take it out");
            }
            _ => {}
        }
    }

    fn one_of(&mut self, tree: &Tree, object: &Object) {
        let has_unknown = tree.members().iter().any(|(name, _)| object.member(&name.text).is_none());
        let found: Vec<_> = object.one_of.iter().filter(|name| tree.get(name).is_some()).collect();
        match found[..] {
            // A misspelt one has been told of already.
            [] if !object.one_of.is_empty() && !has_unknown => {
                let message = format!("the {} needs one of {}", object.name, listed(object.one_of));
                self.error(tree.place, message, format!("add `{}: …`", object.one_of[0]));
            }
            [first, second, ..] => {
                let place = tree.get(second).map_or(tree.place, |tree| tree.place);
                let message =
                    format!("the {} is `{first}` already, it cannot be `{second}` too", object.name);
                self.error(place, message, format!("take `{second}` out, or `{first}`"));
            }
            _ => {}
        }
    }

    fn unknown(&mut self, place: Place, name: &str, object: &Object) {
        let near = nearest(name, object.members.iter().map(|member| member.name));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {}", listed_members(object)),
        };
        self.error(place, format!("the {} has no member `{name}`", object.name), help);
    }

    fn schema(&mut self, tree: &Tree, schema: &Value) {
        if let Err(invalid) = Schema::compile(schema.clone()) {
            let place = tree.pointed(&invalid.pointer).place;
            self.error(place, format!("no JSON Schema: {}", invalid.message), Form::Schema.example());
        }
    }

    fn scalar(&mut self, tree: &Tree, form: &Form) {
        let Some(scalar) = tree.scalar() else {
            return self.unexpected(tree, form);
        };
        let value = &scalar.value;
        match form {
            Form::Expression => self.expression(tree, &scalar.text),
            Form::Truth if value.is_boolean() => {}
            Form::Count(least) if value.as_u64().is_some_and(|count| count >= *least) => {}
            Form::Number if value.as_f64().is_some_and(|number| number >= 0.0) => {}
            Form::Part if value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)) => {}
            _ => match value.as_str() {
                Some(text) => self.text(tree, text, form),
                None => self.unexpected(tree, form),
            },
        }
    }

    fn text(&mut self, tree: &Tree, text: &str, form: &Form) {
        match form {
            Form::Text => {}
            Form::Duration => {
                if let Err(error) = time::parse(text) {
                    self.error(tree.place, error.to_string(), form.example());
                }
            }
            Form::Pattern => {
                if let Err(error) = Pattern::parse(text) {
                    self.error(
                        tree.place,
                        error.to_string(),
                        "put a backslash before a mark that stands for itself",
                    );
                }
            }
            Form::Word(words) if words.contains(&text) => {}
            Form::Word(words) => {
                let help = match nearest(text, words.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => form.example(),
                };
                self.error(tree.place, format!("expected {}, found `{}`", listed(words), short(text)), help);
            }
            Form::Arrow => {
                if arrow(text).is_none() {
                    let message = format!("expected an edge such as `a -> b`, found `{}`", short(text));
                    self.error(
                        tree.place,
                        message,
                        "ids of nodes have no spaces; `{from, to, when}` is the long form",
                    );
                }
            }
            _ => self.unexpected(tree, form),
        }
    }

    fn expression(&mut self, tree: &Tree, text: &str) {
        if text.trim().is_empty() {
            return self.error(tree.place, "expected an expression, found nothing", EXPRESSION);
        }
        for error in Expression::read(text).1 {
            let (message, help) = error.message.split_once("; ").unwrap_or((&error.message, EXPRESSION));
            let message = format!("in the expression `{}`: {message}", short(text));
            self.error(tree.inside(error.column), message, help);
        }
    }
}

/// The nodes of `a -> b -> c`, at least two.
pub(super) fn arrow(text: &str) -> Option<Vec<&str>> {
    let nodes: Vec<_> = text.split("->").map(str::trim).collect();
    let is_one = |node: &&str| !node.is_empty() && !node.contains(char::is_whitespace);
    (nodes.len() > 1 && nodes.iter().all(is_one)).then_some(nodes)
}

/// The JSON Schema of a key of the state: all but what is not part of it.
pub(super) fn key_schema(tree: &Tree) -> Value {
    let mut schema = tree.to_json();
    if let Value::Object(members) = &mut schema {
        members.retain(|name, _| name != "default" && name != "reduce");
    }
    schema
}

fn short(text: &str) -> String {
    if text.chars().count() <= 60 { text.to_owned() } else { text.chars().take(60).chain(['…']).collect() }
}

/// `a`, `b` or `c`
fn listed(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn listed_members(object: &Object) -> String {
    object.members.iter().map(|member| format!("`{}`", member.name)).collect::<Vec<_>>().join(", ")
}

impl Form {
    /// Whether a value is of the right kind, whatever is in it.
    fn takes(&self, tree: &Tree) -> bool {
        match (self, &tree.kind) {
            (Self::Any, _)
            | (Self::Object(_) | Self::Dict(_) | Self::Schema, Kind::Map(_))
            | (Self::List(_) | Self::Filled(_), Kind::List(_))
            | (Self::Expression, Kind::Scalar(_)) => true,
            (Self::Either(forms), _) => forms.iter().any(|form| form.takes(tree)),
            (Self::Count(_) | Self::Number | Self::Part, Kind::Scalar(scalar)) => scalar.value.is_number(),
            (Self::Truth, Kind::Scalar(scalar)) => scalar.value.is_boolean(),
            (
                Self::Text | Self::Word(_) | Self::Duration | Self::Pattern | Self::Arrow,
                Kind::Scalar(scalar),
            ) => scalar.value.is_string(),
            _ => false,
        }
    }

    /// What to write instead of something else.
    fn example(&self) -> String {
        match self {
            Self::Text => "put it in quotes".to_owned(),
            Self::Expression => "write an expression, such as `state.drafts < 3`".to_owned(),
            Self::Duration => "write it as `30s`".to_owned(),
            Self::Count(least) => format!("write it as `{}`", least.max(&1)),
            Self::Number | Self::Part => "write it as `0.5`".to_owned(),
            Self::Truth => "write `true`, or leave it out".to_owned(),
            Self::Schema => "write a schema, such as `{type: string}`".to_owned(),
            Self::Pattern => "write a pattern, such as `^[a-z]+$`".to_owned(),
            Self::Word(words) => format!("write `{}`, or leave it out", words[0]),
            Self::Arrow => "write `a -> b`".to_owned(),
            Self::Any => "write a value".to_owned(),
            Self::List(_) | Self::Filled(_) => "write `[…]`".to_owned(),
            Self::Dict(_) | Self::Object(_) => "write `{…: …}`".to_owned(),
            Self::Either(forms) => {
                let shortest = forms.last().expect("there are at least two");
                shortest.example()
            }
        }
    }

    /// What is expected, for an error.
    fn words(&self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Expression => "an expression in quotes".to_owned(),
            Self::Duration => "a duration such as `30s`".to_owned(),
            Self::Count(0) => "a whole number".to_owned(),
            Self::Count(least) => format!("a whole number of at least {least}"),
            Self::Number => "a number of at least 0".to_owned(),
            Self::Part => "a number from 0 to 1".to_owned(),
            Self::Truth => "true or false".to_owned(),
            Self::Schema => "a JSON Schema".to_owned(),
            Self::Pattern => "a pattern".to_owned(),
            Self::Word(words) => listed(words),
            Self::Arrow => "an edge such as `a -> b`".to_owned(),
            Self::Any => "a value".to_owned(),
            Self::List(_) | Self::Filled(_) => "a list".to_owned(),
            Self::Dict(_) | Self::Object(_) => "a mapping".to_owned(),
            Self::Either(forms) => forms.iter().map(Self::words).collect::<Vec<_>>().join(", or "),
        }
    }
}
