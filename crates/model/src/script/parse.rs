//! Scripts from JSON: a list of replies, each a list of steps, or `{when, steps, times?}`.
//!
//! In: the `replies` of a model's settings. Out: a [`Script`], or what is wrong and where. Start reading at
//! [`Script::parse`].

use std::time::Duration;

use antiphon_agent::{Fault, Stop, Tokens};
use antiphon_event::Json;
use regex::RegexBuilder;
use serde::Deserialize;
use serde_json::Value;

use super::{Script, Step, When};
use crate::Refused;
use crate::fault::CODES;

/// How many bytes a pattern may take when it is made ready.
const PATTERN_MAX: usize = 1024 * 1024;

/// A reply that waits for something to be said.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Waits {
    when: String,
    steps: Vec<Value>,
    #[serde(default)]
    times: Option<u32>,
}

/// A step as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Text(Pieces),
    Reasoning(Pieces),
    Signature(String),
    ToolCall(WrittenCall),
    Usage(Used),
    Error(Failing),
    /// In milliseconds.
    Delay(u64),
    Output(Json),
    Stop(Reason),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Pieces {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    name: String,
    #[serde(default)]
    input: Option<Json>,
    /// The arguments as they are, for those that are not JSON.
    #[serde(default)]
    raw: Option<String>,
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Used {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cache_read: Option<u64>,
    #[serde(default)]
    cache_creation: Option<u64>,
    #[serde(default)]
    cost_usd: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Failing {
    Message(String),
    Whole(Failed),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failed {
    message: String,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    retryable: bool,
    /// In milliseconds.
    #[serde(default)]
    retry_after: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    Done,
    Calls,
    Length,
    Filtered,
}

/// What is wrong with a script, and where.
struct Mistake {
    reply: Option<usize>,
    step: Option<usize>,
    /// Whether the reply waits for something to be said, and so has its steps in a member.
    is_waiting: bool,
    why: String,
}

impl Script {
    /// Reads replies: a list, each a list of steps, given in order, or `{when, steps, times?}`, given when the last
    /// message of a user or a tool has `when` in it, or fits it if it is a `/pattern/`.
    ///
    /// The steps are `{text}` and `{reasoning}` (text, or a list of pieces), `{signature}`, `{tool_call: {name, input, id?}}`
    /// or `{tool_call: {name, raw}}`, `{usage: {input, output, cache_read?, cache_creation?, cost_usd?}}`, `{error: "…"}` or
    /// `{error: {message, code?, retryable?, retry_after?}}`, `{delay: milliseconds}`, `{output: any}` and `{stop: "length"}`.
    pub fn parse(replies: &Json) -> Result<Self, Refused> {
        Self::read(replies).map_err(|Mistake { reply, step, why, .. }| {
            let reply = reply.map_or_else(String::new, |reply| format!("reply {}", reply + 1));
            let step = step.map_or_else(String::new, |step| format!(", step {}", step + 1));
            let colon = if reply.is_empty() { "" } else { ": " };
            Refused::Setting { setting: "replies", why: format!("{reply}{step}{colon}{why}") }
        })
    }

    /// What is wrong with replies, if anything is: where, as a JSON pointer, and what.
    ///
    /// ```
    /// let replies = serde_json::json!([[{"text": "a"}], [{"text": "b"}, {"txt": "c"}]]);
    /// let (place, why) = antiphon_model::Script::mistake(&replies.into()).unwrap();
    /// assert_eq!(place, "/1/1");
    /// assert!(why.starts_with("unknown variant `txt`, expected one of `text`, "));
    /// ```
    pub fn mistake(replies: &Json) -> Option<(String, String)> {
        let Mistake { reply, step, is_waiting, why } = Self::read(replies).err()?;
        let steps = if is_waiting { "/steps" } else { "" };
        let reply = reply.map_or_else(String::new, |reply| format!("/{reply}"));
        let step = step.map_or_else(String::new, |step| format!("{steps}/{step}"));
        Some((format!("{reply}{step}"), why))
    }

    fn read(replies: &Json) -> Result<Self, Mistake> {
        let list: Vec<Value> = serde_json::from_str(replies.as_str()).map_err(|_| {
            let why = "expected a list of replies".to_owned();
            Mistake { reply: None, step: None, is_waiting: false, why }
        })?;
        let mut script = Self::new();
        for (nth, reply) in list.into_iter().enumerate() {
            let is_waiting = reply.is_object();
            let added = script.add(reply);
            script = added.map_err(|(step, why)| Mistake { reply: Some(nth), step, is_waiting, why })?;
        }
        Ok(script)
    }

    fn add(self, reply: Value) -> Result<Self, (Option<usize>, String)> {
        match reply {
            Value::Array(list) => Ok(self.reply(steps(list)?)),
            Value::Object(_) => {
                let waits: Waits =
                    serde_json::from_value(reply).map_err(|error| (None, error.to_string()))?;
                let when = when(&waits.when).map_err(|why| (None, why))?;
                Ok(self.waiting(when, steps(waits.steps)?.into(), waits.times))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Err((None, "expected a list of steps, or `{when, steps}`".to_owned()))
            }
        }
    }
}

fn when(text: &str) -> Result<When, String> {
    let pattern = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let Some(pattern) = pattern.filter(|pattern| !pattern.is_empty()) else {
        return Ok(When::from(text));
    };
    let built = RegexBuilder::new(pattern).size_limit(PATTERN_MAX).build();
    built.map(When::Fits).map_err(|error| format!("`when` is no pattern: {error}"))
}

fn steps(list: Vec<Value>) -> Result<Vec<Step>, (Option<usize>, String)> {
    let read = |(nth, step): (usize, Value)| {
        let written = serde_json::from_value::<Written>(step).map_err(|error| error.to_string());
        written.and_then(Written::step).map_err(|why| (Some(nth), why))
    };
    list.into_iter().enumerate().map(read).collect()
}

impl Written {
    fn step(self) -> Result<Step, String> {
        Ok(match self {
            Self::Text(pieces) => Step::Text(pieces.list()),
            Self::Reasoning(pieces) => Step::Reasoning(pieces.list()),
            Self::Signature(signature) => Step::Signature(signature),
            Self::ToolCall(WrittenCall { name, input, raw, id }) => {
                let input = input.map_or_else(|| "{}".to_owned(), |input| input.as_str().to_owned());
                Step::Call { id, name, arguments: raw.unwrap_or(input) }
            }
            Self::Usage(Used { input, output, cache_read, cache_creation, cost_usd }) => {
                Step::Usage(Tokens { input, output, cache_read, cache_creation, cost_usd })
            }
            Self::Error(failing) => Step::Error(failing.fault()?),
            Self::Delay(millis) => Step::Delay(Duration::from_millis(millis)),
            Self::Output(value) => Step::text(value.as_str()),
            Self::Stop(reason) => Step::Stop(match reason {
                Reason::Done => Stop::Done,
                Reason::Calls => Stop::Calls,
                Reason::Length => Stop::Length,
                Reason::Filtered => Stop::Filtered,
            }),
        })
    }
}

impl Pieces {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(pieces) => pieces,
        }
    }
}

impl Failing {
    fn fault(self) -> Result<Fault, String> {
        let failed = match self {
            Self::Message(message) => Failed { message, code: None, retryable: false, retry_after: None },
            Self::Whole(failed) => failed,
        };
        let named = failed.code.as_deref().unwrap_or("script");
        let known = CODES.iter().find(|code| **code == named);
        let code = known.ok_or_else(|| format!("no code `{named}`; there are {}", CODES.join(", ")))?;
        let retry_after = failed.retry_after.map(Duration::from_millis);
        Ok(Fault { message: failed.message, code, retryable: failed.retryable, retry_after })
    }
}
