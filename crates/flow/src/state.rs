//! The state of an invocation: typed keys, and reducers that fold what nodes contribute.
//!
//! In: contributions by key. Out: a new state; the old one stays as it was. Every value is validated before it is
//! part of a state. Start reading at [`State::write`].

mod reduce;

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::near::nearest;
use imbl::OrdMap;
use serde_json::{Map, Value};

pub(crate) use reduce::grow;
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

    /// Whether a value becomes a valid one by this addition, as far as that can be told without putting them together.
    fn grows(&self, old: Option<&Value>, addition: &Value) -> bool {
        self.reduce.grows(old, addition)
            && self.schema.judges_members()
            && self.schema.validate(addition).is_ok()
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
#[derive(Debug, Clone)]
pub struct State {
    keys: Arc<BTreeMap<String, Key>>,
    /// What was written or given; a key without an entry has its default.
    written: OrdMap<Arc<str>, Arc<Value>>,
}

impl State {
    /// Every key at its default. Of two keys with one name the later counts.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Self {
        let keys = keys.into_iter().map(|key| (key.name.clone(), key)).collect();
        Self { keys: Arc::new(keys), written: OrdMap::new() }
    }

    /// The same keys with these values in place of the ones they have, which counts as writing them.
    pub fn with(&self, given: &Map<String, Value>) -> Result<Self, Error> {
        let mut next = self.clone();
        for (name, value) in given {
            validate(find(&next.keys, name)?, value)?;
            next.written.insert(name.as_str().into(), Arc::new(value.clone()));
        }
        Ok(next)
    }

    /// The same keys with exactly these written, which were those of such a state before.
    pub(crate) fn again(&self, written: BTreeMap<String, Arc<Value>>) -> Self {
        let known = written.into_iter().filter(|(name, _)| self.keys.contains_key(name));
        let written = known.map(|(name, value)| (Arc::from(name), value)).collect();
        Self { keys: Arc::clone(&self.keys), written }
    }

    /// Folds contributions, in this order, each by its key's reducer; all of them or none.
    pub fn fold<'w>(&self, writes: impl IntoIterator<Item = (&'w str, &'w Value)>) -> Result<Self, Error> {
        let mut next = self.clone();
        for (name, contribution) in writes {
            next.write(name, contribution.clone())?;
        }
        Ok(next)
    }

    /// Folds one contribution into this very state, by its key's reducer; one that does not fit changes nothing.
    ///
    /// A list or an object that grows costs what is added to it, unless another state still shares it.
    pub fn write(&mut self, name: &str, contribution: Value) -> Result<(), Error> {
        let keys = Arc::clone(&self.keys);
        let key = find(&keys, name)?;
        let addition = key.reduce.addition(contribution);
        if key.grows(self.get(name), &addition)
            && let Some(value) = self.written.get_mut(name)
        {
            grow(Arc::make_mut(value), addition);
            return Ok(());
        }
        let value = if key.reduce == Reduce::Last {
            validate(key, &addition)?;
            addition
        } else {
            self.folded(key, &addition)?
        };
        self.written.insert(name.into(), Arc::new(value));
        Ok(())
    }

    /// Whether contributions can be folded; where that can be told from what they add, nothing is.
    pub fn check(&self, writes: &[(String, Value)]) -> Result<(), Error> {
        let repeats = |at: usize| writes[..at].iter().any(|(name, _)| *name == writes[at].0);
        if (1..writes.len()).any(repeats) {
            return self.fold(writes.iter().map(|(name, value)| (name.as_str(), value))).map(drop);
        }
        for (name, contribution) in writes {
            let key = find(&self.keys, name)?;
            if key.reduce == Reduce::Last {
                validate(key, contribution)?;
                continue;
            }
            let single = key.reduce == Reduce::Append && !contribution.is_array();
            let listed = single.then(|| key.reduce.addition(contribution.clone()));
            let addition = listed.as_ref().unwrap_or(contribution);
            if !key.grows(self.get(name), addition) {
                self.folded(key, addition)?;
            }
        }
        Ok(())
    }

    /// The value of a key: what was written, else its default.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let written = self.written.get(name).map(|value| &**value);
        written.or_else(|| self.keys.get(name)?.default.as_ref())
    }

    /// The keys, by name.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.values()
    }

    /// Only what was written or given: with [`State::with`] on the defaults it gives this state again.
    pub fn written(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.written.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The same as they are kept.
    pub(crate) fn shared(&self) -> impl Iterator<Item = (&str, &Arc<Value>)> {
        self.written.iter().map(|(name, value)| (&**name, value))
    }

    /// Every key that has a value, by name.
    pub fn to_object(&self) -> Map<String, Value> {
        let names = self.keys.keys();
        names.filter_map(|name| Some((name.clone(), self.get(name)?.clone()))).collect()
    }

    /// The key with this name.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.get(name)
    }

    fn folded(&self, key: &Key, contribution: &Value) -> Result<Value, Error> {
        let name = key.name.as_str();
        // A default was not written by anybody, so it does not count as the first.
        let old = if key.reduce == Reduce::First {
            self.written.get(name).map(|value| &**value)
        } else {
            self.get(name)
        };
        let folded = key.reduce.fold(old, contribution);
        let value = folded.map_err(|misfit| Error::Misfit { key: name.to_owned(), misfit })?;
        validate(key, &value)?;
        Ok(value)
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.to_object() == other.to_object() && self.keys == other.keys
    }
}

fn find<'k>(keys: &'k BTreeMap<String, Key>, name: &str) -> Result<&'k Key, Error> {
    keys.get(name).ok_or_else(|| {
        let near = nearest(name, keys.keys().map(String::as_str));
        Error::Unknown { key: name.to_owned(), suggestion: near.map(str::to_owned) }
    })
}

fn validate(key: &Key, value: &Value) -> Result<(), Error> {
    key.schema.validate(value).map_err(|violation| Error::Schema { key: key.name.clone(), violation })
}
