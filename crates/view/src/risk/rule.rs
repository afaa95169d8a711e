//! The rules: what doing something may change, and what becomes of it if the process dies.

use antiphon_event::body::tool::ToolCall;
use antiphon_event::{CallType, Event, Extra};

use serde::{Deserialize, Serialize};

use super::{Effect, Then};

/// What would become of a step, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Fate {
    CutOff,
    Proposed,
    Code,
    Open,
    Interrupted,
    Inside,
    Harmless,
    Idempotent,
    InDoubt,
    Person,
}

impl Fate {
    /// What happens if the process dies now.
    pub(super) fn then(self) -> Then {
        match self {
            Self::CutOff | Self::Harmless | Self::Idempotent => Then::RunAgain,
            Self::Code | Self::InDoubt => Then::Ask,
            Self::Proposed | Self::Inside => Then::Resume,
            Self::Open | Self::Interrupted | Self::Person => Then::Wait,
        }
    }

    /// Why, for a person.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::CutOff => "the answer is cut off; the model is asked again and what it said is discarded",
            Self::Proposed => {
                "proposed and not started; permission and execution follow when the agent goes on"
            }
            Self::Code => "the code is running and may have changed something; a person decides",
            Self::Open => "the request is durable and stays open",
            Self::Interrupted => "it waits for a person, and goes on waiting",
            Self::Inside => "it resumes inside itself; what is in flight there is listed on its own",
            Self::Harmless => "it changes nothing, so it is run again as a new attempt",
            Self::Idempotent => "it says that running it twice is like running it once",
            Self::InDoubt => "it may have changed something already; a person decides",
            Self::Person => "a person is asked, and the question stays open",
        }
    }
}

/// What doing a tool call may change, and what becomes of one that has started.
///
/// An `effect` on the event itself rules; then what kind of thing is called; then the tools we know.
pub(super) fn tool(event: &Event, call: &ToolCall) -> (Option<Effect>, Fate) {
    if let Some(told) = told(&event.extra) {
        return told;
    }
    if matches!(call.call_type, Some(CallType::SubAgent | CallType::MultiAgent)) {
        return (None, Fate::Inside);
    }
    match call.name.as_str() {
        "agent" => (None, Fate::Inside),
        "ask" => (Some(Effect::Human), Fate::Person),
        "read" | "search" | "fetch" => by_effect(Effect::Read),
        "bash" | "write" | "patch" => by_effect(Effect::Write),
        _ => (None, Fate::InDoubt),
    }
}

/// What running a node may change, and what becomes of one that has started.
pub(super) fn node(event: &Event, node_type: Option<&str>) -> (Option<Effect>, Fate) {
    if let Some(told) = told(&event.extra) {
        return told;
    }
    match node_type {
        Some("agent" | "flow" | "map" | "swarm") => (None, Fate::Inside),
        Some("expression" | "router" | "guardrail") => by_effect(Effect::Pure),
        Some("command" | "tool" | "remote" | "function") => by_effect(Effect::Write),
        Some("human") => (Some(Effect::Human), Fate::Person),
        _ => (None, Fate::InDoubt),
    }
}

/// What an event tells itself: `effect`, and `idempotent`.
fn told(extra: &Extra) -> Option<(Option<Effect>, Fate)> {
    let member = |name: &str| extra.iter().find(|(found, _)| **found == *name).map(|(_, json)| json);
    let effect = member("effect").and_then(|json| Effect::named(&json.to_text()));
    if member("idempotent").is_some_and(|json| json.as_str() == "true") {
        return Some((effect, Fate::Idempotent));
    }
    effect.map(by_effect)
}

fn by_effect(effect: Effect) -> (Option<Effect>, Fate) {
    let fate = match effect {
        Effect::Pure | Effect::Read => Fate::Harmless,
        Effect::Write | Effect::External => Fate::InDoubt,
        Effect::Human => Fate::Person,
    };
    (Some(effect), fate)
}
