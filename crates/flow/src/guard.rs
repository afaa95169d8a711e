//! Guardrails: what may not go into a node or come out of one.
//!
//! In: a JSON value. Out: a [`Verdict`], with a version of the value that may pass where there is one. What was
//! found is named, never repeated. Patterns match in time linear in the text. Start reading at [`Guard::inspect`].

mod detector;
mod personal;
mod sanitize;
mod secret;

use std::fmt;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use crate::schema::Schema;
use detector::Detector;
use sanitize::Sweep;

/// The largest compiled pattern, in bytes.
const PATTERN_MAX: usize = 256 * 1024;

/// One guardrail.
#[derive(Debug, Clone)]
pub struct Guard {
    /// Its name in events.
    pub id: String,
    /// What it looks for.
    pub check: Check,
    /// What is done about it.
    pub action: Action,
}

/// What a guardrail looks for.
#[derive(Debug, Clone)]
pub enum Check {
    /// The text must match somewhere. The text of what is no text is its JSON.
    MustMatch(Pattern),
    /// No text within the value may match anywhere.
    MustNotMatch(Pattern),
    /// The value must fit a schema.
    Schema(Schema),
    /// The text must be so many characters long. The text of what is no text is its JSON.
    Length {
        /// At least.
        min: Option<usize>,
        /// At most.
        max: Option<usize>,
    },
    /// There must be no keys, tokens or passwords.
    Secrets,
    /// There must be nothing about persons: mail addresses, phone numbers, accounts, cards, addresses.
    Personal,
    /// Whatever the caller's code says.
    Custom(Arc<dyn Inspect>),
}

/// What is done when a guardrail finds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The run waits for a person.
    Block,
    /// It goes on, and the finding is recorded.
    Warn,
    /// It goes on with what was found taken out. A value nothing can be taken out of blocks; checks that can never take
    /// anything out are refused with this: [`Check::MustMatch`], [`Check::Schema`], [`Check::Length`] without `max`.
    Sanitize,
    /// It goes on at another node.
    Reroute(String),
}

impl Check {
    /// Whether what it finds may be shown to nobody, not even to who is asked about it.
    pub(crate) fn withholds(&self) -> bool {
        match self {
            Self::Secrets | Self::Personal => true,
            Self::MustMatch(_)
            | Self::MustNotMatch(_)
            | Self::Schema(_)
            | Self::Length { .. }
            | Self::Custom(_) => false,
        }
    }
}

impl Check {
    /// Whether what it finds can be taken out: something that stands there, not something that is missing.
    pub(crate) fn can_sanitize(&self) -> bool {
        match self {
            Self::Secrets | Self::Personal | Self::MustNotMatch(_) | Self::Custom(_) => true,
            Self::Length { max, .. } => max.is_some(),
            Self::MustMatch(_) | Self::Schema(_) => false,
        }
    }
}

impl Action {
    /// The word for it in a flow file and in events.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Sanitize => "sanitize",
            Self::Reroute(_) => "reroute",
        }
    }
}

/// A check written in Rust. Called at most once for a value; the same value must give the same verdict.
pub trait Inspect: fmt::Debug + Send + Sync {
    /// Looks at a value.
    fn inspect(&self, value: &Value) -> Verdict;
}

/// What a guardrail says about a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Nothing was found.
    Passed,
    /// Something was found.
    Violated {
        /// What, for a person; without the thing itself.
        message: String,
        /// The value with it taken out, if that can be done.
        sanitized: Option<Value>,
    },
}

/// A regular expression of bounded size. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a pattern in the syntax of the `regex` crate: no look-around, no back references.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let built = RegexBuilder::new(text).size_limit(PATTERN_MAX).dfa_size_limit(PATTERN_MAX).build();
        built.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                PatternError(format!("it needs more than {PATTERN_MAX} bytes"))
            }
            // The last line says what is wrong, those before it where, with a picture.
            other => PatternError(last_line(&other.to_string())),
        })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no pattern: {0}")]
pub struct PatternError(String);

fn last_line(text: &str) -> String {
    let line = text.lines().next_back().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

impl Guard {
    /// Looks at a value.
    ///
    /// ```
    /// use antiphon_flow::guard::{Action, Check, Guard, Verdict};
    /// use serde_json::json;
    ///
    /// let guard = Guard { id: "pii".into(), check: Check::Personal, action: Action::Sanitize };
    /// let verdict = guard.inspect(&json!({"text": "write to ann@example.com"}));
    /// let Verdict::Violated { message, sanitized } = verdict else { panic!("a mail address was there") };
    /// assert_eq!(message, "found email");
    /// assert_eq!(sanitized, Some(json!({"text": "write to [removed: email]"})));
    /// ```
    pub fn inspect(&self, value: &Value) -> Verdict {
        match &self.check {
            Check::MustMatch(pattern) => must_match(pattern, value),
            Check::MustNotMatch(pattern) => must_not_match(pattern, value),
            Check::Schema(schema) => match schema.validate(value) {
                Ok(()) => Verdict::Passed,
                // The expectation is shown, but not the value, which may be what must not be seen.
                Err(violation) => {
                    violated(format!("the value does not fit its schema{}", place(&violation.pointer)))
                }
            },
            Check::Length { min, max } => length(*min, *max, value),
            Check::Secrets => swept(secret::detectors(), value, secret::of_member),
            Check::Personal => swept(personal::detectors(), value, |_, _| None),
            Check::Custom(custom) => custom.inspect(value),
        }
    }
}

/// A value without what those guards take out that this is said of.
pub(crate) fn cleaned(
    guards: &[Guard],
    value: Value,
    takes_out: impl Fn(&Guard) -> bool,
    inspect: impl Fn(&Guard, &Value) -> Verdict,
) -> Value {
    let each = guards.iter().filter(|guard| takes_out(guard));
    each.fold(value, |value, guard| match inspect(guard, &value) {
        Verdict::Violated { sanitized: Some(clean), .. } => clean,
        Verdict::Violated { sanitized: None, .. } | Verdict::Passed => value,
    })
}

impl Guard {
    /// The same for blocks of content: what says of what kind one is, and which node it came from, is not looked at, and
    /// stays. Schemas and checks of one's own see all of it.
    pub(crate) fn inspect_blocks(&self, value: &Value, is_node: impl Fn(&str) -> bool) -> Verdict {
        let sees_all = matches!(self.check, Check::Schema(_) | Check::Custom(_));
        let (Value::Array(blocks), false) = (value, sees_all) else { return self.inspect(value) };
        let is_label = |name: &str, value: &Value| match name {
            "type" => value == "text",
            "nodeId" => value.as_str().is_some_and(&is_node),
            _ => false,
        };
        let labels = |block: &Value| -> Map<String, Value> {
            let members =
                block.as_object().into_iter().flatten().filter(|(name, value)| is_label(name, value));
            members.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let labels: Vec<Map<String, Value>> = blocks.iter().map(labels).collect();
        let bare = blocks.iter().map(|block| bare(block, is_label)).collect();
        match self.inspect(&Value::Array(bare)) {
            Verdict::Violated { message, sanitized: Some(Value::Array(clean)) } => {
                let blocks = blocks.iter().zip(clean).zip(labels);
                let again = blocks.map(|((block, clean), labels)| labelled(block, clean, labels));
                Verdict::Violated { message, sanitized: Some(again.collect()) }
            }
            other => other,
        }
    }
}

/// A block of content without its labels: only its text, if that is all there is besides.
fn bare(block: &Value, is_label: impl Fn(&str, &Value) -> bool) -> Value {
    let Value::Object(members) = block else { return block.clone() };
    let mut members = members.clone();
    members.retain(|name, value| !is_label(name, value));
    match members.get(TEXT) {
        Some(text @ Value::String(_)) if members.len() == 1 => text.clone(),
        _ => Value::Object(members),
    }
}

/// A block that was looked at without its labels, with them.
fn labelled(block: &Value, clean: Value, labels: Map<String, Value>) -> Value {
    let mut members = match clean {
        Value::Object(members) => members,
        text if block.is_object() => Map::from_iter([(TEXT.to_owned(), text)]),
        other => return other,
    };
    members.extend(labels);
    Value::Object(members)
}

/// The member of a block that holds its text.
const TEXT: &str = "text";

fn place(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" at {pointer}") }
}

fn violated(message: String) -> Verdict {
    Verdict::Violated { message, sanitized: None }
}

fn must_match(pattern: &Pattern, value: &Value) -> Verdict {
    if pattern.0.is_match(&text_of(value)) {
        return Verdict::Passed;
    }
    violated(format!("the text does not match `{}`", pattern.as_str()))
}

fn must_not_match(pattern: &Pattern, value: &Value) -> Verdict {
    match swept(&[Detector::own(&pattern.0)], value, |_, _| None) {
        Verdict::Passed => Verdict::Passed,
        Verdict::Violated { sanitized, .. } => {
            let message = format!("a text matches `{}`, which none may", pattern.as_str());
            Verdict::Violated { message, sanitized }
        }
    }
}

fn length(min: Option<usize>, max: Option<usize>, value: &Value) -> Verdict {
    let text = text_of(value);
    let length = text.chars().count();
    if let Some(min) = min.filter(|min| length < *min) {
        return violated(format!("the text is {length} characters long, at least {min} are wanted"));
    }
    let Some(max) = max.filter(|max| length > *max) else {
        return Verdict::Passed;
    };
    let message = format!("the text is {length} characters long, at most {max} are allowed");
    let sanitized = value.as_str().map(|text| text.chars().take(max).collect::<String>().into());
    Verdict::Violated { message, sanitized }
}

fn text_of(value: &Value) -> std::borrow::Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

/// Looks for what detectors find in every text of a value, and takes it out.
fn swept(
    detectors: &[Detector],
    value: &Value,
    of_member: fn(&str, &str) -> Option<&'static str>,
) -> Verdict {
    let mut sweep = Sweep::new(detectors, of_member);
    let sanitized = sweep.clean(value);
    match sweep.message() {
        None => Verdict::Passed,
        Some(message) => Verdict::Violated { message, sanitized: Some(sanitized) },
    }
}
