//! Events, effects and prompts as lines of a table. Ids are shown without the run before them.

use antiphon_agent::machine::{Effect, Next};
use antiphon_agent::{Message, Prompt};
use antiphon_event::{Body, Event};

pub(crate) fn short(id: &str) -> &str {
    id.strip_prefix("r/").unwrap_or(id)
}

fn list(ids: &[String]) -> String {
    ids.iter().map(|id| short(id)).collect::<Vec<_>>().join(" ")
}

/// An event in a few words.
pub(crate) fn event(event: &Event) -> String {
    let words = match &event.body {
        Body::Text(text) => format!("{} {}", short(text.id.as_str()), text.content),
        Body::Reasoning(reasoning) => {
            let id = short(reasoning.id.as_str());
            match &reasoning.signature {
                Some(signature) => format!("{id} signed {signature}"),
                None => format!("{id} {}", reasoning.content),
            }
        }
        Body::User(user) => {
            let parent = event.head.parent_id.as_ref().filter(|_| user.delivery.is_some());
            let after = parent.map(|parent| format!("after {parent}: ")).unwrap_or_default();
            format!("{after}{}", user.content.to_text())
        }
        Body::ToolCall(call) => format!("{} {} {}", short(call.id.as_str()), call.name, call.input.as_str()),
        Body::ToolProgress(progress) => {
            format!("{} {}", short(progress.tool_call_id.as_str()), progress.content.as_str())
        }
        Body::ToolResult(result) => {
            let error = if result.is_error == Some(true) { "error " } else { "" };
            format!("{} {error}{}", short(result.id.as_str()), brief(result.output.as_str()))
        }
        Body::ReplInput(input) => format!("{} {}", short(input.id.as_str()), input.code),
        Body::ReplProgress(progress) => format!("{} {}", progress.stream, progress.chunk),
        Body::ReplOutput(output) => {
            let error = output.error.as_ref().map(|error| format!(" error: {error}")).unwrap_or_default();
            let done = if output.done { " done" } else { "" };
            format!("{} {}{error}{done}", short(output.id.as_str()), output.stdout)
        }
        Body::Usage(usage) => format!("{}/{}", usage.input_tokens, usage.output_tokens),
        Body::ModelRetry(retry) => {
            let delay = retry.delay_ms.map(|delay| format!(" in {delay} ms")).unwrap_or_default();
            format!("{}{delay}, discards [{}]: {}", retry.attempt, list(&retry.discards), retry.reason)
        }
        Body::Relay(relay) => {
            let parts = [
                relay.prompt.clone(),
                relay.params.as_ref().map(|params| params.as_str().to_owned()),
                relay.options.as_ref().map(|options| format!("[{}]", options.join(", "))),
                relay.expires_at.map(|at| format!("until {}", at.millis())),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("{} {}: {}", short(relay.id.as_str()), relay.kind, parts.join(" "))
        }
        Body::RelayResolved(resolved) => {
            let parts = [
                resolved.approved.map(|approved| if approved { "yes" } else { "no" }.to_owned()),
                resolved.answer.as_ref().map(|answer| answer.as_str().to_owned()),
                resolved.input.as_ref().map(|input| format!("with {}", input.as_str())),
                resolved.reason.as_ref().map(|reason| format!("because {reason}")),
            ];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("{} {} by {}", short(resolved.relay_id.as_str()), parts.join(" "), resolved.by)
        }
        Body::GrantAdded(grant) => {
            format!("{} for this {}", grant.rule.as_str(), grant.scope)
        }
        Body::Summary(summary) => {
            format!("{} of [{}]: {}", short(&summary.id), list(&summary.sources), summary.content)
        }
        Body::HistoryCompacted(compacted) => short(&compacted.summary_id).to_owned(),
        Body::Handoff(handoff) => {
            format!("to {}: {}", handoff.to_node_id, handoff.message.as_deref().unwrap_or_default())
        }
        Body::Diagnostic(diagnostic) => diagnostic.message.clone(),
        Body::Error(error) => format!("{}: {}", error.code.as_deref().unwrap_or_default(), error.message),
        Body::CancelRequested(request) => request.mode.to_string(),
        Body::HarnessEnd(end) => {
            let reason = end.reason.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{reason} after {}", end.iterations.unwrap_or_default())
        }
        _ => String::new(),
    };
    format!("{} {words}", event.body.tag()).trim_end().to_owned()
}

/// Long text with its middle left out.
fn brief(text: &str) -> String {
    if text.len() < 200 {
        return text.to_owned();
    }
    format!("{}… {} bytes", &text[..text.floor_char_boundary(20)], text.len())
}

/// An effect in a few words.
pub(crate) fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Ask => "→ ask".to_owned(),
        Effect::Wait(millis) => format!("→ wait {millis}"),
        Effect::Run(call) => format!("→ run {}", short(call.as_str())),
        Effect::Spawn(call) => format!("→ spawn {}", short(call.as_str())),
        Effect::Evaluate(code) => format!("→ evaluate {}", short(code.as_str())),
        Effect::Tell(call) => format!("→ tell {}", short(call.as_str())),
        Effect::Watch(relay, at) => format!("→ watch {} until {}", short(relay.as_str()), at.millis()),
        Effect::Keep(rule) => format!("→ keep {}", rule.as_str()),
        Effect::Stop => "→ stop".to_owned(),
    }
}

/// What the model would be asked, a line for each message.
pub(crate) fn prompt(next: &Next) -> Vec<String> {
    let (what, prompt) = match next {
        Next::Step(prompt) => ("step", prompt),
        Next::Summary(prompt) => ("summary", prompt),
    };
    let tools: Vec<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    let mut lines = vec![format!("{what}, tools [{}]{}", tools.join(" "), system(prompt))];
    lines.extend(prompt.messages.iter().map(message));
    lines
}

fn system(prompt: &Prompt) -> String {
    let first = prompt.system.lines().next().unwrap_or_default();
    if first.is_empty() { String::new() } else { format!(", told {first}") }
}

fn message(message: &Message) -> String {
    match message {
        Message::User { content } => format!("user: {}", content.to_text().replace('\n', " ⏎ ")),
        Message::Assistant { content, reasoning, tool_calls } => {
            let mut parts: Vec<String> = reasoning
                .iter()
                .flatten()
                .map(|thought| match &thought.signature {
                    Some(signature) => format!("({} signed {signature})", thought.text),
                    None => format!("({})", thought.text),
                })
                .collect();
            parts.extend(content.clone());
            let calls = tool_calls.iter().flatten();
            parts.extend(
                calls.map(|call| format!("calls {} {} {}", call.id, call.name, call.arguments.as_str())),
            );
            format!("assistant: {}", parts.join("; "))
        }
        Message::Tool { tool_call_id, content, is_error, .. } => {
            let error = if *is_error == Some(true) { "error " } else { "" };
            format!("tool {tool_call_id}: {error}{}", content.to_text().replace('\n', " ⏎ "))
        }
    }
}
