//! [`Player`]: a model that makes its calls step by step, and in the end says all it was given.
//!
//! What it says follows from what it is asked and from nothing else, so that it shows whether a new process asks the
//! same as the one before it would have.

use std::sync::Arc;
use std::time::Duration;

use antiphon_agent::{Content, Delta, Fault, Message, Price, Prompt, Stop, Tokens};
use antiphon_port::Model;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::Value;

/// The calls of one step.
pub(crate) type Calls = Vec<(&'static str, Value)>;

pub(crate) struct Player {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<Calls>,
    /// Whether it says one piece of an answer and no more.
    pub(crate) hushed: bool,
}

/// How much it says at once, and how long that takes.
const PIECE: usize = 24;
const PAUSE: Duration = Duration::from_millis(1);

impl Player {
    fn deltas(&self, prompt: &Prompt) -> Vec<Delta> {
        let step = prompt.messages.iter().filter(|said| matches!(said, Message::Assistant { .. })).count();
        let mut deltas = Vec::new();
        let text = match self.steps.get(step) {
            Some(_) => format!("{} is now going to make the calls of step {step}.", self.name),
            None => format!("{}: {}", self.name, heard(prompt)),
        };
        let chars: Vec<char> = text.chars().collect();
        deltas.extend(chars.chunks(PIECE).map(|piece| Delta::Text(piece.iter().collect())));
        for (nth, (name, input)) in self.steps.get(step).into_iter().flatten().enumerate() {
            let (id, name) = (format!("{name}{step}{nth}"), (*name).to_owned());
            deltas.push(Delta::Call { id, name, arguments: input.to_string() });
        }
        deltas.push(Delta::Usage(Tokens { input: 1, output: 1, ..Tokens::default() }));
        deltas.push(Delta::Stop(if step < self.steps.len() { Stop::Calls } else { Stop::Done }));
        deltas
    }
}

/// What users and tools said.
fn heard(prompt: &Prompt) -> String {
    let contents = prompt.messages.iter().filter_map(|message| match message {
        Message::User { content } | Message::Tool { content, .. } => Some(content),
        Message::Assistant { .. } => None,
    });
    let texts = contents.map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Parts(parts) => parts.iter().map(|part| part.json.as_str()).collect(),
    });
    texts.collect::<Vec<_>>().join("; ")
}

impl Model for Player {
    fn name(&self) -> &str {
        self.name
    }

    fn price(&self) -> Option<Price> {
        None
    }

    fn call(&self, prompt: Arc<Prompt>) -> BoxStream<'static, Result<Delta, Fault>> {
        let said = stream::iter(self.deltas(&prompt)).then(|delta| async {
            tokio::time::sleep(PAUSE).await;
            Ok(delta)
        });
        if self.hushed { said.take(1).chain(stream::pending()).boxed() } else { said.boxed() }
    }
}
