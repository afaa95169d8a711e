//! Whose messages are in the list: those of the runs in scope, and their summaries.
//!
//! A run is in scope with the run that caused it, unless that spawned it. What caused it may come late. Start reading at
//! [`Messages::enter_run`].

use std::collections::BTreeSet;

use antiphon_event::{Kind, RunId};
use antiphon_graph::hyper::Speaker;
use antiphon_graph::{Conversation, Node, Place};
use serde::{Deserialize, Serialize};

use super::Messages;

/// Whose messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// What users and the agents they talk with said.
    #[default]
    Root,
    /// What one run said, and those it called without spawning them.
    Run(RunId),
}

/// Whether a run is in scope, and why that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Member {
    inside: bool,
    /// Whether what caused it has not come.
    orphan: bool,
}

impl Messages {
    /// Notes whether the run of a node is in scope.
    pub(super) fn enter_run(&mut self, conversation: &Conversation, node: Place) {
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

    /// Notes which run made a summary, if one did.
    pub(super) fn note_summary(&mut self, conversation: &Conversation, summary: Place) {
        let run = conversation.message(summary).and_then(|message| message.run.as_ref());
        if let Some(run) = run.and_then(|run| conversation.run_place(run.as_str())) {
            self.summaries.entry(run).or_default().push(summary);
        }
    }

    /// Whether a message is of a run in scope, or is a summary that no run out of scope made for itself.
    pub(super) fn is_in_scope(&self, conversation: &Conversation, message: Place) -> bool {
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

    /// Runs that waited for this node may turn out to be somebody's children, and are not in scope any more, or only now.
    /// Gives those.
    pub(super) fn adopt(&mut self, conversation: &Conversation, node: Place) -> Vec<u32> {
        let mut moved = Vec::new();
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
                self.judge_again(conversation, now.inside, run, &mut moved);
            }
        }
        moved
    }

    /// Runs that are in scope because of another follow it.
    fn judge_again(&mut self, conversation: &Conversation, inside: bool, run: u32, moved: &mut Vec<u32>) {
        let mut stack = vec![run];
        while let Some(run) = stack.pop() {
            moved.push(run);
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

    /// The slots in which something of a run is seen.
    pub(super) fn slots_of(&self, conversation: &Conversation, run: u32) -> BTreeSet<Place> {
        let blocks = conversation.blocks_of_run(run);
        let messages = blocks.into_iter().filter_map(|block| conversation.block(block));
        let summaries = self.summaries.get(&run).into_iter().flatten();
        let of_summaries = summaries.filter_map(|summary| conversation.seen_at(*summary));
        messages.map(|block| block.message).chain(of_summaries).collect()
    }
}
