//! [`Flow`]: a graph of work, checked when it was built, shared by any number of invocations.
//!
//! Start reading at [`Flow`], then [`Node`] for what can be said about one, then [`Work`] for what one can do.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use antiphon_event::{EdgeType, FlowNodeId, Json, NodeType};

use crate::expr::Expression;
use crate::function::Code;
use crate::guard::Guard;
use crate::hook::Hooks;
use crate::moment::Formula;
use crate::retry::Retry;
use crate::schema::Schema;
use crate::shape::Shape;
use crate::state::{Key, State};

/// The place of a node among the nodes of its flow, in the order they were declared.
pub type NodeIndex = usize;
/// The place of an edge among the edges of its flow, in the order they were declared.
pub type EdgeIndex = usize;

/// A graph of work. Immutable, checked when it was built, cheap to clone; an invocation brings its own state.
///
/// ```
/// use antiphon_flow::{Edge, Flow, Node};
///
/// let flow = Flow::new("greet")
///     .node("hello", Node::expression("'hello ' + task")?)
///     .node("shout", Node::expression("input + '!'")?)
///     .edge(Edge::new("hello", "shout"))
///     .build()?;
/// assert_eq!(flow.nodes().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Flow(pub(crate) Arc<Definition>);

/// What a flow is made of.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) settings: Settings,
    /// As they were declared; one for all items, in the run of a map.
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) shape: Shape,
    pub(crate) ids: Vec<FlowNodeId>,
    /// The state every invocation begins with.
    pub(crate) initial: State,
    /// What tells it from others, once somebody wants to know.
    pub(crate) fingerprint: OnceLock<u64>,
}

/// What can be said about a flow as a whole.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What people call it.
    pub name: String,
    /// What shape the task must have.
    pub input: Option<Schema>,
    /// Where it begins; empty: at the nodes without incoming edges.
    pub entry: Vec<String>,
    /// What it gives; absent: the outputs of the completed nodes without a live way out.
    pub output: Option<Formula>,
    /// What the nodes share.
    pub state: Vec<Key>,
    /// When it is cut off.
    pub limits: Limits,
    /// What a failure of one node does to the others.
    pub on_failure: OnFailure,
    /// Whether one node has the work at a time and every edge hands it over, as in a swarm.
    pub hands_over: bool,
    /// Who looks on and has a say.
    pub hooks: Hooks,
    /// The flow as one self-contained document, if it came from a file; what a journal keeps for resuming.
    pub document: Option<Json>,
}

/// Bounds of one invocation. Absent means unbounded, except that a cyclic flow needs one of the first two.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// How many times nodes may start, all together; retries, map items and nested runs do not count.
    pub max_node_executions: Option<u64>,
    /// How long it may run, without the time it waits for people.
    pub execution_timeout: Option<Duration>,
    /// How many nodes may run at once.
    pub max_concurrency: Option<usize>,
    /// Tokens of the whole tree of runs.
    pub max_tokens: Option<u64>,
    /// US dollars of the whole tree of runs.
    pub max_cost_usd: Option<f64>,
    /// Node executions and model calls of the whole tree of runs.
    pub max_steps: Option<u64>,
    /// Agents started in the whole tree of runs.
    pub max_agents: Option<u64>,
}

/// What a failed node does to the rest of its flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// All that does not depend on it goes on.
    #[default]
    Graceful,
    /// What is running is cancelled at once.
    FailFast,
}

/// One piece of work and how it is to be done.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it does.
    pub work: Work,
    /// What it gets instead of its sources' outputs.
    pub input: Option<Formula>,
    /// What it contributes to the state when it completes, by key.
    pub set: Vec<(String, Formula)>,
    /// What shape its output must have.
    pub output: Option<Schema>,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// How often, and when, a failed attempt is repeated.
    pub retry: Option<Retry>,
    /// What it does to the world; absent: what its kind says.
    pub effect: Option<Class>,
    /// Whether running it twice is the same as running it once.
    pub idempotent: bool,
    /// How many of its sources it waits for.
    pub join: Join,
    /// How many times it may run in one invocation; beyond that it is skipped.
    pub max_executions: Option<u32>,
    /// What is checked before and after it.
    pub guards: Guards,
    /// The node that takes over when it fails.
    pub fallback: Option<String>,
    /// What its failure means.
    pub on_error: OnError,
}

/// What a node does.
#[derive(Debug, Clone)]
pub enum Work {
    /// Rust code.
    Function(Code),
    /// An expression; its value is the output.
    Expression(Expression),
    /// A program: input on stdin, output on stdout.
    Command(Command),
    /// A tool by its name; the input is its arguments.
    Tool(ToolUse),
    /// Another flow, in a run of its own.
    Flow(Flow),
    /// Agents that hand their work to one another, as a flow.
    Swarm(Flow),
    /// Chooses among its out-edges: the value is the id of the node to go to.
    Router(Formula),
    /// Asks a person.
    Human(Human),
    /// Lets its input through if its guards are content.
    Guardrail,
    /// Runs a node for each item of a list.
    Map(Map),
    /// An agent.
    Agent(AgentUse),
}

/// A program to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments.
    pub run: Vec<String>,
    /// Where it runs; absent: where the caller is.
    pub dir: Option<String>,
    /// Added to its environment.
    pub env: BTreeMap<String, String>,
}

/// A tool to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// Its name.
    pub name: String,
}

/// An agent to invoke: what it is made of is between the file and the harness.
#[derive(Debug, Clone)]
pub struct AgentUse {
    /// Which harness.
    pub harness: String,
    /// Model, instructions, tools … as the harness understands them.
    pub settings: Json,
}

/// A question to a person.
#[derive(Debug, Clone, Default)]
pub struct Human {
    /// What is asked.
    pub prompt: String,
    /// Answers to choose from; empty: yes or no.
    pub options: Vec<String>,
    /// What shape an answer must have; with one, any such answer will do.
    pub schema: Option<Schema>,
    /// How long to wait; absent: for ever.
    pub timeout: Option<Duration>,
    /// What happens then.
    pub on_timeout: OnTimeout,
    /// Decided without asking anybody; guardrails on its output may overrule a yes.
    pub auto: Option<Auto>,
}

/// What an unanswered question becomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnTimeout {
    /// A failure of the node.
    #[default]
    Fail,
    /// A yes.
    Accept,
    /// A no.
    Reject,
}

/// A decision made without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auto {
    /// Yes.
    Accept,
    /// No.
    Reject,
}

/// A node for each item of a list.
#[derive(Debug, Clone)]
pub struct Map {
    /// The list.
    pub over: Formula,
    /// What is done with each item; its input is the item.
    pub node: Box<Node>,
    /// How many items at once.
    pub max_parallel: Option<usize>,
}

/// What work does to the world, which decides whether it may be repeated when nobody knows how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing.
    Pure,
    /// It looks.
    Read,
    /// It changes something.
    Write,
    /// It changes something that others own.
    External,
    /// A person acts.
    Human,
    /// It keeps its own record and goes on from there.
    Inside,
}

/// How many live in-edges start a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Join {
    /// All that are not dead because their source was skipped.
    #[default]
    All,
    /// The first.
    Any,
    /// This many.
    Count(u32),
}

/// What is checked before and after a node.
#[derive(Debug, Clone, Default)]
pub struct Guards {
    /// Its input.
    pub input: Vec<Guard>,
    /// Its output.
    pub output: Vec<Guard>,
}

/// What a failure means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// The node failed, and the flow with it.
    #[default]
    Fail,
    /// The node completed with output `{error}`.
    Isolate,
}

/// A way from one node to another.
#[derive(Debug, Clone)]
pub struct Edge {
    /// The source.
    pub from: String,
    /// The target.
    pub to: String,
    /// When it is taken.
    pub when: When,
}

/// When an edge is taken, once its source has completed.
#[derive(Debug, Clone)]
pub enum When {
    /// Always; from a router: when chosen.
    Always,
    /// If this is true.
    If(Formula),
    /// If no other edge of the source was.
    Default,
    /// If a guardrail of the source sends its way.
    Reroute,
}

impl Flow {
    /// What people call it.
    pub fn name(&self) -> &str {
        &self.0.settings.name
    }

    /// What was said about it as a whole.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Its nodes, in the order they were declared.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Node> {
        (0..self.0.ids.len()).map(|node| self.node(node))
    }

    /// A node of it.
    pub fn node(&self, node: NodeIndex) -> &Node {
        let definition = &*self.0;
        &definition.nodes[if definition.shape.is_of_items() { 0 } else { node }]
    }

    /// Its edges, in the order they were declared; those of guardrails that reroute come last.
    pub fn edges(&self) -> &[Edge] {
        &self.0.edges
    }

    /// The id of a node.
    pub fn id(&self, node: NodeIndex) -> &FlowNodeId {
        &self.0.ids[node]
    }

    /// The ids of all nodes, in the order they were declared.
    pub fn ids(&self) -> &[FlowNodeId] {
        &self.0.ids
    }

    /// The node with this id.
    pub fn index(&self, id: &str) -> Option<NodeIndex> {
        self.0.shape.index.get(id)
    }

    /// How nodes and edges hang together.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }
}

impl Edge {
    /// An edge that is always taken.
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { from: from.into(), to: to.into(), when: When::Always }
    }

    /// The same edge, taken only if `condition` holds when its source completes.
    #[must_use]
    pub fn when(mut self, condition: impl Into<Formula>) -> Self {
        self.when = When::If(condition.into());
        self
    }

    /// The same edge, taken only if no other edge of its source is.
    #[must_use]
    pub fn otherwise(mut self) -> Self {
        self.when = When::Default;
        self
    }
}

impl When {
    /// The word for it in an `edge_transition`.
    pub(crate) fn kind(&self) -> EdgeType {
        match self {
            Self::Always => EdgeType::Static,
            Self::If(_) => EdgeType::Conditional,
            Self::Default => EdgeType::Default,
            Self::Reroute => EdgeType::Reroute,
        }
    }
}

impl Work {
    /// The word for it in a file and in `node_start`.
    pub fn kind(&self) -> NodeType {
        match self {
            Self::Function(_) | Self::Expression(_) => NodeType::Function,
            Self::Command(_) => NodeType::Command,
            Self::Tool(_) => NodeType::Tool,
            Self::Flow(_) => NodeType::Flow,
            Self::Swarm(_) => NodeType::Swarm,
            Self::Router(_) => NodeType::Router,
            Self::Human(_) => NodeType::Human,
            Self::Guardrail => NodeType::Guardrail,
            Self::Map(_) => NodeType::Map,
            Self::Agent(_) => NodeType::Agent,
        }
    }

    /// What such work does to the world unless the node says otherwise.
    pub fn class(&self) -> Class {
        match self {
            Self::Function(_) | Self::Command(_) | Self::Tool(_) => Class::Write,
            Self::Expression(_) | Self::Router(_) | Self::Guardrail => Class::Pure,
            Self::Human(_) => Class::Human,
            Self::Flow(_) | Self::Swarm(_) | Self::Map(_) | Self::Agent(_) => Class::Inside,
        }
    }

    /// Whether such work is told what was said, block by block, rather than handed a value.
    pub(crate) fn reads_blocks(&self) -> bool {
        matches!(self, Self::Agent(_) | Self::Swarm(_) | Self::Human(_))
    }
}

impl Node {
    /// What it does to the world.
    pub fn class(&self) -> Class {
        self.effect.unwrap_or_else(|| self.work.class())
    }

    /// Whether it, or anything inside it, changes something, so that doing it twice is not the same as doing it once.
    pub fn writes(&self) -> bool {
        if self.idempotent {
            return false;
        }
        match (self.effect, &self.work) {
            (None, Work::Flow(flow) | Work::Swarm(flow)) => flow.nodes().any(Self::writes),
            (None, Work::Map(map)) => map.node.writes(),
            _ => matches!(self.class(), Class::Write | Class::External),
        }
    }

    /// Whether it may run again when nobody knows how it ended.
    pub fn repeatable(&self) -> bool {
        self.idempotent || matches!(self.class(), Class::Pure | Class::Read | Class::Inside)
    }
}
