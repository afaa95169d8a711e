//! [`Agent`]: one run of an agent: what it says, calls and waits for.
//!
//! In: what came back from outside ([`Input`]). Out of `decide`: events, one atomic append. Out of `apply`:
//! [`Effect`]s to perform once the append is acknowledged. What follows by itself is [`Agent::advance`], which the
//! driver asks for until nothing more follows. Start reading there, then at [`Agent::apply`].

mod advance;
mod apply;
mod ask;
mod calls;
mod code;
mod compact;
mod context;
mod end;
mod fence;
mod outfit;
mod own;
mod permit;
mod place;
mod saved;
mod say;
mod source;
mod steer;
mod telemetry;
mod told;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use antiphon_event::body::lifecycle::HarnessStart;
use antiphon_event::body::request::Relay;
use antiphon_event::{
    Agent as Who, Body, CallId, EndReason, ErrorCode, Event, EventFlowId, FlowNodeId, Json, Mode, ParentId,
    RelayId, RunId, SpanId, Spans, Timestamp, TraceId, secret,
};
use antiphon_view::messages::Scope;
use antiphon_view::{Messages, Projected};
use serde::{Deserialize, Serialize};

use self::ask::Granting;
pub use self::calls::Call;
use self::calls::Calls;
pub use self::code::{BASH, Code, Given, Ran, Recall};
use self::compact::Summed;
pub use self::context::{Next, Open};
pub use self::outfit::Outfit;
pub use self::own::own_tools;
pub use self::permit::{AGENT, ASK, HANDOFF, QUERY};
pub use self::telemetry::Tally;
use self::told::Told;
pub use self::words::{Effect, Failure, Input, Now, Refusal, Replied, Returned, Summarized, World};
use crate::permission::{Origins, Rule};
use crate::{Definition, Message};

/// One run of an agent: a machine over the events of the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Agent {
    definition: Arc<Definition>,
    origin: Origin,
    trace: Option<TraceId>,
    spans: Spans,
    /// What it may use: looked at when something is decided, never when an event is applied.
    #[serde(skip)]
    outfit: Option<Arc<Outfit>>,
    /// What it is told before it says anything: its task, or what its caller saw.
    #[serde(with = "saved")]
    before: Vec<Message>,
    /// The conversation it sees: its own, or that of its branch.
    seen: Projected<Messages>,
    /// As its model was last told it.
    #[serde(skip)]
    told: Told,
    /// Where what it sees came from, if a rule wants to know: found out when it is equipped.
    #[serde(skip)]
    origins: Option<Origins>,
    phase: Phase,
    /// Model calls that came to an end, without those for summaries.
    iterations: u32,
    /// Model calls that were begun.
    begun: u32,
    /// Which attempt at the model call is under way, from 1, and how many before it the model itself failed.
    attempt: u32,
    failures: u32,
    /// Model calls of the same agent before this run, and those of this run that were no step: they failed, or were
    /// for a summary.
    asked_before: u32,
    stepless: u32,
    /// How often an answer that did not fit was asked for again.
    repairs: u32,
    /// How many model calls were counted, and the one under way that has not heard what somebody said meanwhile.
    usages: u32,
    unheard: Option<u32>,
    /// How often the step under way was begun anew because its model had not heard what somebody said.
    reheard: u32,
    /// The runs that what was said meanwhile was.
    steered: Vec<RunId>,
    /// How many more model calls people allowed beyond the bound.
    extended: u32,
    /// Whether what was said before is being put into a summary, and whether that was tried in vain.
    summing: bool,
    unsummed: bool,
    /// The summary that was made and does not stand for what it is of yet.
    summed: Option<Summed>,
    /// The ids of what it has said since the model call began, and how many thoughts the vendor has signed.
    said: Vec<String>,
    signed: u32,
    /// The text of its last step, and which model call that was.
    text: String,
    text_of: u32,
    calls: Calls,
    /// The code that is under way, and the code that came to its end.
    code: Option<Code>,
    codes: Vec<Code>,
    /// Whether its text is the final answer of its code, and that answer until it is said.
    is_final: bool,
    unsaid: Option<String>,
    began: Option<Timestamp>,
    /// The ids of calls that were used, each with the highest number that was put behind it.
    ids: HashMap<String, u32>,
    /// The streams it has begun, each with how often, and in which model call the last one began.
    streams: HashMap<String, (u32, u32)>,
    /// Agents it has called.
    agents: u32,
    /// The request that it waits for and that is about no call.
    continuation: Option<Box<Relay>>,
    /// What people granted since it began.
    grants: Vec<Rule>,
    /// What they said yes to for longer than a call, and no rule was made of yet.
    granting: Vec<Granting>,
    cancel: Option<Mode>,
    /// The way out, if it handed its work to another agent.
    handed: Option<Json>,
    /// What went wrong, if that ended it.
    error: Option<(ErrorCode, String)>,
    tally: Tally,
    last: Option<Timestamp>,
    worked_ms: u64,
}

/// Where the events of a run belong.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Origin {
    /// The run.
    pub run: RunId,
    /// What caused it.
    pub parent: Option<ParentId>,
    /// The turn it belongs to.
    pub turn: Option<EventFlowId>,
    /// Who it is.
    pub who: Arc<Who>,
    /// The nodes of flows around it, outermost first.
    pub path: Vec<FlowNodeId>,
    /// Whether the flow around it is itself nested, so that its events name the whole path.
    pub nested: bool,
    /// The span around it.
    pub span: Option<SpanId>,
}

/// Where a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Phase {
    New,
    /// The next model call may begin.
    Ready,
    /// A model call failed and is made again after a while.
    Delayed(u64),
    /// A step is whole; its calls are judged, then run.
    Acting,
    /// The model has said all it wanted.
    Answered,
    /// A person is asked whether it may go on.
    Limited,
    /// The person said no.
    Declined,
    Ended(EndReason),
}

impl Agent {
    /// A run that has not begun, with its task, or whatever else it is told before it says anything.
    pub fn new(definition: Arc<Definition>, origin: Origin, before: Vec<Message>) -> Self {
        let seen = Projected::new(Messages::of(Scope::Run(origin.run.clone())));
        Self {
            definition,
            trace: origin.turn.as_ref().map(TraceId::of),
            spans: Spans::of(&origin.run),
            origin,
            outfit: None,
            before,
            seen,
            told: Told::default(),
            origins: None,
            phase: Phase::New,
            iterations: 0,
            begun: 0,
            attempt: 1,
            failures: 0,
            asked_before: 0,
            stepless: 0,
            repairs: 0,
            usages: 0,
            unheard: None,
            reheard: 0,
            steered: Vec::new(),
            extended: 0,
            summing: false,
            unsummed: false,
            summed: None,
            said: Vec::new(),
            signed: 0,
            text: String::new(),
            text_of: 0,
            calls: Calls::default(),
            code: None,
            codes: Vec::new(),
            is_final: false,
            unsaid: None,
            began: None,
            ids: HashMap::new(),
            streams: HashMap::new(),
            agents: 0,
            continuation: None,
            grants: Vec::new(),
            granting: Vec::new(),
            cancel: None,
            handed: None,
            error: None,
            tally: Tally::default(),
            last: None,
            worked_ms: 0,
        }
    }

    /// The same in a conversation that has begun: it sees all of it, as the branch shows it.
    #[must_use]
    pub fn in_conversation(mut self, seen: Projected<Messages>) -> Self {
        self.seen = seen;
        self.told = Told::default();
        self
    }

    /// Gives it what it may use. Needed before anything is decided.
    pub fn equip(&mut self, outfit: Arc<Outfit>) {
        self.outfit = Some(outfit);
        self.told.unequip();
        self.origins = self.origins_so_far();
    }

    /// Looks at an input and says what happens because of it; changes nothing.
    pub fn decide(&self, input: Input, now: Now<'_>) -> Result<Vec<Event>, Refusal> {
        if let Phase::Ended(_) = self.phase {
            return Err(Refusal::Ended(self.origin.run.clone()));
        }
        match input {
            Input::Start if self.started() => Err(Refusal::Late(self.origin.run.clone())),
            Input::Start => Ok(vec![self.start(now)]),
            Input::Said(deltas) => self.say(deltas, now),
            Input::Replied(replied) => self.replied(replied, now),
            Input::Failed(fault) => self.failed(fault, now),
            Input::Progress(call, content) => self.progress(&call, content, now),
            Input::Returned(call, result) => self.returned(&call, result, now),
            Input::Lost(call) => self.lose(&call, now),
            Input::Printed(code, chunks) => self.printed(&code, chunks, now),
            Input::Called { code, call, name, input } => self.called(&code, call, name, input, now),
            Input::Evaluated(code, ran) => self.evaluated(&code, ran, now),
            Input::Steer { run, content } => self.steer(run, content, now),
            Input::Answer(answer) => self.answer(answer, now),
            Input::Expired(relay) => self.expire(&relay, now),
            Input::Summarized(result) => self.summarized(result, now),
            Input::Cancel { by, mode } => Ok(vec![self.request_cancel(by, mode, now)]),
            Input::Spent { message, limit } => Ok(vec![self.overspent(message, limit, now)]),
            Input::Resume => Ok(self.resume(now)),
        }
    }

    fn start(&self, now: Now<'_>) -> Event {
        let body = Body::HarnessStart(HarnessStart {
            agent_id: Some(self.origin.who.id.clone()),
            depth: Some(self.origin.who.depth),
            max_iterations: Some(self.definition.max_iterations),
            definition: self.origin.path.is_empty().then(|| self.definition_json()),
            folder: None,
        });
        let mut event = self.event(now, body);
        event.head.parent_id.clone_from(&self.origin.parent);
        event
    }

    fn definition_json(&self) -> Json {
        let mut definition = serde_json::to_value(&*self.definition).expect("a definition is JSON");
        secret::redact(&mut definition);
        Json::from(definition)
    }

    /// What it is.
    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// Where its events belong.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What it may use.
    ///
    /// # Panics
    ///
    /// If it was not [equipped](Self::equip).
    pub fn outfit(&self) -> &Arc<Outfit> {
        self.outfit.as_ref().expect("an agent is equipped before anything is decided")
    }

    /// Why it ended; `None` while it has not.
    pub fn ended(&self) -> Option<&EndReason> {
        match &self.phase {
            Phase::Ended(reason) => Some(reason),
            _ => None,
        }
    }

    /// Whether it has begun.
    pub fn started(&self) -> bool {
        self.phase != Phase::New
    }

    /// Whether anything can still happen without a person.
    pub fn at_work(&self) -> bool {
        match &self.phase {
            Phase::New | Phase::Limited | Phase::Ended(_) => false,
            Phase::Ready | Phase::Delayed(_) | Phase::Answered | Phase::Declined => true,
            Phase::Acting => self.calls.at_work(),
        }
    }

    /// Whether the model may be asked now, or is being asked.
    pub fn may_ask(&self) -> bool {
        matches!(self.phase, Phase::Ready | Phase::Delayed(_))
    }

    /// The requests that wait for a person.
    pub fn relays(&self) -> impl Iterator<Item = &RelayId> {
        self.calls.relays().chain(self.continuation.as_ref().map(|relay| &relay.id))
    }

    /// How many model calls were begun: what tells one from the next.
    pub fn model_call(&self) -> u32 {
        self.begun
    }

    /// Which attempt at a model call is under way, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// A call that has been let through and has no result.
    pub fn running(&self, call: &CallId) -> Option<&Call> {
        self.calls.running(call)
    }

    /// What it counted.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How long it has been at work if it is `now`, without the time it waited for people and without a process.
    pub fn worked_until(&self, now: Timestamp) -> u64 {
        let since = self.last.map_or(0, |last| now.millis().saturating_sub(last.millis()).max(0) as u64);
        if self.at_work() { self.worked_ms.saturating_add(since) } else { self.worked_ms }
    }
}
