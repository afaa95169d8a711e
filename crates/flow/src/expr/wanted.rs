//! What the value of an expression is wanted for: whether it can ever be that.
//!
//! In: the tree and a [`Wanted`]. Out: problems, each only where it is certain: of a choice both ways count, what stands
//! in brackets is looked at piece by piece, and what stands there to the letter is the value. Start reading at
//! [`Checker::give`].

use serde_json::{Map, Value};

use super::check::Checker;
use super::kind::{Type, described};
use super::tree::{Kind, Node};

/// What a value is wanted for.
pub(crate) struct Wanted<'w> {
    /// In words: `n`, the output of `a`.
    pub(crate) what: String,
    /// What it must be.
    pub(crate) of: Type,
    /// Whether that is a list, and what is no list becomes an item of it.
    pub(crate) is_added: bool,
    /// What is wrong with a value that is known, and what to do about it.
    pub(crate) judge: Judge<'w>,
}

/// Says what is wrong with a value and what to do about it, if anything is.
pub(crate) type Judge<'w> = Box<dyn Fn(&Value) -> Option<(String, String)> + 'w>;

impl Checker<'_> {
    /// Looks at an expression whose value is wanted for something.
    pub(super) fn give(&mut self, node: &Node, wanted: &Wanted<'_>) {
        if let Kind::Choice(parts) = &node.kind {
            let [condition, yes, no] = &**parts;
            self.truth(condition);
            self.give(yes, wanted);
            return self.give(no, wanted);
        }
        let before = self.problems.len();
        match (&wanted.of, &node.kind) {
            (Type::List(_), Kind::List(_)) => self.piece(node, &wanted.of, &wanted.what),
            (Type::List(item), _) if wanted.is_added => {
                let found = self.of(node);
                if !matches!(found, Type::List(_)) {
                    self.compare(node, &found, item, &format!("an item of {}", wanted.what));
                }
            }
            _ => self.piece(node, &wanted.of, &wanted.what),
        }
        if self.problems.len() > before {
            return;
        }
        if let Some((message, help)) = literal(node).and_then(|value| (wanted.judge)(&value)) {
            self.problem(node.at, message, help);
        }
    }

    /// Looks at a value that is wanted for a part of something.
    fn piece(&mut self, node: &Node, wanted: &Type, what: &str) {
        match (&node.kind, wanted) {
            (Kind::Choice(parts), _) => {
                self.truth(&parts[0]);
                for part in &parts[1..] {
                    self.piece(part, wanted, what);
                }
            }
            (Kind::List(items), Type::List(item)) => {
                let what = format!("an item of {what}");
                for one in items {
                    self.piece(one, item, &what);
                }
            }
            (Kind::Map(entries), Type::Map { members, .. }) => {
                for (key, value) in entries {
                    let name = literal(key);
                    let name = name.as_ref().and_then(Value::as_str);
                    self.of(key);
                    match name.and_then(|name| Some((name, members.get(name)?))) {
                        Some((name, member)) => self.piece(value, member, &format!("`{name}` of {what}")),
                        None => _ = self.of(value),
                    }
                }
            }
            _ => {
                let found = self.of(node);
                self.compare(node, &found, wanted, what);
            }
        }
    }

    fn compare(&mut self, node: &Node, found: &Type, wanted: &Type, what: &str) {
        if found.meets(wanted) {
            return;
        }
        let (shown, is_literal) = match &node.kind {
            Kind::Literal(value) => (described(value), true),
            _ => (found.to_string(), false),
        };
        let help = match (wanted, found) {
            (_, Type::Null) => format!("give it {wanted}"),
            (Type::String, Type::Int | Type::Number | Type::Bool) if is_literal => {
                "put it in quotes of its own: `'…'`".to_owned()
            }
            (Type::String, Type::Int | Type::Number | Type::Bool) => {
                "turn it into a text with `string(…)`".to_owned()
            }
            (Type::Int | Type::Number, Type::String) if !is_literal => {
                "turn the text into a number with `int(…)`".to_owned()
            }
            (Type::List(_), _) => "put it in brackets to make a list of it".to_owned(),
            _ => format!("give it {wanted}"),
        };
        self.problem(node.at, format!("expected {wanted} for {what}, found {shown}"), help);
    }
}

/// The value that stands there to the letter.
fn literal(node: &Node) -> Option<Value> {
    match &node.kind {
        Kind::Literal(value) => Some(value.clone()),
        Kind::Negate(of) => Some((-literal(of)?.as_f64()?).into()),
        Kind::List(items) => items.iter().map(literal).collect(),
        Kind::Map(entries) => {
            let entry =
                |(key, value): &(Node, Node)| Some((literal(key)?.as_str()?.to_owned(), literal(value)?));
            entries.iter().map(entry).collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        _ => None,
    }
}
