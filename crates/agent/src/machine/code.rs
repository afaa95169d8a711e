//! Steps of an agent whose model writes code: the code of an answer, what it prints and calls, what it comes to.
//!
//! A call of code is a call of a tool like any other: judged, asked about, run and answered. Its id says which piece
//! of code made it and as which of its calls, so that a new process can give the code the answers it had. Start
//! reading at [`Agent::write_code`], then at [`Agent::evaluated`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_event::body::content::{Text, User, UserContent};
use antiphon_event::body::rlm::{ReplInput, ReplOutput, ReplProgress};
use antiphon_event::body::tool::{ToolCall, ToolResult};
use antiphon_event::{
    Body, CallId, CallType, ErrorCode, Event, Json, Provenance, ReplId, StreamName, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::calls::{Call, State};
use super::fence::blocks;
use super::permit::QUERY;
use super::{Agent, Effect, Failure, Now, Phase, Refusal};
use crate::{Harness, Message};

/// What a call of code gave, or why it gave nothing.
pub type Given = Result<String, String>;

/// A piece of code, and what it asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Code {
    /// Its id.
    pub id: ReplId,
    /// The code.
    pub code: String,
    /// Which turn it is, from 0.
    iteration: u32,
    began: Option<Timestamp>,
    /// How many bytes of output and of errors were told of.
    pub printed: (usize, usize),
    calls: BTreeMap<CallId, Asked>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Asked {
    input: Json,
    given: Option<Given>,
}

impl Code {
    /// What its calls gave, by their number.
    pub fn given(&self) -> BTreeMap<u32, Given> {
        let numbered = |(id, asked): (&CallId, &Asked)| {
            let number = id.as_str().rsplit_once(':')?.1.parse().ok()?;
            Some((number, asked.given.clone()?))
        };
        self.calls.iter().filter_map(numbered).collect()
    }
}

/// What is known of a call that code makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recall {
    /// Nothing: it is new.
    New,
    /// It was made before, and has no answer yet.
    Open,
    /// It was made before, and this is what it gave.
    Given(Given),
    /// Another call was made in its place before.
    Other,
}

/// What code came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ran {
    /// All it printed.
    pub stdout: String,
    /// Whether that was cut.
    pub truncated: bool,
    /// What went wrong.
    pub error: Option<String>,
    /// Its final answer, if it gave one.
    pub answer: Option<String>,
}

impl Agent {
    pub(super) fn is_coding(&self) -> bool {
        self.definition.harness == Harness::Rlm
    }

    /// The code that is under way.
    pub fn code(&self) -> Option<&Code> {
        self.code.as_ref()
    }

    /// The code that came to its end, the oldest first.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// Whether code is under way and waits for what it called.
    pub fn code_waits(&self) -> bool {
        self.code.is_some() && !self.calls.are_done()
    }

    /// What code finds as `context`.
    pub fn context(&self) -> Cow<'_, str> {
        let given = self.outfit.as_ref().and_then(|outfit| outfit.context.as_deref());
        given.map(Cow::Borrowed).or_else(|| self.definition.context_text()).unwrap_or_default()
    }

    /// When the run began: the only time that code sees.
    pub fn began(&self) -> Option<Timestamp> {
        self.began
    }

    /// What is known of a call that the code under way makes.
    pub fn recall(&self, call: &CallId, input: &Json) -> Recall {
        match self.code.as_ref().and_then(|code| code.calls.get(call)) {
            None => Recall::New,
            Some(asked) if asked.input != *input => Recall::Other,
            Some(Asked { given: Some(given), .. }) => Recall::Given(given.clone()),
            Some(Asked { given: None, .. }) => Recall::Open,
        }
    }

    /// What a call of the code under way gave.
    pub fn told(&self, call: &CallId) -> Option<Given> {
        self.code.as_ref()?.calls.get(call)?.given.clone()
    }

    /// The model has answered: its code is to be run, or it is told what is wrong with its answer.
    pub(super) fn write_code(&self, now: Now<'_>) -> Vec<Event> {
        let mut found = blocks(&self.text);
        let body = match (found.pop(), found.len()) {
            (Some(code), 0) => Body::ReplInput(ReplInput {
                id: self.stream("code").into(),
                code,
                iteration: Some(self.iterations.saturating_sub(1)),
            }),
            (None, _) => note("There is no code in your answer: write one block fenced with ```js and ```."),
            (Some(_), others) => {
                note(&format!("There are {} blocks of code in your answer: write one.", others + 1))
            }
        };
        vec![self.event(now, body)]
    }

    pub(super) fn code_begins(&mut self, input: &ReplInput, at: Option<Timestamp>) -> Vec<Effect> {
        self.phase = Phase::Acting;
        self.code = Some(Code {
            id: input.id.clone(),
            code: input.code.clone(),
            iteration: input.iteration.unwrap_or_default(),
            began: at,
            printed: (0, 0),
            calls: BTreeMap::new(),
        });
        vec![Effect::Evaluate(input.id.clone())]
    }

    pub(super) fn code_printed(&mut self, progress: &ReplProgress) {
        if let Some(code) = self.code.as_mut().filter(|code| code.id == progress.id) {
            let (out, err) = &mut code.printed;
            let told = if progress.stream == StreamName::Stderr { err } else { out };
            *told += progress.chunk.len();
        }
    }

    /// Notes a call of code when it is first made.
    pub(super) fn code_calls(&mut self, call: &ToolCall) {
        if let Some(code) = self.code.as_mut() {
            let asked = || Asked { input: call.input.clone(), given: None };
            code.calls.entry(call.id.clone()).or_insert_with(asked);
        }
    }

    /// Notes what a call of code gave.
    pub(super) fn code_given(&mut self, result: &ToolResult) -> Vec<Effect> {
        let asked = self.code.as_mut().and_then(|code| code.calls.get_mut(&result.id));
        let Some(asked) = asked else { return Vec::new() };
        asked.given = Some(if result.is_error == Some(true) {
            let value = result.output.value();
            Err(value["error"].as_str().map_or_else(|| value.to_string(), str::to_owned))
        } else {
            Ok(result.output.to_text().into_owned())
        });
        vec![Effect::Tell(result.id.clone())]
    }

    pub(super) fn code_ends(&mut self, output: &ReplOutput) -> Vec<Effect> {
        let Some(code) = self.code.take_if(|code| code.id == output.id) else { return Vec::new() };
        self.codes.push(code);
        // Whatever code called and did not wait for ends with it.
        let mut effects = if self.calls.is_empty() { Vec::new() } else { vec![Effect::Stop] };
        self.calls.clear();
        if output.done {
            self.phase = Phase::Answered;
            self.is_final = true;
            self.text.clear();
            self.unsaid.clone_from(&output.answer);
        } else {
            effects.extend(self.next_step());
        }
        effects
    }

    fn evaluates(&self, id: &ReplId) -> Result<&Code, Refusal> {
        let code = self.code.as_ref().filter(|code| code.id == *id);
        code.ok_or_else(|| Refusal::Late(self.origin.run.clone()))
    }

    pub(super) fn printed(
        &self,
        id: &ReplId,
        chunks: Vec<(StreamName, String)>,
        now: Now<'_>,
    ) -> Result<Vec<Event>, Refusal> {
        self.evaluates(id)?;
        let progress =
            chunks.into_iter().map(|(stream, chunk)| ReplProgress { id: id.clone(), chunk, stream });
        Ok(progress.map(|progress| self.event(now, Body::ReplProgress(progress))).collect())
    }

    /// Code makes a call.
    pub(super) fn called(
        &self,
        code: &ReplId,
        call: CallId,
        name: String,
        input: Json,
        now: Now<'_>,
    ) -> Result<Vec<Event>, Refusal> {
        let is_known = self.evaluates(code)?.calls.contains_key(&call);
        if is_known {
            return Ok(Vec::new());
        }
        let call_type = (name == QUERY).then_some(CallType::SubAgent);
        let call = ToolCall { id: call, name, input, call_type, harness: None };
        Ok(vec![self.event(now, Body::ToolCall(call))])
    }

    /// Code came to its end.
    pub(super) fn evaluated(&self, id: &ReplId, ran: Ran, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        self.evaluates(id)?;
        let mut events = self.end_calls("the code that made the call has ended", now);
        let Ran { mut stdout, truncated, error, answer } = ran;
        let done = answer.is_some() && error.is_none() && !self.has_unheard();
        if let (Some(answer), true) = (&answer, self.has_unheard()) {
            stdout.push_str("\nFINAL was not taken, for somebody said something meanwhile; it was: ");
            stdout.push_str(answer);
        }
        events
            .extend(self.code_output(Ran { stdout, truncated, error, answer: answer.filter(|_| done) }, now));
        Ok(events)
    }

    /// Says the final answer of code.
    pub(super) fn say_answer(&self, answer: &str, now: Now<'_>) -> Event {
        let text = Text { id: self.stream("answer").into(), content: answer.to_owned(), provenance: None };
        let mut event = self.event(now, Body::Text(text));
        // It is no part of what the model said, and comes after what its code printed.
        event.head.message_id = event.head.message_id.take().map(|step| format!("{step}/answer").into());
        event
    }

    /// What the code under way came to.
    pub(super) fn code_output(&self, ran: Ran, now: Now<'_>) -> Option<Event> {
        let code = self.code.as_ref()?;
        let Ran { stdout, truncated, error, answer } = ran;
        let took = code.began.map(|began| now.at.millis().saturating_sub(began.millis()).max(0) as u64);
        let output = ReplOutput {
            id: code.id.clone(),
            stdout,
            error,
            done: answer.is_some(),
            answer,
            iteration: Some(code.iteration),
            duration_ms: took,
            truncated: truncated.then_some(true),
        };
        Some(self.event(now, Body::ReplOutput(Box::new(output))))
    }

    /// Every open call gets a result, and every request about one an answer.
    pub(super) fn end_calls(&self, word: &str, now: Now<'_>) -> Vec<Event> {
        let mut events = Vec::new();
        for call in self.calls.iter().filter(|call| call.state != State::Done) {
            events.extend(call.relay.as_ref().map(|relay| self.withdraw(relay, now)));
            let had_begun = call.state == State::Running && !Call::is_own(call);
            let what = if had_begun { "cut off before it came to an end" } else { "not run" };
            let failure = Failure { code: ErrorCode::Cancelled, message: format!("{what}: {word}") };
            events.push(self.tool_result(call, Err(failure), now));
        }
        events
    }

    /// What a model that writes code is told about that.
    pub(super) fn code_notes(&self) -> String {
        let context = self.context();
        let (size, begins) =
            (context.chars().count(), context.chars().take(BEGINS_CHARS).collect::<String>());
        let mut notes = format!(
            "You work by writing JavaScript. Each of your answers holds exactly one block fenced with ```js and ```; it \
             is run, and you are told what it printed or what went wrong. It is the body of an async function: use \
             `await`. What it declares at its top, or puts into `scope`, is there in your next answer. There are no \
             files, no network, no timers and no imports; time stands still. In reach are:\n\
             - `context`: a string of {size} characters{}. Look at parts of it; do not print all of it.\n\
             - `console.log(…)`: what you want to see. Long output is cut.\n\
             - `await llm_query(prompt, context?)`: asks a model that sees nothing but the prompt and, as its own \
             `context`, the text you give it; gives its answer as a string. Use `Promise.all` to ask several at once.\n",
            if size == 0 {
                String::new()
            } else {
                format!(", which begins with {}", serde_json::Value::from(begins))
            }
        );
        if self.outfit().spec(BASH).is_some() {
            notes += "- `await exec(command)`: runs a command in bash and gives its exit code and output as a string. A \
                      person may be asked first; it throws if it is not allowed.\n";
        }
        notes += "- `FINAL(answer)`: ends the work with your answer, and is the only way to give it.";
        if let Some(schema) = &self.definition.output {
            notes += "\nThe answer has to be JSON that fits this schema: ";
            notes += schema.as_str();
        }
        notes
    }
}

/// The tool that runs the commands of code.
pub const BASH: &str = "bash";
/// How many characters of its context a model is shown.
const BEGINS_CHARS: usize = 200;

fn note(content: &str) -> Body {
    let provenance = Some(Provenance::from("agent"));
    Body::User(User { content: UserContent::Text(content.to_owned()), delivery: None, provenance })
}

/// A message as a model that writes code sees it, if it does: it has no tools, so whoever called one before was another.
pub(super) fn without_calls(message: Message) -> Option<Message> {
    match message {
        Message::Tool { .. } | Message::Assistant { content: None, reasoning: None, .. } => None,
        Message::Assistant { content, reasoning, .. } => {
            Some(Message::Assistant { content, reasoning, tool_calls: None })
        }
        Message::User { content } => Some(Message::User { content }),
    }
}
