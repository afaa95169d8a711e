//! Lists that are kept as their items: what is put together from parts that others have too is not copied.
//!
//! In: items, or lists. Out: a [`Json`] that shares them, unless they are so small that a text of their own is less.
//! Start reading at [`Json::list`].

use std::sync::{Arc, OnceLock};

use serde::de::IgnoredAny;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{Form, Json, Kind, Other};

/// How many bytes the items of a list have on average, at least, if it is kept as items.
const ITEM_MIN: usize = 256;

/// A list as its items.
pub(super) struct List {
    items: Box<[Json]>,
    /// How many bytes its text has.
    size: usize,
    /// Its text, once somebody wanted to read it.
    text: OnceLock<Box<RawValue>>,
}

impl List {
    pub(super) fn text(&self) -> &RawValue {
        self.text.get_or_init(|| to_raw_value(&self.items).expect("JSON texts are JSON"))
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn parse(&self) -> serde_json::Result<Value> {
        self.items.iter().map(Json::parse).collect()
    }
}

impl Serialize for List {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text.get() {
            Some(text) => text.serialize(serializer),
            None => self.items.serialize(serializer),
        }
    }
}

impl Json {
    /// The list of these items, which are shared with it if they are large.
    ///
    /// ```
    /// use antiphon_event::Json;
    ///
    /// let list = Json::list([Json::from(1), Json::from("two")]);
    /// assert_eq!((list.as_str(), list.count()), (r#"[1,"two"]"#, Some(2)));
    /// ```
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        let items: Box<[Self]> = items.into_iter().collect();
        let (count, bytes) = (items.len(), items.iter().map(Self::size).sum::<usize>());
        if bytes < count * ITEM_MIN || items.is_empty() {
            return Self::of_items(&items);
        }
        // The brackets, and a comma after each but the last.
        let size = bytes + count + 1;
        Self(Form::Other(Other::List(Arc::new(List { items, size, text: OnceLock::new() }))))
    }

    /// The items of several lists in one list; what is no list is one item.
    pub fn concat<'j>(lists: impl IntoIterator<Item = &'j Self>) -> Self {
        let lists: Vec<&Self> = lists.into_iter().collect();
        if let [one] = lists.as_slice()
            && one.kind() == Kind::List
        {
            return (*one).clone();
        }
        let count: usize = lists.iter().map(|list| list.count().unwrap_or(1)).sum();
        let bytes: usize = lists.iter().map(|list| list.size()).sum();
        if bytes >= count * ITEM_MIN {
            return Self::list(lists.iter().flat_map(|list| list.items()));
        }
        let parts: Vec<Part<'_>> = lists.iter().flat_map(|list| list.parts()).collect();
        Self::of_items(&parts)
    }

    /// The list of these items as a text.
    fn of_items<T: Serialize>(items: &[T]) -> Self {
        Self::of(to_raw_value(items).expect("JSON texts are JSON"))
    }

    /// How many items it has, if it is a list; costs a look at all of its text unless it is kept as items.
    pub fn count(&self) -> Option<usize> {
        if let Some(list) = self.as_list() {
            return Some(list.items.len());
        }
        let items = || serde_json::from_str::<Vec<IgnoredAny>>(self.as_str()).ok();
        (self.kind() == Kind::List).then(items).flatten().map(|items| items.len())
    }

    /// Its last item, if it is a list that has one.
    pub fn last(&self) -> Option<Self> {
        match self.as_list() {
            Some(list) => list.items.last().cloned(),
            None if self.kind() == Kind::List => self.parts().pop().map(Part::to_json),
            None => None,
        }
    }

    /// The items of a list; of anything else the thing itself.
    pub fn items(&self) -> Vec<Self> {
        match self.as_list() {
            Some(list) => list.items.to_vec(),
            None => self.parts().into_iter().map(Part::to_json).collect(),
        }
    }

    /// The list, if it is kept as its items.
    fn as_list(&self) -> Option<&List> {
        match &self.0 {
            Form::Other(Other::List(list)) => Some(list),
            Form::Other(Other::Null) | Form::Text(_) => None,
        }
    }

    fn parts(&self) -> Vec<Part<'_>> {
        match self.as_list() {
            Some(list) => list.items.iter().map(Part::Json).collect(),
            None if self.kind() == Kind::List => {
                let items: Vec<&RawValue> = serde_json::from_str(self.as_str()).unwrap_or_default();
                items.into_iter().map(Part::Text).collect()
            }
            None => vec![Part::Json(self)],
        }
    }
}

/// An item of a list.
#[derive(Clone, Copy)]
enum Part<'a> {
    Json(&'a Json),
    Text(&'a RawValue),
}

impl Part<'_> {
    fn to_json(self) -> Json {
        match self {
            Self::Json(item) => item.clone(),
            Self::Text(raw) => Json::of(raw.to_owned()),
        }
    }
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(item) => item.serialize(serializer),
            Self::Text(raw) => raw.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &str) -> Json {
        serde_json::from_str(raw).expect("valid")
    }

    fn large(mark: &str) -> Json {
        Json::from(mark.repeat(ITEM_MIN))
    }

    #[test]
    fn a_list_reads_the_same_however_it_is_kept() {
        let spaced = text(r#"[ 1.0 , [2, "]"] ]"#);
        for items in [
            vec![],
            vec![Json::from(1), text("1e999")],
            vec![large("a"), large("\"b\\")],
            vec![large("a"), Json::list([large("b")]), spaced.clone()],
        ] {
            let list = Json::list(items.clone());
            let texts: Vec<&str> = items.iter().map(Json::as_str).collect();
            let expected = format!("[{}]", texts.join(","));
            assert_eq!(serde_json::to_string(&list).expect("serialises"), expected);
            assert_eq!((list.size(), list.count()), (expected.len(), Some(items.len())));
            assert_eq!((list.as_str(), list.last()), (&*expected, items.last().cloned()));
            let read = text(&expected);
            assert_eq!((&read, read.count(), read.items()), (&list, list.count(), items));
        }
        assert_eq!((spaced.count(), spaced.last()), (Some(2), Some(text(r#"[2, "]"]"#))));
        assert_eq!((Json::from(1).count(), Json::from("[").last()), (None, None));
    }

    #[test]
    fn lists_are_put_together_from_the_texts_of_their_items() {
        let (small, empty) = (text("[1.0, 2]"), Json::list([]));
        let whole = Json::from(Value::from(vec![large("x").value(); 2]));
        for lists in
            [vec![], vec![&empty], vec![&small, &empty, &small], vec![&whole, &small], vec![&whole, &whole]]
        {
            let items: Vec<Json> = lists.iter().flat_map(|list| list.items()).collect();
            let all = Json::concat(lists);
            assert_eq!((all.items(), all.count()), (items.clone(), Some(items.len())));
            assert_eq!(all.as_str().replace(' ', ""), Json::list(items).as_str().replace(' ', ""));
        }
        assert_eq!(Json::concat([&small, &Json::from(3)]).as_str(), "[1.0,2,3]");
    }

    #[test]
    fn large_items_are_shared() {
        let item = large("xx");
        let list = Json::list([item.clone(), item.clone()]);
        let both = Json::concat([&list, &list]);
        let both = Json::concat([&Json::list([]), &both, &text("[ 1 ]"), &list]);
        let shared = |json: Option<Json>| json.is_some_and(|json| std::ptr::eq(json.as_str(), item.as_str()));
        assert!(shared(list.last()) && shared(both.last()));
    }
}
