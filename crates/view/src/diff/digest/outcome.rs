//! How nodes ended, what was decided, what was written.

use std::collections::BTreeMap;

use antiphon_event::body::flow::{NodeEnd, NodeStart};
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Event, FlowNodeId, Json};

use super::super::path::Paths;
use super::super::row::{Contribution, Decision};
use super::{At, Choice, Digest, Key, Work};

impl Digest {
    pub(super) fn node_start(&mut self, event: &Event, at: At, start: &NodeStart, paths: &mut Paths) {
        let (Some(run), Some(node)) = (&event.head.run_id, &event.head.node_id) else {
            return;
        };
        let mut name = format!("{run}:{node}:{}:start", start.execution);
        if start.attempt > 1 {
            name = format!("{name}:{}", start.attempt);
        }
        let path = paths.below(at.path, format!("{node}#{}", start.execution));
        self.places.insert(name.into(), At { path, ..at });
        self.work(at, Some(node), start.execution, "running", None);
    }

    pub(super) fn node_end(&mut self, event: &Event, at: At, end: &NodeEnd) {
        let Some(node) = &event.head.node_id else {
            return;
        };
        self.work(at, Some(node), end.execution, end.status.as_str(), Some(&end.output));
        if let Some(writes) = &end.writes {
            self.write(at, writes, &format!("{node}#{}", end.execution));
        }
        if !end.edges.is_empty() {
            let edges = end.edges.iter();
            let edges =
                edges.map(|edge| if edge.live { edge.to.to_string() } else { format!("not {}", edge.to) });
            let answer = edges.collect::<Vec<_>>().join(", ");
            self.decide_edges(at, node, end.execution, answer);
        }
    }

    /// A node that ended, was resumed and ended again decided once.
    fn decide_edges(&mut self, at: At, node: &FlowNodeId, execution: u32, answer: String) {
        let choices = &mut self.choices;
        let row = *self.edge_rows.entry((at.path, node.clone(), execution)).or_insert_with(|| {
            let (about, answer) = (node.to_string(), String::new());
            choices.push(Choice { at, kind: Decision::Edges, about, position: execution, answer });
            choices.len() - 1
        });
        self.choices[row].answer = answer;
    }

    pub(super) fn work(
        &mut self,
        at: At,
        node: Option<&FlowNodeId>,
        execution: u32,
        status: &str,
        output: Option<&Json>,
    ) {
        let works = &mut self.works;
        let row = *self.work_rows.entry((at.path, node.cloned(), execution)).or_insert_with(|| {
            let status = String::new();
            works.push(Work { at, node: node.cloned(), execution, status, output: None });
            works.len() - 1
        });
        status.clone_into(&mut self.works[row].status);
        self.works[row].output = output.cloned();
    }

    pub(super) fn write(&mut self, at: At, writes: &BTreeMap<String, Json>, by: &str) {
        for (key, value) in writes {
            let keys = &mut self.keys;
            let row = *self.key_rows.entry((at.path, key.clone())).or_insert_with(|| {
                keys.push(Key { at, name: key.clone(), writes: Vec::new() });
                keys.len() - 1
            });
            self.keys[row].writes.push(Contribution { by: by.to_owned(), value: value.clone() });
        }
    }

    /// A request that comes again is the one it was; if it was not answered, it waits again.
    pub(super) fn relay(&mut self, event: &Event, at: At, relay: &Relay) {
        let Some(run) = &event.head.run_id else { return };
        let (request, waits) = self.requests.ask(run, relay);
        let known = self.choice_rows.get(&request).copied();
        let row = known.unwrap_or_else(|| {
            let about = relay.tool.clone().unwrap_or_else(|| relay.kind.to_string());
            let row = self.choose(at, Decision::Relay, about, String::new());
            self.choice_rows.insert(request, row);
            row
        });
        if let Some(answer) = self.early.remove(&request) {
            self.choices[row].answer = answer;
        } else if waits {
            "open".clone_into(&mut self.choices[row].answer);
        }
    }

    /// The first answer counts, also if it comes before its request.
    pub(super) fn resolved(&mut self, event: &Event, resolved: &RelayResolved) {
        let (request, counts) = self.requests.answer(event.head.run_id.as_ref(), &resolved.relay_id);
        if !counts {
            return;
        }
        match self.choice_rows.get(&request) {
            Some(row) => self.choices[*row].answer = answer(resolved),
            None => _ = self.early.insert(request, answer(resolved)),
        }
    }

    pub(super) fn choose(&mut self, at: At, kind: Decision, about: String, answer: String) -> usize {
        let position = self.count(at, format!("{kind:?} {about}"));
        self.choices.push(Choice { at, kind, about, position, answer });
        self.choices.len() - 1
    }
}

/// A person's answer, in words.
pub(super) fn answer(resolved: &RelayResolved) -> String {
    let word = match (resolved.approved, &resolved.answer) {
        (Some(true), _) => "approved".to_owned(),
        (Some(false), _) => "denied".to_owned(),
        (None, Some(answer)) => answer.to_text().into_owned(),
        (None, None) => "resolved".to_owned(),
    };
    let scope = resolved.scope.as_ref().map(|scope| format!(" for the {scope}")).unwrap_or_default();
    let reason = resolved.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{word}{scope} by {}{reason}", resolved.by)
}
