//! From a tree to a value.
//!
//! In: the tree and a scope. Out: a value, or a fault with its place. Values that the scope lends are not
//! copied before they become part of a new value. Every step and every copy is counted against [`STEPS_MAX`].
//! Start reading at [`evaluate`].

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;

use antiphon_event::near::did_you_mean;
use serde_json::{Map, Value};

use super::function::Function;
use super::kind::described;
use super::number::{Num, arithmetic, compare, double, equal};
use super::tree::{Binary, Kind, Node};
use super::{Fault, Path, Scope, call};

/// How many steps an evaluation may take. A step is one part of the expression evaluated once, or one value,
/// or 64 bytes of text, copied.
pub const STEPS_MAX: u64 = 1_000_000;

/// The value of a tree.
pub(super) fn evaluate(tree: &Node, paths: &[Path], scope: &dyn Scope) -> Result<Value, Fault> {
    let found = paths.iter().map(|_| OnceCell::new()).collect();
    let machine = Machine { scope, paths, found, left: Cell::new(STEPS_MAX) };
    machine.value(tree, None).map(Cow::into_owned)
}

pub(super) struct Machine<'s> {
    scope: &'s dyn Scope,
    paths: &'s [Path],
    found: Vec<OnceCell<Option<Cow<'s, Value>>>>,
    left: Cell<u64>,
}

/// The variable of a loop, and those of the loops around it.
#[derive(Clone, Copy)]
pub(super) struct Frame<'f> {
    pub(super) value: &'f Value,
    pub(super) outer: Option<&'f Frame<'f>>,
}

pub(super) type Found<'v> = Result<Cow<'v, Value>, Fault>;

impl Machine<'_> {
    pub(super) fn value<'v>(&'v self, node: &'v Node, frame: Option<&'v Frame<'v>>) -> Found<'v> {
        self.pay(node, 1)?;
        match &node.kind {
            Kind::Literal(value) => Ok(Cow::Borrowed(value)),
            Kind::Path(number) => self.path(node, *number),
            Kind::HasPath(number) => Ok(owned(self.known(*number).is_some())),
            Kind::Local(inwards) => Ok(Cow::Borrowed(local(frame, *inwards))),
            Kind::List(items) => self.list(items, frame),
            Kind::Map(entries) => self.map(entries, frame),
            Kind::Member { of, name } => member(node, self.value(of, frame)?, name),
            Kind::Has { of, name } => self.has(of, name, frame),
            Kind::Index { of, by } => self.index(node, of, by, frame),
            Kind::Not(of) => Ok(owned(!self.truth(of, frame)?)),
            Kind::Negate(of) => self.negate(node, of, frame),
            Kind::And(parts) => self.decided(parts, false, frame),
            Kind::Or(parts) => self.decided(parts, true, frame),
            Kind::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                self.value(if self.truth(condition, frame)? { yes } else { no }, frame)
            }
            Kind::Binary(operator, parts) => self.binary(node, *operator, parts, frame),
            Kind::Call { function, arguments, pattern } => {
                if let (Function::Size, Some(count)) = (function, self.counted(arguments)) {
                    // As much as looking at the list would cost.
                    self.pay(node, 3)?;
                    return Ok(Cow::Owned(count.into()));
                }
                let arguments: Vec<_> =
                    arguments.iter().map(|argument| self.value(argument, frame)).collect::<Result<_, _>>()?;
                call::call(self, node, *function, arguments, pattern.as_ref()).map(Cow::Owned)
            }
            Kind::Loop(each) => self.each(node, each, frame),
        }
    }

    /// Takes steps off what is left.
    pub(super) fn pay(&self, node: &Node, steps: u64) -> Result<(), Fault> {
        if let Some(left) = self.left.get().checked_sub(steps) {
            self.left.set(left);
            return Ok(());
        }
        // Nothing is left for those either that would pass over this.
        self.left.set(0);
        Err(Fault::at(node.at, format!("took more than {STEPS_MAX} steps")))
    }

    /// Whether there are no steps left.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// A value of one's own, paid for if it has to be copied.
    pub(super) fn own(&self, node: &Node, value: Cow<'_, Value>) -> Result<Value, Fault> {
        if let Cow::Borrowed(value) = &value {
            self.pay(node, weight(value))?;
        }
        Ok(value.into_owned())
    }

    fn known(&self, number: usize) -> Option<&Value> {
        self.found[number].get_or_init(|| self.scope.get(&self.paths[number])).as_deref()
    }

    /// How many items a list has that nothing else is wanted of.
    fn counted(&self, arguments: &[Node]) -> Option<usize> {
        let [Node { kind: Kind::Path(number), .. }] = arguments else { return None };
        self.scope.count(&self.paths[*number])
    }

    fn path<'v>(&'v self, node: &Node, number: usize) -> Found<'v> {
        let value = self.known(number);
        value
            .map(Cow::Borrowed)
            .ok_or_else(|| Fault::at(node.at, format!("`{}` has no value here", self.paths[number])))
    }

    pub(super) fn truth(&self, node: &Node, frame: Option<&Frame<'_>>) -> Result<bool, Fault> {
        let value = self.value(node, frame)?;
        value
            .as_bool()
            .ok_or_else(|| Fault::at(node.at, format!("expected true or false, found {}", described(&value))))
    }

    fn list<'v>(&'v self, items: &'v [Node], frame: Option<&'v Frame<'v>>) -> Found<'v> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            list.push(self.own(item, self.value(item, frame)?)?);
        }
        Ok(Cow::Owned(Value::Array(list)))
    }

    fn map<'v>(&'v self, entries: &'v [(Node, Node)], frame: Option<&'v Frame<'v>>) -> Found<'v> {
        let mut map = Map::with_capacity(entries.len());
        for (key, value) in entries {
            let name = match &*self.value(key, frame)? {
                Value::String(name) => name.clone(),
                Value::Bool(name) => name.to_string(),
                Value::Number(name) if name.is_i64() => name.to_string(),
                other => {
                    return Err(Fault::at(
                        key.at,
                        format!("a key must be a text, found {}", described(other)),
                    ));
                }
            };
            let value = self.own(value, self.value(value, frame)?)?;
            if map.contains_key(&name) {
                return Err(Fault::at(key.at, format!("the key {name:?} is there twice")));
            }
            map.insert(name, value);
        }
        Ok(Cow::Owned(Value::Object(map)))
    }

    /// Whether there is a member; no, if there is nothing that could have it.
    fn has<'v>(&'v self, of: &'v Node, name: &str, frame: Option<&'v Frame<'v>>) -> Found<'v> {
        let way = match &of.kind {
            Kind::Path(number) => self.known(*number).map(Cow::Borrowed),
            Kind::Member { of: inner, name } => {
                self.pay(of, 1)?;
                match self.has(inner, name, frame)?.as_bool() {
                    Some(true) => Some(self.value(of, frame)?),
                    _ => None,
                }
            }
            _ => Some(self.value(of, frame)?),
        };
        Ok(owned(way.is_some_and(|value| value.get(name).is_some())))
    }

    fn index<'v>(
        &'v self,
        node: &'v Node,
        of: &'v Node,
        by: &'v Node,
        frame: Option<&'v Frame<'v>>,
    ) -> Found<'v> {
        let (of, by) = (self.value(of, frame)?, self.value(by, frame)?);
        match (&*of, &*by) {
            (_, Value::String(name)) => member(node, of, name),
            (Value::Array(items), Value::Number(number)) => {
                let place = whole(number).and_then(|place| usize::try_from(place).ok());
                let Some(place) = place.filter(|place| *place < items.len()) else {
                    let message = format!("no item {number} in a list of {}", items.len());
                    return Err(Fault::at(node.at, message));
                };
                Ok(project(of, |value| value.get(place), |value| take_item(value, place)))
            }
            (Value::Object(_), Value::Bool(_) | Value::Number(_)) => {
                let name = by.to_string();
                member(node, of, &name)
            }
            (of, by) => {
                let message = format!("cannot take {} of {}", described(by), described(of));
                Err(Fault::at(node.at, message))
            }
        }
    }

    fn negate<'v>(&'v self, node: &Node, of: &'v Node, frame: Option<&'v Frame<'v>>) -> Found<'v> {
        let value = self.value(of, frame)?;
        let negated = match &*value {
            Value::Number(number) => match Num::of(number) {
                Num::Int(int) => int.checked_neg().map(Value::from).ok_or("does not fit 64 bits".to_owned()),
                Num::Double(number) => double(-number),
            },
            other => Err(format!("`-` wants a number, found {}", described(other))),
        };
        negated.map(Cow::Owned).map_err(|message| Fault::at(node.at, message))
    }

    /// Any part that is `decides` settles it, whatever goes wrong in the others.
    fn decided<'v>(&'v self, parts: &'v [Node], decides: bool, frame: Option<&'v Frame<'v>>) -> Found<'v> {
        let mut fault = None;
        for part in parts {
            match self.truth(part, frame) {
                Ok(truth) if truth == decides => return Ok(owned(decides)),
                Ok(_) => {}
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        fault.map_or(Ok(owned(!decides)), Err)
    }

    fn binary<'v>(
        &'v self,
        node: &'v Node,
        operator: Binary,
        parts: &'v [Node; 2],
        frame: Option<&'v Frame<'v>>,
    ) -> Found<'v> {
        let (left, right) = (self.value(&parts[0], frame)?, self.value(&parts[1], frame)?);
        let at = |message| Fault::at(node.at, message);
        match operator {
            Binary::Equal | Binary::Unequal => {
                self.pay(node, weight(&left).min(weight(&right)))?;
                Ok(owned(equal(&left, &right) == (operator == Binary::Equal)))
            }
            Binary::Less => Ok(owned(compare(&left, &right).map_err(at)? == Ordering::Less)),
            Binary::LessEqual => Ok(owned(compare(&left, &right).map_err(at)? != Ordering::Greater)),
            Binary::Greater => Ok(owned(compare(&left, &right).map_err(at)? == Ordering::Greater)),
            Binary::GreaterEqual => Ok(owned(compare(&left, &right).map_err(at)? != Ordering::Less)),
            Binary::In => self.is_in(node, &left, &right),
            Binary::Add => self.add(node, left, right),
            Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder => {
                numbers(operator, &left, &right).map(Cow::Owned).map_err(at)
            }
        }
    }

    fn is_in<'v>(&self, node: &Node, left: &Value, right: &Value) -> Found<'v> {
        match right {
            Value::Array(items) => {
                self.pay(node, weight(right))?;
                Ok(owned(items.iter().any(|item| equal(item, left))))
            }
            Value::Object(members) => match left {
                Value::String(name) => Ok(owned(members.contains_key(name))),
                other => Ok(owned(members.contains_key(&other.to_string()))),
            },
            other => {
                Err(Fault::at(node.at, format!("`in` wants a list or a map, found {}", described(other))))
            }
        }
    }

    fn add<'v>(&self, node: &Node, left: Cow<'_, Value>, right: Cow<'_, Value>) -> Found<'v> {
        if left.is_string() && right.is_string() || left.is_array() && right.is_array() {
            let mut sum = self.own(node, left)?;
            match (&mut sum, self.own(node, right)?) {
                (Value::String(sum), Value::String(right)) => {
                    // What is built up piece by piece is paid for as a whole, as it may have to move.
                    self.pay(node, (sum.len() / 64) as u64)?;
                    sum.push_str(&right);
                }
                (Value::Array(sum), Value::Array(right)) => sum.extend(right),
                _ => {}
            }
            return Ok(Cow::Owned(sum));
        }
        let sum = numbers(Binary::Add, &left, &right);
        sum.map(Cow::Owned).map_err(|message| Fault::at(node.at, message))
    }
}

pub(super) fn owned<'v>(truth: bool) -> Cow<'v, Value> {
    Cow::Owned(Value::Bool(truth))
}

fn local<'v>(frame: Option<&'v Frame<'v>>, inwards: usize) -> &'v Value {
    let mut frame = frame.expect("a variable stands in its loop");
    for _ in 0..inwards {
        frame = frame.outer.expect("as many loops around as were read");
    }
    frame.value
}

/// What it costs to copy a value, in steps.
pub(super) fn weight(value: &Value) -> u64 {
    1 + match value {
        Value::String(text) => (text.len() / 64) as u64,
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.values().map(weight).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The number, if it counts something.
pub(super) fn whole(number: &serde_json::Number) -> Option<i64> {
    match Num::of(number) {
        Num::Int(int) => Some(int),
        Num::Double(double) if double.fract() == 0.0 && double.abs() < 9e15 => Some(double as i64),
        Num::Double(_) => None,
    }
}

/// A part of a value: lent if the value is lent, taken out of it if not.
fn project<'v>(
    value: Cow<'v, Value>,
    lent: impl FnOnce(&'v Value) -> Option<&'v Value>,
    taken: impl FnOnce(Value) -> Value,
) -> Cow<'v, Value> {
    match value {
        Cow::Borrowed(value) => Cow::Borrowed(lent(value).expect("the caller saw that it is there")),
        Cow::Owned(value) => Cow::Owned(taken(value)),
    }
}

fn take_item(value: Value, place: usize) -> Value {
    match value {
        Value::Array(mut items) => items.swap_remove(place),
        other => other,
    }
}

fn member<'v>(node: &Node, of: Cow<'v, Value>, name: &str) -> Found<'v> {
    let Value::Object(members) = &*of else {
        let message = format!("no member {name:?} in {}", described(&of));
        return Err(Fault::at(node.at, message));
    };
    if !members.contains_key(name) {
        let near = did_you_mean(name, members.keys().take(100).map(String::as_str));
        return Err(Fault::at(node.at, format!("no member {name:?}{near}")));
    }
    let taken = |value| match value {
        Value::Object(mut members) => members.swap_remove(name).unwrap_or_default(),
        other => other,
    };
    Ok(project(of, |value| value.get(name), taken))
}

fn numbers(operator: Binary, left: &Value, right: &Value) -> Result<Value, String> {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => arithmetic(operator, Num::of(a), Num::of(b)),
        (a, b) => {
            let hint = match (operator, a, b) {
                (Binary::Add, Value::String(_), _) | (Binary::Add, _, Value::String(_)) => {
                    "; to put it into a text write `string(…)`"
                }
                _ => "",
            };
            Err(format!("`{}` cannot take {} and {}{hint}", operator.mark(), described(a), described(b)))
        }
    }
}
