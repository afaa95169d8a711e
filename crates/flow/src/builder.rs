//! [`Builder`]: says a flow in Rust; [`Builder::build`] checks it whole and reports every mistake at once.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use antiphon_event::{FlowNodeId, Json};

use crate::check::{Problem, Problems, check};
use crate::definition::{
    AgentUse, Class, Command, Definition, Edge, Flow, Guards, Human, Join, Limits, Map, Node, NodeIndex,
    OnError, OnFailure, Settings, ToolUse, When, Work,
};
use crate::expr::{Expression, ParseError};
use crate::function::Code;
use crate::guard::{Action, Guard};
use crate::hook::Hook;
use crate::moment::Formula;
use crate::retry::Retry;
use crate::schema::Schema;
use crate::shape::Shape;
use crate::state::{Key, State};
use crate::swarm::Swarm;

/// A flow that is being said.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    pub(crate) settings: Settings,
    pub(crate) nodes: Vec<(String, Node)>,
    pub(crate) edges: Vec<Edge>,
}

impl Flow {
    /// Begins a flow.
    #[expect(clippy::new_ret_no_self, reason = "a flow is begun here and checked when it is built")]
    pub fn new(name: impl Into<String>) -> Builder {
        Builder { settings: Settings { name: name.into(), ..Settings::default() }, ..Builder::default() }
    }
}

impl Builder {
    /// Adds a node.
    #[must_use]
    pub fn node(mut self, id: impl Into<String>, node: Node) -> Self {
        self.nodes.push((id.into(), node));
        self
    }

    /// Adds an edge.
    #[must_use]
    pub fn edge(mut self, edge: Edge) -> Self {
        self.edges.push(edge);
        self
    }

    /// Begins at this node, too, instead of at all nodes without incoming edges.
    #[must_use]
    pub fn entry(mut self, node: impl Into<String>) -> Self {
        self.settings.entry.push(node.into());
        self
    }

    /// Refuses a task of another shape.
    #[must_use]
    pub fn input(mut self, schema: Schema) -> Self {
        self.settings.input = Some(schema);
        self
    }

    /// Gives this instead of the outputs of its last nodes.
    #[must_use]
    pub fn output(mut self, formula: impl Into<Formula>) -> Self {
        self.settings.output = Some(formula.into());
        self
    }

    /// Adds a key to the state.
    #[must_use]
    pub fn state(mut self, key: Key) -> Self {
        self.settings.state.push(key);
        self
    }

    /// Bounds every invocation.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Says what a failed node does to the others.
    #[must_use]
    pub fn on_failure(mut self, policy: OnFailure) -> Self {
        self.settings.on_failure = policy;
        self
    }

    /// Adds a hook, to be consulted after those that are there.
    #[must_use]
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.settings.hooks.0.push(Arc::new(hook));
        self
    }

    /// Keeps the document the flow was read from.
    #[must_use]
    pub fn document(mut self, document: Json) -> Self {
        self.settings.document = Some(document);
        self
    }

    /// Checks everything; the error lists every mistake. Warnings are in [`Builder::problems`].
    pub fn build(self) -> Result<Flow, Problems> {
        let problems: Vec<Problem> = self.problems().into_iter().filter(Problem::is_error).collect();
        if problems.is_empty() { Ok(self.finish()) } else { Err(Problems(problems)) }
    }

    /// Every mistake and every doubt.
    pub fn problems(&self) -> Vec<Problem> {
        check(self)
    }

    /// The flow, if its names are sound; called after the checks.
    pub(crate) fn finish(self) -> Flow {
        let Self { settings, nodes, mut edges } = self;
        edges.extend(reroutes(&nodes));
        let ids: Vec<FlowNodeId> = nodes.iter().map(|(id, _)| FlowNodeId::from(id.as_str())).collect();
        let shape = Shape::of(&settings, &nodes, &edges);
        let nodes = nodes.into_iter().map(|(_, node)| node).collect();
        let initial = State::new(settings.state.iter().cloned());
        Flow(Arc::new(Definition {
            settings,
            nodes,
            edges,
            shape,
            ids,
            initial,
            fingerprint: OnceLock::new(),
        }))
    }
}

impl Flow {
    /// The flow that a map of this one runs: one node for each item, and no edges. Nothing if the node is no map.
    pub fn of_items(&self, node: NodeIndex, count: usize) -> Option<Self> {
        let Work::Map(map) = &self.node(node).work else { return None };
        let settings = Settings {
            name: self.id(node).to_string(),
            limits: Limits { max_concurrency: map.max_parallel, ..Limits::default() },
            on_failure: self.settings().on_failure,
            ..Settings::default()
        };
        Some(Self(Arc::new(Definition {
            settings,
            nodes: vec![(*map.node).clone()],
            edges: Vec::new(),
            shape: Shape::of_items(count),
            ids: (0..count).map(|item| FlowNodeId::from(item.to_string())).collect(),
            initial: State::new([]),
            fingerprint: OnceLock::new(),
        })))
    }
}

/// The edges that guardrails may send a run along.
pub(crate) fn reroutes(nodes: &[(String, Node)]) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for (id, node) in nodes {
        for guard in node.guards.input.iter().chain(&node.guards.output) {
            let Action::Reroute(to) = &guard.action else { continue };
            if !edges.iter().any(|edge| edge.from == *id && edge.to == *to) {
                edges.push(Edge { from: id.clone(), to: to.clone(), when: When::Reroute });
            }
        }
    }
    edges
}

impl Node {
    /// A node that does this, with nothing else said about it.
    pub fn new(work: Work) -> Self {
        Self {
            work,
            input: None,
            set: Vec::new(),
            output: None,
            timeout: None,
            retry: None,
            effect: None,
            idempotent: false,
            join: Join::All,
            max_executions: None,
            guards: Guards::default(),
            fallback: None,
            on_error: OnError::Fail,
        }
    }

    /// Rust code.
    pub fn function(code: impl Into<Code>) -> Self {
        Self::new(Work::Function(code.into()))
    }

    /// An expression over `task`, `input`, `state`, `outputs` …
    pub fn expression(text: &str) -> Result<Self, ParseError> {
        Expression::parse(text).map(|expression| Self::new(Work::Expression(expression)))
    }

    /// A program and its arguments.
    pub fn command<S: Into<String>>(run: impl IntoIterator<Item = S>) -> Self {
        let run = run.into_iter().map(Into::into).collect();
        Self::new(Work::Command(Command { run, ..Command::default() }))
    }

    /// A tool by its name.
    pub fn tool(name: impl Into<String>) -> Self {
        Self::new(Work::Tool(ToolUse { name: name.into() }))
    }

    /// Another flow.
    pub fn flow(flow: Flow) -> Self {
        Self::new(Work::Flow(flow))
    }

    /// Agents that hand their work to one another, run by the harness `agent`; the error lists every mistake.
    pub fn swarm(name: &str, swarm: Swarm) -> Result<Self, Problems> {
        swarm.flow(name, "agent").map(|flow| Self::new(Work::Swarm(flow)))
    }

    /// Chooses among its out-edges by the id of the node to go to.
    pub fn router(to: impl Into<Formula>) -> Self {
        Self::new(Work::Router(to.into()))
    }

    /// Asks a person.
    pub fn human(human: Human) -> Self {
        Self::new(Work::Human(human))
    }

    /// Lets its input through if `guards` are content.
    pub fn guardrail(guards: impl IntoIterator<Item = Guard>) -> Self {
        let mut node = Self::new(Work::Guardrail);
        node.guards.input.extend(guards);
        node
    }

    /// Runs `node` for each item of the list `over`.
    pub fn map(over: impl Into<Formula>, node: Self) -> Self {
        Self::new(Work::Map(Map { over: over.into(), node: Box::new(node), max_parallel: None }))
    }

    /// An agent, run by the harness of that name.
    pub fn agent(harness: impl Into<String>, settings: impl Into<Json>) -> Self {
        Self::new(Work::Agent(AgentUse { harness: harness.into(), settings: settings.into() }))
    }

    /// Gets this instead of its sources' outputs.
    #[must_use]
    pub fn input(mut self, formula: impl Into<Formula>) -> Self {
        self.input = Some(formula.into());
        self
    }

    /// Contributes to a key of the state when it completes.
    #[must_use]
    pub fn set(mut self, key: impl Into<String>, formula: impl Into<Formula>) -> Self {
        self.set.push((key.into(), formula.into()));
        self
    }

    /// Fails if its output has another shape.
    #[must_use]
    pub fn output(mut self, schema: Schema) -> Self {
        self.output = Some(schema);
        self
    }

    /// Cuts an attempt off after so long.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Repeats failed attempts.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Says what it does to the world.
    #[must_use]
    pub fn effect(mut self, class: Class) -> Self {
        self.effect = Some(class);
        self
    }

    /// Says that running it twice is the same as running it once.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Says how many of its sources it waits for.
    #[must_use]
    pub fn join(mut self, join: Join) -> Self {
        self.join = join;
        self
    }

    /// Bounds how many times it may run in one invocation.
    #[must_use]
    pub fn max_executions(mut self, max: u32) -> Self {
        self.max_executions = Some(max);
        self
    }

    /// Runs a map's items no more than so many at once.
    #[must_use]
    pub fn max_parallel(mut self, max: usize) -> Self {
        if let Work::Map(map) = &mut self.work {
            map.max_parallel = Some(max);
        }
        self
    }

    /// Checks its input.
    #[must_use]
    pub fn guard_input(mut self, guard: Guard) -> Self {
        self.guards.input.push(guard);
        self
    }

    /// Checks its output.
    #[must_use]
    pub fn guard_output(mut self, guard: Guard) -> Self {
        self.guards.output.push(guard);
        self
    }

    /// Lets another node take over when it fails.
    #[must_use]
    pub fn fallback(mut self, node: impl Into<String>) -> Self {
        self.fallback = Some(node.into());
        self
    }

    /// Counts a failure as completed, with output `{error}`.
    #[must_use]
    pub fn isolate(mut self) -> Self {
        self.on_error = OnError::Isolate;
        self
    }
}
