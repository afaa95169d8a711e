//! What is wrong with an agent, a model or a tool before it is used: what `antiphon check` says about it.

use antiphon_agent::machine::{AGENT, ASK};
use antiphon_agent::permission::Rule;
use antiphon_agent::{Definition, Harness};
use antiphon_event::Json;
use antiphon_event::near::help;
use antiphon_flow::file::{Inspected, Wrong};
use antiphon_model::{PROVIDERS, Script};
use serde_json::{Map, Value};

/// What is wrong with what a flow file names and this library provides; nothing about agents that others run.
pub fn inspect(inspected: Inspected<'_>) -> Vec<Wrong> {
    match inspected {
        Inspected::Agent(settings) => agent(settings),
        Inspected::Model(settings) => model("", &settings.value()).into_iter().collect(),
        Inspected::Tool(name) => {
            let known = antiphon_sandbox::NAMES;
            let is_known = known.contains(&name);
            (!is_known).then(|| no_tool(String::new(), name, &known)).into_iter().collect()
        }
    }
}

fn agent(settings: &Json) -> Vec<Wrong> {
    let value = settings.value();
    if value.get("harness").is_some_and(|harness| serde_json::from_value::<Harness>(harness.clone()).is_err())
    {
        return Vec::new();
    }
    let mut wrong: Vec<Wrong> = rules(&value).map(|why| told("/permissions".to_owned(), why, None)).collect();
    wrong.extend(model("/model", &value["model"]));
    wrong.extend(tools(&value));
    if let (true, Err(error)) = (wrong.is_empty(), serde_json::from_str::<Definition>(settings.as_str())) {
        wrong.push(told(String::new(), format!("the agent cannot be read: {error}"), None));
    }
    wrong
}

fn told(pointer: String, message: String, help: Option<String>) -> Wrong {
    Wrong { pointer, message, help }
}

fn rules(settings: &Value) -> impl Iterator<Item = String> {
    let rules = settings["permissions"].as_array().into_iter().flatten();
    rules.filter_map(|rule| serde_json::from_value::<Rule>(rule.clone()).err().map(|error| error.to_string()))
}

fn model(at: &str, settings: &Value) -> Option<Wrong> {
    let name = settings["provider"].as_str()?;
    if !PROVIDERS.contains(&name) {
        let message = format!("there is no provider `{name}`");
        return Some(told(format!("{at}/provider"), message, help(name, PROVIDERS.iter().copied())));
    }
    let replies = settings.get("replies").filter(|_| name == "scripted")?;
    let (place, why) = Script::mistake(&Json::from(replies.clone()))?;
    let (message, help) = choice(&why);
    Some(told(format!("{at}/replies{place}"), format!("the script cannot be read: {message}"), help))
}

/// What is wrong, and what there is to choose from if the message says so: the nearest of it.
fn choice(why: &str) -> (&str, Option<String>) {
    let parts = why.split_once(", expected one of ").or_else(|| why.split_once("; there are "));
    let Some((message, known)) = parts else { return (why, None) };
    let wrong = message.split('`').nth(1).unwrap_or_default();
    (message, help(wrong, known.split(", ").map(|word| word.trim_matches('`'))))
}

fn tools(settings: &Value) -> Vec<Wrong> {
    let known: Vec<&str> = antiphon_sandbox::NAMES.iter().copied().chain([ASK, AGENT]).collect();
    let servers: Vec<&String> = settings["mcp"].as_object().into_iter().flat_map(Map::keys).collect();
    let of_server = |tool: &str| servers.iter().any(|server| tool.starts_with(server.as_str()));
    let named = settings["tools"].as_array().into_iter().flatten().enumerate();
    let named = named.filter_map(|(at, tool)| Some((at, tool.as_str()?)));
    let unknown = named.filter(|(_, tool)| !known.contains(tool) && !of_server(tool));
    unknown.map(|(at, tool)| no_tool(format!("/tools/{at}"), tool, &known)).collect()
}

fn no_tool(pointer: String, name: &str, known: &[&str]) -> Wrong {
    told(pointer, format!("there is no tool `{name}`"), help(name, known.iter().copied()))
}

#[cfg(test)]
mod tests {
    use antiphon_event::Json;
    use serde_json::{Value, json};

    use super::{Inspected, Wrong, inspect};

    #[test]
    fn what_is_wrong_with_an_agent_is_said_before_it_begins() {
        let model = json!({"provider": "scripted"});
        let rows: [(Value, &[&str]); 8] = [
            (json!({"model": model, "tools": ["read", "ask"]}), &[]),
            (
                json!({"model": model, "tools": ["raed"]}),
                &["/tools/0: there is no tool `raed`, did you mean `read`?"],
            ),
            (
                json!({"model": {"provider": "opnai"}}),
                &["/model/provider: there is no provider `opnai`, did you mean `openai`?"],
            ),
            (json!({"model": model, "mcp": {"files": {"command": ["x"]}}, "tools": ["files/*"]}), &[]),
            (
                json!({"model": {"provider": "scripted", "replies": [[{"text": "a"}, {"txt": "hi"}]]}}),
                &[
                    "/model/replies/0/1: the script cannot be read: unknown variant `txt`, did you mean `text`?",
                ],
            ),
            (
                json!({"model": {"provider": "scripted", "replies": [{"when": "x", "steps": [{"error": {"message": "x", "code": "zz"}}]}]}}),
                &["/model/replies/0/steps/0: the script cannot be read: no code `zz`, there are "],
            ),
            (json!({"harness": "mine", "whatever": 1}), &[]),
            (
                json!({"model": model, "surprise": 1}),
                &[": the agent cannot be read: unknown field `surprise`"],
            ),
        ];
        for (settings, expected) in rows {
            let told: Vec<String> = inspect(Inspected::Agent(&Json::from(settings.clone())))
                .into_iter()
                .map(|Wrong { pointer, message, help }| match help {
                    Some(help) => format!("{pointer}: {message}, {help}"),
                    None => format!("{pointer}: {message}"),
                })
                .collect();
            assert_eq!(told.len(), expected.len(), "{settings} {told:?}");
            assert!(told.iter().zip(expected).all(|(told, start)| told.starts_with(start)), "{told:?}");
        }
        let rules = Json::from(json!({"model": model, "permissions": [{"allow": "bash", "comand": "ls"}]}));
        let wrong = inspect(Inspected::Agent(&rules));
        assert_eq!((wrong.len(), wrong[0].pointer.as_str()), (1, "/permissions"));
        let wrong = inspect(Inspected::Tool("serch"));
        assert_eq!(wrong[0].help.as_deref(), Some("did you mean `search`?"));
    }
}
