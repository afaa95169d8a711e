//! [`Depths`]: how far below the root a run is whose events do not say it.
//!
//! As its `harness_start` says; or else one below the run that made the call it was started by, or as far as the run that it
//! says it comes from. A cause that comes late is waited for. How deep a run is is not worked out before it matters: until somebody
//! says something in it, or in what hangs from it. Start reading at [`Transcript::note_depth`].

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::{Body, Event, RunId};
use serde::{Deserialize, Serialize};

use super::{Role, Transcript};
use crate::forest::CLIMB_MAX;
use crate::index::Index;
use crate::{Changes, path};

/// How far below the root each run is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Depths {
    rows: Vec<Row>,
    by_run: Index<RunId>,
    /// The run that made a call, or runs code.
    by_call: Index<Arc<str>>,
    /// The runs that wait for a cause.
    awaited: BTreeMap<Arc<str>, Vec<usize>>,
}

/// What is known about a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Row {
    depth: Depth,
    /// Whether it named its cause.
    is_caused: bool,
    /// Whether anything hangs from it.
    is_above: bool,
    above: Option<usize>,
    /// How far it is below the row above.
    steps: u32,
    /// The rows that are heard and as deep as this one makes them.
    below: Vec<usize>,
    /// The messages that do not say it themselves.
    messages: Vec<usize>,
}

/// How far below the root a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Depth {
    /// Nobody is heard in it, nor in those that hang from it.
    #[default]
    Unheard,
    /// As the row above says.
    Counted(u32),
    /// As the run says itself.
    Said(u32),
}

impl Depth {
    fn known(self) -> Option<u32> {
        match self {
            Self::Unheard => None,
            Self::Counted(depth) | Self::Said(depth) => Some(depth),
        }
    }
}

impl Depths {
    /// The depth of a message that is about to be added.
    pub(super) fn of(&mut self, message: usize, role: Role, run: &RunId, event: &Event) -> u32 {
        if let Some(agent) = &event.head.agent {
            return agent.depth;
        }
        let Some(row) = self.by_run.get(run).filter(|_| role == Role::Assistant) else {
            return 0;
        };
        self.rows[row].messages.push(message);
        self.heard(row)
    }

    /// How deep a row is that is heard. It is counted once, with the rows that it hangs from.
    fn heard(&mut self, row: usize) -> u32 {
        let mut silent = Vec::new();
        let mut top = Some(row);
        let mut depth = 0;
        while let Some(at) = top {
            if let Some(known) = self.rows[at].depth.known() {
                depth = known;
                break;
            }
            silent.push(at);
            top = self.rows[at].above;
        }
        for row in silent.into_iter().rev() {
            if let Some(above) = self.rows[row].above {
                depth = depth.saturating_add(self.rows[row].steps);
                self.rows[above].below.push(row);
            }
            self.rows[row].depth = Depth::Counted(depth);
        }
        depth
    }

    /// The row of what caused a run, and how far below that the run is.
    fn cause(&self, name: &Arc<str>) -> Option<(usize, u32)> {
        let by_call = self.by_call.get(name).map(|row| (row, 1));
        by_call.or_else(|| self.by_run.get(&RunId::from(Arc::clone(name))).map(|row| (row, 0)))
    }

    /// Whether a row is another one or hangs from it, or hangs so deep that nobody can tell.
    fn is_within(&self, row: usize, other: usize) -> bool {
        let mut above = std::iter::successors(Some(row), |row| self.rows[*row].above);
        above.by_ref().take(CLIMB_MAX).any(|row| row == other) || above.next().is_some()
    }
}

impl Transcript {
    /// Notes what an event says about how deep its run is, and the runs that it causes.
    pub(super) fn note_depth(&mut self, run: &RunId, event: &Event, changes: &mut Changes) {
        if let (None, Some(parent)) = (&event.head.agent, &event.head.parent_id) {
            self.note_cause(run, parent.as_str(), changes);
        }
        let said = event.head.agent.as_ref().map(|agent| agent.depth);
        let call = match &event.body {
            Body::ToolCall(call) => call.id.shared(),
            Body::ReplInput(input) => input.id.shared(),
            Body::HarnessStart(start) if said.is_none() => {
                if let Some(depth) = start.depth {
                    self.say_depth(run, depth, changes);
                }
                return;
            }
            _ => return,
        };
        match said {
            Some(depth) => self.say_depth(run, depth, changes),
            None => _ = self.depth_row(run, changes),
        }
        self.note_call(run, call, changes);
    }

    fn depth_row(&mut self, run: &RunId, changes: &mut Changes) -> usize {
        if let Some(row) = self.depths.by_run.get(run) {
            return row;
        }
        let row = self.depths.rows.len();
        self.depths.rows.push(Row::default());
        self.depths.by_run.insert(run.clone(), row);
        self.attach_awaited(&run.shared(), row, 0, changes);
        row
    }

    /// A run says itself how deep it is.
    fn say_depth(&mut self, run: &RunId, depth: u32, changes: &mut Changes) {
        let row = self.depth_row(run, changes);
        self.settle_depth(row, Depth::Said(depth), changes);
    }

    /// Finds what caused a run, or lets it wait for that.
    fn note_cause(&mut self, run: &RunId, parent: &str, changes: &mut Changes) {
        let row = self.depth_row(run, changes);
        if std::mem::replace(&mut self.depths.rows[row].is_caused, true) {
            return;
        }
        let name = Arc::from(parent);
        match self.depths.cause(&name) {
            Some((above, steps)) => self.attach_depth(row, above, steps, changes),
            None => self.depths.awaited.entry(name).or_default().push(row),
        }
    }

    /// Notes which run made a call; the first that used the id has it.
    fn note_call(&mut self, run: &RunId, call: Arc<str>, changes: &mut Changes) {
        if self.depths.by_call.get(&call).is_some() {
            return;
        }
        let row = self.depth_row(run, changes);
        self.attach_awaited(&call, row, 1, changes);
        self.depths.by_call.insert(call, row);
    }

    fn attach_awaited(&mut self, name: &Arc<str>, above: usize, steps: u32, changes: &mut Changes) {
        if self.depths.awaited.is_empty() {
            return;
        }
        for row in self.depths.awaited.remove(name).unwrap_or_default() {
            self.attach_depth(row, above, steps, changes);
        }
    }

    /// Hangs a run from another, unless that hangs from it.
    fn attach_depth(&mut self, row: usize, above: usize, steps: u32, changes: &mut Changes) {
        if row == above || (self.depths.rows[row].is_above && self.depths.is_within(above, row)) {
            return;
        }
        self.depths.rows[above].is_above = true;
        let hung = &mut self.depths.rows[row];
        (hung.above, hung.steps) = (Some(above), steps);
        if matches!(hung.depth, Depth::Counted(_)) {
            let depth = self.depths.heard(above).saturating_add(steps);
            self.depths.rows[above].below.push(row);
            self.settle_depth(row, Depth::Counted(depth), changes);
        }
    }

    /// Says how deep a run is, and so how deep those are that hang from it.
    fn settle_depth(&mut self, row: usize, depth: Depth, changes: &mut Changes) {
        let mut stack = vec![(row, depth)];
        while let Some((row, settled)) = stack.pop() {
            let before = std::mem::replace(&mut self.depths.rows[row].depth, settled);
            let Some(depth) = settled.known().filter(|depth| before.known() != Some(*depth)) else {
                continue;
            };
            let Row { messages, below, .. } = &self.depths.rows[row];
            for message in messages {
                self.messages[*message].depth = depth;
                changes.set(path!["messages", *message, "depth"], &depth);
            }
            let below = below.iter().map(|row| (*row, &self.depths.rows[*row]));
            let counted = below.filter(|(_, below)| matches!(below.depth, Depth::Counted(_)));
            stack
                .extend(counted.map(|(row, below)| (row, Depth::Counted(depth.saturating_add(below.steps)))));
        }
    }
}
