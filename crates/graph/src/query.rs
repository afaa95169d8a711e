//! Questions to a [`Graph`].

use antiphon_event::{Kind, NodeId, RunId};

use crate::node::NOWHERE;
use crate::{Graph, Node};

impl Graph {
    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.place(id).and_then(|place| self.at(place))
    }

    /// All nodes, in the order they came.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.nodes.iter().map(|linked| &*linked.node)
    }

    /// What followed from a node, in order; also from a parent that has not come.
    pub fn children(&self, id: &str) -> impl DoubleEndedIterator<Item = &Node> {
        let children = match self.place(id) {
            Some(place) => self.linked(place).map(|link| &link.children),
            None => self.awaited.get(id),
        };
        children.into_iter().flat_map(|children| children.iter()).filter_map(|place| self.at(place))
    }

    /// What led to a node.
    pub fn parents(&self, id: &str) -> impl Iterator<Item = &Node> {
        self.place(id).and_then(|place| self.parent_of(place)).and_then(|parent| self.at(parent)).into_iter()
    }

    /// All runs, in the order they began.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = &RunId> {
        self.runs.iter().map(|run| &run.id)
    }

    /// The nodes of a run, in order.
    pub fn nodes_of(&self, run: &str) -> Vec<&Node> {
        let back = self.run_place(run).into_iter().flat_map(|run| self.back_through(run));
        let mut nodes: Vec<_> = back.filter_map(|place| self.at(place)).collect();
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
        self.nodes.iter().filter(|linked| linked.parent == NOWHERE).map(|linked| &*linked.node)
    }

    /// What led to a node, from its parent back to its root.
    pub fn ancestors(&self, id: &str) -> impl Iterator<Item = &Node> {
        let parent = self.place(id).and_then(|place| self.parent_of(place));
        std::iter::successors(parent, |place| self.parent_of(*place)).filter_map(|place| self.at(place))
    }

    /// A node and all that followed from it, depth first, each node once.
    pub fn walk(&self, id: &str) -> impl Iterator<Item = &Node> {
        let mut stack: Vec<u32> = self.place(id).into_iter().collect();
        std::iter::from_fn(move || {
            let place = stack.pop()?;
            stack.extend(self.children_of(place).rev());
            self.at(place)
        })
    }

    /// A node and all that followed from it, with the edges between them.
    pub fn subgraph(&self, id: &str) -> Vec<(&Node, Vec<&NodeId>)> {
        let edges = |node: &Node| self.children(node.id.as_str()).map(|child| &child.id).collect();
        self.walk(id).map(|node| (node, edges(node))).collect()
    }

    /// The nodes on the way from one node down to another, both included; `None` if there is no way.
    pub fn path(&self, from: &str, to: &str) -> Option<Vec<&Node>> {
        let start = self.place(from)?;
        let mut way = vec![self.place(to)?];
        while let Some(last) = way.last().filter(|last| **last != start) {
            way.push(self.parent_of(*last)?);
        }
        way.reverse();
        Some(way.into_iter().filter_map(|place| self.at(place)).collect())
    }
}
