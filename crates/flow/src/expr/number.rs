//! Numbers and order: arithmetic on integers and doubles, equality and comparison of values.
//!
//! In: JSON values. Out: JSON values, or why not. Nothing here wraps round or becomes infinite.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::kind::described;
use super::tree::Binary;

/// A number as expressions see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Num {
    Int(i64),
    Double(f64),
}

impl Num {
    /// Integers beyond 64 signed bits are doubles.
    pub(super) fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(int) => Self::Int(int),
            None => Self::Double(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    pub(super) fn double(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Double(double) => double,
        }
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(&b)),
            (Self::Double(a), Self::Double(b)) => a.partial_cmp(&b),
            (Self::Int(a), Self::Double(b)) => compare_mixed(a, b),
            (Self::Double(a), Self::Int(b)) => compare_mixed(b, a).map(Ordering::reverse),
        }
    }
}

/// Exact, where turning the integer into a double would round it.
fn compare_mixed(int: i64, double: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if double.is_nan() {
        return None;
    }
    if double >= LIMIT {
        return Some(Ordering::Less);
    }
    if double < -LIMIT {
        return Some(Ordering::Greater);
    }
    let whole = int.cmp(&(double.trunc() as i64));
    Some(whole.then_with(|| 0.0.partial_cmp(&double.fract()).unwrap_or(Ordering::Equal)))
}

/// A double as JSON, which has neither infinity nor a number that is none.
pub(super) fn double(value: f64) -> Result<Value, String> {
    Number::from_f64(value).map(Value::Number).ok_or_else(|| "the number is too large".to_owned())
}

/// `+`, `-`, `*`, `/` or `%` on two numbers.
pub(super) fn arithmetic(operator: Binary, left: Num, right: Num) -> Result<Value, String> {
    match (left, right) {
        (Num::Int(a), Num::Int(b)) => on_ints(operator, a, b).map(Value::from),
        (a, b) => double(on_doubles(operator, a.double(), b.double())?),
    }
}

fn on_ints(operator: Binary, a: i64, b: i64) -> Result<i64, String> {
    let result = match operator {
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        Binary::Divide | Binary::Remainder if b == 0 => return Err("division by zero".to_owned()),
        Binary::Divide => a.checked_div(b),
        Binary::Remainder => a.checked_rem(b),
        _ => a.checked_add(b),
    };
    result.ok_or_else(|| format!("{a} {} {b} does not fit 64 bits", operator.mark()))
}

fn on_doubles(operator: Binary, a: f64, b: f64) -> Result<f64, String> {
    match operator {
        Binary::Subtract => Ok(a - b),
        Binary::Multiply => Ok(a * b),
        Binary::Divide | Binary::Remainder if b == 0.0 => Err("division by zero".to_owned()),
        Binary::Divide => Ok(a / b),
        Binary::Remainder => Err("`%` wants integers".to_owned()),
        _ => Ok(a + b),
    }
}

/// Whether two values are the same; numbers are compared by what they count, members in any order.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => Num::of(a).compare(Num::of(b)) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Which comes first: numbers, texts by code point, booleans.
pub(crate) fn compare(left: &Value, right: &Value) -> Result<Ordering, String> {
    let order = match (left, right) {
        (Value::Number(a), Value::Number(b)) => Num::of(a).compare(Num::of(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    };
    order.ok_or_else(|| format!("cannot compare {} with {}", described(left), described(right)))
}
