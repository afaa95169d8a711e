//! [`Reply`]: chunks of a chat completion, or a whole one, as an [`Answer`].
//!
//! Calls come in pieces. Which piece belongs to which call is said by `index`; by some only by `id`, by others not at all,
//! and some number all calls 0: see [`Reply::call`].

use antiphon_agent::{Fault, Stop, Tokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::words::Words;
use crate::answer::{Answer, Draft};
use crate::fault::{cut, lasting, of_error, passing};
use crate::http::Dialect;
use crate::sse::Event;

/// What was understood so far.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// Whether the model would not answer.
    is_refusal: bool,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(default)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    /// Where Groq put it.
    #[serde(default)]
    x_groq: Option<Groq>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(default)]
    object: Option<String>,
}

#[derive(Deserialize)]
struct Groq {
    #[serde(default)]
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<u64>,
    /// A piece of the answer.
    #[serde(borrow, default)]
    delta: Option<Piece<'a>>,
    /// The whole of it; some send it beside the pieces.
    #[serde(borrow, default)]
    message: Option<Piece<'a>>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Piece<'a> {
    #[serde(default)]
    content: Words,
    #[serde(default)]
    reasoning_content: Words,
    #[serde(default)]
    reasoning: Words,
    #[serde(default)]
    refusal: Words,
    #[serde(borrow, default)]
    tool_calls: Option<Vec<CallPiece<'a>>>,
}

#[derive(Deserialize)]
struct CallPiece<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<Details>,
    /// `DeepSeek`'s word for `cached_tokens`.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
    /// `OpenRouter` says what it cost.
    #[serde(default)]
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    cache_write_tokens: Option<u64>,
}

impl Dialect for Reply {
    fn event(&mut self, event: Event<'_>, answer: &mut Answer) -> Result<bool, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return answer.close().map(|()| true);
        }
        if event.name == "error" {
            return Err(of_error(data));
        }
        if !data.is_empty() {
            self.chunk(data, answer)?;
        }
        Ok(false)
    }

    fn whole(&mut self, body: &str, answer: &mut Answer) -> Result<(), Fault> {
        self.chunk(body, answer)?;
        if answer.stop.is_some() {
            return Ok(());
        }
        Err(lasting("malformed", format!("gave an answer without a `finish_reason`: {}", cut(body))))
    }

    fn finish(&mut self, _answer: &mut Answer) -> Result<(), Fault> {
        Ok(())
    }
}

impl Reply {
    fn chunk(&mut self, data: &str, answer: &mut Answer) -> Result<(), Fault> {
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|error| {
            passing("malformed", format!("sent what is no chat completion ({error}): {}", cut(data)))
        })?;
        if let Some(error) = chunk.error {
            return Err(of_error(error.get()));
        }
        if chunk.object.as_deref() == Some("error") {
            return Err(of_error(data));
        }
        let usage = chunk.usage.and_then(|usage| serde_json::from_str(usage.get()).ok());
        let groq = || chunk.x_groq.and_then(|groq| serde_json::from_value(groq.usage?).ok());
        let says_something = |usage: &Usage| usage.prompt_tokens.or(usage.completion_tokens).is_some();
        if let Some(usage) = usage.or_else(groq).filter(says_something) {
            answer.tokens = Some(tokens(&usage));
        }
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
            self.choice(choice, answer)?;
        }
        Ok(())
    }

    fn choice(&mut self, choice: Choice<'_>, answer: &mut Answer) -> Result<(), Fault> {
        if let Some(piece) = choice.delta.or(choice.message) {
            // Some send the same under both names.
            let once = if piece.reasoning_content.text.is_empty() {
                piece.reasoning
            } else {
                piece.reasoning_content
            };
            answer.reasoning(once.text)?;
            answer.reasoning(piece.content.thought)?;
            answer.text(piece.content.text)?;
            self.is_refusal |= !piece.refusal.text.is_empty();
            answer.text(piece.refusal.text)?;
            for call in piece.tool_calls.into_iter().flatten() {
                Self::call(call, answer)?;
            }
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("error") => return Err(passing("overloaded", "gave up in its answer")),
            Some(_) if self.is_refusal => answer.stop = Some(Stop::Filtered),
            Some(reason) => answer.stop = Some(stop(reason)),
        }
        Ok(())
    }

    /// A piece of a call, or a whole one.
    fn call(piece: CallPiece<'_>, answer: &mut Answer) -> Result<(), Fault> {
        let id = piece.id.filter(|id| !id.is_empty());
        let function = piece.function;
        let (name, arguments) = function.map_or((None, None), |function| (function.name, function.arguments));
        let name = name.filter(|name| !name.is_empty());
        let is_same = |draft: &Draft| match (&id, piece.index) {
            // Another id and a name under the same number: the vendor numbers all its calls 0.
            (Some(id), Some(index)) => {
                draft.index == Some(index) && (draft.id.is_empty() || draft.id == *id || name.is_none())
            }
            (Some(id), None) => draft.id == *id,
            (None, Some(index)) => draft.index == Some(index),
            (None, None) => name.is_none(),
        };
        let place = match answer.calls().iter().rposition(is_same) {
            Some(place) => place,
            None => answer.open_call(Draft { index: piece.index, ..Draft::default() })?,
        };
        let draft = &mut answer.calls()[place];
        if draft.id.is_empty() {
            draft.id = id.unwrap_or_default();
        }
        if draft.name.is_empty() {
            draft.name = name.unwrap_or_default();
        }
        let raw = arguments.map_or("null", RawValue::get);
        if raw == "null" {
            return Ok(());
        }
        // Most write the arguments as a string, some as they are.
        match serde_json::from_str::<String>(raw) {
            Ok(text) => answer.arguments(place, &text),
            Err(_) => answer.arguments(place, raw),
        }
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "length" | "max_tokens" | "model_length" => Stop::Length,
        "content_filter" | "safety" => Stop::Filtered,
        "tool_calls" | "function_call" | "tool_use" => Stop::Calls,
        _ => Stop::Done,
    }
}

fn tokens(usage: &Usage) -> Tokens {
    let details = usage.prompt_tokens_details.as_ref();
    Tokens {
        input: usage.prompt_tokens.unwrap_or(0),
        output: usage.completion_tokens.unwrap_or(0),
        cache_read: details.and_then(|details| details.cached_tokens).or(usage.prompt_cache_hit_tokens),
        cache_creation: details.and_then(|details| details.cache_write_tokens),
        cost_usd: usage.cost.filter(|cost| cost.is_finite() && *cost >= 0.0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Reply;
    use crate::chaos;
    use crate::http::Dialect as _;

    const ROWS: &[&str] = &[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"Hm"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"Hello"}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":{}}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#,
        "[DONE]",
    ];

    proptest! {
        #[test]
        fn a_mangled_completion_keeps_the_order(mangles in chaos::mangles()) {
            chaos::check(ROWS, mangles, Reply::default());
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}\":,a-z0-9\\\\]{0,60}") {
            drop(Reply::default().whole(&text, &mut crate::answer::Answer::default()));
        }
    }
}
