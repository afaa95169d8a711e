//! The state of an invocation: typed keys, and reducers that fold what nodes contribute.
//!
//! In: contributions by key. Out: a new state; the old one stays as it was. Every value is validated before it is
//! part of a state. Values are kept as the texts that nodes gave: what nobody looks into is never parsed, copied or
//! written anew. Start reading at [`State::write`].

mod held;
mod reduce;

use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::Arc;

use antiphon_event::near::nearest;
use antiphon_event::{Json, JsonKind};
use imbl::OrdMap;
use serde_json::{Map, Value};

use held::Held;
pub use reduce::{Misfit, Reduce};

use crate::schema::{Schema, Violation};

/// A key of the state.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// What its value must be.
    pub schema: Schema,
    /// Its value until somebody writes it; without one it has none.
    pub default: Option<Value>,
    /// How contributions are folded.
    pub reduce: Reduce,
}

impl Key {
    /// What cannot work: a reducer that does not fit the type, a default that does not fit the schema.
    pub fn check(&self) -> Vec<Error> {
        let mut wrong = Vec::new();
        if let Err(misfit) = self.reduce.fits(&self.schema) {
            wrong.push(Error::Misfit { key: self.name.clone(), misfit });
        }
        if let Some(Err(violation)) = self.default.as_ref().map(|default| self.schema.validate(default)) {
            wrong.push(Error::Default { key: self.name.clone(), violation });
        }
        wrong
    }
}

/// Why a state is not, or cannot become, what was asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// There is no such key.
    #[error("the state has no key `{key}`{}", suggestion.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown {
        /// The name.
        key: String,
        /// The key that was probably meant.
        suggestion: Option<String>,
    },
    /// The value would not fit its schema.
    #[error("state key `{key}`: {violation}")]
    Schema {
        /// The key.
        key: String,
        /// Where and why.
        violation: Violation,
    },
    /// The contribution cannot be folded.
    #[error("state key `{key}`: {misfit}")]
    Misfit {
        /// The key.
        key: String,
        /// Why.
        misfit: Misfit,
    },
    /// The default does not fit the schema.
    #[error("the default of state key `{key}`: {violation}")]
    Default {
        /// The key.
        key: String,
        /// Where and why.
        violation: Violation,
    },
}

/// The values of a flow's keys at one moment. Cloning is cheap, and what two states have in common is shared.
#[derive(Debug, Clone, Default)]
pub struct State {
    keys: Arc<BTreeMap<String, Known>>,
    /// What was written or given; a key without an entry has its default.
    written: OrdMap<Arc<str>, Held>,
}

/// A key, and its default as it is kept.
#[derive(Debug)]
struct Known {
    key: Key,
    default: Option<Held>,
}

/// What a contribution does to the value of its key.
enum Change {
    None,
    Set(Held),
    /// A list to be put after the one there is, which may have been parsed.
    Append(Json, Option<Value>),
    /// An object to be added to the one there is.
    Merge(Value),
}

impl State {
    /// Every key at its default. Of two keys with one name the later counts.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Self {
        let known = |key: Key| {
            let default = key.default.clone().map(Held::from);
            (key.name.clone(), Known { key, default })
        };
        Self { keys: Arc::new(keys.into_iter().map(known).collect()), written: OrdMap::new() }
    }

    /// The same keys with these values in place of the ones they have, which counts as writing them.
    pub fn with<'w>(&self, given: impl IntoIterator<Item = (&'w String, &'w Json)>) -> Result<Self, Error> {
        let mut next = self.clone();
        for (name, value) in given {
            let parsed = validate(&find(&next.keys, name)?.key, value)?;
            next.written.insert(name.as_str().into(), Held::new(value.clone(), parsed));
        }
        Ok(next)
    }

    /// The same keys with exactly these written, which were those of such a state before.
    pub(crate) fn again(&self, written: BTreeMap<String, Json>) -> Self {
        let known = written.into_iter().filter(|(name, _)| self.keys.contains_key(name));
        let written = known.map(|(name, value)| (Arc::from(name), Held::new(value, None))).collect();
        Self { keys: Arc::clone(&self.keys), written }
    }

    /// Folds contributions, in this order, each by its key's reducer; all of them or none.
    pub fn fold<'w>(&self, writes: impl IntoIterator<Item = (&'w str, &'w Json)>) -> Result<Self, Error> {
        let mut next = self.clone();
        for (name, contribution) in writes {
            next.write(name, contribution.clone())?;
        }
        Ok(next)
    }

    /// Folds one contribution into this very state, by its key's reducer; one that does not fit changes nothing.
    ///
    /// A list that grows costs what is added to it; so does an object, unless another state still shares it.
    pub fn write(&mut self, name: &str, contribution: Json) -> Result<(), Error> {
        let keys = Arc::clone(&self.keys);
        let known = find(&keys, name)?;
        match self.change(known, contribution)? {
            Change::None => {}
            Change::Set(value) => _ = self.written.insert(name.into(), value),
            Change::Append(addition, parsed) => {
                let held = self.held_mut(known);
                match held.kind() {
                    JsonKind::List => held.append(addition, parsed),
                    _ => *held = Held::new(addition, parsed),
                }
            }
            Change::Merge(addition) => self.held_mut(known).merge(addition),
        }
        Ok(())
    }

    /// Whether contributions can be folded; where that can be told from what they add, nothing is.
    pub fn check(&self, writes: &[(String, Json)]) -> Result<(), Error> {
        let repeats = |at: usize| writes[..at].iter().any(|(name, _)| *name == writes[at].0);
        if (1..writes.len()).any(repeats) {
            return self.fold(writes.iter().map(|(name, value)| (name.as_str(), value))).map(drop);
        }
        for (name, contribution) in writes {
            self.change(find(&self.keys, name)?, contribution.clone())?;
        }
        Ok(())
    }

    /// The value of a key: what was written, else its default. Parsed when it is first asked for.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.held(name).map(Held::value)
    }

    /// The same as JSON, which a node can write again, or look at a part of, without a copy being made of it.
    pub fn json(&self, name: &str) -> Option<&Json> {
        self.held(name).map(Held::text)
    }

    /// How many items the list has that is the value of a key.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.held(name)?.count()
    }

    /// The last of them.
    pub fn last(&self, name: &str) -> Option<Json> {
        self.held(name)?.last()
    }

    /// The keys, by name.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.values().map(|known| &known.key)
    }

    /// Only what was written or given: with [`State::with`] on the defaults it gives this state again.
    pub fn written(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.written.iter().map(|(name, held)| (&**name, held.text()))
    }

    /// Every key that has a value, by name.
    pub fn to_object(&self) -> Map<String, Value> {
        let names = self.keys.keys();
        names.filter_map(|name| Some((name.clone(), self.get(name)?.clone()))).collect()
    }

    /// The key with this name.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.get(name).map(|known| &known.key)
    }

    fn held(&self, name: &str) -> Option<&Held> {
        self.written.get(name).or_else(|| self.keys.get(name)?.default.as_ref())
    }

    /// The value of a key to be changed.
    fn held_mut(&mut self, known: &Known) -> &mut Held {
        let name = known.key.name.as_str();
        if !self.written.contains_key(name) {
            let default = known.default.clone().unwrap_or_else(|| Held::from(Value::Null));
            self.written.insert(name.into(), default);
        }
        self.written.get_mut(name).expect("it was just put there")
    }

    /// What a contribution does, if it fits.
    fn change(&self, known: &Known, contribution: Json) -> Result<Change, Error> {
        let key = &known.key;
        let old = self.held(&key.name);
        let addition = key.reduce.addition(contribution);
        let is_first = !self.written.contains_key(key.name.as_str());
        match key.reduce {
            Reduce::Last => return set(key, addition),
            // A default was not written by anybody, so it does not count as the first.
            Reduce::First if is_first => return set(key, addition),
            Reduce::First => return Ok(Change::None),
            Reduce::Append | Reduce::Merge | Reduce::Sum | Reduce::Max | Reduce::Min => {}
        }
        // What is added to a value that fits need only fit by itself, if the schema judges it by its members.
        if key.reduce.grows(old.map(Held::kind), addition.kind())
            && key.schema.judges_members()
            && let Ok(parsed) = key.schema.fits(&addition)
        {
            return Ok(match key.reduce {
                Reduce::Append => Change::Append(addition, parsed),
                _ => Change::Merge(parsed.unwrap_or_else(|| addition.value())),
            });
        }
        let folded = key.reduce.fold(old.map(Held::value), &addition.value());
        let value = folded.map_err(|misfit| Error::Misfit { key: key.name.clone(), misfit })?;
        key.schema.validate(&value).map_err(|violation| unfit(key, violation))?;
        Ok(Change::Set(Held::from(value)))
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.to_object() == other.to_object() && self.keys().eq(other.keys())
    }
}

/// The value of a key; null if it has none.
impl Index<&str> for State {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&Value::Null)
    }
}

fn find<'k>(keys: &'k BTreeMap<String, Known>, name: &str) -> Result<&'k Known, Error> {
    keys.get(name).ok_or_else(|| {
        let near = nearest(name, keys.keys().map(String::as_str));
        Error::Unknown { key: name.to_owned(), suggestion: near.map(str::to_owned) }
    })
}

fn set(key: &Key, value: Json) -> Result<Change, Error> {
    let parsed = validate(key, &value)?;
    Ok(Change::Set(Held::new(value, parsed)))
}

/// Whether a value fits its key, and what it is parsed if it had to be.
fn validate(key: &Key, value: &Json) -> Result<Option<Value>, Error> {
    key.schema.fits(value).map_err(|violation| unfit(key, violation))
}

fn unfit(key: &Key, violation: Violation) -> Error {
    Error::Schema { key: key.name.clone(), violation }
}
