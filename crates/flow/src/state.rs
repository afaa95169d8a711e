//! The state of an invocation: typed keys, and reducers that fold what nodes contribute.
//!
//! In: contributions by key. Out: a new state; the old one stays as it was. Every value is validated before it is
//! part of a state. Start reading at [`State::fold`].

mod reduce;

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::OrdMap;
use serde_json::{Map, Value};

pub use reduce::{Misfit, Reduce};

use crate::schema::{Schema, Violation};
use crate::suggest::nearest;

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
            let key = next.key(name)?;
            validate(key, value)?;
            next.written.insert(name.as_str().into(), Arc::new(value.clone()));
        }
        Ok(next)
    }

    /// Folds contributions, in this order, each by its key's reducer; all of them or none.
    pub fn fold<'w>(&self, writes: impl IntoIterator<Item = (&'w str, &'w Value)>) -> Result<Self, Error> {
        let mut next = self.clone();
        for (name, contribution) in writes {
            let value = next.folded(name, contribution)?;
            next.written.insert(name.into(), Arc::new(value));
        }
        Ok(next)
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

    /// Every key that has a value, by name.
    pub fn to_object(&self) -> Map<String, Value> {
        let names = self.keys.keys();
        names.filter_map(|name| Some((name.clone(), self.get(name)?.clone()))).collect()
    }

    fn key(&self, name: &str) -> Result<&Key, Error> {
        self.keys.get(name).ok_or_else(|| {
            let near = nearest(name, self.keys.keys().map(String::as_str));
            Error::Unknown { key: name.to_owned(), suggestion: near.map(str::to_owned) }
        })
    }

    fn folded(&self, name: &str, contribution: &Value) -> Result<Value, Error> {
        let key = self.key(name)?;
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

fn validate(key: &Key, value: &Value) -> Result<(), Error> {
    key.schema.validate(value).map_err(|violation| Error::Schema { key: key.name.clone(), violation })
}
