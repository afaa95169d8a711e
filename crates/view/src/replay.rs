//! [`Replay`]: branches as they were recorded.
//!
//! In: records, that is events with a position; anything else was only ever live and is passed over.
//! Start reading at [`Branch`], then [`Replay::apply`].

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::body::session::ForkPoint;
use antiphon_event::{Body, BranchId, Event, EventFlowId, Json, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::index::Index;
use crate::transcript::{Message, Transcript};
use crate::value::{given, put, renew};
use crate::{Change, Changes, Op, Step, View, path};

/// What each branch holds: its positions, its turns, and the messages they fold into.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Replay {
    branches: Vec<Branch>,
    transcripts: Vec<Transcript>,
    tapes: Vec<Tape>,
    by_scope: Index<(Option<SessionId>, Option<BranchId>)>,
    turns: Index<(usize, EventFlowId)>,
}

/// One branch.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// The session.
    pub session_id: Option<SessionId>,
    /// The branch.
    pub branch_id: Option<BranchId>,
    /// What people call the session.
    pub title: Option<String>,
    /// Whatever the session's maker keeps with it.
    #[serde(default, deserialize_with = "given")]
    pub metadata: Option<Json>,
    /// Where it forks off.
    pub from: Option<ForkPoint>,
    /// The position of the first record shown.
    pub first_seq: u64,
    /// The position of the last record shown.
    pub last_seq: u64,
    /// When the first record was written.
    pub started_at: Option<Timestamp>,
    /// When the last record was written.
    pub ended_at: Option<Timestamp>,
    /// Records, without those of unknown types.
    pub events: u64,
    /// Records of each type.
    pub types: BTreeMap<Arc<str>, u64>,
    /// Positions that are missing.
    pub gaps: Vec<Gap>,
    /// The turns, in the order of their first record.
    pub turns: Vec<Turn>,
}

/// How far a branch has been read, with records of unknown types, which no reader sees.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Tape {
    branch: Option<usize>,
    reached: u64,
    /// Gaps that will be shown with the next record that is.
    unsaid: Vec<Gap>,
}

/// Positions that are missing, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The first that is missing.
    pub from: u64,
    /// The last that is missing.
    pub to: u64,
}

/// One message turn: what belongs together because a person spoke once.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The turn.
    pub event_flow_id: EventFlowId,
    /// The position of its first record.
    pub first_seq: u64,
    /// The position of its last record; those of other turns may stand between.
    pub last_seq: u64,
    /// Its records.
    pub events: u64,
    /// When its first record was written.
    pub started_at: Option<Timestamp>,
    /// When its last record was written.
    pub ended_at: Option<Timestamp>,
}

impl View for Replay {
    const NAME: &'static str = "replay";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        let Some(seq) = event.head.seq else { return };
        let tape = self.read(seq, event);
        let place = self.branch(tape, seq, event, changes);
        self.count(place, seq, event, changes);
        self.describe(place, &event.body, changes);
        if let Some(turn) = &event.head.event_flow_id {
            self.turn(place, seq, turn, event, changes);
        }
        self.fold_message(place, event, changes);
    }

    fn pass_over(&mut self, event: &Event) {
        if let Some(seq) = event.head.seq {
            self.read(seq, event);
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Snapshot<'a> {
            branches: Vec<Shown<'a>>,
        }
        #[derive(Serialize)]
        struct Shown<'a> {
            #[serde(flatten)]
            branch: &'a Branch,
            messages: &'a [Message],
        }
        let branches = self.branches.iter().zip(&self.transcripts);
        let shown = branches.map(|(branch, said)| Shown { branch, messages: said.messages() });
        Snapshot { branches: shown.collect() }
    }
}

impl Replay {
    /// All branches, in the order of their first appearance.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// What was said on a branch, by its place in [`Replay::branches`].
    pub fn messages(&self, place: usize) -> &[Message] {
        self.transcripts.get(place).map_or(&[], Transcript::messages)
    }

    /// Takes note of a position, and of what is missing before it.
    fn read(&mut self, seq: u64, event: &Event) -> usize {
        let scope = (event.head.session_id.clone(), event.head.branch_id.clone());
        let place = self.by_scope.get(&scope).unwrap_or_else(|| {
            let reached = expected_before(seq, &event.body);
            self.by_scope.insert(scope, self.tapes.len());
            self.tapes.push(Tape { branch: None, reached, unsaid: Vec::new() });
            self.tapes.len() - 1
        });
        let tape = &mut self.tapes[place];
        if seq > tape.reached.saturating_add(1) {
            tape.unsaid.push(Gap { from: tape.reached + 1, to: seq - 1 });
        }
        tape.reached = tape.reached.max(seq);
        place
    }

    /// The row of a branch, new if nothing of it was shown before, with all gaps that are known.
    fn branch(&mut self, tape: usize, seq: u64, event: &Event, changes: &mut Changes) -> usize {
        let known = self.tapes[tape].branch;
        let place = known.unwrap_or_else(|| self.add(seq, event, changes));
        self.tapes[tape].branch = Some(place);
        for gap in self.tapes[tape].unsaid.drain(..) {
            changes.append(path!["branches", place, "gaps"], &gap);
            self.branches[place].gaps.push(gap);
        }
        place
    }

    fn add(&mut self, seq: u64, event: &Event, changes: &mut Changes) -> usize {
        let branch = Branch {
            session_id: event.head.session_id.clone(),
            branch_id: event.head.branch_id.clone(),
            title: None,
            metadata: None,
            from: None,
            first_seq: seq,
            last_seq: seq,
            started_at: event.head.at,
            ended_at: None,
            events: 0,
            types: BTreeMap::new(),
            gaps: Vec::new(),
            turns: Vec::new(),
        };
        if changes.are_wanted() {
            changes.append(path!["branches"], &branch);
            changes.set(path!["branches", self.branches.len(), "messages"], &[(); 0]);
        }
        self.branches.push(branch);
        self.transcripts.push(Transcript::default());
        self.branches.len() - 1
    }

    fn count(&mut self, place: usize, seq: u64, event: &Event, changes: &mut Changes) {
        let branch = &mut self.branches[place];
        put(&mut branch.last_seq, seq, changes, path!["branches", place, "lastSeq"]);
        renew(&mut branch.ended_at, event.head.at, changes, path!["branches", place, "endedAt"]);
        branch.events += 1;
        changes.set(path!["branches", place, "events"], &branch.events);
        let tag = event.body.tag();
        match branch.types.get_mut(tag) {
            Some(count) => *count += 1,
            None => drop(branch.types.insert(tag.into(), 1)),
        }
        changes.set(path!["branches", place, "types", tag], &branch.types[tag]);
    }

    fn describe(&mut self, place: usize, body: &Body, changes: &mut Changes) {
        let branch = &mut self.branches[place];
        match body {
            Body::SessionCreated(session) => {
                let title = session.title.clone();
                renew(&mut branch.title, title, changes, path!["branches", place, "title"]);
                let metadata = session.metadata.clone();
                renew(&mut branch.metadata, metadata, changes, path!["branches", place, "metadata"]);
            }
            Body::BranchCreated(created) => {
                renew(&mut branch.from, created.from.clone(), changes, path!["branches", place, "from"]);
            }
            _ => {}
        }
    }

    fn turn(&mut self, place: usize, seq: u64, id: &EventFlowId, event: &Event, changes: &mut Changes) {
        let turns = &mut self.branches[place].turns;
        let key = (place, id.clone());
        let Some(turn) = self.turns.get(&key) else {
            let turn = Turn {
                event_flow_id: id.clone(),
                first_seq: seq,
                last_seq: seq,
                events: 1,
                started_at: event.head.at,
                ended_at: event.head.at,
            };
            changes.append(path!["branches", place, "turns"], &turn);
            self.turns.insert(key, turns.len());
            turns.push(turn);
            return;
        };
        let row = &mut turns[turn];
        row.events += 1;
        changes.set(path!["branches", place, "turns", turn, "events"], &row.events);
        put(&mut row.last_seq, seq, changes, path!["branches", place, "turns", turn, "lastSeq"]);
        renew(&mut row.ended_at, event.head.at, changes, path!["branches", place, "turns", turn, "endedAt"]);
    }

    /// Folds what was said; the transcript's changes are made below the branch.
    fn fold_message(&mut self, place: usize, event: &Event, changes: &mut Changes) {
        let mut inner = if changes.are_wanted() { Changes::wanted() } else { Changes::unwanted() };
        self.transcripts[place].apply(event, &mut inner);
        for Change { op, path, value } in inner.take() {
            let below: Vec<Step<'_>> = path!["branches", place].iter().cloned().chain(path).collect();
            match (op, value) {
                (Op::Set, Some(value)) => changes.set(&below, &value),
                (Op::Insert, Some(value)) => changes.insert(&below, &value),
                (Op::Append, Some(value)) => changes.append(&below, &value),
                (Op::Remove, _) | (_, None) => changes.remove(&below),
            }
        }
    }
}

/// The position a branch is at before its first record: the start, or where it forks off.
fn expected_before(seq: u64, body: &Body) -> u64 {
    let from = match body {
        Body::BranchCreated(created) => created.from.as_ref().map_or(0, |from| from.seq),
        _ => 0,
    };
    if seq.checked_sub(1) == Some(from) { from } else { 0 }
}
