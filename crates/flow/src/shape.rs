//! [`Shape`]: how the nodes and edges of a flow hang together, worked out once when it is built.
//!
//! Which edges lead back, which nodes each loop is made of, how deep each node lies. All that the scheduler
//! looks up while it runs is here, by index.

mod index;
mod lists;

use std::collections::BTreeSet;

pub(crate) use self::index::Index;
pub(crate) use self::lists::Lists;
use crate::definition::{Edge, EdgeIndex, Node, NodeIndex, Settings, When};

/// How the nodes and edges of a flow hang together.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Nodes by id.
    pub(crate) index: Index,
    /// Where a run begins.
    pub(crate) entries: Vec<NodeIndex>,
    /// Source and target of each edge.
    pub(crate) ends: Vec<(NodeIndex, NodeIndex)>,
    /// Edges that leave each node, in declaration order.
    pub(crate) leaving: Lists,
    /// Forward edges that enter each node, in declaration order.
    pub(crate) entering: Lists,
    /// Whether an edge leads back.
    pub(crate) back: Vec<bool>,
    /// The longest forward path from an entry to each node; `None` for one that only takes over for others.
    pub(crate) layer: Vec<Option<u32>>,
    /// How many layers there are.
    pub(crate) layers: usize,
    /// The node that takes over for each; items of a map have none.
    pub(crate) fallback: Vec<Option<NodeIndex>>,
    /// The nodes that only take over for others.
    pub(crate) deputies: Vec<NodeIndex>,
    /// Sets of nodes whose coming to rest matters.
    pub(crate) regions: Vec<Region>,
    /// The regions each node is in, the smallest first.
    pub(crate) regions_of: Lists,
    /// For each target of a back edge, the region of all that it reaches.
    pub(crate) reach_of: Vec<Option<usize>>,
    /// For each forward edge, the loops it leaves, the smallest first.
    pub(crate) leaves: Lists,
    /// Nodes no walk from the entries meets.
    pub(crate) unreachable: Vec<NodeIndex>,
    /// Whether one node has the work at a time. Then every edge leads back, so that nobody waits for anybody, and what
    /// has the work again is all that is done again.
    pub(crate) hands_over: bool,
}

/// A set of nodes, in declaration order.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    pub(crate) nodes: Vec<NodeIndex>,
    /// The edges that leave it, if it is a loop; those that leave few others before those that leave more.
    pub(crate) exits: Option<Vec<EdgeIndex>>,
}

impl Shape {
    /// Works the shape out. Edges and entries that name no node are left out; the checks report them.
    pub(crate) fn of(settings: &Settings, nodes: &[(String, Node)], edges: &[Edge]) -> Self {
        let index = Index::of(nodes.iter().map(|(id, _)| id.as_str()));
        let mut shape = Self { index, hands_over: settings.hands_over, ..Self::default() };
        let find = |id: &str| shape.index.get(id);
        let known: Vec<Option<(NodeIndex, NodeIndex)>> =
            edges.iter().map(|edge| Some((find(&edge.from)?, find(&edge.to)?))).collect();
        shape.fallback = nodes.iter().map(|(_, node)| node.fallback.as_deref().and_then(find)).collect();
        let sources = known.iter().enumerate().filter_map(|(edge, ends)| Some(((*ends)?.0, edge)));
        shape.leaving = Lists::of(nodes.len(), sources);
        shape.ends = known.into_iter().map(|ends| ends.unwrap_or((usize::MAX, usize::MAX))).collect();
        shape.entries = entries(settings, nodes, edges, &shape);
        shape.walk(nodes.len());
        shape.enter(nodes.len());
        shape.find_layers(nodes.len());
        shape.deputies = (0..nodes.len()).filter(|node| shape.layer[*node].is_none()).collect();
        if shape.hands_over {
            shape.back = shape.ends.iter().map(|(from, _)| *from != usize::MAX).collect();
            shape.enter(nodes.len());
        }
        shape.find_regions(nodes.len());
        shape
    }

    /// The shape of a map: as many nodes as it has items, and nothing between them.
    pub(crate) fn of_items(count: usize) -> Self {
        Self {
            index: Index::Items(count),
            entries: (0..count).collect(),
            layer: vec![Some(0); count],
            layers: count.min(1),
            ..Self::default()
        }
    }

    /// Whether its nodes are the items of a map.
    pub(crate) fn is_of_items(&self) -> bool {
        matches!(self.index, Index::Items(_))
    }

    /// Whether any edge leads back.
    pub fn is_cyclic(&self) -> bool {
        self.back.contains(&true)
    }

    /// The nodes a run begins with.
    pub fn entries(&self) -> &[NodeIndex] {
        &self.entries
    }

    /// Source and target of an edge.
    pub fn ends(&self, edge: EdgeIndex) -> (NodeIndex, NodeIndex) {
        self.ends[edge]
    }

    /// Whether an edge leads back.
    pub fn leads_back(&self, edge: EdgeIndex) -> bool {
        self.back[edge]
    }

    /// How deep a node lies; `None` for one that only takes over for others.
    pub fn layer(&self, node: NodeIndex) -> Option<u32> {
        self.layer[node]
    }

    /// The node that takes over for another.
    pub(crate) fn fallback(&self, node: NodeIndex) -> Option<NodeIndex> {
        *self.fallback.get(node)?
    }

    /// Depth first from the entries, in declaration order: an edge to a node on the stack leads back.
    fn walk(&mut self, count: usize) {
        #[derive(Clone, Copy, PartialEq)]
        enum Met {
            Never,
            OnStack,
            Left,
        }
        self.back = vec![false; self.ends.len()];
        let mut met = vec![Met::Never; count];
        let starts = self.entries.iter().chain(self.fallback.iter().flatten()).copied().collect::<Vec<_>>();
        for start in starts {
            if met[start] != Met::Never {
                continue;
            }
            met[start] = Met::OnStack;
            let mut stack = vec![(start, 0)];
            while let Some((node, next)) = stack.last_mut() {
                let Some(&edge) = self.leaving[*node].get(*next) else {
                    met[*node] = Met::Left;
                    stack.pop();
                    continue;
                };
                *next += 1;
                let target = self.ends[edge].1;
                match met[target] {
                    Met::Never => {
                        met[target] = Met::OnStack;
                        stack.push((target, 0));
                    }
                    Met::OnStack => self.back[edge] = true,
                    Met::Left => {}
                }
            }
        }
        self.unreachable = (0..count).filter(|node| met[*node] == Met::Never).collect();
    }

    fn enter(&mut self, count: usize) {
        let ends = self.ends.iter().enumerate();
        let forward = ends.filter(|(edge, (from, _))| !self.back[*edge] && *from != usize::MAX);
        self.entering = Lists::of(count, forward.map(|(edge, (_, to))| (*to, edge)));
    }

    /// Longest paths, in topological order of the forward edges.
    fn find_layers(&mut self, count: usize) {
        let mut waiting: Vec<usize> = (0..count).map(|node| self.entering[node].len()).collect();
        let mut queue: Vec<NodeIndex> = (0..count).filter(|node| waiting[*node] == 0).collect();
        let mut layer: Vec<Option<u32>> = vec![None; count];
        for entry in &self.entries {
            layer[*entry] = Some(0);
        }
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            for &edge in &self.leaving[node] {
                let target = self.ends[edge].1;
                if self.back[edge] {
                    continue;
                }
                layer[target] = layer[target].max(layer[node].map(|layer| layer + 1));
                waiting[target] -= 1;
                if waiting[target] == 0 {
                    queue.push(target);
                }
            }
        }
        self.layers = layer.iter().flatten().max().map_or(0, |deepest| *deepest as usize + 1);
        self.layer = layer;
    }

    fn find_regions(&mut self, count: usize) {
        self.reach_of = vec![None; count];
        let backs: Vec<EdgeIndex> = (0..self.ends.len()).filter(|edge| self.back[*edge]).collect();
        for edge in backs {
            let (source, target) = self.ends[edge];
            let reached = self.reached(target, |edge| self.ends[edge].1, &self.leaving);
            if self.reach_of[target].is_none() {
                let nodes = reached.iter().copied().collect();
                self.reach_of[target] = Some(self.add_region(Region { nodes, exits: None }));
            }
            let reaching = self.reached(source, |edge| self.ends[edge].0, &self.entering);
            let nodes: BTreeSet<NodeIndex> = reached.intersection(&reaching).copied().collect();
            let exits = self.exits(&nodes);
            self.add_region(Region { nodes: nodes.into_iter().collect(), exits: Some(exits) });
        }
        let mut inward: Vec<usize> = (0..self.regions.len()).collect();
        inward.sort_by_key(|at| self.regions[*at].nodes.len());
        let regions = || inward.iter().map(|at| (*at, &self.regions[*at]));
        let within = regions().flat_map(|(at, region)| region.nodes.iter().map(move |node| (*node, at)));
        self.regions_of = Lists::of(count, within);
        let out =
            regions().flat_map(|(at, region)| region.exits.iter().flatten().map(move |edge| (*edge, at)));
        self.leaves = Lists::of(self.ends.len(), out);
        for exits in self.regions.iter_mut().filter_map(|region| region.exits.as_mut()) {
            exits.sort_by_key(|edge| self.leaves[*edge].len());
        }
    }

    fn add_region(&mut self, region: Region) -> usize {
        self.regions.push(region);
        self.regions.len() - 1
    }

    /// All nodes that forward edges lead to from `start`, itself included; `onward` says which end to go to.
    fn reached(
        &self,
        start: NodeIndex,
        onward: impl Fn(EdgeIndex) -> NodeIndex,
        edges: &Lists,
    ) -> BTreeSet<NodeIndex> {
        let mut seen = BTreeSet::from([start]);
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            for &edge in edges[node].iter().filter(|edge| !self.back[**edge]) {
                let next = onward(edge);
                if seen.insert(next) {
                    stack.push(next);
                }
            }
        }
        seen
    }

    /// The forward edges that lead out of a set of nodes.
    fn exits(&self, nodes: &BTreeSet<NodeIndex>) -> Vec<EdgeIndex> {
        let leaving = nodes.iter().flat_map(|node| &self.leaving[*node]);
        leaving.copied().filter(|edge| !self.back[*edge] && !nodes.contains(&self.ends[*edge].1)).collect()
    }
}

/// The nodes named as entries, else those that no edge enters and no fallback names.
fn entries(settings: &Settings, nodes: &[(String, Node)], edges: &[Edge], shape: &Shape) -> Vec<NodeIndex> {
    if !settings.entry.is_empty() {
        let mut named: Vec<NodeIndex> = settings.entry.iter().filter_map(|id| shape.index.get(id)).collect();
        named.sort_unstable();
        named.dedup();
        return named;
    }
    let mut entered = vec![false; nodes.len()];
    for (edge, (from, to)) in shape.ends.iter().enumerate() {
        let counts = from != to || matches!(edges[edge].when, When::Reroute);
        if *from != usize::MAX && counts {
            entered[*to] = true;
        }
    }
    for fallback in shape.fallback.iter().flatten() {
        entered[*fallback] = true;
    }
    (0..nodes.len()).filter(|node| !entered[*node]).collect()
}
