//! [`Fixture`]: one exchange with a model, as a file: what was asked and what was answered, without secrets.

use std::time::Duration;

use antiphon_agent::{Delta, Fault, Prompt, Stop, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::fault::CODES;
use crate::redact::{SECRET, redact};

/// The version of the form.
pub(crate) const VERSION: u32 = 1;

/// One exchange.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Fixture {
    pub(crate) antiphon: u32,
    pub(crate) model: String,
    pub(crate) digest: String,
    pub(crate) prompt: Value,
    pub(crate) deltas: Vec<Said>,
}

/// One piece of an answer as it is kept: a [`Delta`], or the [`Fault`] that it broke off with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are what they are in a delta and a fault")]
pub enum Said {
    Text(String),
    Reasoning(String),
    Signature(String),
    Call { id: String, name: String, arguments: String },
    Usage(Tokens),
    Stop(Reason),
    Fault { message: String, code: String, retryable: bool, retry_after_ms: Option<u64> },
}

/// Why it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are what they are in a delta")]
pub enum Reason {
    Done,
    Calls,
    Length,
    Filtered,
}

impl Said {
    pub(crate) fn of(delta: &Result<Delta, Fault>) -> Self {
        match delta {
            Ok(Delta::Text(text)) => Self::Text(text.clone()),
            Ok(Delta::Reasoning(text)) => Self::Reasoning(text.clone()),
            Ok(Delta::Signature(text)) => Self::Signature(text.clone()),
            Ok(Delta::Call { id, name, arguments }) => {
                let arguments = redact(arguments).into_owned();
                Self::Call { id: id.clone(), name: name.clone(), arguments }
            }
            Ok(Delta::Usage(tokens)) => Self::Usage(tokens.clone()),
            Ok(Delta::Stop(stop)) => Self::Stop(match stop {
                Stop::Done => Reason::Done,
                Stop::Calls => Reason::Calls,
                Stop::Length => Reason::Length,
                Stop::Filtered => Reason::Filtered,
            }),
            Err(fault) => Self::Fault {
                message: redact(&fault.message).into_owned(),
                code: fault.code.to_owned(),
                retryable: fault.retryable,
                retry_after_ms: fault
                    .retry_after
                    .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            },
        }
    }

    /// The piece as a model says it.
    pub fn delta(&self) -> Result<Delta, Fault> {
        match self.clone() {
            Self::Text(text) => Ok(Delta::Text(text)),
            Self::Reasoning(text) => Ok(Delta::Reasoning(text)),
            Self::Signature(text) => Ok(Delta::Signature(text)),
            Self::Call { id, name, arguments } => Ok(Delta::Call { id, name, arguments }),
            Self::Usage(tokens) => Ok(Delta::Usage(tokens)),
            Self::Stop(reason) => Ok(Delta::Stop(match reason {
                Reason::Done => Stop::Done,
                Reason::Calls => Stop::Calls,
                Reason::Length => Stop::Length,
                Reason::Filtered => Stop::Filtered,
            })),
            Self::Fault { message, code, retryable, retry_after_ms } => Err(Fault {
                message,
                code: CODES.iter().find(|known| **known == code).copied().unwrap_or("script"),
                retryable,
                retry_after: retry_after_ms.map(Duration::from_millis),
            }),
        }
    }

    /// Whether nothing comes after it.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Stop(_) | Self::Fault { .. })
    }
}

/// A prompt as it is kept and compared: all that makes a difference to a model, without secrets.
pub(crate) fn ask(prompt: &Prompt) -> Value {
    let tools = prompt
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input": tool.input.value()}));
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    put("system", json!(prompt.system));
    put("messages", json!(prompt.messages));
    put("tools", tools.collect());
    put("output", json!(prompt.output));
    put("max_tokens", json!(prompt.max_tokens));
    put("temperature", json!(prompt.temperature));
    put("thinking_tokens", json!(prompt.thinking_tokens));
    members.retain(|_, value| !value.is_null());
    clean(Value::Object(members), false)
}

/// Which prompt it is.
pub(crate) fn digest(ask: &Value) -> String {
    blake3::hash(ask.to_string().as_bytes()).to_hex()[..32].to_owned()
}

/// The value without secrets: those that look like one, and those that stand under a telling name.
fn clean(value: Value, told: bool) -> Value {
    match value {
        Value::String(_) if told => Value::from(SECRET),
        Value::String(text) => Value::from(&*redact(&text)),
        Value::Array(list) => list.into_iter().map(|value| clean(value, told)).collect(),
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| {
                let told = value.is_string() && is_telling(&name);
                (name, clean(value, told))
            });
            Value::Object(members.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Whether what has this name is a secret.
fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let parts = ["api_key", "apikey", "password", "passwd", "secret", "access_token", "auth_token"];
    name == "authorization" || name == "token" || parts.iter().any(|part| name.contains(part))
}

/// The pieces without secrets. A secret may be cut in two by the pieces: where there is one, they become one piece.
pub(crate) fn clean_pieces(said: Vec<Said>) -> Vec<Said> {
    let mut list: Vec<Said> = Vec::with_capacity(said.len());
    let mut run: Vec<Said> = Vec::new();
    for piece in said {
        if run.first().is_some_and(|first| std::mem::discriminant(first) != std::mem::discriminant(&piece)) {
            list.append(&mut clean_run(std::mem::take(&mut run)));
        }
        match piece {
            Said::Text(_) | Said::Reasoning(_) => run.push(piece),
            Said::Signature(_) | Said::Call { .. } | Said::Usage(_) | Said::Stop(_) | Said::Fault { .. } => {
                list.push(piece);
            }
        }
    }
    list.append(&mut clean_run(run));
    list
}

/// Pieces of one kind that stand together.
fn clean_run(run: Vec<Said>) -> Vec<Said> {
    let text: String = run
        .iter()
        .map(|piece| match piece {
            Said::Text(text) | Said::Reasoning(text) => text.as_str(),
            Said::Signature(_) | Said::Call { .. } | Said::Usage(_) | Said::Stop(_) | Said::Fault { .. } => {
                ""
            }
        })
        .collect();
    let clean = redact(&text);
    if clean == text {
        return run;
    }
    match run.first() {
        Some(Said::Reasoning(_)) => vec![Said::Reasoning(clean.into_owned())],
        _ => vec![Said::Text(clean.into_owned())],
    }
}
