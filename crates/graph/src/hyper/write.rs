//! A [`Hypergraph`] as JSON: `{nodes, edges, active}`.

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};

use super::{Chunk, Hypergraph};
use crate::Place;

impl Serialize for Hypergraph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hyper = serializer.serialize_struct("Hypergraph", 3)?;
        hyper.serialize_field("nodes", &Nodes(self))?;
        hyper.serialize_field("edges", &Edges(self))?;
        hyper.serialize_field("active", &ActiveIds(self))?;
        hyper.end()
    }
}

struct Nodes<'a>(&'a Hypergraph);

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hyper = self.0;
        let count = hyper.chunks.len() + hyper.blocks.len() + hyper.messages.len();
        let places = (0..count).map(|at| match at {
            at if at < hyper.chunks.len() => Tier::Chunk(at as Place),
            at if at < hyper.chunks.len() + hyper.blocks.len() => {
                Tier::Block((at - hyper.chunks.len()) as Place)
            }
            at => Tier::Message((at - hyper.chunks.len() - hyper.blocks.len()) as Place),
        });
        serializer.collect_seq(places.map(|tier| TierNode(hyper, tier)))
    }
}

enum Tier {
    Chunk(Place),
    Block(Place),
    Message(Place),
}

struct TierNode<'a>(&'a Hypergraph, Tier);

impl Serialize for TierNode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut node = serializer.serialize_map(None)?;
        match self.1 {
            Tier::Chunk(place) => write_chunk(&mut node, self.0, place)?,
            Tier::Block(place) => write_block(&mut node, self.0, place)?,
            Tier::Message(place) => write_message(&mut node, self.0, place)?,
        }
        node.end()
    }
}

fn write_chunk<M: SerializeMap>(node: &mut M, hyper: &Hypergraph, place: Place) -> Result<(), M::Error> {
    node.serialize_entry("id", &Hypergraph::chunk_id(place))?;
    node.serialize_entry("kind", "chunk")?;
    let Some(chunk) = hyper.chunk(place) else {
        return Ok(());
    };
    node.serialize_entry("content", &ChunkContent(hyper, *chunk))
}

fn write_block<M: SerializeMap>(node: &mut M, hyper: &Hypergraph, place: Place) -> Result<(), M::Error> {
    let Some(block) = hyper.block(place) else {
        return Ok(());
    };
    node.serialize_entry("id", &hyper.block_id(block))?;
    node.serialize_entry("kind", "block")?;
    if let Some(shown) = hyper.node_of(block) {
        let content = super::is_content(shown.kind());
        node.serialize_entry("of", if content { shown.kind().tag() } else { "structural" })?;
        node.serialize_entry("node", &shown.id)?;
        node.serialize_entry("runId", &shown.run)?;
    }
    Ok(())
}

fn write_message<M: SerializeMap>(node: &mut M, hyper: &Hypergraph, place: Place) -> Result<(), M::Error> {
    let Some(message) = hyper.message(place) else {
        return Ok(());
    };
    node.serialize_entry("id", &message.id)?;
    node.serialize_entry("kind", "message")?;
    node.serialize_entry("role", &message.speaker)?;
    if let Some(run) = &message.run {
        node.serialize_entry("runId", run)?;
    }
    if let Some(text) = message.summary() {
        node.serialize_entry("content", text)?;
    }
    Ok(())
}

/// What one event brought: its own piece of a stream, or its members.
struct ChunkContent<'a>(&'a Hypergraph, Chunk);

impl Serialize for ChunkContent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(hyper, chunk) = self;
        let mut content = serializer.serialize_map(None)?;
        let Some(node) = hyper.block(chunk.block).and_then(|block| hyper.node_of(block)) else {
            return content.end();
        };
        content.serialize_entry("type", node.kind().tag())?;
        content.serialize_entry("runId", node.run())?;
        if let Some(flow_node) = node.flow_node() {
            content.serialize_entry("nodeId", flow_node)?;
        }
        for (name, value) in node.body().members() {
            match (&*name, node.text()) {
                ("content" | "chunk", Some(text)) => {
                    content.serialize_entry(&name, &text.slice(chunk.from as usize, chunk.to as usize))?;
                }
                _ => content.serialize_entry(&name, &value)?,
            }
        }
        for (name, value) in node.extra() {
            content.serialize_entry(name, value)?;
        }
        content.end()
    }
}

struct Edges<'a>(&'a Hypergraph);

impl Serialize for Edges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.hyperedges().map(|edge| {
            let roles: serde_json::Map<_, _> = edge
                .roles
                .into_iter()
                .map(|(role, ids)| {
                    (serde_json::json!(role).as_str().unwrap_or_default().to_owned(), ids.into())
                })
                .collect();
            serde_json::json!({"type": edge.relation, "roles": roles})
        }))
    }
}

struct ActiveIds<'a>(&'a Hypergraph);

impl Serialize for ActiveIds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.walk().into_iter().map(|item| self.0.item_id(item)))
    }
}
