//! A [`Graph`] as JSON: `{nodes: [{id, runId, kind, …members}], edges: {id: [child ids]}, lastNodeByRunId: {…}}`.

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};

use crate::node::Children;
use crate::{Graph, Node};

impl Serialize for Graph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut graph = serializer.serialize_struct("Graph", 3)?;
        graph.serialize_field("nodes", &Nodes(self))?;
        graph.serialize_field("edges", &Edges(self))?;
        graph.serialize_field("lastNodeByRunId", &LastNodes(self))?;
        graph.end()
    }
}

struct Nodes<'a>(&'a Graph);

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.nodes())
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut node = serializer.serialize_map(None)?;
        node.serialize_entry("id", &self.id)?;
        node.serialize_entry("runId", &self.run)?;
        node.serialize_entry("kind", self.kind().tag())?;
        if let Some(parent) = self.parent_id() {
            node.serialize_entry("parentId", parent)?;
        }
        if let Some(flow_node) = self.flow_node() {
            node.serialize_entry("nodeId", flow_node)?;
        }
        for (name, value) in self.body().members() {
            match &*name {
                // The node's own id and kind stand above.
                "id" => {}
                "kind" => node.serialize_entry("relayKind", &value)?,
                "content" | "chunk" if self.text().is_some() => node.serialize_entry(&name, &self.text())?,
                _ => node.serialize_entry(&name, &value)?,
            }
        }
        for (name, value) in self.extra() {
            // What a node says itself is not what its event meant by that name.
            if !matches!(&**name, "id" | "runId" | "kind" | "relayKind" | "parentId" | "nodeId" | "discarded")
            {
                node.serialize_entry(name, value)?;
            }
        }
        if self.discarded {
            node.serialize_entry("discarded", &true)?;
        }
        node.end()
    }
}

struct Edges<'a>(&'a Graph);

impl Serialize for Edges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let graph = self.0;
        let mut edges = serializer.serialize_map(None)?;
        for linked in graph.nodes.iter().filter(|linked| !linked.children.is_empty()) {
            edges.serialize_entry(&linked.node.id, &Ids(graph, &linked.children))?;
        }
        for (parent, children) in &graph.awaited {
            edges.serialize_entry(parent, &Ids(graph, children))?;
        }
        edges.end()
    }
}

struct Ids<'a>(&'a Graph, &'a Children);

impl Serialize for Ids<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.1.iter().filter_map(|place| self.0.at(place)).map(|node| &node.id))
    }
}

struct LastNodes<'a>(&'a Graph);

impl Serialize for LastNodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let last = |run: &crate::graph::Run| self.0.at(run.last).map(|node| node.id.clone());
        serializer.collect_map(self.0.runs.iter().map(|run| (&run.id, last(run))))
    }
}
