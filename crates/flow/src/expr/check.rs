//! Types before values: what in an expression cannot be right.
//!
//! In: the tree and what is known about the flow. Out: the type of the result and the problems. Where nothing
//! is known nothing is said, so an alarm is never false. Start reading at [`infer`].

use std::collections::BTreeMap;

use antiphon_event::near::{help, nearest};
use serde_json::Value;

use super::function::Function;
use super::kind::Type;
use super::signature::{Gives, Takes, signature};
use super::tree::{Binary, Kind, Loop, Node, Shape};
use super::wanted::Wanted;
use super::{Path, Root};

/// What is known about a flow before it runs. Whatever is left out can be anything.
#[derive(Debug, Clone, Default)]
pub struct Types {
    /// The schema of the flow's input.
    pub task: Option<Value>,
    /// The schema of the node's input.
    pub input: Option<Value>,
    /// The schema of the output.
    pub output: Option<Value>,
    /// The schema of each key of the state. A key that is not here does not exist.
    pub state: BTreeMap<String, Value>,
    /// The nodes, each with the schema of its output if it has one. A node that is not here does not exist.
    pub nodes: BTreeMap<String, Option<Value>>,
    /// The schema of a map's item.
    pub item: Option<Value>,
    /// Names that stand for nothing where the expression is.
    pub absent: Vec<Root>,
}

/// Something in an expression that cannot be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeProblem {
    /// The character it is about, from 1, if it is not the whole.
    pub column: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// The type of a tree as far as it can be known, and what cannot be right.
pub(super) fn infer(tree: &Node, paths: &[Path], types: &Types) -> (Type, Vec<TypeProblem>) {
    let mut checker = Checker { paths, types, locals: Vec::new(), problems: Vec::new() };
    let found = checker.of(tree);
    (found, checker.problems)
}

/// What cannot be right about an expression whose value is wanted for something.
pub(super) fn infer_wanted(
    tree: &Node,
    paths: &[Path],
    types: &Types,
    wanted: &Wanted<'_>,
) -> Vec<TypeProblem> {
    let mut checker = Checker { paths, types, locals: Vec::new(), problems: Vec::new() };
    checker.give(tree, wanted);
    checker.problems
}

pub(super) struct Checker<'c> {
    paths: &'c [Path],
    types: &'c Types,
    locals: Vec<Type>,
    pub(super) problems: Vec<TypeProblem>,
}

impl Checker<'_> {
    pub(super) fn of(&mut self, node: &Node) -> Type {
        match &node.kind {
            Kind::Literal(value) => Type::of(value),
            Kind::Path(number) => self.path(node, *number),
            Kind::HasPath(number) => {
                self.path(node, *number);
                Type::Bool
            }
            Kind::Local(inwards) => self.locals[self.locals.len() - 1 - inwards].clone(),
            Kind::List(items) => {
                let items: Vec<_> = items.iter().map(|item| self.of(item)).collect();
                Type::List(Box::new(items.into_iter().reduce(Type::common).unwrap_or(Type::Dyn)))
            }
            Kind::Map(entries) => self.map(entries),
            Kind::Member { of, name } => self.member(node, of, name),
            Kind::Has { of, .. } => {
                self.of(of);
                Type::Bool
            }
            Kind::Index { of, by } => self.index(node, of, by),
            Kind::Not(of) => self.truth(of),
            Kind::Negate(of) => {
                let found = self.of(of);
                self.want(node, "`-`", "a number", &found, Type::is_number);
                if found.is_number() { found } else { Type::Dyn }
            }
            Kind::And(parts) | Kind::Or(parts) => {
                for part in parts {
                    self.truth(part);
                }
                Type::Bool
            }
            Kind::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                self.truth(condition);
                self.of(yes).common(self.of(no))
            }
            Kind::Binary(operator, parts) => self.binary(node, *operator, parts),
            Kind::Call { function, arguments, .. } => self.call(node, *function, arguments),
            Kind::Loop(each) => self.each(node, each),
        }
    }

    pub(super) fn problem(&mut self, at: u32, message: String, help: impl Into<String>) {
        self.problems.push(TypeProblem { column: Some(at + 1), message, help: help.into() });
    }

    /// Says so if a type is known and does not fit.
    fn want(&mut self, node: &Node, what: &str, wanted: &str, found: &Type, fits: impl Fn(&Type) -> bool) {
        if *found != Type::Dyn && !fits(found) {
            let help = match found {
                Type::String if wanted.contains("number") => {
                    "turn the text into a number with `int(…)`".to_owned()
                }
                _ => format!("give it {wanted}"),
            };
            self.problem(node.at, format!("{what} wants {wanted}, found {found}"), help);
        }
    }

    pub(super) fn truth(&mut self, node: &Node) -> Type {
        let found = self.of(node);
        if !found.meets(&Type::Bool) {
            self.problem(node.at, format!("expected true or false, found {found}"), found.as_condition());
        }
        Type::Bool
    }

    fn path(&mut self, node: &Node, number: usize) -> Type {
        let Path { root, member } = &self.paths[number];
        let of = |schema: Option<&Value>| schema.map_or(Type::Dyn, Type::of_schema);
        let types = self.types;
        if types.absent.contains(root) && !matches!(node.kind, Kind::HasPath(_)) {
            self.problem(node.at, format!("`{}` stands for nothing here", root.as_str()), instead(*root));
            return Type::Dyn;
        }
        match (root, member) {
            (Root::Task, _) => of(types.task.as_ref()),
            (Root::Input, _) => of(types.input.as_ref()),
            (Root::Output, _) => of(types.output.as_ref()),
            (Root::Item, _) => of(types.item.as_ref()),
            (Root::Memory, Some(_)) => Type::Dyn,
            (Root::State, Some(key)) => match types.state.get(&**key) {
                Some(schema) => Type::of_schema(schema),
                None => self.unknown(node, "the state has no key", *root, key, types.state.keys()),
            },
            (Root::Outputs | Root::Status | Root::Executions, Some(name)) => match types.nodes.get(&**name) {
                Some(schema) => match root {
                    Root::Status => Type::String,
                    Root::Executions => Type::Int,
                    _ => of(schema.as_ref()),
                },
                None => self.unknown(node, "there is no node", *root, name, types.nodes.keys()),
            },
            (_, None) => Type::any_map(),
        }
    }

    fn unknown<'k>(
        &mut self,
        node: &Node,
        what: &str,
        root: Root,
        name: &str,
        known: impl Iterator<Item = &'k String> + Clone,
    ) -> Type {
        // `outputs.my-node` is read as `outputs.my` minus `node`.
        let dashed =
            known.clone().find(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')));
        let near = dashed.map(String::as_str).or_else(|| nearest(name, known.clone().map(String::as_str)));
        let near = near.map(|near| Path { root, member: Some(near.into()) });
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                help(name, known.map(String::as_str)).unwrap_or_else(|| "there is none at all".to_owned())
            }
        };
        self.problem(node.at, format!("{what} `{name}`"), help);
        Type::Dyn
    }

    fn map(&mut self, entries: &[(Node, Node)]) -> Type {
        let mut members = BTreeMap::new();
        let mut open = false;
        for (key, value) in entries {
            let found = self.of(value);
            if let Kind::Literal(Value::String(name)) = &key.kind {
                members.insert(name.clone(), found);
            } else {
                self.of(key);
                open = true;
            }
        }
        Type::Map { members, open }
    }

    fn member(&mut self, node: &Node, of: &Node, name: &str) -> Type {
        match self.of(of) {
            Type::Dyn => Type::Dyn,
            Type::Map { members, open } => match members.get(name) {
                Some(found) => found.clone(),
                None if open => Type::Dyn,
                None => {
                    let help = help(name, members.keys().map(String::as_str));
                    let help = help.unwrap_or_else(|| "there is none at all".to_owned());
                    self.problem(node.at, format!("no member {name:?}"), help);
                    Type::Dyn
                }
            },
            other => {
                let help = "only an object has members: leave the name out";
                self.problem(node.at, format!("no member {name:?} in {other}"), help);
                Type::Dyn
            }
        }
    }

    fn index(&mut self, node: &Node, of: &Node, by: &Node) -> Type {
        let (of, by) = (self.of(of), self.of(by));
        match of {
            Type::List(items) => {
                self.want(node, "a list", "an integer between its brackets", &by, Type::is_number);
                *items
            }
            Type::Map { .. } | Type::Dyn => Type::Dyn,
            other => {
                let help = "only a list or an object has items: leave the brackets out";
                self.problem(node.at, format!("{other} has no items"), help);
                Type::Dyn
            }
        }
    }

    fn binary(&mut self, node: &Node, operator: Binary, parts: &[Node; 2]) -> Type {
        let (left, right) = (self.of(&parts[0]), self.of(&parts[1]));
        match operator {
            Binary::Equal | Binary::Unequal => {
                let with_null = left == Type::Null || right == Type::Null;
                if !with_null && !left.meets(&right) {
                    let always = if operator == Binary::Equal { "never" } else { "always" };
                    let message = format!("{left} and {right} are compared: that {always} holds");
                    self.problem(node.at, message, alike(&left, &right));
                }
                Type::Bool
            }
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
                self.ordered(node, operator, &left, &right);
                Type::Bool
            }
            Binary::In => {
                let fits = |found: &Type| matches!(found, Type::List(_) | Type::Map { .. });
                self.want(node, "`in`", "a list or an object on its right", &right, fits);
                Type::Bool
            }
            Binary::Add => self.add(node, left, right),
            Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
                let what = format!("`{}`", operator.mark());
                self.want(node, &what, "numbers", &left, Type::is_number);
                self.want(node, &what, "numbers", &right, Type::is_number);
                sum(&left, &right)
            }
        }
    }

    fn ordered(&mut self, node: &Node, operator: Binary, left: &Type, right: &Type) {
        let has_order = |found: &Type| found.is_number() || matches!(found, Type::String | Type::Bool);
        let what = format!("`{}`", operator.mark());
        self.want(node, &what, "numbers or texts", left, has_order);
        self.want(node, &what, "numbers or texts", right, has_order);
        if has_order(left) && has_order(right) && !left.meets(right) {
            let message = format!("`{}` cannot compare {left} with {right}", operator.mark());
            self.problem(node.at, message, alike(left, right));
        }
    }

    fn add(&mut self, node: &Node, left: Type, right: Type) -> Type {
        let adds = |found: &Type| found.is_number() || matches!(found, Type::String | Type::List(_));
        self.want(node, "`+`", "numbers, texts or lists", &left, adds);
        self.want(node, "`+`", "numbers, texts or lists", &right, adds);
        if adds(&left) && adds(&right) && !left.meets(&right) {
            let is_text = left == Type::String || right == Type::String;
            let help = if is_text { "did you mean `string(…)`?" } else { alike(&left, &right) };
            self.problem(node.at, format!("`+` cannot take {left} and {right}"), help);
            return Type::Dyn;
        }
        match (left, right) {
            (Type::String, _) | (_, Type::String) => Type::String,
            (Type::List(a), Type::List(b)) => Type::List(Box::new(a.common(*b))),
            (Type::List(_), _) | (_, Type::List(_)) => Type::any_list(),
            (left, right) => sum(&left, &right),
        }
    }

    fn each(&mut self, node: &Node, each: &Loop) -> Type {
        let over = self.of(&each.over);
        let item = match &over {
            Type::List(items) => (**items).clone(),
            Type::Map { .. } => Type::String,
            Type::Dyn => Type::Dyn,
            other => {
                self.problem(
                    node.at,
                    format!("only a list or an object can be gone through, this is {other}"),
                    "put it in brackets to make a list of it",
                );
                Type::Dyn
            }
        };
        self.locals.push(item.clone());
        if let Some(only) = &each.only {
            self.truth(only);
        }
        let body = match each.shape {
            Shape::Map => self.of(&each.body),
            Shape::All | Shape::Exists | Shape::ExistsOne | Shape::Filter => self.truth(&each.body),
        };
        self.locals.pop();
        match each.shape {
            Shape::Map => Type::List(Box::new(body)),
            Shape::Filter => Type::List(Box::new(item)),
            Shape::All | Shape::Exists | Shape::ExistsOne => Type::Bool,
        }
    }

    fn call(&mut self, node: &Node, function: Function, arguments: &[Node]) -> Type {
        let found: Vec<_> = arguments.iter().map(|argument| self.of(argument)).collect();
        let (takes, gives) = signature(function);
        let looked_at = if takes == Takes::Texts { found.len() } else { 1 };
        for found in &found[..looked_at] {
            let what = format!("`{}`", function.name());
            self.want(node, &what, takes.words(), found, |found| takes.fits(found));
        }
        match gives {
            Gives::Always(gives) => gives,
            Gives::SameList => match &found[0] {
                list @ Type::List(_) => list.clone(),
                _ => Type::any_list(),
            },
        }
    }
}

/// Where a name that stands for nothing here does stand for something, and what may be meant.
fn instead(root: Root) -> &'static str {
    match root {
        Root::Item => "there is an item in the node of a `map`; what a node gets is `input`",
        Root::Output => {
            "an output is seen by `set` and by the conditions of edges; that of another node is `outputs.NODE`"
        }
        _ => "there are `task`, `state` and `outputs.NODE`",
    }
}

/// What makes two values comparable.
fn alike(left: &Type, right: &Type) -> &'static str {
    let is_text = *left == Type::String || *right == Type::String;
    if is_text && (left.is_number() || right.is_number()) {
        "turn the text into a number with `int(…)`, or the number into a text with `string(…)`"
    } else {
        "give it two values of the same type"
    }
}

/// The type of a sum of numbers: an integer only if both are.
fn sum(left: &Type, right: &Type) -> Type {
    match (left, right) {
        (Type::Int, Type::Int) => Type::Int,
        (a, b) if a.is_number() && b.is_number() => Type::Number,
        _ => Type::Dyn,
    }
}
