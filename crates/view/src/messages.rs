//! `messages`: the conversation as a model's vendor wants it: user, assistant and tool messages, every call with
//! its result.
//!
//! Only the root conversation, or one run; what subagents and nodes of flows said among themselves is not part
//! of it. A choice of what is active changes which messages there are at all, so it sets the whole list anew, at
//! once for whoever follows the changes and else when the list is next read; everything else costs what it
//! changes. Start reading at [`Messages::apply`].

mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;

use antiphon_event::{Body, CallId, Event, Kind, RunId};
use antiphon_graph::hyper::Speaker;
use antiphon_graph::{Change, Conversation, Node, Place, Placed};
use serde::{Deserialize, Serialize};

use crate::slots::Weights;
use crate::{Changes, Projection, Step, path};

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
}

/// Whether a run is in scope, and why that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Member {
    inside: bool,
    /// Whether what caused it has not come.
    orphan: bool,
}

/// One message of the conversation: what was said, then what came of its calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Turn {
    message: Place,
    /// The blocks of what was said.
    said: Vec<Place>,
    /// The blocks of the calls, or of the code that was run.
    calls: Vec<Place>,
    /// How many messages of a user, and how many calls, are not discarded.
    counted: (usize, usize),
    /// Whether the model said anything that is not discarded.
    spoken: bool,
    /// Whether it ran code or has discarded calls, so that the n-th call need not be the n-th to be shown.
    uneven: bool,
}

impl Turn {
    /// Adds a block, if it is of a kind that messages show.
    fn add(&mut self, conversation: &Conversation, block: Place) {
        let node = conversation.block(block).and_then(|block| conversation.node(block.node));
        let kept = node.is_some_and(|node| !node.is_discarded());
        match node.map(Node::kind) {
            Some(kind @ (Kind::User | Kind::Text | Kind::Reasoning)) => {
                self.said.push(block);
                self.counted.0 += usize::from(kept && kind == Kind::User);
                self.spoken |= kept && kind != Kind::User;
            }
            Some(kind @ (Kind::ToolCall | Kind::ReplInput)) => {
                self.calls.push(block);
                self.counted.1 += usize::from(kept);
                self.uneven |= !kept || kind == Kind::ReplInput;
            }
            _ => {}
        }
    }

    /// How many messages it is.
    fn size(&self, conversation: &Conversation) -> usize {
        if conversation.message(self.message).is_some_and(|message| message.summary().is_some()) {
            return 1;
        }
        let (users, calls) = self.counted;
        users + usize::from(self.spoken || calls > 0) + calls
    }
}

impl Messages {
    /// The messages of one run only.
    pub fn of(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    fn placed(&mut self, conversation: &Conversation, placed: Placed, event: &Event, changes: &mut Changes) {
        if let Body::Reasoning(reasoning) = &event.body
            && let Some(signature) = &reasoning.signature
        {
            self.signatures.insert(placed.block, signature.clone());
        }
        let inside = self.enter_run(conversation, placed.node);
        let moved = placed.change == Change::Added && self.adopt(conversation, placed.node);
        if moved || event.kind() == Kind::ModelRetry {
            self.stale = true;
        }
        // What was placed is found anyway when the turns are put together.
        if !self.stale && (inside || self.turn_at(placed.message).is_some()) {
            self.take_in(conversation, placed, event, changes);
        }
    }

    /// Whether the run of a node is in scope.
    fn enter_run(&mut self, conversation: &Conversation, node: Place) -> bool {
        let Some(run) = conversation.node(node).map(Node::run_place) else {
            return false;
        };
        if self.runs.len() <= run as usize {
            self.runs.resize(run as usize + 1, None);
        }
        if self.runs[run as usize].is_none() {
            self.runs[run as usize] = Some(self.member(conversation, node));
        }
        self.runs[run as usize].is_some_and(|member| member.inside)
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
        let said = matches!(event.kind(), Kind::User | Kind::Text | Kind::Reasoning);
        let called = matches!(event.kind(), Kind::ToolCall | Kind::ReplInput);
        let answered = matches!(event.kind(), Kind::ToolResult | Kind::ReplOutput);
        if !(said || called || answered) {
            return;
        }
        let turn = match self.turn_at(placed.message) {
            Some(turn) => turn,
            None if conversation.is_active(placed.message) => self.open_turn(placed.message),
            None => return,
        };
        let before = self.sizes.of(turn as usize);
        if placed.new_block {
            self.turns[turn as usize].add(conversation, placed.block);
        }
        let start = self.sizes.before(turn as usize);
        let after = self.turns[turn as usize].size(conversation);
        self.sizes.set(turn as usize, after);
        if !changes.are_wanted() {
            return;
        }
        match &event.body {
            Body::Text(text) if before == after && !placed.new_block => {
                let kept = conversation.node(placed.node).is_some_and(|node| !node.is_discarded());
                if kept {
                    changes.append(path!["messages", start, "content"], &text.content);
                }
            }
            Body::ToolResult(result) if self.say_answer(conversation, &result.id, event, changes) => {}
            _ => self.say(conversation, turn, start, before, changes),
        }
    }

    /// Says what came of a call, which is all that a result changes; `false` if the turn must be said as a whole.
    fn say_answer(
        &self,
        conversation: &Conversation,
        call: &CallId,
        event: &Event,
        changes: &mut Changes,
    ) -> bool {
        let run = event.head.run_id.as_ref();
        let Some(call) = run.and_then(|run| conversation.resolve(run, call.as_str(), Kind::ToolCall)) else {
            return false;
        };
        let block = conversation.block_of(call);
        let message = block.and_then(|block| conversation.block(block)).map(|block| block.message);
        let Some((turn, block)) = message.and_then(|message| self.turn_at(message)).zip(block) else {
            return false;
        };
        let found = &self.turns[turn as usize];
        let (false, Ok(nth)) = (found.uneven, found.calls.binary_search(&block)) else {
            return false;
        };
        let at = self.sizes.before(turn as usize) + found.counted.0 + 1 + nth;
        changes.set(path!["messages", at], &write::answer(conversation, call));
        true
    }

    /// Says what a turn is now: those of its messages that were there are set, new ones put in.
    fn say(
        &self,
        conversation: &Conversation,
        turn: u32,
        start: usize,
        before: usize,
        changes: &mut Changes,
    ) {
        let messages = self.messages_of(&self.turns[turn as usize], conversation);
        for (nth, message) in messages.iter().enumerate() {
            let path = &[Step::from("messages"), Step::Index(start + nth)];
            if nth < before {
                changes.set(path, message);
            } else {
                changes.insert(path, message);
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
        self.stale = false;
        self.turns.clear();
        self.turn_of.clear();
        self.sizes = Weights::default();
        for message in conversation.walk_messages() {
            let Some(found) = conversation.message(message) else {
                continue;
            };
            let run = found.run.as_ref().and_then(|run| conversation.run_place(run.as_str()));
            let inside = found.speaker == Speaker::Summary || run.is_some_and(|run| self.is_inside(run));
            if inside {
                let turn = self.open_turn(message) as usize;
                let blocks = conversation.blocks_of(message);
                blocks.into_iter().for_each(|block| self.turns[turn].add(conversation, block));
                self.sizes.set(turn, self.turns[turn].size(conversation));
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
