//! [`Event`]: something that happened, with its place in the world.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use thin_vec::ThinVec;

use crate::head::Members;
use crate::{Body, Context, Decoder, Error, Head, Json, Kind, RunId};

/// Something that happened. Kept for ever, never refused, and written exactly as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Where and when it happened, and what it belongs to.
    pub head: Head,
    /// What happened.
    pub body: Body,
    /// Members this version does not know, in the order they came.
    pub extra: Extra,
}

// Of a list of events whose size is a multiple of two lines of the cache, all begin in every other set of it: folding such a
// list takes nearly twice as long.
const _: () = assert!(!size_of::<Event>().is_multiple_of(128), "events stand apart in the cache");

/// Members by name, in order. Most events have none, and each has a place for them: it is one pointer.
pub type Extra = ThinVec<(Box<str>, Json)>;

impl Event {
    /// An event of a run, with nothing else known about it.
    pub fn new(run: impl Into<RunId>, body: Body) -> Self {
        Self::of(Head::from(Context { run_id: Some(run.into()), ..Context::default() }), body)
    }

    /// An event that belongs there.
    #[inline]
    pub fn of(head: Head, body: Body) -> Self {
        Self { head, body, extra: Extra::new() }
    }

    /// Its type.
    pub fn kind(&self) -> Kind {
        self.body.kind()
    }

    /// Reads one event. For many lines keep a [`Decoder`], which shares ids between events.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        Decoder::default().decode(json)
    }

    /// Writes the event as one line of JSON, without the line break.
    pub fn to_json(&self) -> String {
        let mut out = Vec::with_capacity(256);
        self.write_json(&mut out);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// Appends the event to `out` as one line of JSON, without the line break.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        self.write(&self.head.members(), out);
    }

    /// The same without the members that `shared` has, and without `seq`, `sessionId` and `branchId`: what is left to be
    /// written where those are known.
    pub fn write_rest(&self, shared: &Head, out: &mut Vec<u8>) {
        self.write(&self.head.members().without(shared), out);
    }

    fn write(&self, head: &Members<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"type\":");
        write_value(out, self.body.tag());
        write_members(out, head);
        write_members(out, &self.body);
        for (name, value) in &self.extra {
            out.push(b',');
            write_value(out, name);
            out.push(b':');
            out.extend_from_slice(value.as_str().as_bytes());
        }
        out.push(b'}');
    }
}

fn write_value<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("writing our own types to memory cannot fail");
}

/// Writes the members of an object, each led by a comma, without the braces.
fn write_members<T: Serialize>(out: &mut Vec<u8>, object: &T) {
    let start = out.len();
    write_value(out, object);
    assert_eq!(out.pop(), Some(b'}'), "an event's parts are objects");
    if out.len() > start + 1 {
        out[start] = b',';
    } else {
        out.truncate(start);
    }
}

impl Serialize for Event {
    /// For JSON only, as the extra members are JSON text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.to_json()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(raw.get()).map_err(serde::de::Error::custom)
    }
}
