//! Agents of a tree of runs: as nodes of flows, and as what other agents call.

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_agent::machine::{AGENT, Agent, Origin, QUERY};
use antiphon_agent::{
    Content, Definition, Harness, Limits, Memory, Message, Server, Subagent, SubagentPolicy,
};
use antiphon_event::body::content::{Part, PartKind};
use antiphon_event::{Agent as Who, AgentId, CallId, Json, ParentId, RunId};
use antiphon_flow::{AgentUse, Attempt, Work};
use antiphon_port::Branch;
use serde_json::{Map, Value};

use crate::away::place;
use crate::mind::Mind;
use crate::tree::{Tree, start_id};

/// The harnesses that this driver is for agents; others are given to the engine by name.
const HARNESSES: [(&str, Harness); 2] = [("agent", Harness::Agent), ("rlm", Harness::Rlm)];

/// What the driver itself is for an agent that names this harness.
pub(crate) fn own_harness(name: &str) -> Option<Harness> {
    HARNESSES.iter().find(|(own, _)| *own == name).map(|(_, harness)| *harness)
}

/// What a flow says about an agent.
pub(crate) fn definition(node: &AgentUse) -> Result<Definition, String> {
    let unreadable = |error| format!("the agent cannot be read: {error}");
    let mut definition: Definition = serde_json::from_str(node.settings.as_str()).map_err(unreadable)?;
    if let Some(harness @ Harness::Rlm) = own_harness(&node.harness) {
        definition.harness = harness;
    }
    Ok(definition)
}

/// The agent that does the work of a node, ready to begin.
pub(crate) fn of_node(tree: &Tree, machine: usize, attempt: Attempt, run: RunId) -> Result<Mind, String> {
    let around = tree.machines[machine].mind.flow();
    let Work::Agent(node) = &around.flow().node(attempt.node).work else {
        return Err("its work is not an agent's".to_owned());
    };
    let definition = definition(node)?;
    let id = around.flow().id(attempt.node);
    let name = definition.name.clone().unwrap_or_else(|| id.to_string());
    let path = around.path(attempt.node);
    let origin = Origin {
        run,
        parent: Some(ParentId::from(start_id(around, attempt))),
        turn: around.origin().turn.clone(),
        who: Arc::new(root(name)),
        nested: path.len() > 1,
        path,
        span: around.trace().map(|_| around.span_of(attempt)),
    };
    let earlier = tree.machines[machine].agents.get(&attempt.node);
    let earlier = earlier.and_then(|earlier| tree.machines[*earlier].mind.as_agent());
    let keeps = definition.context == Some(Memory::Keep);
    let mut before = earlier.filter(|_| keeps).map(Agent::messages).unwrap_or_default();
    let asked = earlier.map_or(0, Agent::asked);
    before.push(Message::User { content: content(&around.input(attempt.node)) });
    Ok(Mind::Agent(Box::new(Agent::new(Arc::new(definition), origin, before).after(asked))))
}

/// The agent that another one calls, ready to begin.
pub(crate) fn of_call(caller: &Agent, call: &CallId, run: RunId) -> Result<Mind, String> {
    let wanted = caller.running(call).ok_or_else(|| "nobody waits for it".to_owned())?;
    let input = wanted.input.value();
    if wanted.name == QUERY {
        return of_query(caller, call, &input, run);
    }
    let task = input["task"].as_str().unwrap_or_default();
    let named = input["agent"].as_str();
    let known = named.and_then(|name| caller.definition().agents.get(name));
    if let (Some(name), None) = (named, known) {
        let there: Vec<&str> = caller.definition().agents.keys().map(String::as_str).collect();
        return Err(format!("there is no agent `{name}`; there are: {}", there.join(", ")));
    }
    let subagent = known.cloned().unwrap_or_default();
    let (name, sees) = (named.unwrap_or("agent").to_owned(), subagent.policy);
    let mut before = if sees == SubagentPolicy::Fork { caller.messages() } else { Vec::new() };
    before.push(Message::User { content: Content::Text(task.to_owned()) });
    let (id, parent) = (AgentId::from(run.shared()), ParentId::from(call.as_str()));
    let origin = called(caller, call, name.clone(), id, parent, run);
    let definition = Arc::new(inherited(caller.definition(), name, subagent));
    Ok(Mind::Agent(Box::new(Agent::new(definition, origin, before))))
}

/// An agent that another one calls and that works on a branch of its own.
pub(crate) struct Trip {
    pub(crate) place: Branch,
    pub(crate) definition: Definition,
    pub(crate) origin: Origin,
    pub(crate) task: String,
}

/// The agent that another one calls, if its policy sends it to another branch than its caller's.
pub(crate) fn trip(caller: &Agent, call: &CallId, home: &Branch, run: RunId) -> Option<Trip> {
    let wanted = caller.running(call).filter(|wanted| wanted.name == AGENT)?;
    let input = wanted.input.value();
    let name = input["agent"].as_str()?;
    let subagent = caller.definition().agents.get(name)?.clone();
    let place = place(subagent.policy, subagent.branch.as_deref(), name, call, home)?;
    let (id, parent) = (AgentId::from(run.shared()), ParentId::from(call.as_str()));
    // Its branch has no flow around it: what it is stands there whole.
    let origin =
        Origin { path: Vec::new(), nested: false, ..called(caller, call, name.to_owned(), id, parent, run) };
    let definition = inherited(caller.definition(), name.to_owned(), subagent);
    Some(Trip { place, definition, origin, task: input["task"].as_str().unwrap_or_default().to_owned() })
}

/// Where the events of an agent belong that another one calls.
fn called(caller: &Agent, call: &CallId, name: String, id: AgentId, parent: ParentId, run: RunId) -> Origin {
    let around = caller.origin();
    let span = caller.span_of(call);
    let mut chain = around.who.chain.clone();
    chain.push(name.clone());
    let who = Who {
        id,
        name: Some(name),
        chain,
        depth: around.who.depth + 1,
        parent_id: Some(around.who.id.clone()),
        extra: Map::new(),
    };
    Origin {
        run,
        parent: Some(parent),
        turn: around.turn.clone(),
        who: Arc::new(who),
        path: around.path.clone(),
        nested: around.nested,
        span,
    }
}

/// The agent that code asks: one that writes code itself, or, deep enough, one that only answers. It is caused by the
/// code, and its name says which call of the code it is.
fn of_query(caller: &Agent, call: &CallId, input: &Value, run: RunId) -> Result<Mind, String> {
    let code = caller.code().ok_or_else(|| "no code waits for it".to_owned())?;
    let prompt = input["prompt"].as_str().unwrap_or_default();
    let context = input["context"].as_str();
    let (id, parent) = (AgentId::from(call.as_str()), ParentId::from(code.id.as_str()));
    let origin = called(caller, call, QUERY.to_owned(), id, parent, run);
    let around = caller.definition();
    let subagent = around.agents.get(QUERY).cloned().unwrap_or_default();
    let mut definition = Definition {
        handoffs: Vec::new(),
        context: None,
        options: around.options.clone(),
        ..inherited(around, QUERY.to_owned(), subagent)
    };
    definition.options.remove("context");
    definition.options.remove("context_file");
    let mut task = prompt.to_owned();
    if caller.origin().who.depth < around.query_depth() {
        let context = context.map(|context| ("context".to_owned(), Json::from(Value::from(context))));
        definition.options.extend(context);
    } else {
        definition.harness = Harness::Agent;
        definition.tools.clear();
        definition.agents.clear();
        definition.mcp.clear();
        definition.skills.clear();
        if let Some(context) = context.filter(|context| !context.is_empty()) {
            task = format!("{prompt}\n\n{context}");
        }
    }
    let before = vec![Message::User { content: Content::Text(task) }];
    Ok(Mind::Agent(Box::new(Agent::new(Arc::new(definition), origin, before))))
}

/// What a subagent is: what it does not say it has from its caller.
fn inherited(caller: &Definition, name: String, subagent: Subagent) -> Definition {
    Definition {
        name: Some(name),
        description: subagent.description,
        model: subagent.model.unwrap_or_else(|| caller.model.clone()),
        system: subagent.system,
        mcp: match &subagent.tools {
            Some(tools) => served(caller, tools),
            None => caller.mcp.clone(),
        },
        tools: match subagent.tools {
            Some(tools) => tools.into_iter().filter(|tool| has(caller, tool)).collect(),
            None => caller.tools.clone(),
        },
        permissions: subagent.permissions,
        max_iterations: subagent.max_iterations.unwrap_or(caller.max_iterations),
        output: subagent.output,
        // The work that can be handed over is its caller's, not its own.
        handoffs: Vec::new(),
        // What it spends is counted with what its caller may spend.
        limits: Limits { max_tokens: None, max_cost_usd: None, max_steps: None, ..caller.limits.clone() },
        ..caller.clone()
    }
}

/// The MCP server whose tools a name is about: `server/*`, or `server_tool`.
fn server<'a>(agent: &'a Definition, tool: &str) -> Option<&'a String> {
    let of = |name: &&String| {
        let rest = tool.strip_prefix(name.as_str());
        rest.is_some_and(|rest| rest == "/*" || rest.starts_with('_'))
    };
    agent.mcp.keys().find(of)
}

/// Whether an agent has a tool, or all tools of a server, that the one it calls may name.
fn has(caller: &Definition, tool: &String) -> bool {
    let all_of = |server: &String| {
        let names_none = !caller.tools.iter().any(|tool| self::server(caller, tool).is_some());
        names_none || caller.tools.contains(&format!("{server}/*"))
    };
    caller.tools.contains(tool) || server(caller, tool).is_some_and(all_of)
}

/// The servers of an agent that the one it calls names tools of.
fn served(caller: &Definition, tools: &[String]) -> BTreeMap<String, Server> {
    let of_tools = tools.iter().filter(|tool| has(caller, tool)).filter_map(|tool| server(caller, tool));
    of_tools.map(|name| (name.clone(), caller.mcp[name].clone())).collect()
}

/// An agent that nobody called.
pub(crate) fn root(name: String) -> Who {
    let (id, chain) = (AgentId::from(name.as_str()), vec![name.clone()]);
    Who { id, name: Some(name), chain, depth: 0, parent_id: None, extra: Map::new() }
}

/// What a node gets, as a model is told it.
pub(crate) fn content(input: &Json) -> Content {
    let parts = || serde_json::from_str::<Vec<Part>>(input.as_str()).ok();
    let known = |part: &Part| part.kind != PartKind::Other;
    match input.as_str().starts_with('[').then(parts).flatten() {
        Some(parts) if !parts.is_empty() && parts.iter().all(known) => {
            Content::Parts(parts.into_iter().map(labelled).collect())
        }
        _ => match input.value() {
            Value::String(text) => Content::Text(text),
            other => Content::Text(other.to_string()),
        },
    }
}

/// A part that says in words which node it is from.
fn labelled(part: Part) -> Part {
    let source = part.json.value()["nodeId"].as_str().map(str::to_owned);
    match (&part.kind, source) {
        (PartKind::Text { text }, Some(source)) => {
            let text = format!("From `{source}`:\n{}", handed(text).unwrap_or_else(|| text.clone()));
            let json = Json::from(serde_json::json!({"type": "text", "text": text}));
            Part { kind: PartKind::Text { text }, json }
        }
        _ => part,
    }
}

/// What an agent said to the one that takes its work over, if that is what a text is.
fn handed(text: &str) -> Option<String> {
    let value: Value = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    value.get("handoff")?;
    Some(value["message"].as_str().unwrap_or("(it hands its work to you)").to_owned())
}
