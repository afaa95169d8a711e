//! What is played: agents, what their models do step by step, and the flow they are in, if they are in one.

use antiphon::Definition;
use serde_json::{Value, json};

use super::player::Calls;

/// What is played.
pub(crate) struct Act {
    pub(crate) scene: Scene,
    /// What each model does, by its name.
    pub(crate) models: Vec<(&'static str, Vec<Calls>)>,
}

pub(crate) enum Scene {
    /// An agent is talked with.
    Talk(Box<Definition>),
    /// A flow is run, as its file says it.
    Flow(String),
}

/// Rules that allow all tools but `bash`, for which a person is asked.
const RULES: &str =
    r#"[{"allow": "add"}, {"allow": "look"}, {"allow": "put"}, {"allow": "note"}, {"allow": "agent"}]"#;
const TOOLS: [&str; 6] = ["add", "look", "put", "note", "bash", "ask"];

fn agent(name: &str) -> Value {
    let rules: Value = serde_json::from_str(RULES).expect("rules");
    json!({"name": name, "model": {"provider": "own", "model": name}, "tools": TOOLS, "permissions": rules})
}

fn talk(definition: Value) -> Scene {
    Scene::Talk(Box::new(serde_json::from_value(definition).expect("an agent")))
}

fn add() -> (&'static str, Value) {
    ("add", json!({"a": 1, "b": 2}))
}

fn look() -> (&'static str, Value) {
    ("look", json!({}))
}

fn put(name: &str) -> (&'static str, Value) {
    ("put", json!({"name": name}))
}

fn note(text: &str) -> (&'static str, Value) {
    ("note", json!({"text": text}))
}

/// A slow command that leaves its trace.
fn bash(mark: &str) -> (&'static str, Value) {
    ("bash", json!({"command": format!("echo {mark} >> log; sleep 0.01")}))
}

fn ask() -> (&'static str, Value) {
    ("ask", json!({"question": "Which colour?"}))
}

fn call(agent: &str) -> (&'static str, Value) {
    ("agent", json!({"agent": agent, "task": format!("be {agent}")}))
}

fn handoff(to: &str) -> (&'static str, Value) {
    ("handoff", json!({"to": to, "message": format!("go on, {to}")}))
}

pub(crate) fn chat() -> Act {
    let steps = vec![
        vec![add(), look()],
        vec![note("one"), put("a"), note("two")],
        vec![bash("slow"), ask()],
        vec![note("three")],
    ];
    Act { scene: talk(agent("chat")), models: vec![("chat", steps)] }
}

pub(crate) fn nodes() -> Act {
    let (mut first, mut each) = (agent("first"), agent("each"));
    for agent in [&mut first, &mut each] {
        agent.as_object_mut().expect("an object").remove("name");
    }
    let flow = json!({
        "antiphon": 1,
        "nodes": {
            "first": {"agent": first},
            "each": {"map": {"over": "['p', 'q']", "node": {"agent": each}}},
            "last": {"command": {"run": ["tr", "a-z", "A-Z"]}, "effect": "pure", "input": "string(outputs.first) + string(input)"},
        },
        "edges": ["first -> each -> last"],
    });
    let models = vec![
        ("first", vec![vec![note("one"), look()], vec![bash("slow")]]),
        ("each", vec![vec![put("b"), note("two")]]),
    ];
    Act { scene: Scene::Flow(flow.to_string()), models }
}

pub(crate) fn subagents() -> Act {
    let mut boss = agent("boss");
    let below = |name: &str| json!({"model": {"provider": "own", "model": name}});
    boss["agents"] = json!({"one": below("one"), "two": below("two"), "deep": below("deep")});
    let models = vec![
        ("boss", vec![vec![call("one"), call("two"), note("own")], vec![bash("slow")]]),
        ("one", vec![vec![note("one")], vec![add(), bash("one")]]),
        ("two", vec![vec![call("deep"), look()]]),
        ("deep", vec![vec![note("deep"), put("c")]]),
    ];
    Act { scene: talk(boss), models }
}

/// The same on branches of their own: fresh ones, and one with a name.
pub(crate) fn branches() -> Act {
    let mut boss = agent("boss");
    let below =
        |name: &str, policy: &str| json!({"model": {"provider": "own", "model": name}, "policy": policy});
    boss["agents"] = json!({
        "one": below("one", "fresh_branch"),
        "two": below("two", "existing_branch"),
        "deep": below("deep", "fresh_branch"),
    });
    Act { scene: talk(boss), ..subagents() }
}

/// The same in sessions of their own.
pub(crate) fn sessions() -> Act {
    let mut boss = agent("boss");
    let below = |name: &str| json!({"model": {"provider": "own", "model": name}, "policy": "new_session"});
    boss["agents"] = json!({"one": below("one"), "two": below("two"), "deep": below("deep")});
    Act { scene: talk(boss), ..subagents() }
}

pub(crate) fn swarm() -> Act {
    let member = |name: &str| {
        let mut agent = agent(name);
        agent.as_object_mut().expect("an object").remove("name");
        agent
    };
    let agents = json!({"plan": member("plan"), "code": member("code"), "review": member("review")});
    let flow = json!({"antiphon": 1, "nodes": {"team": {"swarm": {"agents": agents, "entry": "plan"}}}});
    let models = vec![
        ("plan", vec![vec![note("plan")], vec![handoff("code")]]),
        ("code", vec![vec![bash("code"), look()], vec![note("code"), handoff("review")]]),
        ("review", vec![vec![note("review"), put("d")]]),
    ];
    Act { scene: Scene::Flow(flow.to_string()), models }
}
