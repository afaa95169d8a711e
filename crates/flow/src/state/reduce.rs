//! Reducers: how a contribution and the value before it become the value after it.

use antiphon_event::{Json, JsonKind};
use serde_json::{Number, Value};

use crate::expr::Type;
use crate::schema::Schema;

/// How contributions to a key are folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Reduce {
    /// `last`: the latest contribution is the value.
    #[default]
    Last,
    /// `first`: the first contribution is the value, later ones change nothing.
    First,
    /// `append`: a list is put at the end of the list, anything else becomes its last item.
    Append,
    /// `sum`: numbers are added; integers stay integers.
    Sum,
    /// `max`: the greatest number, or text by code points.
    Max,
    /// `min`: the least number, or text by code points.
    Min,
    /// `merge`: members of an object are added or replaced, not those within them.
    Merge,
}

/// Why a contribution cannot be folded, or a reducer not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{reduce}` {why}")]
pub struct Misfit {
    /// The reducer's word.
    pub reduce: &'static str,
    /// What is wrong.
    pub why: String,
}

impl Reduce {
    /// Every reducer.
    pub const ALL: &[Self] =
        &[Self::Last, Self::First, Self::Append, Self::Sum, Self::Max, Self::Min, Self::Merge];

    /// The word in a flow file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::First => "first",
            Self::Append => "append",
            Self::Sum => "sum",
            Self::Max => "max",
            Self::Min => "min",
            Self::Merge => "merge",
        }
    }

    /// The value after a contribution; before the first one there may be none.
    pub fn fold(self, old: Option<&Value>, contribution: &Value) -> Result<Value, Misfit> {
        match self {
            Self::Last => Ok(contribution.clone()),
            Self::First => Ok(old.unwrap_or(contribution).clone()),
            Self::Append => self.append(old, contribution),
            Self::Sum => self.sum(old, contribution),
            Self::Max | Self::Min => self.extreme(old, contribution),
            Self::Merge => self.merge(old, contribution),
        }
    }

    /// A contribution as it is folded: what `append` puts at the end is a list.
    pub(crate) fn addition(self, contribution: Json) -> Json {
        if self == Self::Append && contribution.kind() != JsonKind::List {
            return Json::list([contribution]);
        }
        contribution
    }

    /// Whether folding is no more than adding members to those that are there.
    pub(crate) fn grows(self, old: Option<JsonKind>, addition: JsonKind) -> bool {
        matches!(
            (self, old, addition),
            (Self::Append, None | Some(JsonKind::Null | JsonKind::List), JsonKind::List)
                | (Self::Merge, None | Some(JsonKind::Null | JsonKind::Object), JsonKind::Object)
        )
    }

    /// Several contributions as one, which folds to what they would fold to one after the other.
    pub(crate) fn together(self, contributions: Vec<Json>) -> Result<Json, Misfit> {
        let mut each = contributions.into_iter().map(|contribution| self.addition(contribution));
        if each.len() > 1 && self == Self::Append {
            return Ok(Json::concat(&each.collect::<Vec<_>>()));
        }
        let first = each.next().unwrap_or_else(|| Json::from(()));
        each.try_fold(first, |before, addition| match self {
            Self::Last => Ok(addition),
            Self::First => Ok(before),
            _ => self.fold(Some(&before.value()), &addition.value()).map(Json::from),
        })
    }

    /// Whether the reducer can work on values of this schema. Where the schema leaves the type open, it can.
    pub fn fits(self, schema: &Schema) -> Result<(), Misfit> {
        let found = Type::of_schema(schema.source());
        let is_number = matches!(found, Type::Int | Type::Number);
        let (fits, wanted) = match self {
            Self::Last | Self::First => (true, ""),
            Self::Append => (matches!(found, Type::List(_)), "array"),
            Self::Sum => (is_number, "number or integer"),
            Self::Max | Self::Min => (is_number || found == Type::String, "number, integer or string"),
            Self::Merge => (matches!(found, Type::Map { .. }), "object"),
        };
        if fits || found == Type::Dyn {
            return Ok(());
        }
        Err(self.misfit(format!("wants a key of type {wanted}, this is {found}")))
    }

    /// What a contribution to a key of this type must be; `append` also takes an item of such a list.
    pub(crate) fn takes(self, key: Type) -> Type {
        match (self, key) {
            (Self::Last | Self::First, key)
            | (Self::Append, key @ Type::List(_))
            | (Self::Merge, key @ Type::Map { .. }) => key,
            (Self::Sum, Type::Int) => Type::Int,
            (Self::Sum, _) | (Self::Max | Self::Min, Type::Int | Type::Number) => Type::Number,
            (Self::Max | Self::Min, Type::String) => Type::String,
            (Self::Merge, _) => Type::any_map(),
            (Self::Append | Self::Max | Self::Min, _) => Type::Dyn,
        }
    }

    fn misfit(self, why: impl Into<String>) -> Misfit {
        Misfit { reduce: self.as_str(), why: why.into() }
    }

    fn append(self, old: Option<&Value>, contribution: &Value) -> Result<Value, Misfit> {
        let mut list = match old {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items.clone(),
            Some(other) => return Err(self.misfit(format!("wants a list to add to, found {}", word(other)))),
        };
        match contribution {
            Value::Array(items) => list.extend(items.iter().cloned()),
            other => list.push(other.clone()),
        }
        Ok(Value::Array(list))
    }

    fn sum(self, old: Option<&Value>, contribution: &Value) -> Result<Value, Misfit> {
        let new = self.number(contribution)?;
        let Some(old) = old.filter(|old| !old.is_null()) else {
            return Ok(contribution.clone());
        };
        let old = self.number(old)?;
        if let (Some(a), Some(b)) = (old.as_i64(), new.as_i64()) {
            let sum = a.checked_add(b);
            return sum
                .map(Value::from)
                .ok_or_else(|| self.misfit(format!("{a} + {b} does not fit 64 bits")));
        }
        let sum = old.as_f64().zip(new.as_f64()).map(|(a, b)| a + b);
        let sum = sum.and_then(Number::from_f64).map(Value::Number);
        sum.ok_or_else(|| self.misfit(format!("{old} + {new} is too large")))
    }

    fn number(self, value: &Value) -> Result<&Number, Misfit> {
        value.as_number().ok_or_else(|| self.misfit(format!("wants numbers, found {}", word(value))))
    }

    fn extreme(self, old: Option<&Value>, contribution: &Value) -> Result<Value, Misfit> {
        if !contribution.is_number() && !contribution.is_string() {
            return Err(self.misfit(format!("wants numbers or texts, found {}", word(contribution))));
        }
        let Some(old) = old.filter(|old| !old.is_null()) else {
            return Ok(contribution.clone());
        };
        let order = crate::expr::compare(contribution, old).map_err(|why| self.misfit(why))?;
        let wins = if self == Self::Max { order.is_gt() } else { order.is_lt() };
        Ok(if wins { contribution } else { old }.clone())
    }

    fn merge(self, old: Option<&Value>, contribution: &Value) -> Result<Value, Misfit> {
        let mut members = match old {
            None | Some(Value::Null) => serde_json::Map::new(),
            Some(Value::Object(members)) => members.clone(),
            Some(other) => {
                return Err(self.misfit(format!("wants an object to add to, found {}", word(other))));
            }
        };
        let Value::Object(new) = contribution else {
            return Err(self.misfit(format!("wants an object, found {}", word(contribution))));
        };
        members.extend(new.iter().map(|(name, value)| (name.clone(), value.clone())));
        Ok(Value::Object(members))
    }
}

fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
