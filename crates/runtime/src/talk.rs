//! Talking with an agent: what somebody says begins a run of its own on a branch, which sees all that was said there.

use std::sync::Arc;

use antiphon_agent::Definition;
use antiphon_agent::machine::{Agent, Input, Origin};
use antiphon_event::body::content::{User, UserContent};
use antiphon_event::{Body, Event, EventFlowId, Json, ParentId, RunId};
use antiphon_flow::Refusal;
use antiphon_view::messages::Scope;
use antiphon_view::{Changes, Messages, Projected, View};
use tokio::sync::mpsc;

use crate::agent::root;
use crate::driver::Driver;
use crate::engine::{Engine, Invocation, Parts, Refused, WISHES_MAX};
use crate::mind::Mind;
use crate::outfit::Kit;
use crate::run::Run;
use crate::tree::Tree;

/// An agent that hears all that was said on its branch before.
pub(crate) fn in_conversation(definition: Arc<Definition>, origin: Origin, before: &[Event]) -> Agent {
    let mut seen = Projected::new(Messages::of(Scope::Root));
    let asked = before.iter().filter(|event| is_answer(event)).count() as u32;
    let agent = Agent::new(definition, origin, Vec::new()).after(asked).grown_to(length(before));
    for event in before {
        seen.apply(event, &mut Changes::default());
    }
    agent.in_conversation(seen)
}

/// What somebody says: text, or parts if it is a list of them.
pub(crate) fn content(task: &Json) -> UserContent {
    serde_json::from_str(task.as_str()).unwrap_or_else(|_| UserContent::Text(task.to_text().into_owned()))
}

/// How long a message may be, in bytes of JSON: an event that is larger can be neither kept nor sent.
const MESSAGE_MAX: usize = 12 * 1024 * 1024;

/// Whether a message can be kept; why not otherwise.
pub(crate) fn is_bounded(content: &UserContent) -> Result<(), Refusal> {
    let bytes = serde_json::to_string(content).map_or(usize::MAX, |text| text.len());
    if bytes <= MESSAGE_MAX {
        return Ok(());
    }
    let why = format!(
        "it is {bytes} bytes of JSON, and {MESSAGE_MAX} is the most: put it into a file and give its name"
    );
    Err(Refusal::Message(why))
}

/// Whether the agent that people talk with had asked its model, whatever came of it: what a script counts.
fn is_answer(event: &Event) -> bool {
    let depth = event.head.agent.as_ref().map_or(0, |agent| agent.depth);
    let asked = match &event.body {
        Body::Usage(_) => true,
        Body::ModelRetry(retry) => retry.delay_ms.is_some(),
        Body::Error(error) => error.retryable.is_some(),
        _ => false,
    };
    asked && depth == 0 && event.head.node_id.is_none()
}

/// How many tokens the conversation had when the model was last told it; nothing is known once it was put into a summary.
fn length(before: &[Event]) -> u64 {
    let mut tokens = 0;
    for event in before.iter().rev() {
        match &event.body {
            Body::HistoryCompacted(_) => break,
            Body::Usage(usage) if is_answer(event) => {
                tokens = usage.input_tokens;
                break;
            }
            _ => {}
        }
    }
    tokens
}

impl Engine {
    /// Says something to an agent. When this returns the first events of its run are durable; it sees what was said
    /// in the session before.
    pub async fn talk(&self, definition: Definition, invocation: Invocation) -> Result<Run, Refused> {
        let parts = &self.0.for_start(invocation.folder.as_deref())?;
        is_bounded(&content(&invocation.task))?;
        let branch = invocation.place(&*parts.ids);
        let kit = kit(parts, Arc::new(definition.clone())).await?;
        let (claim, left) = self.own(&branch.session).await?;
        let events = match invocation.session {
            Some(_) => self.follow(&branch).await?,
            None => Vec::new(),
        };
        let seq = events.last().and_then(|event| event.head.seq).unwrap_or(0);
        let (wishes, asked) = mpsc::channel(WISHES_MAX);
        let (mut driver, progress) = Driver::new(Arc::clone(parts), branch.clone(), seq, asked, claim);
        driver.inbox_old = left;
        if seq == 0 {
            driver.batch.push(self.session_created(invocation.title.clone(), invocation.metadata.clone()));
        }
        let (said, origin) = self.said(&definition, &invocation.task, &events);
        let run = origin.run.clone();
        let before: Vec<Event> = events.into_iter().chain([said.clone()]).collect();
        driver.batch.push(said);
        driver.tree.remember(&before);
        let agent = in_conversation(Arc::new(definition), origin, &before);
        let machine = driver.tree.add(Mind::Agent(Box::new(agent)), None);
        driver.tree.machines[machine].equip(kit, parts.outfitter.as_deref());
        driver.tell(machine, Input::Start)?;
        self.begin(&mut driver, invocation.session.is_none()).await?;
        tokio::spawn(driver.run());
        let (journal, folder) = (Arc::clone(&parts.journal), parts.folder.clone());
        Ok(Run { journal, branch, run, folder, began: seq, wishes, progress })
    }

    /// What a user says, and where the events of the run that answers belong.
    fn said(&self, definition: &Definition, task: &Json, before: &[Event]) -> (Event, Origin) {
        let (user, run) = (self.0.ids.run(), self.0.ids.run());
        let turn = EventFlowId::from(user.shared());
        let body = Body::User(User { content: content(task), delivery: None, provenance: None });
        let mut event = self.user_said(user.clone(), turn, body);
        event.head.parent_id = last_root(before).map(|run| ParentId::from(run.shared()));
        let name = definition.name.clone().unwrap_or_else(|| "agent".to_owned());
        let origin = Origin {
            run,
            parent: Some(ParentId::from(format!("{user}:user"))),
            turn: event.head.event_flow_id.clone(),
            who: Arc::new(root(name)),
            path: Vec::new(),
            nested: false,
            span: event.head.span_id.clone(),
        };
        (event, origin)
    }
}

/// What an agent needs, before anything begins.
async fn kit(parts: &Parts, definition: Arc<Definition>) -> Result<Kit, Refused> {
    let outfitter = parts.outfitter.clone();
    let outfitter = outfitter.ok_or_else(|| Refused::Agent("nobody equips agents here".to_owned()))?;
    outfitter.outfit(definition, None).await.map_err(Refused::Agent)
}

/// Gives the agent that a tree begins with what it needs, if it begins with one.
pub(crate) async fn equip_root(parts: &Parts, tree: &mut Tree) -> Result<(), Refused> {
    if let Some(agent) = tree.machines[0].mind.as_agent() {
        let kit = kit(parts, Arc::clone(agent.definition())).await?;
        tree.machines[0].equip(kit, parts.outfitter.as_deref());
    }
    Ok(())
}

/// The root run that was there last.
fn last_root(before: &[Event]) -> Option<&RunId> {
    let mut roots = before.iter().rev().filter(|event| {
        let ends = matches!(event.body, Body::HarnessEnd(_) | Body::RunEnd(_));
        ends && event.head.node_id.is_none() && event.head.agent.as_ref().is_none_or(|agent| agent.depth == 0)
    });
    roots.find_map(|event| event.head.run_id.as_ref())
}
