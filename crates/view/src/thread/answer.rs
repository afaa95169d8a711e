//! What comes of calls and of code, and who is nested under them.

use antiphon_event::{Body, Event, Kind};
use antiphon_graph::{Change, Conversation, Node, Place, Placed};

use super::part::Entry;
use super::{Thread, answer_of, write};
use crate::{Changes, Step};

impl Thread {
    /// A result, progress or output: shown with its call; on its own as long as the call has not come.
    pub(super) fn answer(
        &mut self,
        conversation: &Conversation,
        placed: Placed,
        event: &Event,
        entry: Option<u32>,
        changes: &mut Changes,
    ) {
        let call = conversation.call_of(placed.node);
        if let Some(part) = call.and_then(|call| self.part_of_node(conversation, call)) {
            self.attach(conversation, part, placed.node, Some((placed.change, event)), changes);
            return;
        }
        let Some(entry) = entry else {
            return;
        };
        match self.part_of.get(placed.block as usize).copied().flatten() {
            None => _ = self.add_part(conversation, entry, placed.block, changes),
            Some(part) => match &event.body {
                Body::ReplProgress(_) if self.options.collapse_tools => {}
                Body::ReplProgress(progress) => self.grow(part, &progress.chunk, changes),
                _ => self.replace_part(conversation, part, changes),
            },
        }
    }

    /// Puts a result or progress to its call. `how` is the event that brought it, if it is new.
    fn attach(
        &mut self,
        conversation: &Conversation,
        part: u32,
        node: Place,
        how: Option<(Change, &Event)>,
        changes: &mut Changes,
    ) {
        let kind = conversation.node(node).map(Node::kind);
        if !matches!(kind, Some(Kind::ToolProgress | Kind::ReplProgress)) {
            return self.attach_result(conversation, part, node, changes);
        }
        let progress = &mut answer_of(&mut self.parts, part).progress;
        let found = progress.binary_search(&node);
        if let Err(at) = found {
            progress.insert(at, node);
        }
        let last = progress.len() - 1;
        if last == 0 {
            self.members_changed(conversation, part, &["status"], changes);
        }
        if self.options.collapse_tools || !changes.are_wanted() {
            return;
        }
        let Some(mut path) = self.part_path(part, changes, "progress") else {
            return;
        };
        // What came before its call stands as it is.
        let said = how.map(|(_, event)| &event.body).or(conversation.node(node).map(Node::body));
        match (found, said) {
            // What another run lends may stand behind it: then the text grows in the middle.
            (Ok(nth), Some(Body::ReplProgress(piece))) if nth == last => {
                changes.append(&path, &piece.chunk);
            }
            (Ok(nth), Some(Body::ToolProgress(progress))) => {
                path.push(Step::Index(nth));
                changes.set(&path, &progress.content);
            }
            (Err(nth), Some(Body::ToolProgress(progress))) if nth == last && nth > 0 => {
                changes.append(&path, &progress.content);
            }
            _ => self.members_changed(conversation, part, &["progress"], changes),
        }
    }

    /// Puts a result to its call, or its latest form.
    fn attach_result(&mut self, conversation: &Conversation, part: u32, node: Place, changes: &mut Changes) {
        let said_error = self.note_result(conversation, part);
        let answer = answer_of(&mut self.parts, part);
        // One that is lent and does not count says nothing.
        if answer.result != Some(node) {
            return;
        }
        let says_error = answer.says_error;
        self.members_changed(conversation, part, &["output", "isError", "status"], changes);
        if said_error
            && !says_error
            && let Some(path) = self.part_path(part, changes, "isError")
        {
            changes.remove(&path);
        }
    }

    /// Notes the result that a call has now; whether it said before if it failed.
    fn note_result(&mut self, conversation: &Conversation, part: u32) -> bool {
        answer_of(&mut self.parts, part).result = result_of(conversation, self.parts[part as usize].block);
        let says_error = write::PartView { thread: self, conversation, part }.member("isError").is_some();
        std::mem::replace(&mut answer_of(&mut self.parts, part).says_error, says_error)
    }

    /// What was shown on its own or lent to another call goes to the call that has just come.
    pub(super) fn adopt_answers(&mut self, conversation: &Conversation, part: u32, changes: &mut Changes) {
        let freed = conversation.freed_call().and_then(|call| self.part_of_node(conversation, call));
        if let Some(freed) = freed {
            self.give_back(conversation, freed, changes);
        }
        for node in conversation.moved_answers() {
            let block = conversation.block_of(*node);
            let alone = block.and_then(|block| self.part_of.get(block as usize).copied().flatten());
            if let Some(alone) = alone {
                self.hide_part(conversation, alone, changes);
            }
            self.attach(conversation, part, *node, None, changes);
        }
    }

    /// Takes from a call what was lent to it.
    fn give_back(&mut self, conversation: &Conversation, part: u32, changes: &mut Changes) {
        self.note_result(conversation, part);
        let moved = conversation.moved_answers();
        // Both stand in the order in which they came.
        answer_of(&mut self.parts, part).progress.retain(|node| moved.binary_search(node).is_err());
        self.replace_part(conversation, part, changes);
    }

    /// A call that came again is about to run.
    pub(super) fn about_to_run(&mut self, conversation: &Conversation, part: u32, changes: &mut Changes) {
        answer_of(&mut self.parts, part).running = true;
        self.members_changed(conversation, part, &["name", "input", "callType", "status"], changes);
    }

    /// Says that members of a part are new or have changed.
    pub(super) fn members_changed(
        &self,
        conversation: &Conversation,
        part: u32,
        names: &[&'static str],
        changes: &mut Changes,
    ) {
        let view = write::PartView { thread: self, conversation, part };
        for name in names {
            if let Some(path) = self.part_path(part, changes, name)
                && let Some(value) = view.member(name)
            {
                changes.set(&path, &value);
            }
        }
    }

    /// Runs that waited for this node move to where they belong.
    pub(super) fn adopt(&mut self, conversation: &Conversation, node: Place, changes: &mut Changes) {
        for first in conversation.children_of(node).collect::<Vec<_>>() {
            let Some(run) = conversation.node(first).map(Node::run_place) else {
                continue;
            };
            if self.runs.get(run as usize).is_some_and(|run| run.known && run.orphan) {
                let branch = self.branch_for(conversation, first, run, changes);
                self.move_run(conversation, run, branch, changes);
            }
        }
    }

    /// Moves a run, and those that stand beside it because of it, into a branch.
    fn move_run(&mut self, conversation: &Conversation, run: u32, branch: u32, changes: &mut Changes) {
        self.runs[run as usize].orphan = false;
        for entry in self.runs[run as usize].entries.clone() {
            self.entries[entry as usize].orphan = false;
            if let Some(mut path) = self.entry_path(entry, changes) {
                path.push(Step::from("orphan"));
                changes.remove(&path);
            }
        }
        let from = self.runs[run as usize].branch;
        if from == branch {
            return;
        }
        let mut moved = Vec::new();
        let mut stack = vec![run];
        while let Some(run) = stack.pop() {
            let run = &mut self.runs[run as usize];
            if run.branch == from {
                run.branch = branch;
                moved.extend(run.entries.iter().copied());
                stack.extend(run.followers.iter().copied());
            }
        }
        moved.sort_unstable();
        for entry in moved {
            self.move_entry(conversation, entry, branch, changes);
        }
    }

    /// Moves an entry to where it belongs in another branch. The slot it leaves stays empty for ever.
    fn move_entry(&mut self, conversation: &Conversation, entry: u32, branch: u32, changes: &mut Changes) {
        let old = self.entries[entry as usize].home;
        if self.branches[old.0 as usize].entries.is_shown(old.1) {
            self.take_out(old, changes);
        }
        let Entry { message, at, .. } = self.entries[entry as usize];
        let slot = self.add_slot(conversation, entry, message, branch, at);
        self.entries[entry as usize].home = (branch, slot);
        self.entries[entry as usize].place = (branch, slot);
        self.deepen(entry);
        self.refresh(conversation, &[message], changes);
    }

    /// Notes how deep the branches under an entry are now.
    fn deepen(&mut self, entry: u32) {
        let mut stack = vec![entry];
        while let Some(entry) = stack.pop() {
            let depth = self.branches[self.entries[entry as usize].home.0 as usize].depth + 1;
            for part in self.entries[entry as usize].parts.all() {
                let branches =
                    self.parts[*part as usize].answer.as_ref().map_or(&[][..], |answer| &answer.branches);
                for branch in branches {
                    let branch = &mut self.branches[*branch as usize];
                    if branch.depth != depth {
                        branch.depth = depth;
                        stack.extend(branch.entries.all().copied());
                    }
                }
            }
        }
    }
}

/// The result of the call, or the code, that a block shows.
fn result_of(conversation: &Conversation, block: Place) -> Option<Place> {
    conversation.block(block).and_then(|block| conversation.answer_to(block.node))
}
