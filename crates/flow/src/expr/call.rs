//! What the functions do.
//!
//! In: the values of the arguments. Out: a value, or why not. Start reading at [`call`].

use std::borrow::Cow;
use std::cmp::Ordering;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::Fault;
use super::evaluate::{Machine, weight, whole};
use super::function::Function;
use super::kind::described;
use super::number::{Num, compare, double, equal};
use super::tree::Node;

/// The largest compiled pattern, in bytes.
const PATTERN_MAX: usize = 256 * 1024;

/// What compiling a pattern costs that is not in the text of the expression; a short one can become large.
const COMPILE_STEPS: u64 = 10_000;

/// From here on a double fits no 64 bits.
const INT_MAX: f64 = 9_223_372_036_854_775_808.0;

/// Compiles a pattern; matching takes time in proportion to the text.
pub(super) fn pattern(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(PATTERN_MAX).dfa_size_limit(PATTERN_MAX).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            format!("the pattern is too large (more than {PATTERN_MAX} bytes)")
        }
        _ => "the pattern is no regular expression".to_owned(),
    })
}

/// Calls a function.
pub(super) fn call(
    machine: &Machine<'_>,
    node: &Node,
    function: Function,
    arguments: Vec<Cow<'_, Value>>,
    compiled: Option<&Regex>,
) -> Result<Value, Fault> {
    for argument in &arguments {
        machine.pay(node, cost(function, argument))?;
    }
    if function == Function::Matches && compiled.is_none() {
        machine.pay(node, COMPILE_STEPS)?;
    }
    let call = Call { function, arguments: &arguments, compiled };
    let result = call.result().map_err(|message| Fault::at(node.at, message))?;
    machine.pay(node, weight(&result))?;
    Ok(result)
}

/// What a function pays for looking at an argument.
fn cost(function: Function, argument: &Value) -> u64 {
    let all = weight(argument);
    match function {
        Function::Size | Function::Type | Function::Int | Function::Double | Function::Bool => 1,
        // Each item is compared with each.
        Function::Distinct => all.saturating_mul(all),
        Function::Sort => all.saturating_mul(u64::from(u64::BITS - all.leading_zeros())),
        Function::Matches => all * 8,
        _ => all,
    }
}

struct Call<'c> {
    function: Function,
    arguments: &'c [Cow<'c, Value>],
    compiled: Option<&'c Regex>,
}

impl Call<'_> {
    fn result(&self) -> Result<Value, String> {
        let first = &*self.arguments[0];
        match self.function {
            Function::Size => self.size(),
            Function::Int => self.int(),
            Function::Double => self.double(),
            Function::String => Ok(match first {
                Value::String(text) => text.as_str().into(),
                Value::Number(number) => match Num::of(number) {
                    Num::Double(double) if number.is_f64() => double.to_string().into(),
                    _ => number.to_string().into(),
                },
                other => other.to_string().into(),
            }),
            Function::Bool => match first {
                Value::Bool(truth) => Ok((*truth).into()),
                Value::String(text) => match text.as_str() {
                    "true" | "True" | "TRUE" | "t" | "1" => Ok(true.into()),
                    "false" | "False" | "FALSE" | "f" | "0" => Ok(false.into()),
                    _ => Err(self.unfit(0)),
                },
                _ => Err(self.unfit(0)),
            },
            Function::Type => Ok(super::kind::name(first).into()),
            Function::Dyn => Ok(first.clone()),
            Function::Matches => self.matches(),
            Function::Contains => self.contains(),
            Function::StartsWith => Ok(self.text(0)?.starts_with(self.text(1)?).into()),
            Function::EndsWith => Ok(self.text(0)?.ends_with(self.text(1)?).into()),
            Function::LowerAscii => Ok(self.text(0)?.to_ascii_lowercase().into()),
            Function::UpperAscii => Ok(self.text(0)?.to_ascii_uppercase().into()),
            Function::Trim => Ok(self.text(0)?.trim().into()),
            Function::Replace => self.replace(),
            Function::Split => Ok(match (self.text(0)?, self.text(1)?) {
                (text, "") => text.chars().map(|c| Value::from(c.to_string())).collect(),
                (text, between) => text.split(between).map(Value::from).collect(),
            }),
            Function::Join => self.join(),
            Function::Substring => self.substring(),
            Function::IndexOf => {
                let text = self.text(0)?;
                let found = text.find(self.text(1)?).map(|byte| text[..byte].chars().count() as i64);
                Ok(found.unwrap_or(-1).into())
            }
            Function::Distinct => self.distinct(),
            Function::Sort => self.sort(),
            Function::Reverse => Ok(self.list(0)?.iter().rev().cloned().collect::<Vec<_>>().into()),
            Function::Flatten => self.flatten(),
            Function::Slice => self.slice(),
            Function::Greatest => self.extreme(Ordering::Greater),
            Function::Least => self.extreme(Ordering::Less),
            Function::Abs => match self.number(0)? {
                Num::Int(int) => int.checked_abs().map(Value::from).ok_or("does not fit 64 bits".to_owned()),
                Num::Double(number) => double(number.abs()),
            },
            Function::Ceil => self.rounded(f64::ceil),
            Function::Floor => self.rounded(f64::floor),
            Function::Round => self.rounded(f64::round),
        }
    }

    fn unfit(&self, place: usize) -> String {
        format!("`{}` cannot take {}", self.function.name(), described(&self.arguments[place]))
    }

    fn text(&self, place: usize) -> Result<&str, String> {
        self.arguments[place].as_str().ok_or_else(|| self.unfit(place))
    }

    fn list(&self, place: usize) -> Result<&[Value], String> {
        self.arguments[place].as_array().map(Vec::as_slice).ok_or_else(|| self.unfit(place))
    }

    fn number(&self, place: usize) -> Result<Num, String> {
        match &*self.arguments[place] {
            Value::Number(number) => Ok(Num::of(number)),
            _ => Err(self.unfit(place)),
        }
    }

    fn count(&self, place: usize) -> Result<usize, String> {
        let number = self.arguments[place].as_number().and_then(whole);
        number.and_then(|number| usize::try_from(number).ok()).ok_or_else(|| self.unfit(place))
    }

    fn size(&self) -> Result<Value, String> {
        match &*self.arguments[0] {
            Value::String(text) => Ok(text.chars().count().into()),
            Value::Array(items) => Ok(items.len().into()),
            Value::Object(members) => Ok(members.len().into()),
            _ => Err(self.unfit(0)),
        }
    }

    fn int(&self) -> Result<Value, String> {
        let number = match &*self.arguments[0] {
            Value::Number(number) => match Num::of(number) {
                Num::Int(int) => Some(int),
                Num::Double(double) if double.abs() < INT_MAX => Some(double.trunc() as i64),
                Num::Double(_) => None,
            },
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.map(Value::from).ok_or_else(|| self.unfit(0))
    }

    fn double(&self) -> Result<Value, String> {
        match &*self.arguments[0] {
            Value::Number(number) => double(Num::of(number).double()),
            Value::String(text) => double(text.trim().parse().map_err(|_| self.unfit(0))?),
            _ => Err(self.unfit(0)),
        }
    }

    fn matches(&self) -> Result<Value, String> {
        let text = self.text(0)?;
        match self.compiled {
            Some(regex) => Ok(regex.is_match(text).into()),
            None => Ok(pattern(self.text(1)?)?.is_match(text).into()),
        }
    }

    fn contains(&self) -> Result<Value, String> {
        match &*self.arguments[0] {
            Value::Array(items) => Ok(items.iter().any(|item| equal(item, &self.arguments[1])).into()),
            _ => Ok(self.text(0)?.contains(self.text(1)?).into()),
        }
    }

    fn replace(&self) -> Result<Value, String> {
        let (text, from, to) = (self.text(0)?, self.text(1)?, self.text(2)?);
        let pieces = text.matches(from).count() as u64;
        let length = text.len() as u64 + pieces.saturating_mul(to.len() as u64);
        // Paid for afterwards, so it must not be larger than what could be paid for at all.
        if length / 64 > super::evaluate::STEPS_MAX {
            return Err(format!("the text would be {length} bytes long"));
        }
        Ok(text.replace(from, to).into())
    }

    fn join(&self) -> Result<Value, String> {
        let between = if self.arguments.len() > 1 { self.text(1)? } else { "" };
        let items = self.list(0)?;
        let mut text = String::new();
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                text.push_str(between);
            }
            let part = item.as_str();
            text.push_str(part.ok_or_else(|| format!("`join` wants texts, found {}", described(item)))?);
            if text.len() as u64 / 64 > super::evaluate::STEPS_MAX {
                return Err("the text would be too long".to_owned());
            }
        }
        Ok(text.into())
    }

    fn substring(&self) -> Result<Value, String> {
        let (text, from) = (self.text(0)?, self.count(1)?);
        let length = text.chars().count();
        let to = if self.arguments.len() > 2 { self.count(2)? } else { length };
        if from > to || to > length {
            return Err(format!("no characters {from} to {to} in a text of {length}"));
        }
        Ok(text.chars().skip(from).take(to - from).collect::<String>().into())
    }

    fn distinct(&self) -> Result<Value, String> {
        let mut found: Vec<Value> = Vec::new();
        for item in self.list(0)? {
            if !found.iter().any(|other| equal(other, item)) {
                found.push(item.clone());
            }
        }
        Ok(found.into())
    }

    fn sort(&self) -> Result<Value, String> {
        let mut items = self.list(0)?.to_vec();
        let mut wrong = None;
        items.sort_by(|a, b| {
            compare(a, b).unwrap_or_else(|message| {
                wrong.get_or_insert(message);
                Ordering::Equal
            })
        });
        wrong.map_or(Ok(items.into()), Err)
    }

    fn flatten(&self) -> Result<Value, String> {
        let mut flat = Vec::new();
        for item in self.list(0)? {
            match item {
                Value::Array(items) => flat.extend(items.iter().cloned()),
                other => flat.push(other.clone()),
            }
        }
        Ok(flat.into())
    }

    fn slice(&self) -> Result<Value, String> {
        let (items, from, to) = (self.list(0)?, self.count(1)?, self.count(2)?);
        let part = items.get(from..to);
        let part = part.ok_or_else(|| format!("no items {from} to {to} in a list of {}", items.len()))?;
        Ok(part.to_vec().into())
    }

    /// The greatest or the least of the arguments, or of the items of the only one.
    fn extreme(&self, wanted: Ordering) -> Result<Value, String> {
        let items: Vec<&Value> = match self.arguments {
            [only] if only.is_array() => self.list(0)?.iter().collect(),
            all => all.iter().map(|argument| &**argument).collect(),
        };
        let mut items = items.into_iter();
        let mut best = items.next().ok_or_else(|| format!("`{}` of nothing", self.function.name()))?;
        if !best.is_number() {
            return Err(format!("`{}` wants numbers, found {}", self.function.name(), described(best)));
        }
        for item in items {
            if compare(item, best)? == wanted {
                best = item;
            }
        }
        Ok(best.clone())
    }

    fn rounded(&self, round: fn(f64) -> f64) -> Result<Value, String> {
        match self.number(0)? {
            Num::Int(int) => Ok(int.into()),
            Num::Double(number) => double(round(number)),
        }
    }
}
