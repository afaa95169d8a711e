//! [`Reducer`]: takes events in, one at a time, and grows the graph.
//!
//! The graph only ever grows: an event adds a node, or adds to the text of one, or brings one up to date.
//! Start reading at [`Reducer::apply`].

use std::collections::HashMap;
use std::sync::Arc;

use antiphon_event::body::content::{Reasoning, Text as Piece};
use antiphon_event::{Body, Event, Extra, Kind, NodeId, RunId, Seen};
use foldhash::fast::FixedState;

use crate::count::Counts;
use crate::forest::Forest;
use crate::graph::Run;
use crate::index::hash;
use crate::name::{Naming, named, naming};
use crate::node::{Children, Linked, NOWHERE, Rest};
use crate::{Graph, Node, Text};

/// The place of a node in the order they came, from 0.
pub type Place = u32;

/// What a model said or asked for, so that a repeated model call may discard it.
pub const DISCARDABLE: [Kind; 4] = [Kind::Text, Kind::Reasoning, Kind::ToolCall, Kind::ReplInput];

/// How many members that this version does not know the pieces of a stream may add up to: each piece costs the same.
const EXTRA_MAX: usize = 64;

/// The graph under construction. Readers get a [`Graph`] from [`Reducer::snapshot`].
#[derive(Debug, Default)]
pub struct Reducer {
    pub(crate) graph: Graph,
    pub(crate) seen: Seen,
    pub(crate) forest: Forest,
    /// Nodes that could not have the id they were given, by what they asked for.
    pub(crate) renamed: HashMap<(u32, Kind, Arc<str>), Place, FixedState>,
    /// The run of the latest event: most events are of the same run as the one before.
    pub(crate) latest_run: u32,
    /// How far each run has come.
    pub(crate) paces: Vec<Pace>,
    /// How many nodes of each type that are numbered each run has.
    pub(crate) counts: Vec<Counts>,
    /// Where names are put together.
    pub(crate) words: String,
}

/// How far a run has come. Small, as it is looked at with every event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pace {
    /// The run whose event came after one of this run, when that last happened: runs that take turns mostly do so
    /// in the same order.
    pub(crate) next: u32,
    /// Whether its last node is a stream, to which more may come.
    pub(crate) is_streaming: bool,
}

/// What an event did to the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduced {
    /// The node it is now part of.
    pub place: Place,
    /// How.
    pub change: Change,
}

/// How an event became part of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is a new node.
    Added,
    /// It was added to the end of a stream, whose length had been `from` bytes.
    Appended {
        /// Where its piece begins.
        from: usize,
    },
    /// It took the place of an earlier form of itself.
    Updated,
}

impl Reducer {
    /// The graph as it is now. Takes the same short time however large it is; what comes later does not
    /// change it.
    pub fn snapshot(&self) -> Graph {
        self.graph.clone()
    }

    /// The graph as it is now, for as long as nothing is applied.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Takes in one event. `None` if it is no part of the graph: session-level, unknown, or a repeat.
    pub fn apply(&mut self, event: &Event) -> Option<Reduced> {
        if self.admit(event) { self.reduce(event) } else { None }
    }

    /// Whether an event is to be taken in: of a type this version knows, and no repeat.
    pub(crate) fn admit(&mut self, event: &Event) -> bool {
        event.kind() != Kind::Unknown && self.seen.admit(event)
    }

    /// Takes in an event that was admitted.
    pub(crate) fn reduce(&mut self, event: &Event) -> Option<Reduced> {
        let run = event.head.run_id.as_ref()?;
        let reduced = match self.continued(run, event) {
            Some(reduced) => reduced,
            None => self.find_or_add(run, event),
        };
        if let Body::ModelRetry(retry) = &event.body {
            self.discard(run, &retry.discards);
        }
        Some(reduced)
    }

    /// The short way for most events: one more piece of the stream that its run is in the middle of.
    fn continued(&mut self, run: &RunId, event: &Event) -> Option<Reduced> {
        let (id, piece) = match &event.body {
            Body::Text(text) => (text.id.as_str(), &text.content),
            Body::Reasoning(reasoning) => (reasoning.id.as_str(), &reasoning.content),
            _ => return None,
        };
        let run_place = self.known_run(run)?;
        // A node that is no stream need not be looked at: with many runs it is far away.
        if !self.paces.get(run_place as usize)?.is_streaming {
            return None;
        }
        let last = self.graph.run(run_place)?.last;
        let node = self.graph.at(last)?;
        if node.kind() != event.kind() || node.id != *id {
            return None;
        }
        Some(self.append(last, piece, event))
    }

    fn known_run(&mut self, run: &RunId) -> Option<u32> {
        let is = |place: u32| self.graph.run(place).is_some_and(|known| known.id == *run);
        if is(self.latest_run) {
            return Some(self.latest_run);
        }
        let next = self.paces.get(self.latest_run as usize)?.next;
        let place = if is(next) { next } else { self.graph.run_place(run.as_str())? };
        self.turn_to(place);
        Some(place)
    }

    fn turn_to(&mut self, run_place: u32) {
        if let Some(pace) = self.paces.get_mut(self.latest_run as usize) {
            pace.next = run_place;
        }
        self.latest_run = run_place;
    }

    fn find_or_add(&mut self, run: &RunId, event: &Event) -> Reduced {
        let run_place = self.known_run(run);
        let kind = event.kind();
        let number = match naming(event, &mut self.words) {
            Naming::Given(id) => return self.given(run, run_place, id, event),
            Naming::Once => {
                let id = named(run, kind, None, &mut self.words);
                return self.given(run, run_place, id, event);
            }
            Naming::Repeated => Some(self.next_number(run_place, kind)).filter(|number| *number > 1),
            Naming::Counted => Some(self.next_number(run_place, kind)),
        };
        let id = named(run, kind, number, &mut self.words);
        let key = hash(&id);
        let (id, key) = match self.graph.place_hashed(&id, key) {
            None => (id, key),
            Some(_) => self.free(run, &id),
        };
        let place = self.add(run, run_place, id, key, event);
        self.counts[self.latest_run as usize].count(kind);
        Reduced { place, change: Change::Added }
    }

    /// An event that carries its id, or can have only one: the same id, run and type are the same node.
    fn given(&mut self, run: &RunId, run_place: Option<u32>, asked: Arc<str>, event: &Event) -> Reduced {
        let kind = event.kind();
        let key = hash(&asked);
        let ((id, key), taken) = match self.graph.place_hashed(&asked, key) {
            None => ((asked, key), None),
            Some(place) if self.is(place, run, kind) => return self.update(place, event),
            Some(_) => {
                if let Some(run_place) = run_place
                    && let Some(place) = self.renamed.get(&(run_place, kind, Arc::clone(&asked)))
                {
                    return self.update(*place, event);
                }
                (self.free(run, &asked), Some(asked))
            }
        };
        let place = self.add(run, run_place, id, key, event);
        if let Some(asked) = taken {
            let run_place = self.graph.nodes[place as usize].node.run_place;
            self.renamed.insert((run_place, kind, asked), place);
        }
        Reduced { place, change: Change::Added }
    }

    /// The node of this type that a run means by an id: its own, or else anybody's.
    pub(crate) fn resolve(&self, run: &RunId, id: &str, kind: Kind) -> Option<Place> {
        let anybodys = || {
            self.graph.place(id).filter(|place| self.graph.at(*place).is_some_and(|node| node.kind() == kind))
        };
        self.own(run, id, kind).or_else(anybodys)
    }

    /// The node of this type that a run has under an id, whatever it is called.
    pub(crate) fn own(&self, run: &RunId, id: &str, kind: Kind) -> Option<Place> {
        let place = self.graph.place(id)?;
        if self.is(place, run, kind) {
            return Some(place);
        }
        if !self.renamed.is_empty()
            && let Some(run_place) = self.graph.run_place(run.as_str())
            && let Some(own) = self.renamed.get(&(run_place, kind, id.into()))
        {
            return Some(*own);
        }
        None
    }

    fn is(&self, place: Place, run: &RunId, kind: Kind) -> bool {
        self.graph.at(place).is_some_and(|node| node.run == *run && node.kind() == kind)
    }

    /// Another id for a node whose own is taken, made of the run and that id; and its hash.
    fn free(&self, run: &RunId, taken: &str) -> (Arc<str>, u32) {
        let own = format!("{run}/{taken}");
        let others = (2_u32..).map(|n| format!("{own}~{n}"));
        let id = std::iter::once(own.clone()).chain(others).find(|id| self.graph.place(id).is_none());
        let id = id.expect("ids are finite, numbers are not");
        let key = hash(&id);
        (id.into(), key)
    }

    fn next_number(&self, run_place: Option<u32>, kind: Kind) -> u32 {
        let counts = run_place.and_then(|place| self.counts.get(place as usize));
        counts.map_or(1, |counts| counts.of(kind) + 1)
    }

    /// Adds to a stream, or puts the latest form in place; never an edge.
    fn update(&mut self, place: Place, event: &Event) -> Reduced {
        match &event.body {
            Body::Text(text) => self.append(place, &text.content, event),
            Body::Reasoning(reasoning) => self.append(place, &reasoning.content, event),
            Body::ReplProgress(progress) => self.append(place, &progress.chunk, event),
            body => {
                let node = self.graph.nodes[place as usize].node_mut();
                let mut latest = body.clone();
                if let (Body::ToolCall(call), Body::ToolCall(earlier)) = (&mut latest, node.body()) {
                    // What a call is was said when it was proposed, and need not be said again when it runs.
                    call.call_type = call.call_type.take().or_else(|| earlier.call_type.clone());
                    call.harness = call.harness.take().or_else(|| earlier.harness.clone());
                }
                (node.body, node.text) = (latest, None);
                node.set_extra(&event.extra);
                Reduced { place, change: Change::Updated }
            }
        }
    }

    fn append(&mut self, place: Place, piece: &str, event: &Event) -> Reduced {
        let node = self.graph.nodes[place as usize].node_mut();
        let text = node.text.as_mut().expect("only streams are added to");
        let from = text.len();
        text.push_str(piece);
        if !event.extra.is_empty() {
            renew(&mut node.rest.get_or_insert_default().extra, &event.extra);
        }
        if let (Body::Reasoning(reasoning), Body::Reasoning(first)) = (&event.body, &mut node.body)
            && reasoning.signature.is_some()
        {
            first.signature.clone_from(&reasoning.signature);
        }
        Reduced { place, change: Change::Appended { from } }
    }

    /// Adds a node; `key` is the hash of its id.
    fn add(&mut self, run: &RunId, run_place: Option<u32>, id: Arc<str>, key: u32, event: &Event) -> Place {
        let place = self.graph.nodes.len() as Place;
        let id = NodeId::from(id);
        let cause = match run_place.and_then(|run_place| self.graph.run(run_place)) {
            Some(run) => Cause::Node(run.last),
            None => self.cause(run, &id, event),
        };
        let adopted = self.adopt(place, &id, run_place.is_none().then_some(run));
        let (parent, awaited) = match cause {
            // The awaited children were there first, so an edge that would lead back to them is the later one.
            Cause::Node(from) if !self.is_under(from, &adopted) => (from, None),
            Cause::Awaited(parent) => (NOWHERE, Some(parent)),
            Cause::Node(_) | Cause::None => (NOWHERE, None),
        };
        if parent == NOWHERE {
            self.forest.plant();
        } else {
            self.forest.plant_under(parent);
            self.graph.nodes[parent as usize].children.push(place);
        }
        if !adopted.is_empty() {
            adopted.iter().for_each(|child| self.forest.join(place, child));
        }
        if let Some(parent) = awaited {
            self.await_parent(parent, place);
        }
        self.graph.ids.insert(key, place);
        let (run_place, before) = self.enter_run(run, run_place, place);
        let (body, text) = content(&event.body);
        self.paces[run_place as usize].is_streaming = text.is_some();
        let rest = Rest {
            extra: event.extra.clone(),
            parent_id: if before == NOWHERE { event.head.parent_id.clone() } else { None },
            flow_node: event.head.node_id.clone(),
        };
        let node = triomphe::Arc::new(Node {
            id,
            run: run.clone(),
            run_place,
            body,
            text,
            rest: rest.boxed(),
            discarded: false,
        });
        self.graph.nodes.push(Linked { node, parent, before, children: adopted });
        place
    }

    /// Whether a node is in the tree of one of these.
    fn is_under(&mut self, node: Place, roots: &Children) -> bool {
        !roots.is_empty() && roots.iter().any(|root| self.forest.together(node, root))
    }

    /// What the first node of a run hangs from.
    fn cause(&self, run: &RunId, id: &NodeId, event: &Event) -> Cause {
        let Some(parent) = &event.head.parent_id else {
            return Cause::None;
        };
        if let Some(place) = self.graph.place(parent.as_str()) {
            return Cause::Node(place);
        }
        if let Some(run) = self.graph.run_place(parent.as_str()).and_then(|place| self.graph.run(place)) {
            return Cause::Node(run.last);
        }
        if parent.as_str() == run.as_str() || parent.as_str() == id.as_str() {
            return Cause::None;
        }
        Cause::Awaited(parent.shared().into())
    }

    fn await_parent(&mut self, parent: NodeId, child: Place) {
        let mut children = self.graph.awaited.remove(&parent).unwrap_or_default();
        if let Some(sibling) = children.iter().next() {
            self.forest.join(sibling, child);
        }
        children.push(child);
        self.graph.awaited.insert(parent, children);
    }

    /// Takes over the children that waited for this node, or for its run if this is the first of it.
    fn adopt(&mut self, place: Place, id: &NodeId, first_of: Option<&RunId>) -> Children {
        if self.graph.awaited.is_empty() {
            return Children::None;
        }
        let of_node = self.graph.awaited.remove(id);
        let of_run = first_of.and_then(|run| self.graph.awaited.remove(run.as_str()));
        let children: Children = of_node.iter().chain(&of_run).flat_map(|children| children.iter()).collect();
        for child in children.iter() {
            self.graph.nodes[child as usize].parent = place;
        }
        children
    }

    /// Makes a node the last of its run; gives the run's place and the node before.
    fn enter_run(&mut self, run: &RunId, run_place: Option<u32>, place: Place) -> (u32, Place) {
        if let Some(run_place) = run_place {
            let run = &mut self.graph.runs[run_place as usize];
            return (run_place, std::mem::replace(&mut run.last, place));
        }
        let run_place = self.graph.runs.len() as u32;
        self.graph.run_ids.insert(hash(run.as_str()), run_place);
        self.graph.runs.push(Run { id: run.clone(), first: place, last: place });
        self.paces.push(Pace { next: run_place, is_streaming: false });
        self.counts.push(Counts::default());
        self.turn_to(run_place);
        (run_place, NOWHERE)
    }

    fn discard(&mut self, run: &RunId, ids: &[String]) {
        for id in ids {
            for kind in DISCARDABLE {
                if let Some(place) = self.own(run, id, kind) {
                    self.graph.nodes[place as usize].node_mut().discarded = true;
                }
            }
        }
    }
}

/// What a new node hangs from.
enum Cause {
    Node(Place),
    /// A parent that has not come yet.
    Awaited(NodeId),
    None,
}

/// What a new node holds; a stream keeps its text apart from its other members.
fn content(body: &Body) -> (Body, Option<Box<Text>>) {
    // The text is copied once, to where it grows: a stream's members are made without it.
    let (members, piece) = match body {
        Body::Text(text) => {
            let Piece { id, provenance, content } = text;
            let (id, provenance) = (id.clone(), provenance.clone());
            (Body::Text(Piece { id, provenance, content: String::new() }), content)
        }
        Body::Reasoning(reasoning) => {
            let Reasoning { id, signature, provenance, content } = reasoning;
            let (id, signature, provenance) = (id.clone(), signature.clone(), provenance.clone());
            (Body::Reasoning(Reasoning { id, signature, provenance, content: String::new() }), content)
        }
        Body::ReplProgress(progress) => {
            let mut members = progress.clone();
            members.chunk = String::new();
            (Body::ReplProgress(members), &progress.chunk)
        }
        body => return (body.clone(), None),
    };
    (members, Some(Box::new(Text::from(piece.as_str()))))
}

/// Takes in the members that a piece of a stream has and nobody knows.
#[cold]
fn renew(extra: &mut Extra, latest: &Extra) {
    for (name, value) in latest {
        match extra.iter().position(|(known, _)| known == name) {
            Some(at) => extra[at].1.clone_from(value),
            None if extra.len() < EXTRA_MAX => extra.push((name.clone(), value.clone())),
            None => {}
        }
    }
}

impl Clone for Reducer {
    /// A reducer of its own: both may go on, each in its own way.
    fn clone(&self) -> Self {
        let mut graph = self.graph.clone();
        graph.ids = graph.ids.detached(graph.nodes.len() as u32);
        graph.run_ids = graph.run_ids.detached(graph.runs.len() as u32);
        Self {
            graph,
            seen: self.seen.clone(),
            forest: self.forest.clone(),
            renamed: self.renamed.clone(),
            latest_run: self.latest_run,
            paces: self.paces.clone(),
            counts: self.counts.clone(),
            words: String::new(),
        }
    }
}
