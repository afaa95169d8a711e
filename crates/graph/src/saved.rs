//! A [`Reducer`] put away and taken up again: saved, loaded and gone on with, it is as if nothing had happened.
//!
//! Only what cannot be worked out again is saved: indexes, children and trees are rebuilt.

use std::sync::Arc;

use antiphon_event::{Body, FlowNodeId, Kind, NodeId, ParentId, RunId, Seen};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::count::Counts;
use crate::graph::Run;
use crate::index::hash;
use crate::node::{Children, Linked, NOWHERE, Rest};
use crate::reduce::Pace;
use crate::{Node, Place, Reducer, Text};

#[derive(Serialize, Deserialize)]
struct Saved {
    seen: Seen,
    nodes: Vec<SavedNode>,
    runs: Vec<SavedRun>,
    awaited: Vec<(NodeId, Vec<Place>)>,
    renamed: Vec<(u32, String, Arc<str>, Place)>,
}

#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize)]
struct SavedNode {
    id: NodeId,
    run: u32,
    kind: String,
    /// The members as JSON text: as a value they would nest deeper than a payload may.
    members: String,
    /// The members that this version does not know, each as JSON text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extra: Vec<(Box<str>, String)>,
    text: Option<Text>,
    parent: Option<Place>,
    before: Option<Place>,
    parent_id: Option<ParentId>,
    flow_node: Option<FlowNodeId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    discarded: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedRun {
    id: RunId,
    first: Place,
    last: Place,
    counts: Vec<(String, u32)>,
}

impl Serialize for Reducer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let graph = &self.graph;
        let mut renamed: Vec<_> = self
            .renamed
            .iter()
            .map(|((run, kind, asked), place)| (*run, kind.tag().to_owned(), Arc::clone(asked), *place))
            .collect();
        renamed.sort_unstable();
        let nodes = graph.nodes.iter().map(save_node);
        let nodes = nodes.collect::<Result<_, _>>().map_err(serde::ser::Error::custom)?;
        let runs = graph.runs.iter().zip(&self.counts).map(|(run, counts)| save_run(run, counts)).collect();
        let awaited =
            graph.awaited.iter().map(|(id, children)| (id.clone(), children.iter().collect())).collect();
        Saved { seen: self.seen.clone(), nodes, runs, awaited, renamed }.serialize(serializer)
    }
}

fn save_node(linked: &Linked) -> Result<SavedNode, serde_json::Error> {
    let known = |place: Place| (place != NOWHERE).then_some(place);
    let node = &linked.node;
    Ok(SavedNode {
        id: node.id.clone(),
        run: node.run_place,
        kind: node.kind().tag().to_owned(),
        members: serde_json::to_string(node.body())?,
        extra: node.extra().iter().map(|(name, value)| (name.clone(), value.as_str().to_owned())).collect(),
        text: node.text().cloned(),
        parent: known(linked.parent),
        before: known(linked.before),
        parent_id: node.parent_id().cloned(),
        flow_node: node.flow_node().cloned(),
        discarded: node.discarded,
    })
}

fn save_run(run: &Run, counts: &Counts) -> SavedRun {
    let counts = counts.iter().map(|(kind, n)| (kind.tag().to_owned(), n)).collect();
    SavedRun { id: run.id.clone(), first: run.first, last: run.last, counts }
}

impl<'de> Deserialize<'de> for Reducer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        let mut reducer = Self { seen: saved.seen, ..Self::default() };
        for run in saved.runs {
            reducer.load_run(run);
        }
        let count = saved.nodes.len();
        let mut parents = Vec::with_capacity(count);
        for node in saved.nodes {
            parents.push(node.parent);
            reducer.load_node(node).map_err(D::Error::custom)?;
        }
        for (child, parent) in parents.into_iter().enumerate() {
            if let Some(parent) = parent {
                reducer.load_edge(parent, child as Place).map_err(D::Error::custom)?;
            }
        }
        let whole = |place: &Place| (*place as usize) < count;
        for (id, children) in saved.awaited {
            if !children.iter().all(whole) {
                return Err(D::Error::custom(format!("a child of {id} is not there")));
            }
            children.windows(2).for_each(|pair| reducer.forest.join(pair[0], pair[1]));
            reducer.graph.awaited.insert(id, children.into_iter().collect());
        }
        for (run, kind, asked, place) in saved.renamed {
            reducer.renamed.insert((run, Kind::of(&kind), asked), place);
        }
        Ok(reducer)
    }
}

/// Whether more of its text may come.
fn is_stream(kind: Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Reasoning | Kind::ReplProgress)
}

impl Reducer {
    fn load_run(&mut self, run: SavedRun) {
        let place = self.graph.runs.len() as u32;
        self.graph.run_ids.insert(hash(run.id.as_str()), place);
        let counts = run.counts.into_iter().map(|(kind, n)| (Kind::of(&kind), n));
        self.counts.push(counts.collect());
        self.graph.runs.push(Run { id: run.id, first: run.first, last: run.last });
        // Whether it is in the middle of a stream is seen when it goes on.
        self.paces.push(Pace { next: place, is_streaming: true });
    }

    fn load_node(&mut self, saved: SavedNode) -> Result<(), String> {
        let body = Body::from_json(&saved.kind, &saved.members).map_err(|error| error.to_string())?;
        if is_stream(body.kind()) != saved.text.is_some() {
            return Err(format!(
                "only streams have a text of their own, and {} is none or lacks it",
                saved.id
            ));
        }
        let extra = saved.extra.into_iter().map(|(name, json)| Ok((name, serde_json::from_str(&json)?)));
        let extra = extra.collect::<Result<_, serde_json::Error>>().map_err(|error| error.to_string())?;
        let run = self.graph.run(saved.run).ok_or_else(|| format!("the run of {} is not there", saved.id))?;
        let (run, place) = (run.id.clone(), self.graph.nodes.len() as Place);
        self.graph.ids.insert(hash(saved.id.as_str()), place);
        self.forest.plant();
        let node = triomphe::Arc::new(Node {
            id: saved.id,
            run,
            run_place: saved.run,
            body,
            text: saved.text.map(Box::new),
            rest: Rest { extra, parent_id: saved.parent_id, flow_node: saved.flow_node }.boxed(),
            discarded: saved.discarded,
        });
        self.graph.nodes.push(Linked {
            node,
            parent: saved.parent.unwrap_or(NOWHERE),
            before: saved.before.unwrap_or(NOWHERE),
            children: Children::None,
        });
        Ok(())
    }

    fn load_edge(&mut self, parent: Place, child: Place) -> Result<(), String> {
        let Some(linked) = self.graph.nodes.get_mut(parent as usize) else {
            return Err(format!("node {parent} is not there"));
        };
        linked.children.push(child);
        self.forest.join(parent, child);
        Ok(())
    }
}
