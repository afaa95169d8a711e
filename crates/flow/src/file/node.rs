//! A node of a file as a [`Node`].
//!
//! In: a tree that was verified. Out: the node; where the tree was wrong, which has been told, the default.
//! Start reading at [`Reader::node`].

use std::time::Duration;

use antiphon_event::near::nearest;
use serde_json::{Value, json};

use super::guard;
use super::problem::Problem;
use super::read::Reader;
use super::tree::{Kind, Tree};
use super::{Inspected, Wrong};
use crate::definition::{
    AgentUse, Auto, Class, Command, Flow, Human, Join, Map, Node, OnError, OnTimeout, ToolUse, Work,
};
use crate::expr::Expression;
use crate::moment::Formula;
use crate::retry::{Backoff, Retry};
use crate::schema::Schema;
use crate::swarm::Swarm;
use crate::time;

/// What runs an agent that names no harness.
const HARNESS: &str = "agent";

impl Reader<'_, '_> {
    pub(super) fn node(&mut self, tree: &Tree) -> Node {
        let work = self.work(tree).unwrap_or_else(nothing);
        let mut node = Node::new(work);
        if let Some(output) = tree.get("agent").and_then(|agent| agent.get("output")) {
            node.output = schema(output);
        }
        if let Some(guards) = tree.get("guardrail") {
            node.guards.input.extend(guard::guards(guards));
        }
        for (name, value) in tree.members() {
            match name.text.as_str() {
                "input" => node.input = formula(value),
                "set" => node.set = set(value),
                "output" => node.output = schema(value),
                "timeout" => node.timeout = duration(value),
                "retry" => node.retry = retry(value),
                "effect" => node.effect = word(value, &CLASSES),
                "idempotent" => node.idempotent = truth(value),
                "join" => node.join = join(value),
                "max_executions" => node.max_executions = positive(value).map(small),
                "guardrails" => {
                    node.guards.input.extend(value.get("input").into_iter().flat_map(guard::guards));
                    node.guards.output.extend(value.get("output").into_iter().flat_map(guard::guards));
                }
                "fallback" => node.fallback = text(value),
                "on_error" => {
                    node.on_error = word(value, &[("isolate", OnError::Isolate)]).unwrap_or_default();
                }
                _ => {}
            }
        }
        node
    }

    fn work(&mut self, tree: &Tree) -> Option<Work> {
        let (kind, value) =
            tree.members().iter().find(|(name, _)| super::format::KINDS.contains(&name.text.as_str()))?;
        match kind.text.as_str() {
            "agent" => self.agent(value),
            "swarm" => self.swarm(value).map(Work::Swarm),
            "function" => expression(value.get("output").unwrap_or(value)).map(Work::Expression),
            "command" => Some(Work::Command(command(value))),
            "tool" => self.tool(value.get("name").unwrap_or(value)),
            "flow" => self.nested(value).map(Work::Flow),
            "router" => formula(value.get("to").unwrap_or(value)).map(Work::Router),
            "human" => Some(Work::Human(human(value))),
            "guardrail" => Some(Work::Guardrail),
            "map" => self.map(value).map(Work::Map),
            _ => None,
        }
    }

    fn tool(&mut self, tree: &Tree) -> Option<Work> {
        let name = text(tree)?;
        for wrong in (self.loading.inspect)(Inspected::Tool(&name)) {
            self.wrong(tree, wrong);
        }
        Some(Work::Tool(ToolUse { name }))
    }

    fn map(&mut self, tree: &Tree) -> Option<Map> {
        let node = Box::new(self.node(tree.get("node")?));
        let max_parallel = tree.get("max_parallel").and_then(positive).map(|count| count as usize);
        Some(Map { over: formula(tree.get("over")?)?, node, max_parallel })
    }

    fn agent(&mut self, tree: &Tree) -> Option<Work> {
        let harness = tree.get("harness").and_then(text).unwrap_or_else(|| HARNESS.to_owned());
        let mut settings = self.agent_settings(tree)?;
        self.inspect(tree, &settings);
        settings.as_object_mut()?.shift_remove("harness");
        Some(Work::Agent(AgentUse { harness, settings: settings.into() }))
    }

    fn swarm(&mut self, tree: &Tree) -> Option<Flow> {
        let mut swarm = Swarm {
            entry: tree.get("entry").and_then(text),
            max_handoffs: tree.get("max_handoffs").and_then(count),
            max_turns: tree.get("max_turns").and_then(positive).map(small),
            ..Swarm::default()
        };
        for (name, agent) in tree.get("agents").map(Tree::members).unwrap_or_default() {
            let settings = self.agent_settings(agent)?;
            self.inspect(agent, &settings);
            swarm.agents.push((name.text.clone(), settings.into()));
        }
        match swarm.flow("swarm", HARNESS) {
            Ok(flow) => Some(flow),
            Err(problems) => {
                for problem in problems.0 {
                    self.verifier.problem(tree.place, problem.message, problem.help);
                }
                None
            }
        }
    }

    /// The settings of an agent, with the models it and the agents it calls name in place of the names.
    pub(super) fn agent_settings(&mut self, tree: &Tree) -> Option<Value> {
        let mut settings = tree.to_json();
        self.place_model(tree, &mut settings)?;
        for (name, subagent) in tree.get("agents").map(Tree::members).unwrap_or_default() {
            self.place_model(subagent, &mut settings["agents"][&name.text])?;
        }
        Some(settings)
    }

    /// Lets whoever knows agents look at the settings of one. A model with a name is looked at where it stands.
    pub(super) fn inspect(&mut self, tree: &Tree, settings: &Value) {
        let told = self.verifier.problems.iter().any(Problem::is_error);
        let names_model = tree.get("model").is_some_and(|model| model.text().is_some());
        for wrong in (self.loading.inspect)(Inspected::Agent(&settings.clone().into())) {
            // That it cannot be read at all follows from what was told.
            let follows = told && wrong.pointer.is_empty();
            let is_told_there = names_model && wrong.pointer.starts_with("/model");
            if !(follows || is_told_there) {
                self.wrong(tree, wrong);
            }
        }
    }

    /// Lets whoever knows models look at those of a file.
    pub(super) fn inspect_models(&mut self, models: Option<&Tree>) {
        for (_, tree) in models.map(Tree::members).unwrap_or_default() {
            for wrong in (self.loading.inspect)(Inspected::Model(&tree.to_json().into())) {
                self.wrong(tree, wrong);
            }
        }
    }

    fn wrong(&mut self, tree: &Tree, wrong: Wrong) {
        self.verifier.problem(tree.pointed(&wrong.pointer).place, wrong.message, wrong.help);
    }

    fn place_model(&mut self, tree: &Tree, settings: &mut Value) -> Option<()> {
        if let Some((place, name)) = tree.get("model").and_then(|model| Some((model.place, model.text()?))) {
            let mut model = self.model(name, place)?;
            model["name"] = json!(name);
            settings["model"] = model;
        }
        Some(())
    }

    fn model(&mut self, name: &str, place: super::Place) -> Option<Value> {
        if let Some(model) = self.models.get(name) {
            return model.is_object().then(|| model.clone());
        }
        let help = match nearest(name, self.models.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it under `models`".to_owned(),
        };
        self.verifier.error(place, format!("there is no model `{name}`"), help);
        None
    }
}

/// In place of work that could not be read, so that the rest of the flow can be checked.
fn nothing() -> Work {
    Work::Expression(Expression::parse("null").expect("an expression"))
}

const CLASSES: [(&str, Class); 5] = [
    ("pure", Class::Pure),
    ("read", Class::Read),
    ("write", Class::Write),
    ("external", Class::External),
    ("human", Class::Human),
];

fn command(tree: &Tree) -> Command {
    let run = tree.get("run").unwrap_or(tree);
    let env = tree.get("env").map(Tree::members).unwrap_or_default();
    Command {
        run: texts(run),
        dir: tree.get("dir").and_then(text),
        env: env.iter().filter_map(|(name, value)| Some((name.text.clone(), text(value)?))).collect(),
    }
}

fn human(tree: &Tree) -> Human {
    let on_timeout = [("accept", OnTimeout::Accept), ("reject", OnTimeout::Reject)];
    Human {
        prompt: tree.get("prompt").unwrap_or(tree).text().unwrap_or_default().to_owned(),
        options: tree.get("options").map(texts).unwrap_or_default(),
        schema: tree.get("schema").and_then(schema),
        timeout: tree.get("timeout").and_then(duration),
        on_timeout: tree.get("on_timeout").and_then(|tree| word(tree, &on_timeout)).unwrap_or_default(),
        auto: tree
            .get("auto")
            .and_then(|tree| word(tree, &[("accept", Auto::Accept), ("reject", Auto::Reject)])),
    }
}

fn retry(tree: &Tree) -> Option<Retry> {
    let plain = Retry::new(count(tree.get("max").unwrap_or(tree)).map(small)?);
    let backoffs: Vec<_> = Backoff::ALL.iter().map(|backoff| (backoff.as_str(), *backoff)).collect();
    Some(Retry {
        backoff: tree.get("backoff").and_then(|tree| word(tree, &backoffs)).unwrap_or_default(),
        delay: tree.get("delay").and_then(duration).unwrap_or(plain.delay),
        cap: tree.get("cap").and_then(duration).unwrap_or(plain.cap),
        jitter: tree.get("jitter").and_then(number).unwrap_or(plain.jitter),
        on: tree.get("on").map(texts).unwrap_or_default(),
        ..plain
    })
}

fn set(tree: &Tree) -> Vec<(String, Formula)> {
    tree.members().iter().filter_map(|(key, value)| Some((key.text.clone(), formula(value)?))).collect()
}

fn join(tree: &Tree) -> Join {
    match positive(tree) {
        Some(sources) => Join::Count(small(sources)),
        None => word(tree, &[("any", Join::Any)]).unwrap_or_default(),
    }
}

pub(super) fn text(tree: &Tree) -> Option<String> {
    tree.text().map(str::to_owned)
}

/// Texts of a list, or the only one.
pub(super) fn texts(tree: &Tree) -> Vec<String> {
    match &tree.kind {
        Kind::List(items) => items.iter().filter_map(text).collect(),
        Kind::Scalar(_) => text(tree).into_iter().collect(),
        Kind::Map(_) => Vec::new(),
    }
}

pub(super) fn expression(tree: &Tree) -> Option<Expression> {
    // What is wrong with it has been told; the rest of it is checked all the same.
    Expression::read(&tree.scalar()?.text).0
}

pub(super) fn formula(tree: &Tree) -> Option<Formula> {
    expression(tree).map(Formula::Expression)
}

pub(super) fn schema(tree: &Tree) -> Option<Schema> {
    Schema::compile(tree.to_json()).ok()
}

pub(super) fn duration(tree: &Tree) -> Option<Duration> {
    time::parse(tree.text()?).ok()
}

pub(super) fn count(tree: &Tree) -> Option<u64> {
    tree.scalar()?.value.as_u64()
}

/// A count of at least 1. That it is 0 has been told, so it is none.
pub(super) fn positive(tree: &Tree) -> Option<u64> {
    count(tree).filter(|count| *count > 0)
}

/// A count that is never larger than so many bits can hold.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub(super) fn number(tree: &Tree) -> Option<f64> {
    tree.scalar()?.value.as_f64()
}

pub(super) fn truth(tree: &Tree) -> bool {
    tree.scalar().is_some_and(|scalar| scalar.value == Value::Bool(true))
}

/// What a word stands for.
pub(super) fn word<T: Clone>(tree: &Tree, words: &[(&str, T)]) -> Option<T> {
    let text = tree.text()?;
    words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| meaning.clone())
}
