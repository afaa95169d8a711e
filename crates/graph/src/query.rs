//! Questions to a [`Graph`].

use antiphon_event::{Kind, NodeId, RunId};

use crate::graph::Run;
use crate::node::NOWHERE;
use crate::{Graph, Node};

impl Graph {
    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.place(id).and_then(|place| self.at(place))
    }

    /// All nodes, in the order they came.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.nodes.iter().map(|node| &**node)
    }

    /// What followed from a node, in order; also from a parent that has not come.
    pub fn children(&self, id: &str) -> impl DoubleEndedIterator<Item = &Node> {
        let children = match self.place(id) {
            Some(place) => self.at(place).map(|node| &node.children),
            None => self.awaited.get(id),
        };
        children.into_iter().flat_map(|children| children.iter()).filter_map(|place| self.at(place))
    }

    /// What led to a node.
    pub fn parents(&self, id: &str) -> impl Iterator<Item = &Node> {
        self.node(id).and_then(|node| self.at(node.parent)).into_iter()
    }

    /// All runs, in the order they began.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = &RunId> {
        self.runs.iter().map(|run| &run.id)
    }

    /// The nodes of a run, in order.
    pub fn nodes_of(&self, run: &str) -> Vec<&Node> {
        let last = self.run_place(run).and_then(|place| self.run(place)).map_or(NOWHERE, |run| run.last);
        let back = std::iter::successors(self.at(last), |node| self.at(node.before));
        let mut nodes: Vec<_> = back.collect();
        nodes.reverse();
        nodes
    }

    /// The last node of a run.
    pub fn last_of(&self, run: &str) -> Option<&Node> {
        self.run_place(run).and_then(|place| self.run(place)).and_then(|run| self.at(run.last))
    }

    /// The first node of a run.
    pub fn first_of(&self, run: &str) -> Option<&Node> {
        self.run_place(run).and_then(|place| self.run(place)).and_then(|run| self.at(run.first))
    }

    /// All that a run said, without what was discarded.
    pub fn text_of(&self, run: &str) -> String {
        let mut whole = String::new();
        for node in self.nodes_of(run) {
            if node.kind() == Kind::Text && !node.discarded {
                node.text()
                    .into_iter()
                    .flat_map(|text| text.pieces())
                    .for_each(|piece| whole.push_str(piece));
            }
        }
        whole
    }

    /// The tool calls of a run, in order.
    pub fn tool_calls_of(&self, run: &str) -> Vec<&Node> {
        self.nodes_of(run).into_iter().filter(|node| node.kind() == Kind::ToolCall).collect()
    }

    /// Nodes that nothing here led to.
    pub fn roots(&self) -> impl Iterator<Item = &Node> {
        self.nodes().filter(|node| node.parent == NOWHERE)
    }

    /// What led to a node, from its parent back to its root.
    pub fn ancestors(&self, id: &str) -> impl Iterator<Item = &Node> {
        let parent = self.node(id).and_then(|node| self.at(node.parent));
        std::iter::successors(parent, |node| self.at(node.parent))
    }

    /// A node and all that followed from it, depth first, each node once.
    pub fn walk(&self, id: &str) -> impl Iterator<Item = &Node> {
        let mut stack: Vec<u32> = self.place(id).into_iter().collect();
        std::iter::from_fn(move || {
            let node = self.at(stack.pop()?)?;
            stack.extend(node.children.iter().rev());
            Some(node)
        })
    }

    /// A node and all that followed from it, with the edges between them.
    pub fn subgraph(&self, id: &str) -> Vec<(&Node, Vec<&NodeId>)> {
        let edges = |node: &Node| self.children(node.id.as_str()).map(|child| &child.id).collect();
        self.walk(id).map(|node| (node, edges(node))).collect()
    }

    /// The nodes on the way from one node down to another, both included; `None` if there is no way.
    pub fn path(&self, from: &str, to: &str) -> Option<Vec<&Node>> {
        let start = self.node(from)?;
        let mut way = vec![self.node(to)?];
        while way.last().is_some_and(|node| node.id != start.id) {
            way.push(self.at(way.last()?.parent)?);
        }
        way.reverse();
        Some(way)
    }

    pub(crate) fn run_list(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().map(|run| &**run)
    }
}
