//! [`Play`]: one reply of a script, as a stream of deltas.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use antiphon_agent::{Delta, Fault, Stop, Tokens};
use futures_util::Stream;
use tokio::time::Sleep;

use super::Step;

/// One reply that is being given.
pub(super) struct Play {
    steps: Arc<[Step]>,
    /// The step, and the piece of it, that comes next.
    at: usize,
    piece: usize,
    sleep: Option<Pin<Box<Sleep>>>,
    /// How many times the agent has asked before: it makes ids unlike those of other replies.
    call: u32,
    calls: usize,
    tokens: Tokens,
    stop: Option<Stop>,
    phase: Phase,
}

/// What comes out: what is said, then the calls, what was used, why it stopped.
enum Phase {
    Saying,
    Calling,
    Stopping,
    Over,
}

impl Play {
    pub(super) fn new(steps: Arc<[Step]>, call: u32) -> Self {
        Self {
            steps,
            at: 0,
            piece: 0,
            sleep: None,
            call,
            calls: 0,
            tokens: Tokens::default(),
            stop: None,
            phase: Phase::Saying,
        }
    }

    /// The next thing said, or why it failed; nothing when all is said.
    fn say(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Delta, Fault>>> {
        loop {
            if let Some(sleep) = &mut self.sleep {
                ready!(sleep.as_mut().poll(cx));
                self.sleep = None;
            }
            let Some(step) = self.steps.get(self.at) else {
                return Poll::Ready(None);
            };
            let pieces: (&[String], fn(String) -> Delta) = match step {
                Step::Text(pieces) => (pieces, Delta::Text),
                Step::Reasoning(pieces) => (pieces, Delta::Reasoning),
                Step::Signature(signature) => (std::slice::from_ref(signature), Delta::Signature),
                Step::Error(fault) => return Poll::Ready(Some(Err(fault.clone()))),
                Step::Delay(time) => {
                    self.sleep = Some(Box::pin(tokio::time::sleep(*time)));
                    (&[], Delta::Text)
                }
                Step::Usage(tokens) => {
                    add(&mut self.tokens, tokens);
                    (&[], Delta::Text)
                }
                Step::Stop(reason) => {
                    self.stop = Some(*reason);
                    (&[], Delta::Text)
                }
                // Its turn is when all is said.
                Step::Call { .. } => (&[], Delta::Text),
            };
            if let Some(piece) = pieces.0.get(self.piece) {
                self.piece += 1;
                if !piece.is_empty() {
                    return Poll::Ready(Some(Ok(pieces.1(piece.clone()))));
                }
            } else {
                (self.at, self.piece) = (self.at + 1, 0);
            }
        }
    }

    fn next_call(&mut self) -> Option<Delta> {
        while let Some(step) = self.steps.get(self.at) {
            self.at += 1;
            if let Step::Call { id, name, arguments } = step {
                self.calls += 1;
                let made_up = || format!("call_{}_{}", u64::from(self.call) + 1, self.calls);
                let id = id.clone().unwrap_or_else(made_up);
                return Some(Delta::Call { id, name: name.clone(), arguments: arguments.clone() });
            }
        }
        None
    }
}

/// What a reply uses, if it says so.
pub(super) fn used(steps: &[Step]) -> Option<Tokens> {
    let said = steps.iter().filter_map(|step| match step {
        Step::Usage(tokens) => Some(tokens),
        Step::Text(_)
        | Step::Reasoning(_)
        | Step::Signature(_)
        | Step::Call { .. }
        | Step::Error(_)
        | Step::Delay(_)
        | Step::Stop(_) => None,
    });
    said.fold(None, |sum, tokens| {
        let mut sum = sum.unwrap_or_default();
        add(&mut sum, tokens);
        Some(sum)
    })
}

fn add(sum: &mut Tokens, more: &Tokens) {
    let both = |one: Option<u64>, two: Option<u64>| one.into_iter().chain(two).reduce(u64::saturating_add);
    sum.input = sum.input.saturating_add(more.input);
    sum.output = sum.output.saturating_add(more.output);
    sum.cache_read = both(sum.cache_read, more.cache_read);
    sum.cache_creation = both(sum.cache_creation, more.cache_creation);
    sum.cost_usd = sum.cost_usd.into_iter().chain(more.cost_usd).reduce(|one, two| one + two);
}

impl Stream for Play {
    type Item = Result<Delta, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let play = &mut *self;
        loop {
            match play.phase {
                Phase::Saying => match ready!(play.say(cx)) {
                    Some(Ok(delta)) => return Poll::Ready(Some(Ok(delta))),
                    Some(Err(fault)) => {
                        play.phase = Phase::Over;
                        return Poll::Ready(Some(Err(fault)));
                    }
                    None => (play.phase, play.at) = (Phase::Calling, 0),
                },
                Phase::Calling => {
                    let delta = play.next_call();
                    return Poll::Ready(Some(Ok(delta.unwrap_or_else(|| {
                        play.phase = Phase::Stopping;
                        Delta::Usage(std::mem::take(&mut play.tokens))
                    }))));
                }
                Phase::Stopping => {
                    play.phase = Phase::Over;
                    let usual = if play.calls > 0 { Stop::Calls } else { Stop::Done };
                    return Poll::Ready(Some(Ok(Delta::Stop(play.stop.unwrap_or(usual)))));
                }
                Phase::Over => return Poll::Ready(None),
            }
        }
    }
}
