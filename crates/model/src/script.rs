//! [`Script`]: replies that were thought out before, in place of a model. No network, no key: demos and tests run on it.
//!
//! In: replies from code or from JSON, each a list of [`Step`]s. Out: a [`Scripted`] model. A reply that waits for
//! something to be said takes the place of the one in order. Start reading at [`Scripted::call`](Model::call).

mod parse;
mod play;
mod step;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use antiphon_agent::{Content, Delta, Fault, Message, Price, Prompt, Tokens};
use antiphon_event::body::content::PartKind;
use antiphon_port::Model;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use regex::Regex;

pub use step::Step;

use crate::fault::{cut, lasting};

/// What a scripted model costs if nobody says otherwise.
const FREE: Price = Price { input: 0.0, output: 0.0, cache_read: 0.0, cache_creation: 0.0 };

/// What a model is to say.
///
/// ```
/// use antiphon_model::{Script, Step};
///
/// let model = Script::new()
///     .when("weather", [Step::call("look_up", r#"{"of":"weather"}"#)])
///     .reply([Step::text("first"), Step::usage(10, 5)])
///     .reply([Step::text("from then on")])
///     .model();
/// ```
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Those that come in order; the last one from then on.
    replies: Vec<Arc<[Step]>>,
    /// Those that wait for something to be said.
    waiting: Vec<Waiting>,
    name: Option<String>,
    price: Option<Price>,
}

#[derive(Debug, Clone)]
struct Waiting {
    when: When,
    steps: Arc<[Step]>,
    times: Option<u32>,
}

/// What has to be said last, by a user or a tool.
#[derive(Debug, Clone)]
pub enum When {
    /// Something with this in it.
    Has(String),
    /// Something that this fits.
    Fits(Regex),
}

impl From<&str> for When {
    fn from(text: &str) -> Self {
        Self::Has(text.to_owned())
    }
}

impl From<Regex> for When {
    fn from(pattern: Regex) -> Self {
        Self::Fits(pattern)
    }
}

impl When {
    fn holds(&self, said: &str) -> bool {
        match self {
            Self::Has(part) => said.contains(part.as_str()),
            Self::Fits(pattern) => pattern.is_match(said),
        }
    }
}

impl Script {
    /// One that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next reply in order; the last one is given from then on.
    #[must_use]
    pub fn reply(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.replies.push(steps.into_iter().collect());
        self
    }

    /// A reply to what was said last, each time it fits.
    #[must_use]
    pub fn when(self, when: impl Into<When>, steps: impl IntoIterator<Item = Step>) -> Self {
        self.waiting(when.into(), steps.into_iter().collect(), None)
    }

    /// A reply to what was said last, the first so many times it fits.
    #[must_use]
    pub fn when_times(
        self,
        when: impl Into<When>,
        times: u32,
        steps: impl IntoIterator<Item = Step>,
    ) -> Self {
        self.waiting(when.into(), steps.into_iter().collect(), Some(times))
    }

    fn waiting(mut self, when: When, steps: Arc<[Step]>, times: Option<u32>) -> Self {
        self.waiting.push(Waiting { when, steps, times });
        self
    }

    /// What the model is called; `scripted` if nobody says so.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What the model costs; nothing if nobody says so.
    #[must_use]
    pub fn price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// The model.
    pub fn model(self) -> Scripted {
        let used = self.waiting.iter().map(|_| AtomicU32::new(0)).collect();
        Scripted { used, script: self }
    }
}

/// A model that follows a [`Script`]. The first call of an agent gets the first reply in order, the second the second,
/// whichever process makes it: [`Prompt::call`] says which one it is.
#[derive(Debug)]
pub struct Scripted {
    script: Script,
    /// How often each reply that waits was given.
    used: Vec<AtomicU32>,
}

impl Scripted {
    fn steps(&self, prompt: &Prompt) -> Result<Arc<[Step]>, Fault> {
        if let Some(steps) = self.waiting(prompt, take).or_else(|| self.in_order(prompt)) {
            return Ok(Arc::clone(steps));
        }
        if self.script.waiting.is_empty() {
            return Ok(Arc::new([]));
        }
        let words = cut(&last_words(prompt));
        Err(lasting("script", format!("no reply of the script fits what was said last: {words}")))
    }

    /// The reply that waits for what was said last, if it may be given.
    fn waiting(&self, prompt: &Prompt, may: fn(&Waiting, &AtomicU32) -> bool) -> Option<&Arc<[Step]>> {
        if self.script.waiting.is_empty() {
            return None;
        }
        let said = last_words(prompt);
        let mut waiting = self.script.waiting.iter().zip(&self.used);
        let found = waiting.find(|(waiting, used)| waiting.when.holds(&said) && may(waiting, used));
        found.map(|(waiting, _)| &waiting.steps)
    }

    /// The reply in order that this call of an agent gets.
    fn in_order(&self, prompt: &Prompt) -> Option<&Arc<[Step]>> {
        let last = self.script.replies.len().checked_sub(1)?;
        self.script.replies.get((prompt.call as usize).min(last))
    }
}

/// Whether a reply may be given once more.
fn is_left(waiting: &Waiting, used: &AtomicU32) -> bool {
    waiting.times.is_none_or(|times| used.load(Ordering::Relaxed) < times)
}

/// Takes one of the times a reply may be given.
fn take(waiting: &Waiting, used: &AtomicU32) -> bool {
    let Some(times) = waiting.times else {
        return true;
    };
    let more = |used: u32| (used < times).then_some(used + 1);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
}

/// What a user or a tool said last.
fn last_words(prompt: &Prompt) -> String {
    let content = prompt.messages.iter().rev().find_map(|message| match message {
        Message::User { content } | Message::Tool { content, .. } => Some(content),
        Message::Assistant { .. } => None,
    });
    match content {
        None => String::new(),
        Some(Content::Text(text)) => text.clone(),
        Some(Content::Parts(parts)) => {
            let texts = parts.iter().filter_map(|part| match &part.kind {
                PartKind::Text { text } => Some(text.as_str()),
                PartKind::Image { .. } | PartKind::Document { .. } | PartKind::Other => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        self.script.name.as_deref().unwrap_or("scripted")
    }

    fn price(&self) -> Option<Price> {
        Some(self.script.price.unwrap_or(FREE))
    }

    fn foresee(&self, prompt: &Prompt) -> Option<Tokens> {
        let steps = self.waiting(prompt, is_left).or_else(|| self.in_order(prompt))?;
        play::used(steps)
    }

    fn call(&self, prompt: Arc<Prompt>) -> BoxStream<'static, Result<Delta, Fault>> {
        match self.steps(&prompt) {
            Ok(steps) => play::Play::new(steps, prompt.call).boxed(),
            Err(fault) => stream::once(std::future::ready(Err(fault))).boxed(),
        }
    }
}
