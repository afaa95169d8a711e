//! Everything that can be wrong with a flow, found at once.
//!
//! In: what a [`Builder`] was told. Out: [`Problem`]s, each with what it is about, so that the reader of a file can
//! say where. Start reading at [`check`], which is the list.

mod graph;
mod node;
mod sense;

use std::fmt;

use crate::builder::{Builder, reroutes};
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
    /// A member of the flow: `entry`, `output`, `limits` …
    Setting(&'static str),
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

/// Every mistake and every doubt, in the order of the list.
pub(crate) fn check(flow: &Builder) -> Vec<Problem> {
    if let Some(problem) = too_big(flow) {
        return vec![problem];
    }
    let mut edges = flow.edges.clone();
    edges.extend(reroutes(&flow.nodes));
    let shape = Shape::of(&flow.settings, &flow.nodes, &edges);
    let mut subjects = Subjects { flow, shape, found: Vec::new() };
    for look in [
        graph::names,
        graph::edges,
        graph::entries,
        graph::reached,
        graph::cycles,
        graph::fallbacks,
        graph::joins,
        node::members,
        sense::retries,
        sense::questions,
        sense::lengths,
        node::state,
        node::formulas,
    ] {
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
