//! `messages`: the conversation as a model's vendor wants it: user, assistant and tool messages, every call with
//! its result.
//!
//! Only the root conversation, or one run; what subagents and nodes of flows said among themselves is not part
//! of it. Every message of the conversation has a slot here, in which a turn stands if something is seen in it and is in
//! scope, so what comes and goes in the middle costs no more than at the end. Start reading at [`Messages::apply`].

mod id;
mod scope;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::{Body, Event, Kind};
use antiphon_graph::hyper::Summed;
use antiphon_graph::{Change, Conversation, DISCARDABLE, Node, Place, Placed};
use serde::{Deserialize, Serialize};

use self::id::Ids;
use self::scope::Member;
pub use self::scope::Scope;
pub use self::write::{Call, Content, Message, Thought};
use crate::slots::{Slots, Weights};
use crate::{Changes, Projection, path};

/// The conversation as messages for a model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Messages {
    scope: Scope,
    /// Whether each run, by its place, is in scope; nothing if it was not heard of yet.
    runs: Vec<Option<Member>>,
    /// The turn in the slot of each message of the conversation, if one is shown there.
    turns: Slots<Option<Box<Turn>>>,
    /// How many messages the turn in each slot is.
    sizes: Weights,
    /// The summaries that each run made, by the place of the run.
    summaries: BTreeMap<u32, Vec<Place>>,
    /// The code that is running in each run, by the place of the run.
    running: BTreeMap<u32, Place>,
    /// The calls that code made: the model made none of them.
    of_code: BTreeSet<Place>,
    /// The signature of each block of reasoning that has one.
    signatures: BTreeMap<Place, String>,
    /// What a retry discarded: nothing that comes of it later counts, so it need not be looked for again.
    #[serde(default)]
    void: BTreeSet<Place>,
    /// In how many slots all is as it was when somebody last asked for [news](Self::news).
    #[serde(skip)]
    kept: usize,
    ids: Ids,
}

/// One message of the conversation: what was said, then what came of its calls. Only what counts is in it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Turn {
    message: Place,
    /// The blocks of what was said.
    said: Vec<Place>,
    /// The blocks of the calls that the model made.
    calls: Vec<Place>,
    /// The blocks of the code that was run.
    codes: Vec<Place>,
    users: usize,
    texts: usize,
    thoughts: usize,
    is_summary: bool,
}

impl Turn {
    /// How many messages it is.
    fn size(&self) -> usize {
        if self.is_summary {
            return 1;
        }
        self.users + self.codes_start() + self.codes.len()
    }

    /// How many messages of it stand between those of users and what code printed: a call is followed by its result.
    fn codes_start(&self) -> usize {
        usize::from(self.has_assistant()) + self.calls.len()
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
            _ => {}
        }
        match kind {
            Kind::ToolCall => self.calls.push(block),
            Kind::ReplInput => self.codes.push(block),
            _ => self.said.push(block),
        }
    }

    /// Takes out blocks that do not count any more; `false` if none of them did. What stands before the first of them is not
    /// looked at.
    fn take_back(&mut self, blocks: &BTreeMap<Place, Kind>) -> bool {
        let Some((first, _)) = blocks.first_key_value() else {
            return false;
        };
        let mut found = false;
        for list in [&mut self.said, &mut self.calls, &mut self.codes] {
            let from = list.partition_point(|block| block < first);
            for block in list.extract_if(from.., |block| blocks.contains_key(block)) {
                found = true;
                match blocks[&block] {
                    Kind::Text => self.texts -= 1,
                    Kind::Reasoning => self.thoughts -= 1,
                    _ => {}
                }
            }
        }
        found
    }
}

impl Messages {
    /// The messages of one run only.
    pub fn of(scope: Scope) -> Self {
        Self { scope, ..Self::default() }
    }

    /// The messages, the oldest first.
    pub fn list(&self, conversation: &Conversation) -> Vec<Message> {
        self.said_by_turn(conversation, 0).flatten().collect()
    }

    /// The same by message of the conversation, with its id.
    pub fn turns(&self, conversation: &Conversation) -> Vec<(String, Vec<Message>)> {
        let ids =
            self.turns.shown().flatten().map(|turn| conversation.message(turn.message).map(|it| it.id()));
        let turns = ids.zip(self.said_by_turn(conversation, 0));
        let said = turns.filter_map(|(id, list)| Some((id?.to_string(), list)));
        said.filter(|(_, list)| !list.is_empty()).collect()
    }

    /// What is new to the one who asks and has so many turns from when they last did: how many of those are as they
    /// were, and the messages of each turn after them. It costs what is new and what stands after that.
    pub fn news(&mut self, conversation: &Conversation, known: usize) -> (usize, Vec<Vec<Message>>) {
        let kept = std::mem::replace(&mut self.kept, self.turns.len());
        let kept = self.turns.rank(kept).min(known);
        (kept, self.said_by_turn(conversation, kept).collect())
    }

    /// The messages of each turn but for so many at the beginning.
    fn said_by_turn(&self, conversation: &Conversation, from: usize) -> impl Iterator<Item = Vec<Message>> {
        let turns = self.turns.shown_from(from).flatten();
        turns.map(move |turn| write::Say { messages: self, conversation, turn }.all())
    }

    /// What is in a slot is not as it was.
    fn touch(&mut self, slot: Place) {
        self.kept = self.kept.min(slot as usize);
    }

    fn placed(&mut self, conversation: &Conversation, placed: Placed, event: &Event, changes: &mut Changes) {
        if let Body::Reasoning(reasoning) = &event.body
            && let Some(signature) = &reasoning.signature
        {
            self.signatures.insert(placed.block, signature.clone());
        }
        self.follow_code(conversation, placed, event.kind());
        if placed.change == Change::Added && !self.of_code.contains(&placed.node) {
            self.ids.note(conversation, placed);
        }
        if placed.change == Change::Added {
            let moved = self.adopt(conversation, placed.node);
            let slots: Vec<_> = moved.into_iter().flat_map(|run| self.slots_of(conversation, run)).collect();
            self.refresh(conversation, &slots, changes);
        }
        if let Some(call) = conversation.freed_call() {
            self.answered(conversation, call, changes);
        }
        self.take_in(conversation, placed, event, changes);
        if let Body::ModelRetry(retry) = &event.body {
            self.discard(conversation, event, &retry.discards, changes);
        }
    }

    /// Notes which code runs, and what it calls: a call that is made while code of its run is running is the code's.
    fn follow_code(&mut self, conversation: &Conversation, placed: Placed, kind: Kind) {
        if kind == Kind::ReplOutput {
            if let Some(code) = conversation.call_of(placed.node) {
                self.stop(conversation, code);
            }
            return;
        }
        let run = conversation.node(placed.node).map(Node::run_place);
        let Some(run) = run.filter(|_| placed.change == Change::Added) else {
            return;
        };
        match kind {
            Kind::ReplInput => _ = self.running.insert(run, placed.node),
            // A model that speaks has been told what its code came to.
            Kind::Text | Kind::Reasoning => _ = self.running.remove(&run),
            Kind::ToolCall if self.running.contains_key(&run) => _ = self.of_code.insert(placed.node),
            _ => {}
        }
    }

    /// Code that is over, or does not count any more, calls nothing.
    fn stop(&mut self, conversation: &Conversation, code: Place) {
        let run = conversation.node(code).map(Node::run_place);
        if let Some(run) = run.filter(|run| self.running.get(run) == Some(&code)) {
            self.running.remove(&run);
        }
    }

    /// The turn in a slot.
    fn turn_in(&self, slot: Place) -> Option<&Turn> {
        if slot as usize >= self.turns.len() {
            return None;
        }
        self.turns.get(slot as usize).as_deref()
    }

    /// The turn of a message, if it is shown; none of a summary has blocks, so nobody asks for its turn.
    fn turn_of(&self, message: Place) -> Option<&Turn> {
        self.turn_in(message).filter(|turn| turn.message == message)
    }

    /// One more thing that was said, called or answered.
    fn take_in(&mut self, conversation: &Conversation, placed: Placed, event: &Event, changes: &mut Changes) {
        let (kind, message) = (event.kind(), placed.message);
        // What came of a call is told with the call, wherever it was said itself.
        if let Some(call) = conversation.call_of(placed.node).filter(|_| is_result(kind)) {
            self.answered(conversation, call, changes);
        }
        // A turn stands where its message began, with whatever it began.
        if self.turn_of(message).is_none() {
            let is_seen = conversation.seen_in(message) == Some(message);
            if !is_seen || !self.is_in_scope(conversation, message) {
                return;
            }
            self.open_turn(message, message);
        }
        let discarded = conversation.node(placed.node).is_none_or(Node::is_discarded);
        if discarded || !matters(kind) || self.of_code.contains(&placed.node) {
            return;
        }
        self.touch(message);
        if is_result(kind) {
            return;
        }
        if placed.new_block {
            self.change(message, |turn| turn.push(placed.block, kind));
            self.said(conversation, message, kind, changes);
        } else {
            self.grown(conversation, placed, event, changes);
        }
    }

    /// Changes the turn in a slot.
    fn change(&mut self, slot: Place, change: impl FnOnce(&mut Turn)) {
        if let Some(turn) = self.turns.get_mut(slot as usize) {
            change(turn);
            self.sizes.set(slot as usize, turn.size());
        }
    }

    /// Says that there is one more block of something.
    fn said(&self, conversation: &Conversation, message: Place, kind: Kind, changes: &mut Changes) {
        let Some(turn) = self.turn_of(message).filter(|_| changes.are_wanted()) else {
            return;
        };
        let start = self.sizes.before(message as usize);
        let spoken = start + turn.users;
        let say = write::Say { messages: self, conversation, turn };
        match kind {
            Kind::User => {
                changes.insert(path!["messages", start + turn.users - 1], &say.last_user());
                return;
            }
            Kind::ReplInput => {
                let nth = turn.codes.len() - 1;
                changes.insert(path!["messages", spoken + turn.codes_start() + nth], &say.printed(nth));
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
            Kind::ToolCall if turn.calls.len() == 1 => {
                changes.set(path!["messages", spoken, "tool_calls"], &[say.call(turn.calls.len() - 1)]);
            }
            Kind::ToolCall => {
                changes.append(path!["messages", spoken, "tool_calls"], &say.call(turn.calls.len() - 1));
            }
            _ => {}
        }
        if kind == Kind::ToolCall {
            let nth = turn.calls.len() - 1;
            changes.insert(path!["messages", spoken + 1 + nth], &say.answer(nth));
        }
    }

    /// Says that a block has grown, or that a call came again.
    fn grown(&self, conversation: &Conversation, placed: Placed, event: &Event, changes: &mut Changes) {
        let Some(turn) = self.turn_of(placed.message).filter(|_| changes.are_wanted()) else {
            return;
        };
        let spoken = self.sizes.before(placed.message as usize) + turn.users;
        match &event.body {
            Body::Text(text) => changes.append(path!["messages", spoken, "content"], &text.content),
            Body::Reasoning(reasoning) => {
                let thought = path!["messages", spoken, "reasoning", turn.thoughts - 1];
                changes.append(&[thought, path!["text"]].concat(), &reasoning.content);
                if let Some(signature) = &reasoning.signature {
                    changes.set(&[thought, path!["signature"]].concat(), signature);
                }
            }
            Body::ToolCall(_) => {
                let say = write::Say { messages: self, conversation, turn };
                let Ok(nth) = turn.calls.binary_search(&placed.block) else {
                    return;
                };
                changes.set(path!["messages", spoken, "tool_calls", nth], &say.call(nth));
                changes.set(path!["messages", spoken + 1 + nth], &say.answer(nth));
            }
            _ => {}
        }
    }

    /// Says what came of a call, or that nothing has as yet.
    fn answered(&mut self, conversation: &Conversation, call: Place, changes: &mut Changes) {
        let Some(place) = conversation.block_of(call) else {
            return;
        };
        let Some(message) = conversation.block(place).map(|block| block.message) else {
            return;
        };
        self.touch(message);
        let Some(turn) = self.turn_of(message).filter(|_| changes.are_wanted()) else {
            return;
        };
        let spoken = self.sizes.before(message as usize) + turn.users;
        let say = write::Say { messages: self, conversation, turn };
        if let Ok(nth) = turn.calls.binary_search(&place) {
            changes.set(path!["messages", spoken + 1 + nth], &say.answer(nth));
        } else if let Ok(nth) = turn.codes.binary_search(&place) {
            changes.set(path!["messages", spoken + turn.codes_start() + nth], &say.printed(nth));
        }
    }

    /// Takes out what a repeated model call made void.
    fn discard(&mut self, conversation: &Conversation, event: &Event, ids: &[String], changes: &mut Changes) {
        let Some(run) = &event.head.run_id else {
            return;
        };
        let nodes =
            ids.iter().flat_map(|id| DISCARDABLE.iter().filter_map(|kind| conversation.own(run, id, *kind)));
        let nodes: Vec<_> = nodes.filter(|node| self.void.insert(*node)).collect();
        let mut gone: BTreeMap<Place, BTreeMap<Place, Kind>> = BTreeMap::new();
        for node in nodes {
            self.ids.forget(conversation, node);
            self.stop(conversation, node);
            for place in conversation.blocks_of_node(node) {
                if let (Some(block), Some(node)) = (conversation.block(place), conversation.node(node)) {
                    gone.entry(block.message).or_default().insert(place, node.kind());
                }
            }
        }
        for (message, blocks) in gone {
            self.take_back(conversation, message, &blocks, changes);
        }
    }

    /// Takes blocks out of the turn of a message, and says what is left of it anew.
    fn take_back(
        &mut self,
        conversation: &Conversation,
        message: Place,
        blocks: &BTreeMap<Place, Kind>,
        changes: &mut Changes,
    ) {
        if self.turn_of(message).is_none() {
            return;
        }
        let before = self.sizes.of(message as usize);
        let mut found = false;
        self.change(message, |turn| found = turn.take_back(blocks));
        if found {
            self.touch(message);
            self.say_anew(conversation, message, before, changes);
        }
    }

    /// Says what a summary is now.
    fn told(&mut self, conversation: &Conversation, summary: Place, changes: &mut Changes) {
        let slot = conversation.seen_at(summary);
        let Some(slot) = slot.filter(|slot| self.turn_in(*slot).is_some_and(|turn| turn.message == summary))
        else {
            return;
        };
        self.touch(slot);
        if let Some(turn) = self.turn_in(slot).filter(|_| changes.are_wanted()) {
            let said = write::Say { messages: self, conversation, turn }.all();
            changes.set(path!["messages", self.sizes.before(slot as usize)], &said[0]);
        }
    }

    /// Brings slots up to date: what must go goes first, then what must come comes.
    fn refresh(&mut self, conversation: &Conversation, slots: &[Place], changes: &mut Changes) {
        let mut coming = Vec::new();
        for slot in slots {
            let seen = conversation.seen_in(*slot);
            let wanted = seen.filter(|message| self.is_in_scope(conversation, *message));
            let now = self.turn_in(*slot).map(|turn| turn.message);
            if now != wanted {
                self.take_out(*slot, changes);
                coming.extend(wanted.map(|message| (*slot, message)));
            }
        }
        for (slot, message) in coming {
            self.bring_in(conversation, slot, message, changes);
        }
    }

    /// Takes a turn out of its slot.
    fn take_out(&mut self, slot: Place, changes: &mut Changes) {
        if self.turn_in(slot).is_none() {
            return;
        }
        self.touch(slot);
        if changes.are_wanted() {
            let start = self.sizes.before(slot as usize);
            (0..self.sizes.of(slot as usize)).for_each(|_| changes.remove(path!["messages", start]));
        }
        *self.turns.get_mut(slot as usize) = None;
        self.turns.show(slot as usize, false);
        self.sizes.set(slot as usize, 0);
    }

    /// Puts a message into a slot that is empty, with all that was said in it.
    fn bring_in(&mut self, conversation: &Conversation, slot: Place, message: Place, changes: &mut Changes) {
        self.open_turn(slot, message);
        self.fill(conversation, slot);
        self.say_anew(conversation, slot, 0, changes);
    }

    /// Says all that is in a slot, in the place of so many messages as were there before.
    fn say_anew(&self, conversation: &Conversation, slot: Place, before: usize, changes: &mut Changes) {
        let Some(turn) = self.turn_in(slot).filter(|_| changes.are_wanted()) else {
            return;
        };
        let start = self.sizes.before(slot as usize);
        (0..before).for_each(|_| changes.remove(path!["messages", start]));
        let said = write::Say { messages: self, conversation, turn }.all();
        for (nth, message) in said.iter().enumerate() {
            changes.insert(path!["messages", start + nth], message);
        }
    }

    fn open_turn(&mut self, slot: Place, message: Place) {
        while self.turns.len() <= slot as usize {
            self.turns.push(None, false);
            self.sizes.push(0);
        }
        *self.turns.get_mut(slot as usize) = Some(Box::new(Turn { message, ..Turn::default() }));
        self.turns.show(slot as usize, true);
        self.touch(slot);
    }

    /// Puts into the turn of a slot what was said in its message.
    fn fill(&mut self, conversation: &Conversation, slot: Place) {
        let Some(message) = self.turn_in(slot).map(|turn| turn.message) else {
            return;
        };
        let is_summary = conversation.message(message).is_some_and(|message| message.summary().is_some());
        let blocks = conversation.blocks_of(message).into_iter().filter_map(|place| {
            let block = conversation.block(place).filter(|block| !self.of_code.contains(&block.node))?;
            let node = conversation.node(block.node).filter(|node| !node.is_discarded())?;
            let is_said = matters(node.kind()) && !is_result(node.kind());
            is_said.then_some((place, node.kind()))
        });
        let blocks: Vec<_> = blocks.collect();
        self.change(slot, |turn| {
            turn.is_summary = is_summary;
            for (block, kind) in blocks {
                turn.push(block, kind);
            }
        });
    }
}

/// Whether such an event says what came of a call or of code.
fn is_result(kind: Kind) -> bool {
    matches!(kind, Kind::ToolResult | Kind::ReplOutput)
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
        if let Some(placed) = placed {
            self.enter_run(conversation, placed.node);
        }
        for summed in conversation.summed() {
            if let Summed::New { summary } = *summed {
                self.note_summary(conversation, summary);
            }
        }
        self.refresh(conversation, conversation.shifted(), changes);
        for summed in conversation.summed() {
            if let Summed::Told { summary } = *summed {
                self.told(conversation, summary, changes);
            }
        }
        if let Some(placed) = placed {
            self.placed(conversation, placed, event, changes);
        }
    }

    fn snapshot<'a>(&'a self, conversation: &'a Conversation) -> impl Serialize + 'a {
        write::Snapshot { messages: write::List { messages: self, conversation } }
    }
}
