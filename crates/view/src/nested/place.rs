//! Where a node hangs: the levels an event names, and what was learnt from earlier events of its run.

use std::borrow::Cow;

use antiphon_event::{AgentId, Body, Event, RunId};
use serde::{Deserialize, Serialize};

use super::{Key, Level, Nested, Node};
use crate::{Changes, path};

/// What was learnt about a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RunPlace {
    /// The event flow, trace or run that its events belong to.
    turn: Option<usize>,
    /// Its agent or workflow.
    actor: Option<usize>,
    /// What caused it.
    cause: Option<String>,
}

/// Something that others hang from, by the name they know it by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) enum Anchor {
    /// A call, the start of a node, or a run, as the cause of a run.
    Cause(String),
    /// An agent, as the parent of another.
    Agent(String),
    /// The names from the root down to an agent, as the beginning of the chain of another.
    Chain(Vec<String>),
}

/// How many names of a chain are followed.
const CHAIN_MAX: usize = 256;

/// What is around an event, from the outside in.
#[derive(Debug, Clone, Copy)]
struct Around {
    scope: Option<usize>,
    turn: Option<usize>,
    /// The flow that is its run, or the execution of a node of that.
    part: Option<usize>,
}

impl Around {
    fn nearest(self) -> Option<usize> {
        self.part.or(self.turn).or(self.scope)
    }
}

/// An agent as an event names it.
struct Named<'e> {
    id: Cow<'e, str>,
    name: Option<&'e str>,
    /// The agent above it.
    above: Option<&'e str>,
    /// The names from the root down to it, its own last.
    chain: &'e [String],
}

impl<'e> Named<'e> {
    /// Who an event is of. What a flow says of itself is of nobody.
    fn by(event: &'e Event) -> Option<Self> {
        match (&event.head.agent, &event.body) {
            _ if is_of_flow(event) => None,
            (Some(agent), _) => {
                let id = match agent.id.as_str() {
                    "" => agent.chain.join("/").into(),
                    id => id.into(),
                };
                let name = agent.name.as_ref().or(agent.chain.last()).map(String::as_str);
                let chain = &agent.chain[..agent.chain.len().min(CHAIN_MAX)];
                Some(Self { id, name, above: agent.parent_id.as_ref().map(AgentId::as_str), chain })
            }
            (None, Body::HarnessStart(start)) => {
                let id = start.agent_id.as_ref()?.as_str().into();
                Some(Self { id, name: None, above: None, chain: &[] })
            }
            _ => None,
        }
    }

    /// The names that lead to it in the chains of others: without a chain of its own it is a root.
    fn path(&self) -> Vec<String> {
        match self.chain {
            [] => vec![self.name.unwrap_or(&self.id).to_owned()],
            chain => chain.to_vec(),
        }
    }
}

impl Nested {
    /// The innermost level above messages that an event names or its run is known to be in.
    pub(super) fn surroundings(&mut self, event: &Event, changes: &mut Changes) -> Option<usize> {
        let scope = self.scope(changes);
        let mut run = self.run_place(scope, event);
        let turn = self.turn(scope, &run, event, changes);
        let execution = self.execution(scope, event).filter(|_| !is_of_flow(event));
        let workflow = run.actor.filter(|actor| self.nodes[*actor].level == Level::Workflow);
        let around = Around { scope, turn, part: execution.or(workflow) };
        let actor = self.actor(around, &run, event, changes);
        run.turn = turn.or(run.turn);
        run.actor = workflow.or(actor).or(run.actor);
        let within = match (execution, actor) {
            (Some(execution), Some(actor)) => {
                self.inside.insert(execution, actor);
                Some(actor)
            }
            (Some(execution), None) => self.inside.get(&execution).copied().or(Some(execution)),
            (None, _) => actor.or(run.actor).or(turn).or(scope),
        };
        if let Some(id) = &event.head.run_id {
            self.runs.insert((scope, id.clone()), run);
        }
        within
    }

    /// The last execution of the node that an event names, of the flow that is its run.
    pub(super) fn execution(&self, scope: Option<usize>, event: &Event) -> Option<usize> {
        let (run, node) = (event.head.run_id.as_ref()?, event.head.node_id.as_ref()?);
        self.executions.get(&(scope, run.clone(), node.clone()))
    }

    fn run_place(&self, scope: Option<usize>, event: &Event) -> RunPlace {
        let id = event.head.run_id.clone();
        let mut run = id.and_then(|id| self.runs.get(&(scope, id)).cloned()).unwrap_or_default();
        if run.cause.is_none() {
            run.cause = event.head.parent_id.as_ref().map(ToString::to_string);
        }
        run
    }

    /// The event flow; else what its run is known to belong to; else the trace; else the run, unless that has a level of
    /// its own below turns.
    fn turn(
        &mut self,
        scope: Option<usize>,
        run: &RunPlace,
        event: &Event,
        changes: &mut Changes,
    ) -> Option<usize> {
        let head = &event.head;
        if let Some(flow) = &head.event_flow_id {
            let turn = self.level(scope, Level::Flow, flow.as_str(), changes);
            if let Some(trace) = &head.trace_id {
                self.traces.insert((scope, trace.clone()), turn);
            }
            return Some(turn);
        }
        if run.turn.is_some() {
            return run.turn;
        }
        if let Some(trace) = &head.trace_id {
            let known = self.traces.get(&(scope, trace.clone())).copied();
            return known.or_else(|| Some(self.level(scope, Level::Trace, &trace.to_string(), changes)));
        }
        let names_more = run.actor.is_some() || is_of_flow(event) || Named::by(event).is_some();
        let id = head.run_id.as_ref().filter(|_| !names_more && !matches!(event.body, Body::User(_)))?;
        Some(self.run_level(Level::Run, id, Around { scope, turn: None, part: None }, run, changes))
    }

    fn level(&mut self, scope: Option<usize>, level: Level, id: &str, changes: &mut Changes) -> usize {
        let key = (scope, level, None, id.to_owned());
        match self.keys.get(&key) {
            Some(place) => place,
            None => self.add_keyed(key, scope, changes),
        }
    }

    /// The agent or workflow of an event; else the run itself, where an agent begins without a name or what caused it is
    /// known.
    fn actor(
        &mut self,
        around: Around,
        run: &RunPlace,
        event: &Event,
        changes: &mut Changes,
    ) -> Option<usize> {
        if let Some(agent) = Named::by(event) {
            return Some(self.agent(around, run, &agent, event, changes));
        }
        // A person follows what was said before, but is no part of it.
        let has_none = run.actor.is_none() && !matches!(event.body, Body::User(_));
        let id = event.head.run_id.as_ref().filter(|_| has_none)?;
        let has_level = around.turn.is_some_and(|turn| self.nodes[turn].level == Level::Run);
        let begins = matches!(event.body, Body::HarnessStart(_)) && !has_level;
        let cause = || (around.scope, Anchor::Cause(run.cause.clone().unwrap_or_default()));
        let level = if is_of_flow(event) {
            Level::Workflow
        } else if begins || (run.cause.is_some() && self.anchors.get(&cause()).is_some()) {
            Level::Run
        } else {
            return None;
        };
        Some(self.run_level(level, id, around, run, changes))
    }

    /// The node of a run itself.
    fn run_level(
        &mut self,
        level: Level,
        id: &RunId,
        around: Around,
        run: &RunPlace,
        changes: &mut Changes,
    ) -> usize {
        let key = (around.scope, level, None, id.to_string());
        if let Some(place) = self.keys.get(&key) {
            return place;
        }
        let place = self.add_keyed(key, around.nearest(), changes);
        self.hang_from_cause(place, around.scope, run, changes);
        self.anchor_run(around.scope, id, place, changes);
        place
    }

    /// An agent. One in a part of its own flow hangs from that; another from what caused its run, or from the agent above it, which
    /// it names or its chain does.
    fn agent(
        &mut self,
        around: Around,
        run: &RunPlace,
        agent: &Named<'_>,
        event: &Event,
        changes: &mut Changes,
    ) -> usize {
        let id = agent.id.to_string();
        let key = (around.part.or(around.scope), Level::Agent, event.head.run_id.clone(), id.clone());
        if let Some(place) = self.keys.get(&key) {
            return place;
        }
        let place = self.add_keyed(key, around.nearest(), changes);
        let name = agent.name.map(ToOwned::to_owned);
        self.edit(place, changes, |node, edit| edit.fill("label", &mut node.label, name));
        let scope = around.scope;
        if around.part.is_none() {
            self.hang_from_cause(place, scope, run, changes);
            let above = agent.above.filter(|above| *above != id);
            if let Some(above) = above.filter(|_| self.tree.parent(place) == around.nearest()) {
                self.hang_from(place, scope, Anchor::Agent(above.to_owned()), changes);
            }
            if let ([above @ .., _], None, None) = (agent.chain, agent.above, &run.cause)
                && !above.is_empty()
            {
                self.hang_from(place, scope, Anchor::Chain(above.to_vec()), changes);
            }
            if let Some(run) = &event.head.run_id {
                self.anchor_run(scope, run, place, changes);
            }
        }
        self.anchor((scope, Anchor::Agent(id)), place, changes);
        self.anchor((scope, Anchor::Chain(agent.path())), place, changes);
        place
    }

    fn hang_from_cause(&mut self, place: usize, scope: Option<usize>, run: &RunPlace, changes: &mut Changes) {
        if let Some(cause) = &run.cause {
            self.hang_from(place, scope, Anchor::Cause(cause.clone()), changes);
        }
    }

    /// Hangs a node from an anchor. Until the anchor appears, the node's parent is a guess.
    fn hang_from(&mut self, place: usize, scope: Option<usize>, anchor: Anchor, changes: &mut Changes) {
        let key = (scope, anchor);
        self.guessed.insert(place);
        match self.anchors.get(&key) {
            Some(parent) => self.hang(place, parent, changes),
            None => self.waiting.entry(key).or_default().push(place),
        }
    }

    /// Makes a node known by a name, to all that wait for it and all that come.
    pub(super) fn anchor(&mut self, key: (Option<usize>, Anchor), place: usize, changes: &mut Changes) {
        let here = self.waiting.remove(&key);
        // Who names no session and branch waits for its cause wherever that is.
        let anywhere = matches!(key, (Some(_), Anchor::Cause(_)));
        let anywhere = if anywhere { self.waiting.remove(&(None, key.1.clone())) } else { None };
        for child in [here, anywhere].into_iter().flatten().flatten() {
            self.hang(child, place, changes);
        }
        self.anchors.insert(key, place);
    }

    /// Makes a run known as a cause. A call of that name is rather meant.
    fn anchor_run(&mut self, scope: Option<usize>, run: &RunId, place: usize, changes: &mut Changes) {
        let key = (scope, Anchor::Cause(run.to_string()));
        if self.anchors.get(&key).is_none() {
            self.anchor(key, place, changes);
        }
    }

    /// Flags a node as a place that is kept for something that has not appeared.
    pub(super) fn keep(&mut self, place: usize, changes: &mut Changes) {
        self.guessed.insert(place);
        self.edit(place, changes, |node, edit| edit.put("orphan", &mut node.orphan, true));
    }

    /// Exchanges a guessed parent for the right one.
    pub(super) fn hang(&mut self, place: usize, parent: usize, changes: &mut Changes) {
        if self.guessed.contains(&place) && self.tree.adopt(place, parent) {
            self.guessed.remove(&place);
            self.edit(place, changes, |node, edit| edit.put("parent", &mut node.parent, Some(parent)));
        }
    }

    /// The message an event names: that of its run. What says nothing itself, or names no run, may speak of another's.
    pub(super) fn message(&mut self, event: &Event, changes: &mut Changes) -> Option<usize> {
        let id = event.head.message_id.as_ref()?.to_string();
        let mut key = (self.scope(changes), Level::Message, event.head.run_id.clone(), id);
        if let Some(own) = self.keys.get(&key) {
            return Some(own);
        }
        let run = key.2.take().filter(|_| says(event));
        let latest = self.keys.get(&key);
        let known = latest.filter(|latest| run.is_none() || self.unsaid.remove(latest));
        let message = known.unwrap_or_else(|| {
            let parent = self.parent_for(Level::Message, event, changes);
            self.add_keyed(key.clone(), parent, changes)
        });
        if run.is_some() {
            key.2 = run;
            self.keys.insert(key, message);
        } else if known.is_none() {
            self.unsaid.insert(message);
        }
        Some(message)
    }

    /// The node with this key; made, where the event says, if there is none.
    pub(super) fn find_or_add(&mut self, key: Key, event: &Event, changes: &mut Changes) -> usize {
        if let Some(place) = self.keys.get(&key) {
            return place;
        }
        let parent = self.parent_for(key.1, event, changes);
        self.add_keyed(key, parent, changes)
    }

    /// The nearest level above another that an event names.
    pub(super) fn parent_for(&mut self, level: Level, event: &Event, changes: &mut Changes) -> Option<usize> {
        let message = if level > Level::Message { self.message(event, changes) } else { None };
        message.or_else(|| self.surroundings(event, changes))
    }

    /// A node for which a place was kept is there now, and says itself where it belongs.
    pub(super) fn appeared(
        &mut self,
        place: usize,
        parent: Option<usize>,
        event: &Event,
        changes: &mut Changes,
    ) {
        if !self.nodes[place].orphan {
            return;
        }
        let level = self.nodes[place].level;
        if let Some(parent) = parent.or_else(|| self.parent_for(level, event, changes)) {
            self.hang(place, parent, changes);
        }
        self.guessed.remove(&place);
        self.edit(place, changes, |node, edit| edit.drop_flag("orphan", &mut node.orphan));
    }

    pub(super) fn add_keyed(&mut self, key: Key, parent: Option<usize>, changes: &mut Changes) -> usize {
        let place = self.add(Node::new(key.1, &key.3, parent), changes);
        self.keys.insert(key, place);
        place
    }

    pub(super) fn add(&mut self, node: Node, changes: &mut Changes) -> usize {
        let place = self.tree.add(node.parent);
        changes.append(path!["nodes"], &node);
        self.nodes.push(node);
        place
    }
}

/// Whether an event is part of what is said in a message, and does not only speak of one.
fn says(event: &Event) -> bool {
    matches!(
        event.body,
        Body::User(_)
            | Body::Text(_)
            | Body::Reasoning(_)
            | Body::ToolCall(_)
            | Body::ToolProgress(_)
            | Body::ToolResult(_)
            | Body::Relay(_)
            | Body::Error(_)
            | Body::ReplInput(_)
            | Body::ReplProgress(_)
            | Body::ReplOutput(_)
    )
}

/// Whether only a flow writes such events.
pub(super) fn is_of_flow(event: &Event) -> bool {
    matches!(
        event.body,
        Body::RunStart(_)
            | Body::RunEnd(_)
            | Body::NodeStart(_)
            | Body::NodeEnd(_)
            | Body::NodeSkipped(_)
            | Body::NodeRetry(_)
            | Body::NodeTimeout(_)
            | Body::EdgeTransition(_)
            | Body::LayerStart(_)
            | Body::LayerEnd(_)
            | Body::Handoff(_)
            | Body::Interrupt(_)
    )
}
