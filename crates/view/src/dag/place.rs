//! Where a new block goes: into its message's frame, or to the end of its run's lane.
//!
//! Start reading at [`Dag::place`].

use std::sync::Arc;

use antiphon_event::{Body, Event, Kind};
use antiphon_graph::hyper::Speaker;
use antiphon_graph::{Change, Conversation, Node as GraphNode, Place, Placed};

use super::label::{self, Label, WIDTH};
use super::{Dag, Edge, EdgeKind, Group, Layout, NONE, Node, Scope, Span, Spot};
use crate::{Changes, path};

/// Between two blocks, also along an arrow.
pub(super) const GAP: i64 = 14;
/// Between a frame and what is above or below it.
const FRAME_GAP: i64 = 24;
/// Between the sides of a frame and its blocks.
pub(super) const PADDING: i64 = 14;
/// Between the upper side of a frame and its first block.
pub(super) const HEADER: i64 = 30;
/// From one lane to the next.
pub(super) const PITCH: i64 = WIDTH + 2 * PADDING + 56;
/// Around everything.
pub(super) const MARGIN: i64 = 28;

/// What a block says, from the conversation.
pub(super) fn label_of(conversation: &Conversation, block: u32) -> Option<Label> {
    let block = conversation.block(block)?;
    let node = conversation.node(block.node)?;
    Some(label::label(node, conversation.text_of(block).as_deref()))
}

/// An arrow to a block that is being placed.
struct Arrow {
    from: u32,
    kind: EdgeKind,
}

impl Dag {
    /// Places a new block, draws its arrows, and takes in the runs that waited for it.
    pub(super) fn place(
        &mut self,
        conversation: &Conversation,
        placed: Placed,
        event: &Event,
        changes: &mut Changes,
    ) {
        let Some(node) = conversation.node(placed.node) else {
            return;
        };
        let block = placed.block;
        if block as usize != self.spots.len() {
            return;
        }
        self.enter_run(node.run_place());
        let is_first = self.runs[node.run_place() as usize].first == NONE;
        if is_first {
            self.find_cause(conversation, placed.node, node);
        }
        let (above, lane) = self.find_place(conversation, placed, node);
        let below = self.spot(above).map_or(NONE, |spot| spot.below);
        let arrows = self.arrows_to(conversation, placed.node, event, (above, below));
        self.settle(placed, node, (above, below, lane));
        let room = self.room(above, block, node.kind());
        let y = self.first_free_y(block, (above, room), &arrows);
        self.show(conversation, placed, node, y, changes);
        self.frame_up(conversation, placed, event, changes);
        for Arrow { from, kind } in arrows {
            self.connect(from, block, kind, changes);
        }
        self.make_room(block, changes);
        let run = &mut self.runs[node.run_place() as usize];
        if is_first {
            run.first = block;
        }
        if below == NONE || is_first {
            run.tip = block;
        }
        // In the run of a flow the nodes may say when they begin and end, too.
        if node.kind() == Kind::RunStart || (node.kind() == Kind::HarnessStart && run.start == NONE) {
            run.start = block;
        }
        self.note_end(node.run_place(), node.kind());
        if placed.change == Change::Added {
            self.adopt(conversation, placed.node, block, changes);
        }
    }

    fn find_cause(&mut self, conversation: &Conversation, place: u32, node: &GraphNode) {
        let run = &mut self.runs[node.run_place() as usize];
        let Some(parent) = conversation.parent_of(place) else {
            return;
        };
        run.cause = self.latest.get(parent as usize).copied().unwrap_or(NONE);
        run.is_spawned = conversation.node(parent).is_some_and(|parent| spawns(parent.kind()));
    }

    /// The block that a new one goes right below, and the lane.
    fn find_place(&mut self, conversation: &Conversation, placed: Placed, node: &GraphNode) -> (u32, i32) {
        let frame = self.frames.get(placed.message as usize).copied().unwrap_or(NONE);
        if let Some(span) = self.spans.get(frame as usize) {
            return (span.last, self.spots[span.last as usize].lane);
        }
        let lane = self.lane_for(node.run_place(), node.kind());
        let message = conversation.message(placed.message);
        if message.is_some_and(|message| message.speaker != Speaker::Structural) {
            self.frames.resize((placed.message as usize + 1).max(self.frames.len()), NONE);
            self.frames[placed.message as usize] = self.spans.len() as u32;
        }
        (self.lanes.last(lane), lane)
    }

    /// The arrows to a new block. A block that goes above others gets none that could lead in a circle: what
    /// lies lower than those below it is left out.
    fn arrows_to(
        &self,
        conversation: &Conversation,
        node: Place,
        event: &Event,
        (above, below): (u32, u32),
    ) -> Vec<Arrow> {
        let run = conversation.node(node).map_or(NONE, GraphNode::run_place);
        let run = &self.runs[run as usize];
        let is_safe = |from: u32| {
            self.spot(from).is_some() && (below == NONE || self.node(from).y < self.node(below).y)
        };
        let mut arrows = Vec::new();
        if run.first == NONE {
            let kind = if run.is_spawned { EdgeKind::Spawn } else { EdgeKind::Reply };
            arrows.extend(is_safe(run.cause).then_some(Arrow { from: run.cause, kind }));
        } else {
            let from = if below == NONE { run.tip } else { above };
            arrows.push(Arrow { from, kind: EdgeKind::Sequence });
        }
        let call = self.answered(conversation, node, event);
        let children = self.spot(call).map_or(&[][..], |call| &call.out);
        for child in children.iter().map(|first| &self.runs[self.spots[*first as usize].run as usize]) {
            let is_new = arrows.iter().all(|arrow| arrow.from != child.tip);
            if child.cause == call && child.is_spawned && is_safe(child.tip) && is_new {
                arrows.push(Arrow { from: child.tip, kind: EdgeKind::Return });
            }
        }
        arrows
    }

    /// The block that an event answers: a call, a piece of code, the start of a node.
    fn answered(&self, conversation: &Conversation, node: Place, event: &Event) -> u32 {
        match &event.body {
            Body::ToolResult(_) | Body::ReplOutput(_) => self.block_of(conversation.call_of(node)),
            Body::NodeEnd(end) => self.start_of(conversation, event, (end.execution, end.attempt)),
            _ => NONE,
        }
    }

    /// The start of an attempt at the node that an event names.
    pub(super) fn start_of(
        &self,
        conversation: &Conversation,
        event: &Event,
        (execution, attempt): (u32, u32),
    ) -> u32 {
        let (Some(run), Some(node)) = (&event.head.run_id, &event.head.node_id) else {
            return NONE;
        };
        let again = if attempt > 1 { format!(":{attempt}") } else { String::new() };
        let start = format!("{run}:{node}:{execution}:start{again}");
        self.block_of(conversation.own(run, &start, Kind::NodeStart))
    }

    /// Links a new block into its lane and its frame.
    fn settle(&mut self, placed: Placed, node: &GraphNode, (above, below, lane): (u32, u32, i32)) {
        let block = self.spots.len() as u32;
        let frame = self.frames.get(placed.message as usize).copied().unwrap_or(NONE);
        let owner = self.spans.get(frame as usize).map_or(node.run_place(), |span| span.owner);
        if let Some(spot) = self.spots.get_mut(above as usize) {
            spot.below = block;
        }
        match self.spots.get_mut(below as usize) {
            Some(spot) => spot.above = block,
            None => self.lanes.set_last(lane, block),
        }
        match self.spans.get_mut(frame as usize) {
            Some(span) => span.last = block,
            None if frame != NONE => self.spans.push(Span { first: block, last: block, owner, waiting: 0 }),
            None => {}
        }
        self.runs[owner as usize].blocks.push(block);
        self.islands.grow(owner);
        let length = (placed.node as usize + 1).max(self.latest.len());
        self.latest.resize(length, NONE);
        let earlier = std::mem::replace(&mut self.latest[placed.node as usize], block);
        let run = node.run_place();
        self.spots.push(Spot {
            lane,
            above,
            below,
            frame,
            scope: Scope::of(node),
            run,
            owner,
            earlier,
            out: Vec::new(),
            is_cut: false,
            begun: 0,
        });
    }

    fn first_free_y(&self, block: u32, (above, room): (u32, i64), arrows: &[Arrow]) -> i64 {
        let frame = self.spots[block as usize].frame;
        let top = if frame == NONE { MARGIN } else { MARGIN + HEADER };
        let under = self.spot(above).map(|_| self.node(above).bottom() + self.between(above, block) + room);
        let hanging = arrows.iter().map(|arrow| self.node(arrow.from).bottom() + GAP);
        under.into_iter().chain(hanging).fold(top, i64::max)
    }

    /// How far apart two blocks of a lane are, if one is right below the other.
    pub(super) fn between(&self, upper: u32, lower: u32) -> i64 {
        let (upper, lower) = (self.spots[upper as usize].frame, self.spots[lower as usize].frame);
        match (upper, lower) {
            (NONE, NONE) => GAP,
            (NONE, _) => FRAME_GAP + HEADER,
            (_, NONE) => PADDING + FRAME_GAP,
            (upper, lower) if upper == lower => GAP,
            _ => PADDING + FRAME_GAP + HEADER,
        }
    }

    fn show(
        &mut self,
        conversation: &Conversation,
        placed: Placed,
        node: &GraphNode,
        y: i64,
        changes: &mut Changes,
    ) {
        let block = self.layout.nodes.len() as u32;
        let (Some(source), Some(message)) =
            (conversation.block(placed.block), conversation.message(placed.message))
        else {
            return;
        };
        let kind = label::kind_of(node.kind());
        let Label { text: label, is_cut } = label::label(node, conversation.text_of(source).as_deref());
        self.spots[block as usize].is_cut = is_cut;
        let (w, h) = label::size(kind, &label);
        let shown = Node {
            id: conversation.block_id(source).into(),
            x: self.x_of(block, w),
            y,
            w,
            h,
            label,
            kind,
            run_id: node.run().clone(),
            message_id: message.id().clone(),
            status: Self::first_status(node),
        };
        changes.append(path!["nodes"], &shown);
        self.layout.nodes.push(shown);
        self.note_open(block, None);
        self.stretch(block, changes);
    }

    /// The left side of a block: it stands in the middle of its lane.
    pub(super) fn x_of(&self, block: u32, width: i64) -> i64 {
        let lane = i64::from(self.spots[block as usize].lane);
        MARGIN + PADDING + lane * PITCH + (WIDTH - width) / 2
    }

    /// Draws an arrow.
    pub(super) fn connect(&mut self, from: u32, to: u32, kind: EdgeKind, changes: &mut Changes) {
        self.spots[from as usize].out.push(to);
        self.islands.join(self.spots[from as usize].owner, self.spots[to as usize].owner);
        let edge = Edge { from: Arc::clone(&self.node(from).id), to: Arc::clone(&self.node(to).id), kind };
        changes.append(path!["edges"], &edge);
        self.layout.edges.push(edge);
    }

    /// Makes everything large enough for a block.
    pub(super) fn stretch(&mut self, block: u32, changes: &mut Changes) {
        let spot = &self.spots[block as usize];
        let header = if spot.frame == NONE { 0 } else { HEADER };
        let left = i64::from(spot.lane) * PITCH;
        let across = (left, left + 2 * MARGIN + 2 * PADDING + WIDTH);
        let node = self.node(block);
        let down = (node.y - header - MARGIN, node.bottom() + PADDING + MARGIN);
        let Layout { x, y, width, height, .. } = &mut self.layout;
        widen(("y", y), ("height", height), down, changes);
        widen(("x", x), ("width", width), across, changes);
    }

    /// Gives a run's lane to others when it is over.
    fn note_end(&mut self, run: u32, kind: Kind) {
        let is_over = match kind {
            Kind::HarnessEnd | Kind::RunEnd => true,
            Kind::Usage => self.runs[run as usize].start == NONE,
            _ => false,
        };
        if is_over {
            self.leave_lane(run);
        }
    }

    /// Begins a frame if the message of a new block has none.
    fn frame_up(
        &mut self,
        conversation: &Conversation,
        placed: Placed,
        event: &Event,
        changes: &mut Changes,
    ) {
        let frame = self.spots[placed.block as usize].frame;
        let Some(message) = conversation.message(placed.message) else {
            return;
        };
        if frame == NONE || (frame as usize) < self.layout.groups.len() {
            return;
        }
        let shown = self.node(placed.block);
        let group = Group {
            id: message.id().clone(),
            label: speaker(event, message.speaker),
            x: self.x_of(placed.block, WIDTH) - PADDING,
            y: shown.y - HEADER,
            w: WIDTH + 2 * PADDING,
            h: shown.h + HEADER + PADDING,
            speaker: message.speaker,
            summary: None,
        };
        changes.append(path!["groups"], &group);
        self.layout.groups.push(group);
    }

    /// Draws the frame of a block around all its blocks.
    pub(super) fn fit_frame(&mut self, block: u32, changes: &mut Changes) {
        let frame = self.spots[block as usize].frame;
        let Some(Span { first, last, .. }) = self.spans.get(frame as usize).copied() else {
            return;
        };
        let x = self.x_of(block, WIDTH) - PADDING;
        let y = self.node(first).y - HEADER;
        let h = self.node(last).bottom() + PADDING - y;
        let Some(group) = self.layout.groups.get_mut(frame as usize) else {
            return;
        };
        let at = frame as usize;
        for (name, old, new) in [("x", &mut group.x, x), ("y", &mut group.y, y), ("h", &mut group.h, h)] {
            if *old != new {
                *old = new;
                changes.set(path!["groups", at, name], &new);
            }
        }
    }
}

/// Makes a stretch reach from one place to another, if it does not yet, and tells what is new.
fn widen(
    (begin, first): (&str, &mut i64),
    (length, reach): (&str, &mut i64),
    (from, to): (i64, i64),
    changes: &mut Changes,
) {
    let end = (*first + *reach).max(to);
    if from < *first {
        *first = from;
        changes.set(path![begin], first);
    }
    if end - *first != *reach {
        *reach = end - *first;
        changes.set(path![length], reach);
    }
}

/// Who speaks, for people: the agent by its name, or the node of the flow that it speaks for.
fn speaker(event: &Event, speaker: Speaker) -> String {
    let agent = event.head.agent.as_ref().map(|agent| agent.name.as_deref().unwrap_or(agent.id.as_str()));
    let name = match speaker {
        Speaker::User => "user",
        Speaker::Summary => "summary",
        Speaker::Assistant | Speaker::Structural => agent
            .or(event.head.node_id.as_ref().map(antiphon_event::FlowNodeId::as_str))
            .unwrap_or("assistant"),
    };
    label::clean(name, 34).text
}

/// Whether a run that hangs from such a node is somebody's child.
pub(super) fn spawns(kind: Kind) -> bool {
    matches!(kind, Kind::ToolCall | Kind::ReplInput | Kind::NodeStart)
}
