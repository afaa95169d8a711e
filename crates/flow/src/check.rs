//! Everything that can be wrong with a flow, found at once.
//!
//! In: what a [`Builder`] was told. Out: [`Problem`]s, each with what it is about, so that the reader of a file can
//! say where. Start reading at [`check`] and the two lists above it.

mod graph;
mod node;
mod sense;
mod wanted;

use std::fmt;

use crate::builder::{Builder, reroutes};
use crate::definition::{Node, Work};
use crate::shape::Shape;

/// How many nodes a flow may have.
pub const NODES_MAX: usize = 100_000;
/// How many edges a flow may have.
pub const EDGES_MAX: usize = 1_000_000;

/// Something wrong with a flow, or doubtful.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether it must be mended before the flow can run.
    pub level: Level,
    /// What it is about.
    pub subject: Subject,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The flow cannot run.
    Error,
    /// The flow may not do what was meant.
    Warning,
}

/// What a problem is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The flow as a whole.
    Flow,
    /// A member of the flow: `limits.max_concurrency` …
    Setting(&'static str),
    /// The expression of the flow's `output`, and the column within it.
    Output(usize),
    /// One of the nodes named under `entry`, by its place.
    Entry(usize),
    /// A key of the state.
    State(String),
    /// A member of a key of the state: `reduce`, `default`.
    StateMember(String, &'static str),
    /// A node, by its place: ids may repeat.
    Node(usize),
    /// A member of a node: `timeout`, `set.drafts` …
    Member(usize, String),
    /// The expression of a member of a node, and the column within it.
    Formula(usize, String, usize),
    /// An edge, by its place.
    Edge(usize),
    /// Where an edge leads `from` or `to`.
    End(usize, &'static str),
    /// The condition of an edge, and the column within it.
    Condition(usize, usize),
}

impl Problem {
    pub(crate) fn error(subject: Subject, message: impl Into<String>) -> Self {
        Self { level: Level::Error, subject, message: message.into(), help: None }
    }

    pub(crate) fn warning(subject: Subject, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::error(subject, message) }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn maybe(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// Whether the flow cannot run because of it.
    pub fn is_error(&self) -> bool {
        self.level == Level::Error
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// Why a flow was not built: never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// What the checks look at.
pub(crate) struct Subjects<'a> {
    pub(crate) flow: &'a Builder,
    pub(crate) shape: Shape,
    pub(crate) found: Vec<Problem>,
}

/// A node, or the node of a map.
pub(crate) struct Spot<'a> {
    /// The place of the outermost node.
    pub(crate) at: usize,
    /// What leads to it from there, with a dot at its end if it is inside.
    pub(crate) path: String,
    /// The id of the outermost node.
    pub(crate) id: &'a str,
    pub(crate) node: &'a Node,
}

impl<'a> Subjects<'a> {
    /// Every node, those inside maps included.
    pub(crate) fn nodes(&self) -> Vec<Spot<'a>> {
        let mut found = Vec::new();
        for (at, (id, node)) in self.flow.nodes.iter().enumerate() {
            let mut spot = Spot { at, path: String::new(), id, node };
            while let Work::Map(map) = &spot.node.work {
                let inner = Spot { path: format!("{}map.node.", spot.path), node: &map.node, ..spot };
                found.push(std::mem::replace(&mut spot, inner));
            }
            found.push(spot);
        }
        found
    }
}

type Look = fn(&mut Subjects<'_>);

/// What a flow must be for a run of it to be possible at all.
const SHAPE: &[Look] = &[
    graph::names,
    graph::edges,
    graph::entries,
    graph::reached,
    graph::cycles,
    graph::fallbacks,
    graph::joins,
];

/// What would go wrong in a run.
const SENSE: &[Look] = &[
    node::members,
    sense::retries,
    sense::questions,
    sense::lengths,
    sense::sanitizers,
    node::state,
    node::formulas,
];

/// Every mistake and every doubt, in the order of the lists.
pub(crate) fn check(flow: &Builder) -> Vec<Problem> {
    found(flow, &[SHAPE, SENSE])
}

/// Only what no run is possible with. A flow that has run is not refused because more is found in it today.
pub(crate) fn check_shape(flow: &Builder) -> Vec<Problem> {
    found(flow, &[SHAPE])
}

fn found(flow: &Builder, lists: &[&[Look]]) -> Vec<Problem> {
    if let Some(problem) = too_big(flow) {
        return vec![problem];
    }
    let mut edges = flow.edges.clone();
    edges.extend(reroutes(&flow.nodes));
    let shape = Shape::of(&flow.settings, &flow.nodes, &edges);
    let mut subjects = Subjects { flow, shape, found: Vec::new() };
    for look in lists.iter().copied().flatten() {
        look(&mut subjects);
    }
    subjects.found
}

fn too_big(flow: &Builder) -> Option<Problem> {
    let counts = [(flow.nodes.len(), NODES_MAX, "nodes"), (flow.edges.len(), EDGES_MAX, "edges")];
    let (count, max, what) = counts.into_iter().find(|(count, max, _)| count > max)?;
    Some(
        Problem::error(Subject::Flow, format!("the flow has {count} {what}, and {max} are allowed"))
            .help("put parts of it into flows of their own"),
    )
}
