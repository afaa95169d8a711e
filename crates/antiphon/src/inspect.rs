//! What is wrong with an agent before it begins: what `antiphon check` says about it.

use antiphon_agent::machine::{AGENT, ASK};
use antiphon_agent::permission::Rule;
use antiphon_agent::{Definition, Harness};
use antiphon_event::Json;
use antiphon_event::near::help;
use antiphon_model::PROVIDERS;
use serde_json::{Map, Value};

/// What is wrong with something: the member it is about, what is wrong, what to do.
type Wrong = (&'static str, String, Option<String>);

/// What is wrong with the settings of an agent that this library runs; nothing about those that others run.
pub fn inspect(settings: &Json) -> Vec<Wrong> {
    let value = settings.value();
    if value.get("harness").is_some_and(|harness| serde_json::from_value::<Harness>(harness.clone()).is_err())
    {
        return Vec::new();
    }
    let mut wrong: Vec<Wrong> = rules(&value).map(|why| ("permissions", why, None)).collect();
    wrong.extend(value["model"]["provider"].as_str().and_then(provider));
    wrong.extend(tools(&value));
    if let (true, Err(error)) = (wrong.is_empty(), serde_json::from_str::<Definition>(settings.as_str())) {
        wrong.push(("", format!("the agent cannot be read: {error}"), None));
    }
    wrong
}

fn rules(settings: &Value) -> impl Iterator<Item = String> {
    let rules = settings["permissions"].as_array().into_iter().flatten();
    rules.filter_map(|rule| serde_json::from_value::<Rule>(rule.clone()).err().map(|error| error.to_string()))
}

fn provider(name: &str) -> Option<Wrong> {
    let known = PROVIDERS.contains(&name);
    (!known)
        .then(|| ("model", format!("there is no provider `{name}`"), help(name, PROVIDERS.iter().copied())))
}

fn tools(settings: &Value) -> Vec<Wrong> {
    let known: Vec<&str> = antiphon_sandbox::NAMES.iter().copied().chain([ASK, AGENT]).collect();
    let servers: Vec<&String> = settings["mcp"].as_object().into_iter().flat_map(Map::keys).collect();
    let of_server = |tool: &str| servers.iter().any(|server| tool.starts_with(server.as_str()));
    let named = settings["tools"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let unknown = named.filter(|tool| !known.contains(tool) && !of_server(tool));
    unknown
        .map(|tool| ("tools", format!("there is no tool `{tool}`"), help(tool, known.iter().copied())))
        .collect()
}

#[cfg(test)]
mod tests {
    use antiphon_event::Json;
    use serde_json::{Value, json};

    use super::inspect;

    #[test]
    fn what_is_wrong_with_an_agent_is_said_before_it_begins() {
        let model = json!({"provider": "scripted"});
        let rows: [(Value, &[&str]); 6] = [
            (json!({"model": model, "tools": ["read", "ask"]}), &[]),
            (
                json!({"model": model, "tools": ["raed"]}),
                &["tools: there is no tool `raed`, did you mean `read`?"],
            ),
            (
                json!({"model": {"provider": "opnai"}}),
                &["model: there is no provider `opnai`, did you mean `openai`?"],
            ),
            (json!({"model": model, "mcp": {"files": {"command": ["x"]}}, "tools": ["files/*"]}), &[]),
            (json!({"harness": "mine", "whatever": 1}), &[]),
            (
                json!({"model": model, "surprise": 1}),
                &[": the agent cannot be read: unknown field `surprise`"],
            ),
        ];
        for (settings, expected) in rows {
            let told: Vec<String> = inspect(&Json::from(settings.clone()))
                .into_iter()
                .map(|(member, what, help)| match help {
                    Some(help) => format!("{member}: {what}, {help}"),
                    None => format!("{member}: {what}"),
                })
                .collect();
            assert_eq!(told.len(), expected.len(), "{settings} {told:?}");
            assert!(told.iter().zip(expected).all(|(told, start)| told.starts_with(start)), "{told:?}");
        }
        let wrong =
            inspect(&Json::from(json!({"model": model, "permissions": [{"allow": "bash", "comand": "ls"}]})));
        assert_eq!((wrong.len(), wrong[0].0), (1, "permissions"));
    }
}
