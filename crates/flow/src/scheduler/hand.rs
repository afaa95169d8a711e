//! What a node is handed: the task, or what its live sources gave.

use antiphon_event::Json;
use serde_json::{Value, json};

use super::Scheduler;
use super::spot::Decision;
use crate::definition::{EdgeIndex, Join, NodeIndex};
use crate::moment::{Handed, Moment};

impl Scheduler {
    /// What the current execution of a node gets.
    pub fn input(&self, node: NodeIndex) -> Json {
        self.spots[node].rare().input.clone().unwrap_or_else(|| self.given(node))
    }

    /// What a node gets unless an expression, a hook or a guardrail says otherwise.
    pub(super) fn given(&self, node: NodeIndex) -> Json {
        if let Some(&caller) = self.spots[node].rare().callers.front() {
            return self.input(caller);
        }
        if let Some(item) = self.items.get(node) {
            return item.clone();
        }
        if let ([edge], [], false) =
            (&self.flow.shape().entering[node], &*self.spots[node].rare().brought, self.reads_blocks(node))
            && self.decisions[*edge] == Decision::Live
        {
            return self.gave(self.flow.shape().ends[*edge].0);
        }
        let sources = self.sources(node);
        if self.reads_blocks(node) {
            return self.blocks(&sources);
        }
        match sources.as_slice() {
            [] => self.task.clone(),
            [one] => self.gave(*one),
            several => self.by_id(several, Self::gave),
        }
    }

    fn reads_blocks(&self, node: NodeIndex) -> bool {
        self.flow.node(node).work.reads_blocks()
    }

    /// What a node gets that does not wait for all its sources: others may complete while it works, and what it got
    /// stays what it got. So it is with an entry that something leads to, and with what a loop comes back to.
    pub(super) fn early_input(&self, node: NodeIndex) -> Option<Json> {
        let more_may_come = self.flow.node(node).join != Join::All || self.spots[node].undecided > 0;
        more_may_come.then(|| self.given(node))
    }

    /// The sources of the live edges that lead to a node, in the order the edges were declared.
    fn sources(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let shape = self.flow.shape();
        let (entering, brought) = (&shape.entering[node], &self.spots[node].rare().brought);
        let mut edges: Vec<EdgeIndex> = Vec::with_capacity(entering.len() + brought.len());
        edges.extend(entering.iter().filter(|edge| self.decisions[**edge] == Decision::Live));
        if !brought.is_empty() {
            edges.extend(brought);
            edges.sort_unstable();
        }
        edges.into_iter().map(|edge| shape.ends[edge].0).collect()
    }

    pub(super) fn gave(&self, node: NodeIndex) -> Json {
        self.spots[node].output.clone().unwrap_or_else(|| Json::from(Value::Null))
    }

    /// Something about several nodes, by their ids.
    pub(super) fn by_id(&self, nodes: &[NodeIndex], what: fn(&Self, NodeIndex) -> Json) -> Json {
        let by_id = nodes.iter().map(|node| (self.flow.id(*node).as_str(), what(self, *node)));
        Json::object(&by_id.collect::<Vec<_>>())
    }

    /// The task, then what each source gave, as blocks of content that say where they are from.
    fn blocks(&self, sources: &[NodeIndex]) -> Json {
        let mut blocks = Vec::new();
        add_blocks(&mut blocks, &self.task, None);
        for &source in sources {
            add_blocks(&mut blocks, &self.gave(source), Some(self.flow.id(source).as_str()));
        }
        Json::from(Value::Array(blocks))
    }

    /// What an expression of a node sees; `input` is what the node gets.
    pub(super) fn moment<'a>(&'a self, node: NodeIndex, input: Handed<'a>) -> Moment<'a> {
        Moment {
            task: &self.task,
            state: &self.state,
            input,
            output: None,
            item: self.items.get(node),
            others: self,
        }
    }
}

/// Adds a value as blocks of content; parts that are content already stay as they are, reasoning is left out.
fn add_blocks(blocks: &mut Vec<Value>, value: &Json, source: Option<&str>) {
    let label = |mut block: Value| {
        if let (Some(members), Some(source)) = (block.as_object_mut(), source) {
            members.insert("nodeId".into(), Value::from(source));
        }
        block
    };
    let text = |text: String| json!({"type": "text", "text": text});
    match value.value() {
        Value::Null => {}
        Value::String(said) => blocks.push(label(text(said))),
        Value::Array(parts) if !parts.is_empty() && parts.iter().all(|part| part.get("type").is_some()) => {
            let parts = parts.into_iter().filter(|part| part["type"] != "reasoning");
            blocks.extend(parts.map(label));
        }
        _ => blocks.push(label(text(value.as_str().to_owned()))),
    }
}
