//! [`Reply`]: events of a message, or a whole one, as an [`Answer`].

use antiphon_agent::{Fault, Stop, Tokens};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::REDACTED;
use super::shape::{Form, Shape, WRAP};
use crate::answer::{Answer, Draft};
use crate::fault::{cut, lasting, of_error, passing};
use crate::http::Dialect;
use crate::sse::Event;

/// How many blocks an answer may have.
const BLOCKS_MAX: usize = 4096;

/// What was understood so far.
#[derive(Debug)]
pub(super) struct Reply {
    /// The tool whose arguments are the answer.
    form: Option<Form>,
    /// What is said where a form is expected: held back until it is known whether it is the answer.
    held: String,
    blocks: Vec<(u64, Block)>,
    usage: Usage,
}

/// A block that is being said.
#[derive(Debug)]
enum Block {
    Text,
    Thought {
        signature: String,
    },
    /// A call: its place among the calls, and its arguments if they came at once.
    Call {
        place: usize,
        whole: Option<Value>,
    },
    /// The answer: all of it if it came at once, or what has come of one that has to be unwrapped.
    Form {
        whole: Option<Value>,
        wrapped: String,
    },
    /// Something of a later version.
    Other,
}

#[derive(Deserialize)]
struct Said<'a> {
    r#type: String,
    #[serde(default)]
    index: u64,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    content_block: Option<Whole>,
    #[serde(default)]
    delta: Option<Piece>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A message; in a stream there is nothing in it yet.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Vec<Whole>>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

/// A block as it begins, or all of it.
#[derive(Deserialize)]
struct Whole {
    r#type: String,
    #[serde(default, deserialize_with = "text")]
    text: String,
    #[serde(default, deserialize_with = "text")]
    thinking: String,
    #[serde(default, deserialize_with = "text")]
    signature: String,
    #[serde(default, deserialize_with = "text")]
    data: String,
    #[serde(default, deserialize_with = "text")]
    id: String,
    #[serde(default, deserialize_with = "text")]
    name: String,
    #[serde(default)]
    input: Option<Value>,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(default, deserialize_with = "text")]
    text: String,
    #[serde(default, deserialize_with = "text")]
    thinking: String,
    #[serde(default, deserialize_with = "text")]
    signature: String,
    #[serde(default, deserialize_with = "text")]
    partial_json: String,
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
}

impl Usage {
    /// The later word stands.
    fn update(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        self.cache_creation_input_tokens =
            later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = later.cache_read_input_tokens.or(self.cache_read_input_tokens);
    }

    /// The vendor counts what comes from the cache and what goes there apart.
    fn tokens(&self) -> Tokens {
        let (read, created) = (self.cache_read_input_tokens, self.cache_creation_input_tokens);
        let parts = [self.input_tokens, read, created];
        Tokens {
            input: parts.into_iter().flatten().fold(0, u64::saturating_add),
            output: self.output_tokens.unwrap_or(0),
            cache_read: read,
            cache_creation: created,
            cost_usd: None,
        }
    }
}

impl Dialect for Reply {
    fn event(&mut self, event: Event<'_>, answer: &mut Answer) -> Result<bool, Fault> {
        let data = event.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return if data.is_empty() { Ok(false) } else { answer.close().map(|()| true) };
        }
        let said: Said<'_> = parse(data)?;
        if let Some(usage) = said.usage {
            self.used(usage, answer);
        }
        match said.r#type.as_str() {
            "error" => return Err(of_error(said.error.map_or(data, RawValue::get))),
            "message_start" => {
                if let Some(usage) = said.message.and_then(|message| message.usage) {
                    self.used(usage, answer);
                }
            }
            "content_block_start" => {
                if let Some(block) = said.content_block {
                    self.open(said.index, block, answer)?;
                }
            }
            "content_block_delta" => {
                if let Some(piece) = said.delta {
                    self.piece(said.index, piece, answer)?;
                }
            }
            "content_block_stop" => self.close(said.index, answer)?,
            "message_delta" => {
                let reason = said.delta.and_then(|delta| delta.stop_reason);
                answer.stop = reason.as_deref().map(stop).or(answer.stop);
            }
            "message_stop" => return answer.close().map(|()| true),
            // `ping`, and what later versions have.
            _ => {}
        }
        Ok(false)
    }

    fn whole(&mut self, body: &str, answer: &mut Answer) -> Result<(), Fault> {
        let error = || serde_json::from_str::<Said<'_>>(body).ok().and_then(|said| said.error);
        if let Some(error) = error() {
            return Err(of_error(error.get()));
        }
        let message: Message = parse(body)?;
        let Some(reason) = message.stop_reason else {
            let words = format!("gave an answer without a `stop_reason`: {}", cut(body));
            return Err(lasting("malformed", words));
        };
        if let Some(usage) = message.usage {
            self.used(usage, answer);
        }
        for (index, block) in message.content.unwrap_or_default().into_iter().enumerate() {
            self.open(index as u64, block, answer)?;
            self.close(index as u64, answer)?;
        }
        answer.stop = Some(stop(&reason));
        Ok(())
    }

    fn finish(&mut self, answer: &mut Answer) -> Result<(), Fault> {
        while let Some((index, _)) = self.blocks.first() {
            self.close(*index, answer)?;
        }
        answer.text(std::mem::take(&mut self.held))
    }
}

impl Reply {
    /// What is expected: with a form, its arguments are the answer.
    pub(super) fn new(shape: Shape) -> Self {
        let form = match shape {
            Shape::Form(form) => Some(form),
            Shape::Free | Shape::Format(_) => None,
        };
        Self { form, held: String::new(), blocks: Vec::new(), usage: Usage::default() }
    }

    /// The answer that is a member of the arguments; the arguments as they are if it is not there.
    fn unwrap(&self, arguments: String) -> String {
        if !self.form.as_ref().is_some_and(|form| form.is_wrapped) {
            return arguments;
        }
        let object: Option<Value> = serde_json::from_str(&arguments).ok();
        object.and_then(|object| object.get(WRAP).map(Value::to_string)).unwrap_or(arguments)
    }

    fn used(&mut self, usage: Usage, answer: &mut Answer) {
        self.usage.update(usage);
        answer.tokens = Some(self.usage.tokens());
    }

    fn open(&mut self, index: u64, block: Whole, answer: &mut Answer) -> Result<(), Fault> {
        if self.blocks.len() == BLOCKS_MAX {
            let words = format!("has more than {BLOCKS_MAX} blocks open in one answer");
            return Err(lasting("malformed", words));
        }
        let whole = block.input.filter(|input| input.as_object().is_none_or(|input| !input.is_empty()));
        let opened = match block.r#type.as_str() {
            "text" => {
                self.text(block.text, answer)?;
                Block::Text
            }
            "thinking" => {
                answer.reasoning(block.thinking)?;
                Block::Thought { signature: block.signature }
            }
            "redacted_thinking" => Block::Thought { signature: format!("{REDACTED}{}", block.data) },
            "tool_use" if self.form.as_ref().is_some_and(|form| form.name == block.name) => {
                // What was said before was not the answer.
                answer.reasoning(std::mem::take(&mut self.held))?;
                Block::Form { whole, wrapped: String::new() }
            }
            "tool_use" => {
                let draft = Draft { id: block.id, name: block.name, ..Draft::default() };
                Block::Call { place: answer.open_call(draft)?, whole }
            }
            _ => Block::Other,
        };
        self.blocks.push((index, opened));
        Ok(())
    }

    fn text(&mut self, text: String, answer: &mut Answer) -> Result<(), Fault> {
        if self.form.is_none() {
            return answer.text(text);
        }
        answer.grow(text.len())?;
        self.held.push_str(&text);
        Ok(())
    }

    fn piece(&mut self, index: u64, piece: Piece, answer: &mut Answer) -> Result<(), Fault> {
        let Some((_, block)) = self.blocks.iter_mut().rev().find(|(open, _)| *open == index) else {
            return Ok(());
        };
        match block {
            Block::Text => self.text(piece.text, answer),
            Block::Thought { signature } => {
                answer.grow(piece.signature.len())?;
                signature.push_str(&piece.signature);
                answer.reasoning(piece.thinking)
            }
            Block::Call { place, whole } => {
                if !piece.partial_json.is_empty() {
                    *whole = None;
                }
                answer.arguments(*place, &piece.partial_json)
            }
            Block::Form { whole, wrapped } => {
                if !piece.partial_json.is_empty() {
                    *whole = None;
                }
                if !self.form.as_ref().is_some_and(|form| form.is_wrapped) {
                    return answer.text(piece.partial_json);
                }
                answer.grow(piece.partial_json.len())?;
                wrapped.push_str(&piece.partial_json);
                Ok(())
            }
            Block::Other => Ok(()),
        }
    }

    fn close(&mut self, index: u64, answer: &mut Answer) -> Result<(), Fault> {
        let Some(at) = self.blocks.iter().position(|(open, _)| *open == index) else {
            return Ok(());
        };
        match self.blocks.remove(at).1 {
            Block::Thought { signature } => answer.signature(signature),
            Block::Call { place, whole: Some(whole) } => answer.arguments(place, &whole.to_string()),
            Block::Form { whole, wrapped } => {
                let text = whole.map_or(wrapped, |whole| whole.to_string());
                answer.text(self.unwrap(text))
            }
            Block::Text | Block::Call { whole: None, .. } | Block::Other => Ok(()),
        }
    }
}

/// Text; `null` is none.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, Fault> {
    serde_json::from_str(data).map_err(|error| {
        passing("malformed", format!("sent what is no part of a message ({error}): {}", cut(data)))
    })
}

fn stop(reason: &str) -> Stop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Filtered,
        "tool_use" => Stop::Calls,
        _ => Stop::Done,
    }
}

#[cfg(test)]
mod tests {
    use antiphon_agent::Prompt;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::generation::Generation;
    use super::super::shape::Shape;
    use super::Reply;
    use crate::chaos;
    use crate::http::Dialect as _;

    const ROWS: &[&str] = &[
        r#"{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"thinking":"Hm","signature":"c2"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Hello"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"f"}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"partial_json":"{}"}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","name":"answer"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"partial_json":"{\"value\":1}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#,
        r#"{"type":"message_stop"}"#,
    ];

    proptest! {
        #[test]
        fn a_mangled_message_keeps_the_order(mangles in chaos::mangles(), has_form in any::<bool>()) {
            let output = has_form.then(|| json!({"type": "array"}).into());
            let shape = Shape::of(&Prompt { output, ..Prompt::default() }, Generation::Early);
            chaos::check(ROWS, mangles, Reply::new(shape));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}\":,a-z0-9\\\\]{0,60}") {
            drop(Reply::new(Shape::Free).whole(&text, &mut crate::answer::Answer::default()));
        }
    }
}
