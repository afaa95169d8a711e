//! [`Conversation`]: takes events in, one at a time, and grows the hypergraph.
//!
//! The flat graph says which node an event is part of; here the node gets its place in a block and a message.
//! Start reading at [`Conversation::apply`].

use std::collections::HashMap;
use std::sync::Arc;

use antiphon_event::body::session;
use antiphon_event::{Body, Event, Kind, MessageId, RunId};
use foldhash::fast::FixedState;

use super::answer::Answers;
use super::beside::Beside;
use super::stage::Stage;
use super::step::Step;
use super::{Block, Chunk, Hypergraph, Message, Speaker, is_content};
use crate::forest::Forest;
use crate::index::hash;
use crate::list::List;
use crate::node::NOWHERE;
use crate::{Change, Place, Reduced, Reducer};

/// The hypergraph under construction. Readers get a [`Hypergraph`] from [`Conversation::snapshot`].
#[derive(Debug, Default)]
pub struct Conversation {
    pub(super) reducer: Reducer,
    /// The tiers; its own flat graph is brought up to date only for a snapshot.
    pub(super) hyper: Hypergraph,
    /// Where each run stands, by the run's place in the flat graph.
    pub(super) steps: Vec<Step>,
    /// The steps of flow nodes that are open beside those.
    pub(super) beside: Beside,
    /// Which message is seen where.
    pub(super) stage: Stage,
    /// Summaries that wait for a source to come, by its id without `msg:`.
    pub(super) awaited: HashMap<Arc<str>, Vec<Place>, FixedState>,
    /// What was said about the sources of a summary that has not come, by its id without `msg:`.
    pub(super) early: HashMap<Arc<str>, Vec<String>, FixedState>,
    pub(super) forest: Forest,
    /// What belongs to which call.
    pub(super) answers: Answers,
    /// The next number for a message id that several messages asked for.
    pub(super) numbers: HashMap<Arc<str>, u32, FixedState>,
}

/// Where an event found its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The node of the flat graph.
    pub node: Place,
    /// The chunk; for an event that came again, the chunk whose place it took.
    pub chunk: Place,
    /// The block.
    pub block: Place,
    /// The message.
    pub message: Place,
    /// How it became part of its node.
    pub change: Change,
    /// Whether the block is new.
    pub new_block: bool,
    /// Whether the message is new.
    pub new_message: bool,
}

impl Conversation {
    /// The conversation as it is now. Takes the same short time however long it is; what comes later does not
    /// change it.
    pub fn snapshot(&self) -> Hypergraph {
        Hypergraph { graph: self.reducer.snapshot(), ..self.hyper.clone() }
    }

    /// Takes in one event. `None` if it has no place in the tiers: a session-level one, unknown, or a repeat.
    pub fn apply(&mut self, event: &Event) -> Option<Placed> {
        self.stage.begin();
        self.answers.begin();
        if !self.reducer.admit(event) {
            return None;
        }
        match &event.body {
            Body::Summary(summary) => self.summarize(summary, event),
            Body::HistoryCompacted(compacted) => self.compact(compacted),
            Body::ActiveChanged(changed) => self.choose(&changed.op, &changed.ids),
            _ => {}
        }
        let placed = self.reduce(event);
        self.stage.settle(&self.hyper);
        placed
    }

    fn reduce(&mut self, event: &Event) -> Option<Placed> {
        let reduced = self.reducer.reduce(event)?;
        let placed = match reduced.change {
            Change::Updated => self.replace(&reduced),
            Change::Added | Change::Appended { .. } => self.place(&reduced, event),
        };
        if reduced.change == Change::Added {
            self.link(reduced.place, event);
            self.link_adopted(reduced.place);
        }
        Some(placed)
    }

    /// An event that came again takes the place of its chunk.
    fn replace(&mut self, reduced: &Reduced) -> Placed {
        let block = self.hyper.block_of[reduced.place as usize];
        let Block { message, last_chunk, .. } = self.hyper.blocks[block as usize];
        let (node, chunk, change) = (reduced.place, last_chunk, reduced.change);
        Placed { node, chunk, block, message, change, new_block: false, new_message: false }
    }

    fn place(&mut self, reduced: &Reduced, event: &Event) -> Placed {
        let kind = event.kind();
        let node = reduced.place;
        let run = self.enter_run(node);
        let piece = self.piece(reduced);
        let call = self.called(event);
        let is_own = self.turn_to(run, reduced, event, call);
        let of_call =
            call.and_then(|call| self.block_of(call)).map(|call| self.hyper.blocks[call as usize].message);
        let (message, new_message) = match of_call {
            Some(message) => (message, false),
            None => self.message_for(run, node, event, is_own),
        };
        let step = &self.steps[run as usize];
        let known = self.block_of(node);
        let goes_on =
            known.filter(|block| *block == step.block && reduced.change != Change::Added && !new_message);
        let (block, new_block) = match goes_on {
            Some(block) => (block, false),
            None => (self.open_block(run, node, message, piece.0), true),
        };
        let chunk = self.add_chunk(block, piece);
        let step = &mut self.steps[run as usize];
        if is_content(kind) {
            step.block = block;
        }
        // A result whose call has not come answers nothing yet: the call is still part of this step.
        if is_own && (of_call.is_some() || !matches!(kind, Kind::ToolResult | Kind::ReplOutput)) {
            step.note(kind, message);
        }
        if kind == Kind::RunEnd || kind == Kind::HarnessEnd && event.head.node_id.is_none() {
            step.close();
            self.beside.close_all(run);
        }
        Placed { node, chunk, block, message, change: reduced.change, new_block, new_message }
    }

    /// Which bytes of its node's text an event brought.
    fn piece(&self, reduced: &Reduced) -> (u32, u32) {
        let text = self.reducer.graph().at(reduced.place).and_then(|node| node.text());
        let to = text.map_or(0, |text| text.len() as u32);
        match reduced.change {
            Change::Appended { from } => (from as u32, to),
            Change::Added | Change::Updated => (0, to),
        }
    }

    fn enter_run(&mut self, node: Place) -> u32 {
        let run = self.reducer.graph().at(node).map_or(0, |node| node.run_place);
        if self.steps.len() <= run as usize {
            self.steps.resize(run as usize + 1, Step::default());
        }
        run
    }

    /// The message an event belongs to that is about no call, opened if need be.
    fn message_for(&mut self, run: u32, node: Place, event: &Event, is_own: bool) -> (Place, bool) {
        let kind = event.kind();
        let step = &self.steps[run as usize];
        if !is_content(kind) {
            let open = if is_own { step.message } else { NOWHERE };
            return match (open, step.structural) {
                (NOWHERE, NOWHERE) => (self.open_message(run, node, Speaker::Structural, None), true),
                (NOWHERE, structural) => (structural, false),
                (open, _) => (open, false),
            };
        }
        let speaker = if kind == Kind::User { Speaker::User } else { Speaker::Assistant };
        match &event.head.message_id {
            None if step.begins(kind) => (self.open_message(run, node, speaker, None), true),
            None => (step.message, false),
            Some(id) => match self.own_message(run, node, speaker, id) {
                Some(message) => (message, false),
                None => (self.open_message(run, node, speaker, Some(id)), true),
            },
        }
    }

    /// The message of this run that an event names, whoever opened it.
    fn own_message(&mut self, run: u32, node: Place, speaker: Speaker, id: &MessageId) -> Option<Place> {
        let open = self.steps[run as usize].message;
        let own = |message: &Message| {
            let of_run = self.reducer.graph().at(node).map(|node| &node.run);
            message.speaker == speaker && message.run.as_ref() == of_run
        };
        // Most of what names a message goes on with the one that is open.
        let is_named = |message: &Message| message.id.as_str().strip_prefix("msg:") == Some(id.as_str());
        if self.hyper.message(open).is_some_and(|message| is_named(message) && own(message)) {
            return Some(open);
        }
        let wanted = format!("msg:{id}");
        // A step whose id was taken has another name, and is still the one that is meant while it is open.
        let is_open = |message: &Message| {
            message.id == *wanted
                || (self.numbers.contains_key(&*wanted)
                    && message.id.as_str().strip_prefix(&*wanted).is_some_and(|rest| rest.starts_with('~')))
        };
        if self.hyper.message(open).is_some_and(|message| is_open(message) && own(message)) {
            return Some(open);
        }
        let place = self.hyper.message_exact(&wanted)?;
        if !self.hyper.message(place).is_some_and(own) {
            return None;
        }
        if speaker == Speaker::Assistant {
            self.steps[run as usize].open(place);
        }
        Some(place)
    }

    fn open_message(&mut self, run: u32, node: Place, speaker: Speaker, id: Option<&MessageId>) -> Place {
        let graph = self.reducer.graph();
        let last = self.steps[run as usize].last;
        let (node_id, run_id) = match graph.at(node) {
            Some(node) => (node.id.clone(), Some(node.run.clone())),
            None => unreachable!("the node was added a moment ago"),
        };
        // What comes after a message of its run answers that one: with a single way to it, a circle is known at once.
        let parent = match last {
            NOWHERE => self.message_of_cause(run),
            last => last,
        };
        let id = match (id, speaker) {
            (Some(id), _) => format!("msg:{id}"),
            (None, Speaker::Structural) => {
                format!("msg:{}:structural", run_id.as_ref().map_or("", |run| run.as_str()))
            }
            (None, _) => format!("msg:{node_id}"),
        };
        let place = self.add_message(id, speaker, run_id, last);
        self.answer(place, parent);
        let step = &mut self.steps[run as usize];
        match speaker {
            Speaker::Structural => step.structural = place,
            Speaker::User | Speaker::Assistant | Speaker::Summary => step.open(place),
        }
        place
    }

    fn add_message(&mut self, id: String, speaker: Speaker, run: Option<RunId>, before: Place) -> Place {
        let id = self.free_id(id);
        let place = self.hyper.messages.len() as Place;
        self.hyper.message_ids.insert(hash(&id), place);
        self.forest.plant();
        self.hyper.messages.push(Message {
            id: id.into(),
            speaker,
            run,
            parent: NOWHERE,
            last_block: NOWHERE,
            before,
            replaced_by: NOWHERE,
            summary: None,
        });
        self.stage.add(place, speaker);
        self.adopt_source(place);
        place
    }

    /// Summaries that named a message before it came take it in.
    fn adopt_source(&mut self, message: Place) {
        if self.awaited.is_empty() {
            return;
        }
        let id = bare(self.hyper.messages[message as usize].id.as_str());
        for summary in self.awaited.remove(id).unwrap_or_default() {
            self.stage.take(&mut self.hyper, summary, message);
        }
    }

    /// The id, with `~2` and so on if it is taken.
    fn free_id(&mut self, id: String) -> Arc<str> {
        if self.hyper.message_exact(&id).is_none() {
            return id.into();
        }
        let id: Arc<str> = id.into();
        loop {
            let number = self.numbers.entry(Arc::clone(&id)).or_insert(2);
            let numbered = format!("{id}~{number}");
            *number += 1;
            if self.hyper.message_exact(&numbered).is_none() {
                return numbered.into();
            }
        }
    }

    /// The message that holds what caused a run.
    fn message_of_cause(&self, run: u32) -> Place {
        let graph = self.reducer.graph();
        let cause = graph.run(run).and_then(|run| graph.parent_of(run.first)).unwrap_or(NOWHERE);
        self.block_of(cause).map_or(NOWHERE, |block| self.hyper.blocks[block as usize].message)
    }

    /// Makes a message the answer to another, unless that would close a cycle.
    fn answer(&mut self, place: Place, parent: Place) {
        if parent != NOWHERE && !self.forest.together(parent, place) {
            self.forest.join(parent, place);
            self.hyper.messages[place as usize].parent = parent;
        }
    }

    /// A node that others waited for has come: their runs answer its message.
    fn link_adopted(&mut self, node: Place) {
        let children: Vec<_> = self.reducer.graph().children_of(node).collect();
        let parent = self.block_of(node).map_or(NOWHERE, |block| self.hyper.blocks[block as usize].message);
        for child in children {
            let run = self.reducer.graph().at(child).map_or(0, |child| child.run_place);
            let Some(Step { structural, first, .. }) = self.steps.get(run as usize) else {
                continue;
            };
            for message in [*structural, *first] {
                if self.hyper.message(message).is_some_and(|message| message.parent == NOWHERE) {
                    self.answer(message, parent);
                }
            }
        }
    }

    fn open_block(&mut self, run: u32, node: Place, message: Place, from: u32) -> Place {
        let place = self.hyper.blocks.len() as Place;
        let nth = self.number(node);
        let before = std::mem::replace(&mut self.hyper.messages[message as usize].last_block, place);
        let before_in_run = put(&mut self.hyper.last_block_of, run, place);
        let before_of_node = put(&mut self.hyper.block_of, node, place);
        self.hyper.blocks.push(Block {
            node,
            message,
            nth,
            from,
            to: from,
            last_chunk: NOWHERE,
            before,
            before_in_run,
            before_of_node,
            far_before: self.hyper.far_before(before_of_node),
        });
        place
    }

    /// Which block of its node the next one is. A node may be called what another node's later block would be:
    /// whoever came first has the name, and the other goes on to the next number.
    fn number(&self, node: Place) -> u32 {
        let graph = self.reducer.graph();
        let id = graph.at(node).map_or("", |node| node.id.as_str());
        let latest = |node| self.block_of(node).map(|block| self.hyper.blocks[block as usize].nth);
        let taken =
            |(stem, nth): (&str, u32)| graph.place(stem).and_then(latest).is_some_and(|used| nth <= used);
        let first = match latest(node) {
            Some(nth) => nth + 1,
            None if numbered(id).is_some_and(taken) => 2,
            None => return 1,
        };
        let free = |nth: &u32| graph.place(&format!("{id}~{nth}")).is_none();
        (first..).find(free).expect("nodes are finite, numbers are not")
    }

    fn add_chunk(&mut self, block: Place, (from, to): (u32, u32)) -> Place {
        let place = self.hyper.chunks.len() as Place;
        let holder = &mut self.hyper.blocks[block as usize];
        let before = std::mem::replace(&mut holder.last_chunk, place);
        holder.to = to;
        self.hyper.chunks.push(Chunk { block, before, from, to });
        place
    }

    /// A summary has come. One that comes again has its latest text, and keeps what it stood for.
    fn summarize(&mut self, summary: &session::Summary, event: &Event) {
        let id = format!("msg:{}", bare(&summary.id));
        let run = &event.head.run_id;
        let is_it = |message: &Message| message.summary.is_some() && message.run == *run;
        let known = self.hyper.message_exact(&id);
        let place = match known.filter(|place| self.hyper.message(*place).is_some_and(is_it)) {
            Some(place) => {
                self.stage.tell(place);
                place
            }
            None => self.add_message(id, Speaker::Summary, run.clone(), NOWHERE),
        };
        let message = &mut self.hyper.messages[place as usize];
        let told = Arc::make_mut(message.summary.get_or_insert_default());
        told.text = summary.content.as_str().into();
        let early = self.early.remove(bare(message.id.as_str())).unwrap_or_default();
        self.stand_for(place, summary.sources.iter().chain(&early));
    }

    /// A summary takes the place of more messages.
    fn compact(&mut self, compacted: &session::HistoryCompacted) {
        let Some(place) = self.hyper.message_place(&compacted.summary_id) else {
            let early = self.early.entry(bare(&compacted.summary_id).into()).or_default();
            early.extend(compacted.sources.iter().cloned());
            return;
        };
        if self.hyper.messages[place as usize].summary.is_some() {
            self.stand_for(place, &compacted.sources);
        }
    }

    /// Lets a summary take in messages, now or when they come.
    fn stand_for<'a>(&mut self, summary: Place, sources: impl IntoIterator<Item = &'a String>) {
        for id in sources {
            match self.hyper.message_place(id) {
                Some(source) => self.stage.take(&mut self.hyper, summary, source),
                None => self.awaited.entry(bare(id).into()).or_default().push(summary),
            }
        }
    }
}

/// The id of a message without what all of them begin with.
fn bare(id: &str) -> &str {
    id.strip_prefix("msg:").unwrap_or(id)
}

/// An id that ends like the name of a later block, taken apart.
pub(super) fn numbered(id: &str) -> Option<(&str, u32)> {
    let (stem, nth) = id.rsplit_once('~')?;
    Some((stem, nth.parse().ok()?))
}

/// Puts a place into a list that is as long as it need be; gives what was there.
pub(super) fn put(list: &mut List<Place>, at: u32, place: Place) -> Place {
    while list.len() <= at as usize {
        list.push(NOWHERE);
    }
    std::mem::replace(&mut list[at as usize], place)
}

impl Clone for Conversation {
    /// A conversation of its own: both may go on, each in its own way.
    fn clone(&self) -> Self {
        let mut hyper = self.hyper.clone();
        hyper.message_ids = hyper.message_ids.detached(hyper.messages.len() as u32);
        Self {
            reducer: self.reducer.clone(),
            hyper,
            steps: self.steps.clone(),
            beside: self.beside.clone(),
            stage: self.stage.clone(),
            awaited: self.awaited.clone(),
            early: self.early.clone(),
            forest: self.forest.clone(),
            answers: self.answers.clone(),
            numbers: self.numbers.clone(),
        }
    }
}
