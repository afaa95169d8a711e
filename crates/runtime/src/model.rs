//! One call of the model of an agent, in a task of its own that reports to the driver.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use antiphon_agent::machine::{Next, Replied, Summarized};
use antiphon_agent::{Delta, Fault, Prompt, Stop, Tokens};
use antiphon_event::body::system::Amounts;
use antiphon_flow::budget::nothing;
use antiphon_port::Model;
use futures_util::{FutureExt, StreamExt};
use tokio::task::JoinHandle;

use crate::driver::Wake;
use crate::perform::Mouth;

/// How many pieces of an answer are handed over at once.
const PIECES_MAX: usize = 256;
/// How much a model may write in one call under a budget, if nothing else is said.
const MAX_TOKENS: u64 = 4096;

/// How a call of a model ended.
#[derive(Debug)]
pub(crate) enum Answered {
    Step(Result<Replied, Fault>),
    Summary(Result<Summarized, Fault>),
}

/// Asks a model what comes next. `priced`: whether nothing may be spent that has no price.
pub(crate) fn start(model: Arc<dyn Model>, next: Next, mouth: Mouth, priced: bool) -> JoinHandle<()> {
    tokio::spawn(async move {
        let asked = AssertUnwindSafe(ask(model, next, &mouth, priced)).catch_unwind().await;
        let answered = asked.unwrap_or_else(|_| Some(Answered::Step(Err(panicked()))));
        if let Some(answered) = answered {
            mouth.wake(|machine, attempt| Wake::Answered(machine, attempt, answered)).await;
        }
    })
}

/// Nothing comes of it if the budget does not allow it: the driver has seen to that.
async fn ask(model: Arc<dyn Model>, next: Next, mouth: &Mouth, priced: bool) -> Option<Answered> {
    let (mut prompt, summary) = match next {
        Next::Step(prompt) => (prompt, false),
        Next::Summary(prompt) => (prompt, true),
    };
    let mut reservation = None;
    if mouth.is_bounded() {
        prompt.max_tokens.get_or_insert(MAX_TOKENS);
        match expected(&*model, &prompt, priced) {
            Ok(amounts) => reservation = mouth.reserve(amounts).await.ok()?,
            Err(fault) => return Some(ended(summary, Err(fault), String::new())),
        }
    }
    let mut heard = Heard { text: summary.then(String::new), ..Heard::default() };
    let result = heard.listen(&model, prompt, mouth).await;
    let cost_usd = heard.tokens.cost_usd.or_else(|| model.price().map(|price| price.of(&heard.tokens)));
    let spent = Amounts {
        tokens: Some(heard.tokens.input.saturating_add(heard.tokens.output)),
        cost_usd,
        steps: Some(1),
        ..nothing()
    };
    mouth.settle(reservation, spent).await;
    let result =
        result.map(|stop| Replied { tokens: heard.tokens, cost_usd, model: model.name().to_owned(), stop });
    Some(ended(summary, result, heard.text.unwrap_or_default()))
}

fn ended(summary: bool, result: Result<Replied, Fault>, content: String) -> Answered {
    if summary {
        return Answered::Summary(result.map(|replied| Summarized { content, replied }));
    }
    Answered::Step(result)
}

/// What a call may use at most: what it is asked, and all it may write.
fn expected(model: &dyn Model, prompt: &Prompt, priced: bool) -> Result<Amounts, Fault> {
    let foreseen = model.foresee(prompt);
    let tokens = foreseen.clone().unwrap_or_else(|| Tokens {
        input: prompt.tokens_estimated(),
        output: prompt.max_tokens.unwrap_or(MAX_TOKENS),
        ..Tokens::default()
    });
    let cost_usd = tokens.cost_usd.or_else(|| model.price().map(|price| price.of(&tokens)));
    if priced && cost_usd.is_none() && foreseen.is_none() {
        return Err(Fault {
            message: format!(
                "there is no price for the model `{}`, and the run has a budget in money: give the model a `price`",
                model.name()
            ),
            code: "unpriced",
            retryable: false,
            retry_after: None,
        });
    }
    let total = tokens.input.saturating_add(tokens.output);
    Ok(Amounts { tokens: Some(total), cost_usd, steps: Some(1), ..nothing() })
}

/// What was heard of an answer so far.
#[derive(Debug, Default)]
struct Heard {
    tokens: Tokens,
    /// The text, where it is wanted whole.
    text: Option<String>,
}

impl Heard {
    async fn listen(&mut self, model: &Arc<dyn Model>, prompt: Prompt, mouth: &Mouth) -> Result<Stop, Fault> {
        let mut pieces = model.call(Arc::new(prompt)).ready_chunks(PIECES_MAX);
        while let Some(chunk) = pieces.next().await {
            let (mut said, mut ended) = (Vec::with_capacity(chunk.len()), None);
            for piece in chunk {
                match piece {
                    Ok(Delta::Usage(tokens)) => self.tokens = tokens,
                    Ok(Delta::Stop(stop)) => ended = Some(Ok(stop)),
                    Ok(delta) => said.push(delta),
                    Err(fault) => ended = Some(Err(fault)),
                }
            }
            self.hand_over(said, mouth).await;
            if let Some(ended) = ended {
                return ended;
            }
        }
        Err(broken_off(model.name()))
    }

    async fn hand_over(&mut self, said: Vec<Delta>, mouth: &Mouth) {
        if let Some(text) = &mut self.text {
            for delta in said {
                if let Delta::Text(piece) = delta {
                    text.push_str(&piece);
                }
            }
        } else if !said.is_empty() {
            mouth.wake(|machine, attempt| Wake::Heard(machine, attempt, said)).await;
        }
    }
}

fn broken_off(model: &str) -> Fault {
    let message = format!("the answer of the model `{model}` broke off");
    Fault { message, code: "connection", retryable: true, retry_after: None }
}

fn panicked() -> Fault {
    let message = "the code that speaks with the model panicked".to_owned();
    Fault { message, code: "malformed", retryable: false, retry_after: None }
}
