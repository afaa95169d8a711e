//! A prompt as the body of a request for a chat completion.
//!
//! Reasoning of earlier turns is left out: the format has no place for it. What an image or a document of a tool's result
//! shows follows the results as words of the user, for a tool's message may hold nothing but text.

use antiphon_agent::{Call, Content, Message, ModelUse, Prompt, Spec};
use antiphon_event::Json;
use reqwest::Url;
use serde_json::{Map, Value, json};

use crate::body::{self, put};
use crate::part::{Piece, pieces};

/// Whose server it is, where that makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    /// OpenAI's own: a bound is called `max_completion_tokens`.
    OpenAi,
    /// `OpenRouter`'s: it can be told how much to think.
    OpenRouter,
    /// Somebody else's.
    Other,
}

impl Host {
    pub(super) fn of(base: &Url) -> Self {
        match base.host_str() {
            Some("api.openai.com") => Self::OpenAi,
            Some("openrouter.ai") => Self::OpenRouter,
            _ => Self::Other,
        }
    }
}

/// The body of a request.
pub(super) fn body(settings: &ModelUse, host: Host, prompt: &Prompt) -> Vec<u8> {
    let mut body = Map::new();
    put(&mut body, "model", settings.model.as_deref());
    put(&mut body, "messages", Some(messages(prompt)));
    put(&mut body, "stream", Some(true));
    put(&mut body, "stream_options", Some(json!({"include_usage": true})));
    if !prompt.tools.is_empty() {
        put(&mut body, "tools", Some(prompt.tools.iter().map(tool).collect::<Vec<_>>()));
    }
    put(&mut body, "response_format", prompt.output.as_ref().map(response_format));
    let bound = if host == Host::OpenAi { "max_completion_tokens" } else { "max_tokens" };
    put(&mut body, bound, prompt.max_tokens.or(settings.max_tokens));
    put(&mut body, "temperature", prompt.temperature.or(settings.temperature));
    let thinking = prompt.thinking_tokens.or(settings.thinking_tokens);
    if host == Host::OpenRouter {
        put(&mut body, "reasoning", thinking.map(|tokens| json!({"max_tokens": tokens})));
    }
    body::write(body, settings)
}

fn messages(prompt: &Prompt) -> Vec<Value> {
    let mut list = Vec::with_capacity(prompt.messages.len() + 1);
    if !prompt.system.is_empty() {
        list.push(json!({"role": "system", "content": prompt.system}));
    }
    let mut shown = Vec::new();
    for message in prompt.messages.iter() {
        if !matches!(message, Message::Tool { .. }) {
            show(&mut list, &mut shown);
        }
        match message {
            Message::User { content } => list.push(json!({"role": "user", "content": user(content)})),
            Message::Assistant { content, tool_calls, reasoning: _ } => {
                list.push(assistant(content.as_deref(), tool_calls.as_deref().unwrap_or_default()));
            }
            Message::Tool { tool_call_id, name, content, is_error: _ } => {
                let (text, media) = result(content);
                list.push(json!({"role": "tool", "tool_call_id": tool_call_id, "content": text}));
                if !media.is_empty() {
                    shown.push(json!({"type": "text", "text": format!("What the tool {name} showed:")}));
                    shown.extend(media);
                }
            }
        }
    }
    show(&mut list, &mut shown);
    list
}

/// Puts what tools showed after their results.
fn show(list: &mut Vec<Value>, shown: &mut Vec<Value>) {
    if !shown.is_empty() {
        list.push(json!({"role": "user", "content": std::mem::take(shown)}));
    }
}

fn user(content: &Content) -> Value {
    match content {
        Content::Text(text) => Value::from(text.as_str()),
        Content::Parts(_) => pieces(content).into_iter().map(part).collect(),
    }
}

fn part(piece: Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, data } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,{data}")}})
        }
        Piece::Document { media_type, data, name } => {
            let data = format!("data:{media_type};base64,{data}");
            json!({"type": "file", "file": {"filename": name, "file_data": data}})
        }
    }
}

fn assistant(content: Option<&str>, calls: &[Call]) -> Value {
    let mut message = Map::new();
    put(&mut message, "role", Some("assistant"));
    match content {
        None if !calls.is_empty() => put(&mut message, "content", Some(Value::Null)),
        None | Some(_) => put(&mut message, "content", Some(content.unwrap_or_default())),
    }
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| {
            json!({
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments.as_str()},
            })
        });
        put(&mut message, "tool_calls", Some(calls.collect::<Vec<_>>()));
    }
    Value::Object(message)
}

/// The text of a tool's result, and what else is in it.
fn result(content: &Content) -> (String, Vec<Value>) {
    let (mut texts, mut media) = (Vec::new(), Vec::new());
    for piece in pieces(content) {
        match piece {
            Piece::Text(text) => texts.push(text),
            Piece::Image { .. } | Piece::Document { .. } => {
                texts.push("[shown below]".to_owned());
                media.push(part(piece));
            }
        }
    }
    (texts.join("\n"), media)
}

fn tool(spec: &Spec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.input.value(),
        },
    })
}

fn response_format(schema: &Json) -> Value {
    let schema = schema.value();
    let mut format = Map::new();
    put(&mut format, "name", Some("answer"));
    if is_strict(&schema) {
        put(&mut format, "strict", Some(true));
    }
    put(&mut format, "schema", Some(schema));
    json!({"type": "json_schema", "json_schema": format})
}

/// Whether the vendor can hold a model to it: it refuses objects that may have other members, or lack some.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let is_closed = members.get("additionalProperties") == Some(&Value::Bool(false));
            let required = members.get("required").and_then(Value::as_array);
            let all = members.get("properties").and_then(Value::as_object).is_none_or(|properties| {
                is_closed
                    && required.is_some_and(|names| {
                        properties.keys().all(|name| names.iter().any(|one| one == name.as_str()))
                    })
            });
            let is_object = members.get("type").is_some_and(|kind| kind == "object");
            all && (is_closed || !is_object) && members.values().all(is_strict)
        }
        Value::Array(list) => list.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}
