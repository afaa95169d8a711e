//! One line of JSON to one [`Event`].
//!
//! A single pass takes the members apart: those of the head go straight to their place, the others stay raw
//! until the type is known, wherever in the line it stands. Then the body reads its own members and what is
//! left over is kept as extra. Start reading at [`Decoder::decode`].

use std::borrow::Cow;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;
use serde::Deserialize;
use serde::de::value::{CowStrDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::body::content::Text;
use crate::context::Contexts;
use crate::digits::Digits;
use crate::json::check_depth;
use crate::whole::Whole;
use crate::{Agent, Body, Context, Error, Event, Extra, Head, Json, Kind, lift};

/// A member that is not of the head: its name and its JSON text.
pub(crate) type Member<'de> = (Cow<'de, str>, Raw<'de>);

/// The value of a member: its JSON text as it stands in the line or as a lift put it, or a string already
/// taken out of its quotes where the type is known to have one there.
pub(crate) enum Raw<'de> {
    Borrowed(&'de RawValue),
    Lifted(Box<RawValue>),
    Plain(Cow<'de, str>),
}

impl Raw<'_> {
    /// The JSON text; none for a plain string.
    pub(crate) fn get(&self) -> Option<&RawValue> {
        match self {
            Self::Borrowed(raw) => Some(raw),
            Self::Lifted(raw) => Some(raw),
            Self::Plain(_) => None,
        }
    }

    /// At which byte of the line it begins; 0 for what a lift put in.
    fn start(&self, line: &str) -> usize {
        match self {
            // The raw text is a part of the line, so its place in the line is the distance between the two.
            Self::Borrowed(raw) => raw.get().as_ptr() as usize - line.as_ptr() as usize,
            Self::Lifted(_) | Self::Plain(_) => 0,
        }
    }
}

/// How many members beside those of the head an event may have: they are looked through for one given twice.
const MEMBERS_MAX: usize = 1000;

/// The members of bodies that are taken apart and keep what nobody knows in them by its value. Payloads, which are kept as
/// text, bound their depth themselves.
const KEEPING: [&str; 7] = ["amounts", "edges", "error", "from", "pending", "telemetry", "totalUsage"];

/// Reads events, one line at a time, and shares the ids that come again and again between them.
#[derive(Debug, Default)]
pub struct Decoder {
    names: Names,
    contexts: Contexts,
    agent: Option<(Box<str>, Arc<Agent>)>,
}

impl Decoder {
    /// Reads one line. The place in the error is that within the line.
    pub fn decode(&mut self, line: &str) -> Result<Event, Error> {
        self.decode_with(&Head::default(), line)
    }

    /// Reads what several events have in common, beside these members of the head: an object of others. Nothing if it is
    /// anything else.
    pub fn head_with(&mut self, head: &Head, line: &str) -> Option<Head> {
        let mut scan = Scan::new(self, head.clone(), 0);
        let mut json = serde_json::Deserializer::from_str(line);
        json.deserialize_map(&mut scan).and_then(|()| json.end()).ok()?;
        let (tag, members, nulls, head) = scan.done();
        (tag.is_none() && members.is_empty() && nulls.is_empty()).then_some(head)
    }

    /// Reads one line of an event that has these members of the head as well.
    pub fn decode_with(&mut self, head: &Head, line: &str) -> Result<Event, Error> {
        let mut scan = Scan::new(self, head.clone(), 8);
        let mut json = serde_json::Deserializer::from_str(line);
        let scanned = json.deserialize_map(&mut scan).and_then(|()| json.end());
        if let Err(error) = scanned {
            return Err(syntax(line, scan.reading, &error));
        }
        let (tag, mut members, _, head) = scan.done();
        let Some((tag, kind)) = tag else {
            return Err(Error::at(line, 0, "the event has no `type`".into()));
        };
        if let Some(missing) = kind.lacks(&head) {
            return Err(Error::at(line, 0, format!("a `{tag}` event needs `{}`", missing.name())));
        }
        lift::lift(kind, &mut members);
        if let Some(body) = piece(&mut self.names, kind, &mut members) {
            return Ok(Event::of(head, body));
        }
        let mut members = Members { line, tag: &tag, members };
        let body = Body::decode(kind, &tag, &mut members)?;
        let extra = members.extra()?;
        Ok(Event { head, body, extra })
    }
}

/// The body of a piece of text, which most events are, if its members were taken as they came.
fn piece(names: &mut Names, kind: Kind, members: &mut [Member<'_>]) -> Option<Body> {
    match members {
        [(id, Raw::Plain(stream)), (content, Raw::Plain(piece))]
            if kind == Kind::Text && id == "id" && content == "content" =>
        {
            let content = std::mem::take(piece).into_owned();
            Some(Body::Text(Text { id: names.share(stream).into(), content, provenance: None }))
        }
        _ => None,
    }
}

/// Turns an error of the JSON reader into one of ours.
fn syntax(line: &str, reading: &str, error: &serde_json::Error) -> Error {
    let mut message = plain(without_place(error));
    let start = line.len() - line.trim_start().len();
    if message == VALUE && !line[start..].starts_with('{') {
        return Error::at(line, start, "expected an event as a JSON object".into());
    }
    if error.is_eof() {
        message = format!("the line is cut off: {message}");
    } else if !reading.is_empty() {
        message = format!("`{reading}`: {message}");
    }
    Error::at(line, error.column().saturating_sub(1), message)
}

const VALUE: &str = "expected a JSON value";

/// Says what was expected, where the JSON reader says only what it did.
fn plain(message: String) -> String {
    match message.as_str() {
        "expected ident" | "expected value" => VALUE.into(),
        "trailing characters" => "expected the end of the line, as an event is one object".into(),
        "trailing comma" => "expected something after the comma".into(),
        "key must be a string" => "expected the name of a member in quotation marks".into(),
        _ => message,
    }
}

/// The words of a JSON error without the place, which is relative to something the reader never saw.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// What one pass over a line collects.
struct Scan<'a, 'de> {
    decoder: &'a mut Decoder,
    head: Head,
    /// What it belongs to, if the line says anything about that.
    context: Option<Context>,
    tag: Option<(Cow<'de, str>, Kind)>,
    members: Vec<Member<'de>>,
    /// Members of the head that were given as `null`, which counts as absent but not as never given.
    nulls: Vec<&'static str>,
    /// The member that is being read, for the error message.
    reading: &'static str,
}

impl<'a, 'de> Scan<'a, 'de> {
    fn new(decoder: &'a mut Decoder, head: Head, members: usize) -> Self {
        let members = Vec::with_capacity(members);
        Self { decoder, head, context: None, tag: None, members, nulls: Vec::new(), reading: "" }
    }

    /// Reads a name of what it belongs to into its place; an error if the place is taken.
    fn name<A: MapAccess<'de>, T: From<Arc<str>>>(
        &mut self,
        member: &'static str,
        map: &mut A,
        place: fn(&mut Context) -> &mut Option<T>,
    ) -> Result<(), A::Error> {
        self.reading = member;
        let name = map.next_value_seed(Shared(&mut self.decoder.names))?;
        self.belongs(member, name.map(T::from), place)
    }

    /// Reads an id of digits into its place, which needs no text of its own; an error if the place is taken.
    fn digits<A: MapAccess<'de>, const N: usize>(
        &mut self,
        member: &'static str,
        map: &mut A,
        place: fn(&mut Context) -> &mut Option<Digits<N>>,
    ) -> Result<(), A::Error> {
        self.reading = member;
        let id = map.next_value::<Option<Key<'de>>>()?;
        self.belongs(member, id.map(|Key(text)| Digits::from(&*text)), place)
    }

    /// Reads any other value into its place; an error if the place is taken.
    fn value<A: MapAccess<'de>, T: Deserialize<'de>>(
        &mut self,
        member: &'static str,
        map: &mut A,
        place: fn(&mut Head) -> &mut Option<T>,
    ) -> Result<(), A::Error> {
        self.reading = member;
        let value = map.next_value()?;
        self.reading = "";
        put(&mut self.nulls, member, value, place(&mut self.head))
    }

    fn belongs<T, E: de::Error>(
        &mut self,
        member: &'static str,
        value: Option<T>,
        place: fn(&mut Context) -> &mut Option<T>,
    ) -> Result<(), E> {
        self.reading = "";
        let context = self.context.get_or_insert_with(|| (*self.head.context).clone());
        put(&mut self.nulls, member, value, place(context))
    }

    /// The tag, the members of the body, the members of the head that were `null`, and the head.
    fn done(self) -> (Option<(Cow<'de, str>, Kind)>, Vec<Member<'de>>, Vec<&'static str>, Head) {
        let Self { decoder, mut head, context, tag, members, nulls, .. } = self;
        if let Some(context) = context {
            head.context = decoder.contexts.share(context);
        }
        (tag, members, nulls, head)
    }

    fn tag<A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.reading = "type";
        let Key(tag) = map.next_value()?;
        self.reading = "";
        let kind = Kind::of(&tag);
        match self.tag.replace((tag, kind)) {
            None => Ok(()),
            Some(_) => Err(twice("type")),
        }
    }

    fn member<A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, map: &mut A) -> Result<(), A::Error> {
        let raw = if let Some(plain) = self.plain(&name) {
            self.reading = plain;
            let Key(text) = map.next_value()?;
            self.reading = "";
            Raw::Plain(text)
        } else {
            Raw::Borrowed(map.next_value()?)
        };
        if self.members.iter().any(|(known, _)| *known == name) {
            return Err(twice(&name));
        }
        if self.members.len() == MEMBERS_MAX {
            return Err(de::Error::custom(format_args!(
                "an event has at most {MEMBERS_MAX} members of its own"
            )));
        }
        self.members.push((name, raw));
        Ok(())
    }

    /// The name of a member if it is a string that can be taken as it comes: the pieces of a stream, which
    /// are most of all events, need no second look when their type stands before them.
    fn plain(&self, name: &str) -> Option<&'static str> {
        match (&self.tag, name) {
            (Some((_, Kind::Text | Kind::Reasoning)), "id") => Some("id"),
            (Some((_, Kind::Text | Kind::Reasoning)), "content") => Some("content"),
            _ => None,
        }
    }

    fn seq<A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.reading = "seq";
        let seq = map.next_value::<Option<Whole<u64>>>()?;
        self.reading = "";
        put(&mut self.nulls, "seq", seq.map(|Whole(seq)| seq), &mut self.head.seq)
    }

    fn path<A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.reading = "nodePath";
        let path = map.next_value()?;
        self.belongs("nodePath", path, |context| &mut context.node_path)
    }

    /// Reads who did it; most events are of the agent of the one before.
    fn agent<A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.reading = "agent";
        let raw: &RawValue = map.next_value()?;
        let agent = match &self.decoder.agent {
            _ if raw.get() == "null" => None,
            Some((text, agent)) if **text == *raw.get() => Some(Arc::clone(agent)),
            _ => {
                check_depth(raw.get()).map_err(de::Error::custom)?;
                let agent: Agent = serde_json::from_str(raw.get())
                    .map_err(|error| de::Error::custom(without_place(&error)))?;
                let agent = Arc::new(agent);
                self.decoder.agent = Some((raw.get().into(), Arc::clone(&agent)));
                Some(agent)
            }
        };
        self.belongs("agent", agent, |context| &mut context.agent)
    }
}

impl<'de> Visitor<'de> for &mut Scan<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event as a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "type" => self.tag(&mut map)?,
                "agent" => self.agent(&mut map)?,
                "seq" => self.seq(&mut map)?,
                "at" => self.value("at", &mut map, |head| &mut head.at)?,
                "sessionId" => self.name("sessionId", &mut map, |context| &mut context.session_id)?,
                "branchId" => self.name("branchId", &mut map, |context| &mut context.branch_id)?,
                "runId" => self.name("runId", &mut map, |context| &mut context.run_id)?,
                "parentId" => self.name("parentId", &mut map, |context| &mut context.parent_id)?,
                "eventFlowId" => self.name("eventFlowId", &mut map, |context| &mut context.event_flow_id)?,
                "traceId" => self.digits("traceId", &mut map, |context| &mut context.trace_id)?,
                "spanId" => self.digits("spanId", &mut map, |context| &mut context.span_id)?,
                "parentSpanId" => {
                    self.digits("parentSpanId", &mut map, |context| &mut context.parent_span_id)?;
                }
                "messageId" => self.name("messageId", &mut map, |context| &mut context.message_id)?,
                "nodeId" => self.name("nodeId", &mut map, |context| &mut context.node_id)?,
                "nodePath" => self.path(&mut map)?,
                "recordedAt" => self.value("recordedAt", &mut map, |head| &mut head.recorded_at)?,
                _ => self.member(key, &mut map)?,
            }
        }
        Ok(())
    }
}

/// Puts a value into its place; an error if the place is taken.
fn put<T, E: de::Error>(
    nulls: &mut Vec<&'static str>,
    member: &'static str,
    value: Option<T>,
    place: &mut Option<T>,
) -> Result<(), E> {
    if place.is_some() || nulls.contains(&member) {
        return Err(twice(member));
    }
    if value.is_none() {
        nulls.push(member);
    }
    *place = value;
    Ok(())
}

fn twice<E: de::Error>(member: &str) -> E {
    E::custom(format_args!("`{member}` is given twice"))
}

/// A name or tag, borrowed from the line where it has no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// How many different names are remembered at a time.
const NAMES: usize = 256;

/// Names seen lately, so that a name that comes again is the same allocation.
#[derive(Debug)]
struct Names {
    slots: Vec<Option<Arc<str>>>,
}

impl Default for Names {
    fn default() -> Self {
        Self { slots: vec![None; NAMES] }
    }
}

impl Names {
    fn share(&mut self, text: &str) -> Arc<str> {
        let slot = FixedState::default().hash_one(text) as usize % NAMES;
        match &self.slots[slot] {
            Some(name) if **name == *text => Arc::clone(name),
            _ => {
                let name: Arc<str> = text.into();
                self.slots[slot] = Some(Arc::clone(&name));
                name
            }
        }
    }
}

/// Reads a name and shares it; `null` counts as absent.
struct Shared<'a>(&'a mut Names);

impl<'de> DeserializeSeed<'de> for Shared<'_> {
    type Value = Option<Arc<str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for Shared<'_> {
    type Value = Option<Arc<str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(self.0.share(text)))
    }
}

/// The members of a body, waiting to be read by the type that knows them.
pub(crate) struct Members<'a, 'de> {
    line: &'de str,
    tag: &'a str,
    /// Not yet read; after a body has been read, what it did not know.
    members: Vec<Member<'de>>,
}

impl Members<'_, '_> {
    /// Reads the members that `T` knows; the others are left over.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        T::deserialize(&mut *self).map_err(|problem| {
            Error::at(
                self.line,
                problem.byte.unwrap_or(0),
                format!("a `{}` event: {}", self.tag, problem.message),
            )
        })
    }

    /// What nobody read, to be kept.
    fn extra(self) -> Result<Extra, Error> {
        let mut extra = Extra::with_capacity(self.members.len());
        for (name, raw) in self.members {
            let text = raw.get().expect("plain strings are known members");
            let json = Json::from_raw(text)
                .map_err(|error| Error::at(self.line, raw.start(self.line), format!("`{name}`: {error}")))?;
            extra.push((name.into(), json));
        }
        Ok(extra)
    }
}

impl<'de> Deserializer<'de> for &mut Members<'_, 'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Problem> {
        unreachable!("bodies are structs")
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let line = self.line;
        let known = self.members.extract_if(.., |(name, _)| fields.contains(&&**name));
        visitor.visit_map(Known { line, members: known, value: None })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Hands the members of a body over one by one.
struct Known<'de, I> {
    line: &'de str,
    members: I,
    value: Option<(Cow<'de, str>, Raw<'de>)>,
}

impl<'de, I: Iterator<Item = Member<'de>>> MapAccess<'de> for Known<'de, I> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        let Some((name, raw)) = self.members.next() else {
            return Ok(None);
        };
        let key = seed.deserialize(StrDeserializer::<Problem>::new(&name))?;
        self.value = Some((name, raw));
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let (name, raw) = self.value.take().expect("a key is asked for before its value");
        let start = raw.start(self.line);
        if let Some(raw) = raw.get().filter(|_| KEEPING.contains(&&*name)) {
            check_depth(raw.get())
                .map_err(|error| Problem { byte: Some(start), message: format!("`{name}`: {error}") })?;
        }
        let parsed = match raw {
            Raw::Borrowed(raw) => seed.deserialize(&mut serde_json::Deserializer::from_str(raw.get())),
            Raw::Plain(text) => return seed.deserialize(CowStrDeserializer::new(text)),
            Raw::Lifted(raw) => {
                seed.deserialize(&mut serde_json::Deserializer::from_reader(raw.get().as_bytes()))
            }
        };
        parsed.map_err(|error| Problem {
            byte: Some(start + error.column().saturating_sub(1)),
            message: format!("`{name}`: {}", without_place(&error)),
        })
    }
}

/// Reads the members of a body whose tag is known.
pub(crate) fn body(tag: &str, json: &str) -> Result<Body, Error> {
    let members = object(&mut Decoder::default(), json)?;
    Body::decode(Kind::of(tag), tag, &mut Members { line: json, tag, members })
}

/// Takes an object of our own making apart.
pub(crate) fn members(json: &str) -> Extra {
    let members = object(&mut Decoder::default(), json).expect("our own JSON is valid");
    let members = Members { line: json, tag: "", members };
    members.extra().expect("payloads were checked when they came in")
}

/// The members of an object that has none of the head's.
fn object<'de>(decoder: &mut Decoder, json: &'de str) -> Result<Vec<Member<'de>>, Error> {
    let mut scan = Scan::new(decoder, Head::default(), 0);
    let scanned = serde_json::Deserializer::from_str(json).deserialize_map(&mut scan);
    scanned.map_err(|error| syntax(json, scan.reading, &error))?;
    Ok(scan.members)
}

/// What a body has to say against its members, before it is put in its place.
#[derive(Debug)]
pub(crate) struct Problem {
    byte: Option<usize>,
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { byte: None, message: message.to_string() }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { byte: None, message: format!("`{field}` is missing") }
    }
}
