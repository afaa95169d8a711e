//! The tools that are the loop's own: asking a person, calling another agent, handing the work over.

use antiphon_event::{CallType, Json};
use serde_json::{Value, json};

use super::permit::{AGENT, ASK, HANDOFF, QUERY};
use crate::{Class, Definition, Harness, Spec};

/// The tools of the loop that an agent is offered: `ask` if it names it, `agent` if it names it or has agents to call,
/// `handoff` if there is somebody to hand its work to; `llm_query`, which only code can call, if it writes code.
pub fn own_tools(definition: &Definition) -> Vec<Spec> {
    let names = |name: &str| definition.tools.iter().any(|tool| tool == name);
    let mut specs = Vec::new();
    if names(ASK) {
        specs.push(ask());
    }
    if names(AGENT) || !definition.agents.is_empty() {
        specs.push(agent(definition));
    }
    if !definition.handoffs.is_empty() {
        specs.push(handoff(definition));
    }
    if definition.harness == Harness::Rlm {
        specs.push(query());
    }
    specs
}

fn query() -> Spec {
    let properties = json!({"prompt": {"type": "string"}, "context": {"type": "string"}});
    let mut spec = spec(QUERY, "Asks a model.", properties, &["prompt"]);
    spec.call_type = Some(CallType::SubAgent);
    spec
}

fn spec(name: &str, description: &str, properties: Value, required: &[&str]) -> Spec {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    Spec {
        name: name.to_owned(),
        description: description.to_owned(),
        input: Json::from(schema),
        class: Class::Pure,
        call_type: None,
    }
}

fn ask() -> Spec {
    let properties = json!({
        "question": {"type": "string", "minLength": 1, "description": "The question."},
        "options": {"type": "array", "items": {"type": "string"}, "description": "Answers to choose from."},
    });
    spec(ASK, "Asks the person you work for, and waits for the answer.", properties, &["question"])
}

fn agent(definition: &Definition) -> Spec {
    let mut about =
        "Lets another agent do a task, and gives its answer. It sees the task and nothing else: say all it \
                     needs to know. Several calls at once work side by side."
            .to_owned();
    let mut properties =
        json!({"task": {"type": "string", "minLength": 1, "description": "What is to be done."}});
    let names: Vec<&String> = definition.agents.keys().collect();
    if !names.is_empty() {
        for (name, agent) in &definition.agents {
            about += "\n- ";
            about += name;
            about += ": ";
            about += agent.description.as_deref().unwrap_or("an agent");
        }
        properties["agent"] = json!({"enum": names, "description": "Which agent."});
    }
    let required: &[&str] = if names.is_empty() { &["task"] } else { &["task", "agent"] };
    let mut spec = spec(AGENT, &about, properties, required);
    spec.call_type = Some(CallType::SubAgent);
    spec
}

fn handoff(definition: &Definition) -> Spec {
    let properties = json!({
        "to": {"enum": definition.handoffs, "description": "Who takes over."},
        "message": {"type": "string", "description": "What they need to know to go on."},
    });
    let about = "Hands the work to another agent, for good: your part ends here. One at a time.";
    let mut spec = spec(HANDOFF, about, properties, &["to"]);
    spec.call_type = Some(CallType::MultiAgent);
    spec
}
