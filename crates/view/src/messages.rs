//! `messages`: the conversation as a model's vendor wants it: user, assistant and tool messages, every call with
//! its result.
//!
//! Only the root conversation, or one run; what subagents and nodes of flows said among themselves is not part
//! of it. A choice of what is active changes which messages there are at all, so it sets the whole list anew: at
//! once for whoever follows the changes, else when the list is next read. Everything else costs what it
//! changes. Start reading at [`Messages::apply`].

mod write;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::{Body, Event, Kind, RunId};
use antiphon_graph::hyper::Speaker;
use antiphon_graph::{Change, Conversation, Node, Place, Placed};
use serde::{Deserialize, Serialize};

pub use self::write::{Call, Content, Message, Thought};
use crate::slots::Weights;
use crate::{Changes, Projection, path};

/// Whose messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// What users and the agents they talk with said.
    #[default]
    Root,
    /// What one run said, and those it called without spawning them.
    Run(RunId),
}

/// The conversation as messages for a model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Messages {
    scope: Scope,
    /// Whether each run, by its place, is in scope; nothing if it was not heard of yet.
    runs: Vec<Option<Member>>,
    /// The turns that are shown, in order.
    turns: Vec<Turn>,
    /// How many messages each turn is.
    sizes: Weights,
    /// The turn of each message of the conversation.
    turn_of: Vec<Option<u32>>,
    /// The signature of each block of reasoning that has one.
    signatures: BTreeMap<Place, String>,
    /// Whether the turns are to be put together anew before anybody reads them.
    stale: bool,
    /// How many turns are as they were when somebody last asked for [news](Self::news).
    #[serde(skip)]
    kept: usize,
    /// Ids with a number behind them that were there before the one without: it changes how they are written.
    early: BTreeSet<String>,
}

/// Whether a run is in scope, and why that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Member {
    inside: bool,
    /// Whether what caused it has not come.
    orphan: bool,
}

/// One message of the conversation: what was said, then what came of its calls. Only what counts is in it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Turn {
    message: Place,
    /// The blocks of what was said.
    said: Vec<Place>,
    /// The blocks of the calls, and of the code that was run.
    calls: Vec<Place>,
    users: usize,
    texts: usize,
    thoughts: usize,
    /// How many of the calls are pieces of code.
    codes: usize,
    is_summary: bool,
}

impl Turn {
    /// How many messages it is.
    fn size(&self) -> usize {
        if self.is_summary {
            return 1;
        }
        self.users + usize::from(self.has_assistant()) + self.calls.len()
    }

    fn has_assistant(&self) -> bool {
        self.texts + self.thoughts + self.calls.len() > 0
    }

    /// Notes one more block of something that counts.
    fn push(&mut self, block: Place, kind: Kind) {
        match kind {
            Kind::User => self.users += 1,
            Kind::Text => self.texts += 1,
            Kind::Reasoning => self.thoughts += 1,
            Kind::ReplInput => self.codes += 1,
            _ => {}
        }
        if matches!(kind, Kind::ToolCall | Kind::ReplInput) {
            self.calls.push(block);
        } else {
            self.said.push(block);
        }
    }
}

impl Messages {
    /// The messages of one run only.
    pub fn of(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// The messages, the oldest first.
    pub fn list(&self, conversation: &Conversation) -> Vec<Message> {
        let messages = self.fresh(conversation);
        let say = |turn| write::Say { messages: &messages, conversation, turn };
        messages.turns.iter().flat_map(|turn| say(turn).all()).collect()
    }

    /// The same by message of the conversation, with its id.
    pub fn turns(&self, conversation: &Conversation) -> Vec<(String, Vec<Message>)> {
        let messages = self.fresh(conversation);
        let of = |turn: &Turn| {
            let message = conversation.message(turn.message)?;
            Some((message.id().to_string(), write::Say { messages: &messages, conversation, turn }.all()))
        };
        messages.turns.iter().filter_map(of).filter(|(_, list)| !list.is_empty()).collect()
    }

    /// What is new to the one who asks and has so many turns from when they last did: how many of those are as they
    /// were, and the messages of each turn after them. It costs what is new, unless a choice of what is active set the
    /// whole list anew.
    pub fn news(&mut self, conversation: &Conversation, known: usize) -> (usize, Vec<Vec<Message>>) {
        if self.stale {
            self.rebuild(conversation);
        }
        let kept = std::mem::replace(&mut self.kept, self.turns.len()).min(known);
        let turns = self.turns[kept..].iter();
        let messages = &*self;
        (kept, turns.map(|turn| write::Say { messages, conversation, turn }.all()).collect())
    }

    /// A turn is not as it was.
    fn touch(&mut self, turn: u32) {
        self.kept = self.kept.min(turn as usize);
    }

    /// Notes a call that changes how the ids of others are written, or whose own id may come to be written otherwise.
    fn number(&mut self, conversation: &Conversation, placed: Placed, event: &Event) {
        let (Body::ToolCall(call), Some(node)) = (&event.body, conversation.node(placed.node)) else {
            return;
        };
        let id = node.id().as_str();
        if !self.early.is_empty() && (self.early.remove(id) | self.early.remove(call.id.as_str())) {
            self.kept = 0;
        }
        let stem = id.rsplit_once('~').map(|(stem, _)| stem);
        let is_early = |stem: &&str| conversation.resolve(node.run(), stem, Kind::ToolCall).is_none();
        self.early.extend(stem.filter(is_early).map(str::to_owned));
    }

    fn placed(&mut self, conversation: &Conversation, placed: Placed, event: &Event, changes: &mut Changes) {
        if let Body::Reasoning(reasoning) = &event.body
            && let Some(signature) = &reasoning.signature
        {
            self.signatures.insert(placed.block, signature.clone());
        }
        self.enter_run(conversation, placed.node);
        self.number(conversation, placed, event);
        let moved = placed.change == Change::Added && self.adopt(conversation, placed.node);
        self.stale |= moved;
        // When the turns are put together anew, what was placed is found anyway.
        if self.stale {
            return;
        }
        self.take_in(conversation, placed, event, changes);
        if let Body::ModelRetry(retry) = &event.body {
            self.discard(conversation, event, &retry.discards, changes);
        }
    }

    /// Notes whether the run of a node is in scope.
    fn enter_run(&mut self, conversation: &Conversation, node: Place) {
        let Some(run) = conversation.node(node).map(Node::run_place) else {
            return;
        };
        if self.runs.len() <= run as usize {
            self.runs.resize(run as usize + 1, None);
        }
        if self.runs[run as usize].is_none() {
            self.runs[run as usize] = Some(self.member(conversation, node));
        }
    }

    /// Whether a message is of a run in scope, or is a summary that no run out of scope made for itself.
    fn is_in_scope(&self, conversation: &Conversation, message: Place) -> bool {
        conversation.message(message).is_some_and(|message| {
            let run = message.run.as_ref().and_then(|run| conversation.run_place(run.as_str()));
            run.map_or(message.speaker == Speaker::Summary, |run| self.is_inside(run))
        })
    }

    /// Whether a run with this first node is in scope: with the run that caused it, unless it was spawned.
    fn member(&self, conversation: &Conversation, first: Place) -> Member {
        let Some(node) = conversation.node(first) else {
            return Member { inside: false, orphan: false };
        };
        let cause = conversation.parent_of(first).and_then(|cause| conversation.node(cause));
        let orphan = cause.is_none() && node.parent_id().is_some();
        let named = matches!(&self.scope, Scope::Run(run) if run == node.run());
        let inside = match cause {
            _ if named => true,
            None => self.scope == Scope::Root,
            Some(cause) if matches!(cause.kind(), Kind::ToolCall | Kind::ReplInput | Kind::NodeStart) => {
                false
            }
            Some(cause) => self.is_inside(cause.run_place()),
        };
        Member { inside, orphan }
    }

    fn is_inside(&self, run: u32) -> bool {
        self.runs.get(run as usize).copied().flatten().is_some_and(|member| member.inside)
    }

    /// Runs that waited for this node may turn out to be somebody's children; `true` if any did.
    fn adopt(&mut self, conversation: &Conversation, node: Place) -> bool {
        let mut moved = false;
        let mut stack: Vec<_> = conversation.children_of(node).collect();
        while let Some(first) = stack.pop() {
            let Some(run) = conversation.node(first).map(Node::run_place) else {
                continue;
            };
            let Some(was) = self.runs.get(run as usize).copied().flatten() else {
                continue;
            };
            let now = self.member(conversation, first);
            self.runs[run as usize] = Some(now);
            if was.orphan && was.inside != now.inside {
                moved = true;
                self.judge_again(conversation, now.inside, run);
            }
        }
        moved
    }

    /// Runs that are in scope because of another follow it.
    fn judge_again(&mut self, conversation: &Conversation, inside: bool, run: u32) {
        let mut stack = vec![run];
        while let Some(run) = stack.pop() {
            for child in conversation.runs_caused_by(run) {
                let Some(first) = conversation.first_of_run(child) else {
                    continue;
                };
                let member = self.member(conversation, first);
                let place = &mut self.runs[child as usize];
                if place.is_some_and(|was| was.inside != member.inside) && member.inside == inside {
                    *place = Some(member);
                    stack.push(child);
                }
            }
        }
    }

    fn turn_at(&self, message: Place) -> Option<u32> {
        self.turn_of.get(message as usize).copied().flatten()
    }

    /// One more thing that was said, called or answered.
    fn take_in(&mut self, conversation: &Conversation, placed: Placed, event: &Event, changes: &mut Changes) {
        let (kind, message) = (event.kind(), placed.message);
        // A turn stands where its message began, with whatever it began.
        let turn = match self.turn_at(message) {
            Some(turn) => turn,
            None if conversation.is_active(message) && self.is_in_scope(conversation, message) => {
                self.open_turn(message)
            }
            None => return,
        };
        let discarded = conversation.node(placed.node).is_none_or(Node::is_discarded);
        if discarded || !matters(kind) {
            return;
        }
        self.touch(turn);
        if matches!(kind, Kind::ToolResult | Kind::ReplOutput) {
            self.answered(conversation, placed.node, changes);
        } else if placed.new_block {
            self.turns[turn as usize].push(placed.block, kind);
            self.sizes.set(turn as usize, self.turns[turn as usize].size());
            self.said(conversation, turn, kind, changes);
        } else {
            self.grown(conversation, turn, placed, event, changes);
        }
    }

    /// Says that there is one more block of something.
    fn said(&self, conversation: &Conversation, at: u32, kind: Kind, changes: &mut Changes) {
        if !changes.are_wanted() {
            return;
        }
        let turn = &self.turns[at as usize];
        let start = self.sizes.before(at as usize);
        let spoken = start + turn.users;
        let say = write::Say { messages: self, conversation, turn };
        match kind {
            Kind::User => {
                let nth = turn.users - 1;
                changes.insert(path!["messages", start + nth], &say.user(nth));
                return;
            }
            _ if turn.texts + turn.thoughts + turn.calls.len() == 1 => {
                changes.insert(path!["messages", spoken], &say.assistant());
            }
            Kind::Text if turn.texts == 1 => {
                changes.set(path!["messages", spoken, "content"], &say.last_text());
            }
            Kind::Text => changes.append(path!["messages", spoken, "content"], &say.last_text()),
            Kind::Reasoning if turn.thoughts == 1 => {
                changes.set(path!["messages", spoken, "reasoning"], &[say.last_thought()]);
            }
            Kind::Reasoning => changes.append(path!["messages", spoken, "reasoning"], &say.last_thought()),
            Kind::ToolCall if turn.calls.len() - turn.codes == 1 => {
                changes.set(path!["messages", spoken, "tool_calls"], &[say.call(turn.calls.len() - 1)]);
            }
            Kind::ToolCall => {
                changes.append(path!["messages", spoken, "tool_calls"], &say.call(turn.calls.len() - 1));
            }
            _ => {}
        }
        if matches!(kind, Kind::ToolCall | Kind::ReplInput) {
            let nth = turn.calls.len() - 1;
            changes.insert(path!["messages", spoken + 1 + nth], &say.answer(nth));
        }
    }

    /// Says that a block has grown, or that a call came again.
    fn grown(
        &self,
        conversation: &Conversation,
        at: u32,
        placed: Placed,
        event: &Event,
        changes: &mut Changes,
    ) {
        if !changes.are_wanted() {
            return;
        }
        let turn = &self.turns[at as usize];
        let spoken = self.sizes.before(at as usize) + turn.users;
        match &event.body {
            Body::Text(text) => changes.append(path!["messages", spoken, "content"], &text.content),
            Body::Reasoning(reasoning) => {
                let thought = path!["messages", spoken, "reasoning", turn.thoughts - 1];
                changes.append(&[thought, path!["text"]].concat(), &reasoning.content);
                if let Some(signature) = &reasoning.signature {
                    changes.set(&[thought, path!["signature"]].concat(), signature);
                }
            }
            Body::ToolCall(_) | Body::ReplInput(_) => {
                let say = write::Say { messages: self, conversation, turn };
                let Ok(nth) = turn.calls.binary_search(&placed.block) else {
                    return;
                };
                if turn.codes == 0 {
                    changes.set(path!["messages", spoken, "tool_calls", nth], &say.call(nth));
                } else {
                    changes.set(path!["messages", spoken], &say.assistant());
                }
                changes.set(path!["messages", spoken + 1 + nth], &say.answer(nth));
            }
            _ => {}
        }
    }

    /// Says what came of a call.
    fn answered(&mut self, conversation: &Conversation, answer: Place, changes: &mut Changes) {
        let call = conversation.call_of(answer);
        let Some(place) = call.and_then(|call| conversation.block_of(call)) else {
            return;
        };
        let Some(at) = conversation.block(place).and_then(|block| self.turn_at(block.message)) else {
            return;
        };
        self.touch(at);
        if !changes.are_wanted() {
            return;
        }
        let turn = &self.turns[at as usize];
        if let Ok(nth) = turn.calls.binary_search(&place) {
            let place = self.sizes.before(at as usize) + turn.users + 1 + nth;
            let say = write::Say { messages: self, conversation, turn };
            changes.set(path!["messages", place], &say.answer(nth));
        }
    }

    /// Takes out what a repeated model call made void.
    fn discard(&mut self, conversation: &Conversation, event: &Event, ids: &[String], changes: &mut Changes) {
        let Some(run) = &event.head.run_id else {
            return;
        };
        let kinds = [Kind::Text, Kind::Reasoning, Kind::ToolCall];
        let nodes =
            ids.iter().flat_map(|id| kinds.iter().filter_map(|kind| conversation.own(run, id, *kind)));
        let blocks = nodes.flat_map(|node| conversation.blocks_of_node(node));
        let messages = blocks.filter_map(|block| conversation.block(block)).map(|block| block.message);
        let turns: BTreeSet<u32> = messages.filter_map(|message| self.turn_at(message)).collect();
        for turn in turns {
            self.touch(turn);
            let start = self.sizes.before(turn as usize);
            for _ in 0..self.sizes.of(turn as usize) {
                changes.remove(path!["messages", start]);
            }
            let message = self.turns[turn as usize].message;
            self.turns[turn as usize] = Turn { message, ..Turn::default() };
            self.fill(conversation, turn);
            let say = write::Say { messages: self, conversation, turn: &self.turns[turn as usize] };
            for (nth, message) in say.all().iter().enumerate() {
                changes.insert(path!["messages", start + nth], message);
            }
        }
    }

    fn open_turn(&mut self, message: Place) -> u32 {
        let turn = self.turns.len() as u32;
        self.turns.push(Turn { message, ..Turn::default() });
        self.sizes.push(0);
        if self.turn_of.len() <= message as usize {
            self.turn_of.resize(message as usize + 1, None);
        }
        self.turn_of[message as usize] = Some(turn);
        turn
    }

    /// Puts the list together anew, after a change of what is active or of who belongs to whom.
    fn rebuild(&mut self, conversation: &Conversation) {
        (self.stale, self.kept) = (false, 0);
        self.turns.clear();
        self.turn_of.clear();
        self.sizes = Weights::default();
        for message in conversation.walk_messages() {
            if self.is_in_scope(conversation, message) {
                let turn = self.open_turn(message);
                self.fill(conversation, turn);
            }
        }
    }

    /// As it is to be read now.
    fn fresh(&self, conversation: &Conversation) -> Cow<'_, Self> {
        if !self.stale {
            return Cow::Borrowed(self);
        }
        let mut fresh = self.clone();
        fresh.rebuild(conversation);
        Cow::Owned(fresh)
    }

    fn fill(&mut self, conversation: &Conversation, turn: u32) {
        let message = self.turns[turn as usize].message;
        let summary = conversation.message(message).is_some_and(|message| message.summary().is_some());
        self.turns[turn as usize].is_summary = summary;
        for place in conversation.blocks_of(message) {
            let node = conversation.block(place).and_then(|block| conversation.node(block.node));
            if let Some(node) = node.filter(|node| !node.is_discarded() && matters(node.kind()))
                && !matches!(node.kind(), Kind::ToolResult | Kind::ReplOutput)
            {
                self.turns[turn as usize].push(place, node.kind());
            }
        }
        self.sizes.set(turn as usize, self.turns[turn as usize].size());
    }
}

/// Whether a model's vendor is told of such events.
fn matters(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::User
            | Kind::Text
            | Kind::Reasoning
            | Kind::ToolCall
            | Kind::ReplInput
            | Kind::ToolResult
            | Kind::ReplOutput
    )
}

impl Projection for Messages {
    const NAME: &'static str = "messages";

    fn apply(
        &mut self,
        conversation: &Conversation,
        placed: Option<Placed>,
        event: &Event,
        changes: &mut Changes,
    ) {
        if matches!(event.kind(), Kind::Summary | Kind::HistoryCompacted | Kind::ActiveChanged) {
            self.stale = true;
        }
        if let Some(placed) = placed {
            self.placed(conversation, placed, event, changes);
        }
        if self.stale && changes.are_wanted() {
            self.rebuild(conversation);
            changes.set(path!["messages"], &write::List { messages: Cow::Borrowed(self), conversation });
        }
    }

    fn snapshot<'a>(&'a self, conversation: &'a Conversation) -> impl Serialize + 'a {
        write::Snapshot { messages: write::List { messages: self.fresh(conversation), conversation } }
    }
}
