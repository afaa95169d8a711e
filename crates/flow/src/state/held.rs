//! [`Held`]: the value of a key as the texts it came in, parsed only when somebody looks inside, and then once.
//!
//! A list that is appended to keeps what was appended, piece by piece: its length is known, and its text is put together
//! from theirs, without a look at all of it. Start reading at [`Held::append`].

use std::fmt;
use std::sync::{Arc, OnceLock};

use antiphon_event::{Json, JsonKind};
use imbl::Vector;
use serde_json::Value;

/// A value that states share.
#[derive(Clone)]
pub(super) struct Held(Arc<Inner>);

/// A value in the forms somebody wanted it in; at least one of them is there.
#[derive(Default)]
struct Inner {
    text: OnceLock<Json>,
    value: OnceLock<Arc<Value>>,
    /// How many items the text has, if it is that of a list.
    count: OnceLock<Option<usize>>,
    list: Option<Box<List>>,
}

/// What a list was appended together from.
#[derive(Default, Clone)]
struct List {
    /// Lists, in order.
    pieces: Vector<Json>,
    count: OnceLock<usize>,
    /// How many of the first pieces were parsed before the last ones came, and what they are.
    begun: Option<(usize, Arc<Value>)>,
}

impl Held {
    /// A value that may have been parsed.
    pub(super) fn new(text: Json, parsed: Option<Value>) -> Self {
        let value = parsed.map(Arc::new).map(OnceLock::from).unwrap_or_default();
        Self(Arc::new(Inner { text: OnceLock::from(text), value, ..Inner::default() }))
    }

    fn parsed(&self) -> Option<&Value> {
        self.0.value.get().map(|value| &**value)
    }

    /// The value as JSON.
    pub(super) fn text(&self) -> &Json {
        self.0.text.get_or_init(|| match (&self.0.list, self.parsed()) {
            (Some(list), _) => Json::concat(&list.pieces),
            (None, Some(Value::Array(items))) => Json::list(items.iter().cloned().map(Json::from)),
            (None, value) => Json::from(value.cloned().unwrap_or_default()),
        })
    }

    /// The value, parsed.
    pub(super) fn value(&self) -> &Value {
        self.0.value.get_or_init(|| {
            let parsed = self.0.list.as_ref().and_then(|list| list.parse());
            Arc::new(parsed.unwrap_or_else(|| self.text().value()))
        })
    }

    /// What it is.
    pub(super) fn kind(&self) -> JsonKind {
        match (&self.0.list, self.parsed()) {
            (Some(_), _) | (None, Some(Value::Array(_))) => JsonKind::List,
            (None, Some(Value::Object(_))) => JsonKind::Object,
            (None, _) => self.text().kind(),
        }
    }

    /// How many items it has, if it is a list.
    pub(super) fn count(&self) -> Option<usize> {
        match (&self.0.list, self.parsed()) {
            (_, Some(Value::Array(items))) => Some(items.len()),
            (Some(list), _) => Some(list.count()),
            (None, _) => *self.0.count.get_or_init(|| self.text().count()),
        }
    }

    /// Its last item, if it is a list that has one.
    pub(super) fn last(&self) -> Option<Json> {
        let piece = self.0.list.as_ref().and_then(|list| list.pieces.last()?.last());
        piece.or_else(|| self.text().last())
    }

    /// Puts the items of a list, which may have been parsed, after those of this one. Costs what is added.
    pub(super) fn append(&mut self, addition: Json, parsed: Option<Value>) {
        let mut list = self.unfold();
        let count = list.count.get().map(|count| count + addition.count().unwrap_or_default());
        list.count = count.map(OnceLock::from).unwrap_or_default();
        let mut value = OnceLock::new();
        if let Some((_, whole)) = list.begun.take_if(|(pieces, _)| *pieces == list.pieces.len()) {
            match grown(whole, &addition, parsed) {
                Ok(grown) => value = OnceLock::from(grown),
                Err(whole) => list.begun = Some((list.pieces.len(), whole)),
            }
        }
        list.pieces.push_back(addition);
        self.0 = Arc::new(Inner { value, list: Some(Box::new(list)), ..Inner::default() });
    }

    /// The pieces of a list and what of them is parsed: taken out of it, or shared with it if other states have it too.
    fn unfold(&mut self) -> List {
        let whole = if self.0.list.is_none() { Some(self.text()) } else { self.0.text.get() };
        let whole = whole.cloned();
        let (list, value) = match Arc::get_mut(&mut self.0) {
            Some(inner) => (inner.list.take(), inner.value.take()),
            None => (self.0.list.clone(), self.0.value.get().cloned()),
        };
        let mut list = list.map(|list| *list).unwrap_or_default();
        let pieces = list.pieces.len();
        if let Some(value) = value.filter(|value| value.is_array()) {
            list.begun = Some((pieces, value));
        }
        let is_whole = |begun: &(usize, _)| begun.0 == pieces;
        if let Some(whole) = whole.filter(|_| list.begun.as_ref().is_none_or(is_whole)) {
            // What has been put together need not be kept in pieces as well.
            list.pieces = Vector::unit(whole);
            list.begun = list.begun.map(|(_, value)| (1, value));
        }
        list
    }

    /// Adds the members of an object to those of this one, which is an object. Costs what is added, unless other states
    /// have it too.
    pub(super) fn merge(&mut self, addition: Value) {
        self.value();
        let own = Arc::get_mut(&mut self.0).and_then(|inner| inner.value.take());
        let own = own.and_then(|value| Arc::try_unwrap(value).ok());
        let mut value = own.unwrap_or_else(|| self.value().clone());
        match (&mut value, addition) {
            (Value::Object(members), Value::Object(more)) => members.extend(more),
            (value, addition) => *value = addition,
        }
        *self = Self::from(value);
    }
}

/// Parsed items with those of a list behind them, if nobody else has them; else the items as they are.
fn grown(mut items: Arc<Value>, addition: &Json, parsed: Option<Value>) -> Result<Arc<Value>, Arc<Value>> {
    let Some(Value::Array(own)) = Arc::get_mut(&mut items) else { return Err(items) };
    match parsed.unwrap_or_else(|| addition.value()) {
        Value::Array(more) => own.extend(more),
        one => own.push(one),
    }
    Ok(items)
}

impl List {
    fn count(&self) -> usize {
        let counted = || self.pieces.iter().map(|piece| piece.count().unwrap_or(1)).sum();
        *self.count.get_or_init(counted)
    }

    /// All items, parsed; nothing if a piece cannot be.
    fn parse(&self) -> Option<Value> {
        let (done, mut items) = match &self.begun {
            None => (0, Vec::new()),
            Some((pieces, begun)) => (*pieces, begun.as_array()?.clone()),
        };
        for piece in self.pieces.iter().skip(done) {
            let Value::Array(more) = piece.value() else { return None };
            items.extend(more);
        }
        Some(Value::Array(items))
    }
}

impl From<Value> for Held {
    fn from(value: Value) -> Self {
        Self(Arc::new(Inner { value: OnceLock::from(Arc::new(value)), ..Inner::default() }))
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}
