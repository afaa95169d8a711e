//! A prompt as the body of a request for a message.
//!
//! What belongs to one side stands in one message, results of tools first. The instructions, the tools and the last
//! message are marked to be kept in the vendor's cache.

use std::collections::BTreeSet;

use antiphon_agent::{Call, Message, ModelUse, Prompt, Said, Spec, Thought};
use serde_json::{Map, Value, json};

use super::REDACTED;
use super::generation::Generation;
use super::shape::{Form, Shape};
use crate::body::{self, put};
use crate::part::{Piece, pieces};

/// How many tokens may be written if nobody says otherwise; the vendor wants to be told.
const MAX_TOKENS: u64 = 4096;
/// The same for models that think whenever they want, which counts.
const MAX_TOKENS_ADAPTIVE: u64 = 16_384;
/// The fewest tokens the vendor lets a model think.
const THINKING_MIN: u64 = 1024;

/// The body of a request.
pub(super) fn body(settings: &ModelUse, prompt: &Prompt, generation: Generation, shape: &Shape) -> Vec<u8> {
    let mut body = Map::new();
    let thinking = prompt.thinking_tokens.or(settings.thinking_tokens).filter(|tokens| *tokens > 0);
    let max = prompt.max_tokens.or(settings.max_tokens);
    put(&mut body, "model", settings.model.as_deref());
    put(&mut body, "max_tokens", Some(bound(max, thinking, generation)));
    put(&mut body, "stream", Some(true));
    if !prompt.system.is_empty() {
        let text = [json!({"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}})];
        put(&mut body, "system", Some(text));
    }
    put(&mut body, "messages", Some(messages(&prompt.messages)));
    let may_force = generation != Generation::Adaptive && thinking.is_none();
    let (offered, gone) = (tools(prompt, shape.form()), gone(prompt));
    let chosen = match shape.form() {
        Some(form) => Some(choice(&form.name, &prompt.tools, may_force)),
        None if offered.is_empty() && !gone.is_empty() => Some(json!({"type": "none"})),
        None => None,
    };
    let declared = if offered.is_empty() { gone } else { offered };
    put(&mut body, "tools", (!declared.is_empty()).then_some(declared));
    put(&mut body, "tool_choice", chosen);
    if let Shape::Format(schema) = shape {
        let format = json!({"format": {"type": "json_schema", "schema": schema}});
        put(&mut body, "output_config", Some(format));
    }
    put(&mut body, "thinking", thinking.map(|tokens| think(tokens, generation)));
    // A model that thinks takes no temperature.
    if thinking.is_none() && generation != Generation::Adaptive {
        put(&mut body, "temperature", prompt.temperature.or(settings.temperature));
    }
    body::write(body, settings)
}

/// How many tokens may be written. What is thought counts, and the vendor wants room left after it.
fn bound(max: Option<u64>, thinking: Option<u64>, generation: Generation) -> u64 {
    if generation == Generation::Adaptive {
        return max.unwrap_or(MAX_TOKENS_ADAPTIVE);
    }
    let (max, thinking) = (max.unwrap_or(MAX_TOKENS), thinking.map(budget));
    thinking.filter(|tokens| *tokens >= max).map_or(max, |tokens| tokens.saturating_add(max))
}

fn budget(tokens: u64) -> u64 {
    tokens.max(THINKING_MIN)
}

fn think(tokens: u64, generation: Generation) -> Value {
    match generation {
        // How much is not for us to say; that something is to be seen of it is.
        Generation::Adaptive => json!({"type": "adaptive", "display": "summarized"}),
        Generation::Early | Generation::Formed => json!({"type": "enabled", "budget_tokens": budget(tokens)}),
    }
}

/// Whom the model has to call: the form, where there is nothing else and the model can be made to.
fn choice(form: &str, tools: &[Spec], may_force: bool) -> Value {
    match (may_force, tools.is_empty()) {
        (false, _) => json!({"type": "auto"}),
        (true, true) => json!({"type": "tool", "name": form}),
        (true, false) => json!({"type": "any"}),
    }
}

fn tools(prompt: &Prompt, form: Option<&Form>) -> Vec<Value> {
    let tool = |name: &str, description: &str, schema: Value| json!({"name": name, "description": description, "input_schema": schema});
    let mut list: Vec<_> =
        prompt.tools.iter().map(|spec| tool(&spec.name, &spec.description, spec.input.value())).collect();
    if let Some(form) = form {
        let use_it = "Give your final answer with this, and only with this.";
        list.push(tool(&form.name, use_it, form.schema.clone()));
    }
    if let Some(Value::Object(last)) = list.last_mut() {
        keep(last);
    }
    list
}

/// Tools that were called before: the vendor wants them declared wherever a call stands, also where none may be made.
fn gone(prompt: &Prompt) -> Vec<Value> {
    let calls = prompt.messages.iter().filter_map(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.as_ref(),
        Message::User { .. } | Message::Tool { .. } => None,
    });
    let names: BTreeSet<&str> = calls.flatten().map(|call| call.name.as_str()).collect();
    names.into_iter().map(|name| json!({"name": name, "input_schema": {"type": "object"}})).collect()
}

/// Marks the end of what is to be kept in the vendor's cache.
fn keep(block: &mut Map<String, Value>) {
    put(block, "cache_control", Some(json!({"type": "ephemeral"})));
}

fn messages(said: &Said) -> Vec<Value> {
    let mut list: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in said.iter() {
        let (role, blocks) = match message {
            Message::User { content } => ("user", pieces(content).into_iter().map(block).collect()),
            Message::Assistant { content, reasoning, tool_calls } => {
                let thoughts = reasoning.iter().flatten().filter_map(thought);
                let text = content.iter().filter(|text| !text.trim().is_empty());
                let text = text.map(|text| json!({"type": "text", "text": text}));
                ("assistant", thoughts.chain(text).chain(tool_calls.iter().flatten().map(call)).collect())
            }
            Message::Tool { tool_call_id, content, is_error, name: _ } => {
                let content: Vec<_> = pieces(content).into_iter().map(block).collect();
                let mut result = Map::new();
                put(&mut result, "type", Some("tool_result"));
                put(&mut result, "tool_use_id", Some(id(tool_call_id)));
                put(&mut result, "content", (!content.is_empty()).then_some(content));
                put(&mut result, "is_error", is_error.filter(|is_error| *is_error));
                ("user", vec![Value::Object(result)])
            }
        };
        match list.last_mut() {
            Some((speaker, said)) if *speaker == role => said.extend(blocks),
            _ => list.push((role, blocks)),
        }
    }
    list.retain(|(role, blocks)| *role == "user" || !blocks.is_empty());
    for (_, blocks) in list.iter_mut().filter(|(_, blocks)| blocks.is_empty()) {
        // The vendor takes no message without words.
        blocks.push(json!({"type": "text", "text": "(nothing)"}));
    }
    if let Some(Value::Object(last)) = list.last_mut().and_then(|(_, blocks)| blocks.last_mut()) {
        keep(last);
    }
    list.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn block(piece: Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, data } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
        Piece::Document { media_type, data, name } => json!({
            "type": "document",
            "source": {"type": "base64", "media_type": media_type, "data": data},
            "title": name,
        }),
    }
}

/// What was thought, with the signature without which the vendor does not take it.
fn thought(thought: &Thought) -> Option<Value> {
    let signature = thought.signature.as_deref()?;
    Some(match signature.strip_prefix(REDACTED) {
        Some(data) => json!({"type": "redacted_thinking", "data": data}),
        None => json!({"type": "thinking", "thinking": thought.text, "signature": signature}),
    })
}

fn call(call: &Call) -> Value {
    let input = match call.arguments.value() {
        Value::Object(input) => Value::Object(input),
        // The vendor takes nothing but objects.
        other => json!({"value": other}),
    };
    json!({"type": "tool_use", "id": id(&call.id), "name": call.name, "input": input})
}

/// The id in letters the vendor takes; that of another vendor may have others.
fn id(id: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let id: String = id.chars().map(keep).collect();
    if id.is_empty() { "_".to_owned() } else { id }
}
