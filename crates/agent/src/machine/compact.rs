//! A conversation that has grown too long for the model is put into a summary; what it stands for is kept.

use antiphon_event::body::flow::Diagnostic;
use antiphon_event::body::session::{HistoryCompacted, Summary};
use antiphon_event::{Body, Event};
use serde::{Deserialize, Serialize};

use super::say::usage;
use super::{Agent, Now, Refusal, Summarized};
use crate::{Content, Fault, Message, Prompt, Said};

/// Who says that a summary was tried in vain.
pub(super) const SOURCE: &str = "compact";

/// How much of its context a model may have filled before a summary is made, if nothing else is said.
const FULL: f64 = 0.8;
/// How many of the last messages stay as they are, if nothing else is said.
const KEEP: usize = 4;

const INSTRUCTIONS: &str = "Summarize the conversation below for whoever goes on with it. Keep every decision, fact, \
number, name, path, open question and promise; leave out small talk and what was superseded. Write plain text.";

/// A summary, and what it is of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Summed {
    pub(super) id: String,
    pub(super) sources: Vec<String>,
}

impl Agent {
    /// At how many tokens a summary is made, and how many messages stay.
    fn threshold(&self) -> Option<(u64, usize)> {
        match (&self.definition.compact, self.definition.model.context_tokens) {
            (Some(compact), _) => Some((compact.at_tokens, compact.keep_messages)),
            (None, Some(tokens)) => Some(((tokens as f64 * FULL) as u64, KEEP)),
            (None, None) => None,
        }
    }

    /// The messages that a summary would stand for; nothing if none is due.
    fn due_for_summary(&self) -> Option<Vec<(String, Vec<Message>)>> {
        let (at, keep) = self.threshold()?;
        if self.unsummed || self.tally.last_input_tokens < at {
            return None;
        }
        let mut turns = self.seen.projection().turns(self.seen.conversation());
        let left = turns.len().saturating_sub(keep);
        turns.truncate(left);
        (turns.len() > 1).then_some(turns)
    }

    pub(super) fn summary_prompt(&self) -> Option<Prompt> {
        let turns = self.due_for_summary()?;
        let text: String = turns.iter().flat_map(|(_, messages)| messages).map(transcript).collect();
        let content = Content::Text(text);
        Some(Prompt {
            system: INSTRUCTIONS.to_owned(),
            messages: Said::from_iter([Message::User { content }]),
            max_tokens: self.definition.model.max_tokens,
            call: self.asked(),
            ..Prompt::default()
        })
    }

    pub(super) fn summarized(
        &self,
        result: Result<Summarized, Fault>,
        now: Now<'_>,
    ) -> Result<Vec<Event>, Refusal> {
        let late = || Refusal::Late(self.origin.run.clone());
        let turns = self.due_for_summary().filter(|_| self.may_ask()).ok_or_else(late)?;
        let Summarized { content, replied } = match result {
            Ok(Summarized { content, .. }) if content.trim().is_empty() => {
                return Ok(vec![self.unsummed("the model said nothing", now)]);
            }
            Ok(summarized) => summarized,
            Err(fault) => return Ok(vec![self.unsummed(&fault.message, now)]),
        };
        let sources: Vec<String> = turns.into_iter().map(|(id, _)| id).collect();
        let summary = Summary { id: self.stream("summary"), sources, content };
        Ok(vec![
            self.event(now, Body::Summary(summary)),
            // It is no step, and what it used belongs to none.
            Event::of(self.head(now), Body::Usage(Box::new(usage(&replied)))),
        ])
    }

    /// Whether a summary is whole and does not stand for what it is of yet.
    pub(super) fn owes_compaction(&self) -> bool {
        self.summed.is_some() && !self.summing
    }

    /// The summary takes the place of what it is of.
    pub(super) fn compacted(&self, now: Now<'_>) -> Option<Event> {
        let Summed { id, sources } = self.summed.clone().filter(|_| !self.summing)?;
        Some(self.event(now, Body::HistoryCompacted(HistoryCompacted { summary_id: id, sources })))
    }

    fn unsummed(&self, why: &str, now: Now<'_>) -> Event {
        let message = format!("no summary of what was said before could be made: {why}");
        let remark = Diagnostic { level: "warn".to_owned(), source: SOURCE.to_owned(), message };
        self.event(now, Body::Diagnostic(remark))
    }
}

/// A message as one reads it.
fn transcript(message: &Message) -> String {
    match message {
        Message::User { content } => format!("user: {}\n", content.to_text()),
        Message::Assistant { content, tool_calls, .. } => {
            let said = content.as_deref().unwrap_or_default();
            let calls = tool_calls.iter().flatten();
            let calls: String =
                calls.map(|call| format!("\n  calls {}({})", call.name, call.arguments.as_str())).collect();
            format!("assistant: {said}{calls}\n")
        }
        Message::Tool { name, content, .. } => format!("{name} gave: {}\n", content.to_text()),
    }
}
