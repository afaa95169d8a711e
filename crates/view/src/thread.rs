//! `thread`: the conversation as one would read it, in time order, with subagents under the call that
//! started them.
//!
//! An entry is a message; its parts are what was said, the calls with all that came of them, and requests to
//! people. It stands where its moment says, however late it came, but never before what it answers. Summaries stand
//! where the first of their sources to come stood. Start reading at [`Thread::apply`].

mod active;
mod answer;
mod lifecycle;
mod part;
mod path;
mod request;
mod write;

use antiphon_event::{Body, Event, FlowNodeId, Kind, RunId, Timestamp};
use antiphon_graph::hyper::Speaker;
use antiphon_graph::{Change, Conversation, DISCARDABLE, Place, Placed};
use serde::{Deserialize, Serialize};

use crate::trees::Trees;
use crate::{Changes, Projection};
use lifecycle::{Agents, Beside};
use part::{Answer, Branch, Entry, Part};
use request::Requests;

pub use part::Status;

/// How deep branches are nested; what is started further down stands beside what started it.
pub const DEPTH_MAX: u32 = 16;

/// How many messages that nobody said are passed over on the way to what an entry answers.
const ABOVE_MAX: usize = 16;

/// What of a conversation a thread leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Leaves reasoning out.
    pub hide_reasoning: bool,
    /// Leaves out what calls were given and gave, and what subagents did.
    pub collapse_tools: bool,
}

/// The conversation as one would read it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Thread {
    options: Options,
    branches: Vec<Branch>,
    entries: Vec<Entry>,
    parts: Vec<Part>,
    /// The entry of each message.
    entry_of: Vec<Option<u32>>,
    /// The part of each block.
    part_of: Vec<Option<u32>>,
    runs: Vec<Run>,
    /// What nodes of flows are saying beside the latest of their run.
    beside: Beside,
    /// What agents are called whose events do not say it.
    agents: Agents,
    trees: Trees,
    requests: Requests,
}

/// What a thread knows about a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Run {
    branch: u32,
    entries: Vec<u32>,
    /// Runs that stand in the same branch because of this one.
    followers: Vec<u32>,
    /// The run because of which it stands in its branch.
    leader: Option<u32>,
    /// How many levels of branches hang from it and from its followers.
    height: u32,
    /// Whether it says when it begins and ends.
    has_lifecycle: bool,
    orphan: bool,
    known: bool,
}

impl Default for Thread {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

impl Thread {
    /// A thread that has seen nothing.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            branches: vec![Branch::default()],
            entries: Vec::new(),
            parts: Vec::new(),
            entry_of: Vec::new(),
            part_of: Vec::new(),
            runs: Vec::new(),
            beside: Beside::default(),
            agents: Agents::default(),
            trees: Trees::default(),
            requests: Requests::default(),
        }
    }

    fn placed(&mut self, conversation: &Conversation, placed: Placed, event: &Event, changes: &mut Changes) {
        let run = self.enter_run(conversation, placed.node, changes);
        let entry = self.entry(conversation, placed, run, event, changes);
        match &event.body {
            Body::ToolResult(_) | Body::ToolProgress(_) | Body::ReplProgress(_) | Body::ReplOutput(_) => {
                self.answer(conversation, placed, event, entry, changes);
            }
            Body::Relay(relay) => self.request(conversation, relay, placed, event, entry, changes),
            Body::RelayResolved(resolved) => self.resolve(conversation, event, resolved, changes),
            Body::Reasoning(_) if self.options.hide_reasoning => {}
            Body::Text(_)
            | Body::Reasoning(_)
            | Body::User(_)
            | Body::Error(_)
            | Body::ToolCall(_)
            | Body::ReplInput(_) => {
                self.said(conversation, placed, event, entry, changes);
            }
            _ => {}
        }
        self.settle(conversation, event, changes);
        if placed.change == Change::Added {
            self.adopt(conversation, placed.node, changes);
        }
        self.lifecycle(conversation, run, event, changes);
    }

    /// The run of a node, put into its branch if this is the first that is heard of it.
    fn enter_run(&mut self, conversation: &Conversation, node: Place, changes: &mut Changes) -> u32 {
        let Some(found) = conversation.node(node) else {
            return 0;
        };
        let run = found.run_place();
        if self.runs.len() <= run as usize {
            self.runs.resize(run as usize + 1, Run::default());
        }
        if !self.runs[run as usize].known {
            // What hangs from nothing because it would close a circle waits for nobody.
            let is_there = |parent: &str| {
                conversation.node_place(parent).is_some() || conversation.run_place(parent).is_some()
            };
            let orphan = found.parent_id().is_some_and(|parent| !is_there(parent.as_str()));
            self.runs[run as usize] = Run { orphan, known: true, ..Run::default() };
            let branch = self.branch_for(conversation, node, run, changes);
            self.runs[run as usize].branch = branch;
        }
        run
    }

    /// The branch that a run with this first node belongs to: one of its own under the call that started it, or
    /// that of the run it came from. A run that would be nested too deep, with all that hangs from it, stays; so
    /// does one that would come to hang from itself.
    fn branch_for(
        &mut self,
        conversation: &Conversation,
        first: Place,
        run: u32,
        changes: &mut Changes,
    ) -> u32 {
        let here = self.runs[run as usize].branch;
        let cause = conversation.parent_of(first);
        let Some((cause, from)) =
            cause.and_then(|cause| Some((cause, conversation.node(cause)?.run_place())))
        else {
            return here;
        };
        if self.trees.together(run, from) {
            return here;
        }
        let beside = self.runs.get(from as usize).map_or(0, |run| run.branch);
        let height = self.runs[run as usize].height;
        let depth = self.branches[beside as usize].depth;
        if let Some(part) = self.caller(conversation, cause)
            && depth + 1 + height <= DEPTH_MAX
        {
            self.trees.hang(run, from);
            self.raise(from, height + 1);
            let id = conversation.node(first).map(|node| node.run().clone());
            return self.open_branch(conversation, part, depth + 1, id, changes);
        }
        if beside != here && depth + height > DEPTH_MAX {
            return here;
        }
        self.trees.hang(run, from);
        self.runs[from as usize].followers.push(run);
        self.runs[run as usize].leader = Some(from);
        self.raise(from, height);
        beside
    }

    /// Notes that so many levels of branches hang from a run, and so from all that it hangs from.
    fn raise(&mut self, run: u32, height: u32) {
        let mut stack = vec![(run, height)];
        while let Some((run, height)) = stack.pop() {
            let state = &mut self.runs[run as usize];
            if state.height >= height {
                continue;
            }
            state.height = height;
            stack.extend(state.leader.map(|leader| (leader, height)));
            let under = self.branches[state.branch as usize].under;
            let holder =
                under.and_then(|(part, _)| self.entries[self.parts[part as usize].entry as usize].run);
            stack.extend(holder.map(|holder| (holder, height + 1)));
        }
    }

    /// Opens a branch under a call or a piece of code.
    fn open_branch(
        &mut self,
        conversation: &Conversation,
        part: u32,
        depth: u32,
        run: Option<RunId>,
        changes: &mut Changes,
    ) -> u32 {
        let branch = self.branches.len() as u32;
        let siblings = &mut answer_of(&mut self.parts, part).branches;
        let nth = siblings.len();
        siblings.push(branch);
        self.branches.push(Branch { under: Some((part, nth)), depth, run, ..Branch::default() });
        if let Some(path) = self.part_path(part, changes, "branches")
            && !self.options.collapse_tools
        {
            let view = write::BranchView { thread: self, conversation, branch };
            match nth {
                0 => changes.set(&path, &[view]),
                _ => changes.append(&path, &view),
            }
        }
        branch
    }

    /// The part of a call or of code that a run was started by.
    fn caller(&self, conversation: &Conversation, cause: Place) -> Option<u32> {
        let kind = conversation.node(cause)?.kind();
        if !matches!(kind, Kind::ToolCall | Kind::ReplInput) {
            return None;
        }
        self.part_of_node(conversation, cause)
    }

    fn part_of_node(&self, conversation: &Conversation, node: Place) -> Option<u32> {
        let block = conversation.block_of(node)?;
        self.part_of.get(block as usize).copied().flatten()
    }

    /// The entry of a message, begun if need be; none for what nobody said.
    fn entry(
        &mut self,
        conversation: &Conversation,
        placed: Placed,
        run: u32,
        event: &Event,
        changes: &mut Changes,
    ) -> Option<u32> {
        let message = placed.message;
        if let Some(entry) = self.entry_of.get(message as usize).copied().flatten() {
            return Some(entry);
        }
        if conversation.message(message)?.speaker == Speaker::Structural {
            return None;
        }
        let branch = self.runs[run as usize].branch;
        let entry = self.add_entry(conversation, message, branch, event);
        let status = if event.kind() == Kind::User { Status::Complete } else { Status::Streaming };
        self.entries[entry as usize].status = status;
        self.entries[entry as usize].orphan = self.runs[run as usize].orphan;
        self.entries[entry as usize].run = Some(run);
        self.entries[entry as usize].flow_node = flow_node(conversation, placed.node, event);
        if self.entries[entry as usize].agent.is_none() && event.kind() != Kind::User {
            self.entries[entry as usize].agent =
                self.agents.of(run, self.entries[entry as usize].flow_node.as_ref());
        }
        self.follow_on(run, entry, changes);
        Some(entry)
    }

    /// Adds an entry to a branch, hidden until it has something to show.
    fn add_entry(&mut self, conversation: &Conversation, message: Place, branch: u32, event: &Event) -> u32 {
        let entry = self.entries.len() as u32;
        let slot = self.add_slot(conversation, entry, message, branch, event.head.at);
        self.entries.push(Entry {
            message,
            run: None,
            home: (branch, slot),
            place: (branch, slot),
            parts: crate::slots::Slots::default(),
            status: Status::Complete,
            orphan: false,
            at: event.head.at,
            agent: event
                .head
                .agent
                .as_ref()
                .map(|agent| agent.name.clone().unwrap_or_else(|| agent.id.to_string())),
            flow_node: event.head.node_id.clone(),
        });
        put(&mut self.entry_of, message, entry);
        entry
    }

    /// Adds a slot to a branch, where its moment says, but not before what its message answers.
    fn add_slot(
        &mut self,
        conversation: &Conversation,
        entry: u32,
        message: Place,
        branch: u32,
        at: Option<Timestamp>,
    ) -> usize {
        let parent = |message: &Place| conversation.parent_message(*message);
        // What nobody said has no entry, and answers something itself.
        let mut above = std::iter::successors(parent(&message), parent).take(ABOVE_MAX);
        let home =
            above.find_map(|above| self.entry_at(above)).map(|entry| self.entries[entry as usize].home);
        let after = home.filter(|home| home.0 == branch).map(|home| home.1);
        self.branches[branch as usize].entries.push(entry, at.map(Timestamp::millis), after)
    }

    /// Something that was said, asked for or went wrong: one more part, or more of one.
    fn said(
        &mut self,
        conversation: &Conversation,
        placed: Placed,
        event: &Event,
        entry: Option<u32>,
        changes: &mut Changes,
    ) {
        let Some(entry) = entry else {
            return;
        };
        match self.part_of.get(placed.block as usize).copied().flatten() {
            None => {
                let part = self.add_part(conversation, entry, placed.block, changes);
                if matches!(event.body, Body::ToolCall(_) | Body::ReplInput(_)) {
                    self.adopt_answers(conversation, part, changes);
                    self.adopt_requests(conversation, part, event, changes);
                }
            }
            Some(part) => match &event.body {
                Body::Text(text) => self.grow(part, &text.content, changes),
                Body::Reasoning(reasoning) => self.grow(part, &reasoning.content, changes),
                Body::ToolCall(_) => self.about_to_run(conversation, part, changes),
                _ => self.replace_part(conversation, part, changes),
            },
        }
    }

    fn grow(&mut self, part: u32, more: &str, changes: &mut Changes) {
        if let Some(path) = self.part_path(part, changes, "text") {
            changes.append(&path, more);
        }
    }

    fn add_part(
        &mut self,
        conversation: &Conversation,
        entry: u32,
        block: Place,
        changes: &mut Changes,
    ) -> u32 {
        let part = self.parts.len() as u32;
        let discarded = is_discarded(conversation, block);
        let slot = self.entries[entry as usize].parts.push(part, !discarded);
        self.parts.push(Part { entry, slot, block, answer: None });
        put(&mut self.part_of, block, part);
        let was_shown = self.is_shown(entry);
        self.refresh(conversation, &[self.entries[entry as usize].message], changes);
        if was_shown && !discarded {
            self.insert_part(conversation, part, changes);
        }
        part
    }

    /// Says that a part is now there, if its entry was there before.
    fn insert_part(&self, conversation: &Conversation, part: u32, changes: &mut Changes) {
        if let Some(path) = self.part_place(part, changes) {
            changes.insert(&path, &write::PartView { thread: self, conversation, part });
        }
    }

    fn replace_part(&self, conversation: &Conversation, part: u32, changes: &mut Changes) {
        if let Some(path) = self.part_place(part, changes) {
            changes.set(&path, &write::PartView { thread: self, conversation, part });
        }
    }

    fn is_shown(&self, entry: u32) -> bool {
        let (branch, slot) = self.entries[entry as usize].place;
        let entries = &self.branches[branch as usize].entries;
        entries.is_shown(slot) && *entries.get(slot) == entry
    }

    /// Takes out what a repeated model call made void.
    fn discard(&mut self, conversation: &Conversation, event: &Event, ids: &[String], changes: &mut Changes) {
        let Some(run) = &event.head.run_id else {
            return;
        };
        for id in ids {
            for kind in DISCARDABLE {
                // What comes of something that was discarded is never shown, so its latest part says all.
                let node = conversation.own(run, id, kind);
                let Some(node) = node.filter(|node| self.is_node_shown(conversation, *node)) else {
                    continue;
                };
                for block in conversation.blocks_of_node(node) {
                    if let Some(part) = self.part_of.get(block as usize).copied().flatten() {
                        self.hide_part(conversation, part, changes);
                    }
                }
            }
        }
    }

    /// Whether the latest part of a node is among the parts of its entry.
    fn is_node_shown(&self, conversation: &Conversation, node: Place) -> bool {
        self.part_of_node(conversation, node).is_some_and(|part| {
            let Part { entry, slot, .. } = self.parts[part as usize];
            self.entries[entry as usize].parts.is_shown(slot)
        })
    }

    fn hide_part(&mut self, conversation: &Conversation, part: u32, changes: &mut Changes) {
        let Part { entry, slot, .. } = self.parts[part as usize];
        if !self.entries[entry as usize].parts.is_shown(slot) {
            return;
        }
        if let Some(path) = self.part_place(part, changes) {
            changes.remove(&path);
        }
        self.entries[entry as usize].parts.show(slot, false);
        self.refresh(conversation, &[self.entries[entry as usize].message], changes);
    }
}

impl Projection for Thread {
    const NAME: &'static str = "thread";

    fn apply(
        &mut self,
        conversation: &Conversation,
        placed: Option<Placed>,
        event: &Event,
        changes: &mut Changes,
    ) {
        // Most events do nothing about summaries.
        if !(conversation.summed().is_empty() && conversation.shifted().is_empty()) {
            self.follow(conversation, event, changes);
        }
        if let (Body::RelayResolved(resolved), None) = (&event.body, placed) {
            self.resolve(conversation, event, resolved, changes);
        }
        if let Some(placed) = placed {
            self.placed(conversation, placed, event, changes);
        }
    }

    fn snapshot<'a>(&'a self, conversation: &'a Conversation) -> impl Serialize + 'a {
        write::ThreadView { thread: self, conversation }
    }
}

fn is_discarded(conversation: &Conversation, block: Place) -> bool {
    let node = conversation.block(block).and_then(|block| conversation.node(block.node));
    node.is_some_and(antiphon_graph::Node::is_discarded)
}

/// The flow node in which something was said: as the event says, or else what it goes on with.
fn flow_node(conversation: &Conversation, node: Place, event: &Event) -> Option<FlowNodeId> {
    let goes_on_with = || conversation.node(node).and_then(antiphon_graph::Node::flow_node);
    event.head.node_id.as_ref().or_else(goes_on_with).cloned()
}

fn put(list: &mut Vec<Option<u32>>, at: Place, value: u32) {
    if list.len() <= at as usize {
        list.resize(at as usize + 1, None);
    }
    list[at as usize] = Some(value);
}

fn answer_of(parts: &mut [Part], part: u32) -> &mut Answer {
    parts[part as usize].answer.get_or_insert_default()
}
