//! [`Held`]: the value of a key as the texts it came in, parsed only when somebody looks inside, and then once.
//!
//! A list that is appended to keeps what was appended, piece by piece: its length is known, and its text is put together
//! from theirs, without a look at all of it. Start reading at [`Held::append`].

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    value: OnceLock<Value>,
    /// How many items the text has, if it is that of a list.
    count: OnceLock<Option<usize>>,
    list: Option<Box<List>>,
}

/// What a list was appended together from.
#[derive(Default)]
struct List {
    /// Lists, in order.
    pieces: Vector<Json>,
    count: OnceLock<usize>,
    /// What was parsed before the last pieces came.
    begun: Mutex<Option<Begun>>,
}

/// The items of the first pieces, parsed.
struct Begun {
    pieces: usize,
    items: Items,
}

enum Items {
    Own(Vec<Value>),
    /// Those of a list that others still have.
    Of(Held),
}

impl Held {
    /// A value that may have been parsed.
    pub(super) fn new(text: Json, parsed: Option<Value>) -> Self {
        let value = parsed.map(OnceLock::from).unwrap_or_default();
        Self(Arc::new(Inner { text: OnceLock::from(text), value, ..Inner::default() }))
    }

    /// The value as JSON.
    pub(super) fn text(&self) -> &Json {
        self.0.text.get_or_init(|| match (&self.0.list, self.0.value.get()) {
            (Some(list), _) => Json::concat(&list.pieces),
            (None, Some(Value::Array(items))) => Json::list(items.iter().cloned().map(Json::from)),
            (None, value) => Json::from(value.cloned().unwrap_or_default()),
        })
    }

    /// The value, parsed.
    pub(super) fn value(&self) -> &Value {
        self.0.value.get_or_init(|| {
            let parsed = self.0.list.as_ref().and_then(|list| list.parse());
            parsed.unwrap_or_else(|| self.text().value())
        })
    }

    /// What it is.
    pub(super) fn kind(&self) -> JsonKind {
        match (&self.0.list, self.0.value.get()) {
            (Some(_), _) | (None, Some(Value::Array(_))) => JsonKind::List,
            (None, Some(Value::Object(_))) => JsonKind::Object,
            (None, _) => self.text().kind(),
        }
    }

    /// How many items it has, if it is a list.
    pub(super) fn count(&self) -> Option<usize> {
        match (&self.0.list, self.0.value.get()) {
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
        if let (Some(begun), Some(Value::Array(more))) = (begun(&mut list.begun), parsed) {
            begun.extend(list.pieces.len(), more);
        }
        list.pieces.push_back(addition);
        self.0 = Arc::new(Inner { list: Some(Box::new(list)), ..Inner::default() });
    }

    /// The pieces of a list and what of them is parsed: taken out of it, or shared with it if other states have it too.
    fn unfold(&mut self) -> List {
        let whole = if self.0.list.is_none() { Some(self.text()) } else { self.0.text.get() };
        let whole = whole.cloned();
        let (mut list, items) = if let Some(inner) = Arc::get_mut(&mut self.0) {
            let items = inner.value.take().and_then(|value| match value {
                Value::Array(items) => Some(Items::Own(items)),
                _ => None,
            });
            (inner.list.take().map(|list| *list).unwrap_or_default(), items)
        } else {
            let is_parsed = self.0.value.get().is_some_and(Value::is_array);
            let list = self.0.list.as_ref().map(|list| list.share()).unwrap_or_default();
            (list, is_parsed.then(|| Items::Of(self.clone())))
        };
        let pieces = list.pieces.len();
        if let Some(items) = items {
            list.begun = Mutex::new(Some(Begun { pieces, items }));
        }
        let begun = begun(&mut list.begun);
        if let Some(whole) = whole.filter(|_| begun.as_ref().is_none_or(|begun| begun.pieces == pieces)) {
            // What has been put together need not be kept in pieces as well.
            list.pieces = Vector::unit(whole);
            if let Some(begun) = begun {
                begun.pieces = 1;
            }
        }
        list
    }

    /// Adds the members of an object to those of this one, which is an object. Costs what is added, unless other states
    /// have it too.
    pub(super) fn merge(&mut self, addition: Value) {
        self.value();
        let own = Arc::get_mut(&mut self.0).and_then(|inner| inner.value.take());
        let mut value = own.unwrap_or_else(|| self.value().clone());
        match (&mut value, addition) {
            (Value::Object(members), Value::Object(more)) => members.extend(more),
            (value, addition) => *value = addition,
        }
        *self = Self::from(value);
    }
}

impl List {
    fn share(&self) -> Self {
        Self { pieces: self.pieces.clone(), count: self.count.clone(), begun: Mutex::default() }
    }

    fn count(&self) -> usize {
        let counted = || self.pieces.iter().map(|piece| piece.count().unwrap_or(1)).sum();
        *self.count.get_or_init(counted)
    }

    /// All items, parsed; nothing if a piece cannot be.
    fn parse(&self) -> Option<Value> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (mut items, done) = match begun {
            None => (Vec::new(), 0),
            Some(Begun { pieces, items: Items::Own(items) }) => (items, pieces),
            Some(Begun { pieces, items: Items::Of(held) }) => (held.value().as_array()?.clone(), pieces),
        };
        for piece in self.pieces.iter().skip(done) {
            let Value::Array(more) = piece.value() else { return None };
            items.extend(more);
        }
        Some(Value::Array(items))
    }
}

impl Begun {
    /// Takes in the next piece, if all before it are there.
    fn extend(&mut self, piece: usize, more: Vec<Value>) {
        if let Items::Own(items) = &mut self.items
            && self.pieces == piece
        {
            items.extend(more);
            self.pieces += 1;
        }
    }
}

fn begun(begun: &mut Mutex<Option<Begun>>) -> Option<&mut Begun> {
    begun.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
}

impl From<Value> for Held {
    fn from(value: Value) -> Self {
        Self(Arc::new(Inner { value: OnceLock::from(value), ..Inner::default() }))
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(f)
    }
}
