//! [`Rlm`]: the options of an agent whose model writes code.
//!
//! In: the `options` of a definition. Out: bounds, and where the context is. Start reading at [`Rlm::of`].

use std::borrow::Cow;

use antiphon_event::Json;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Definition;

/// What an agent whose model writes code may use, and what it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rlm {
    /// What code finds as `context`.
    pub context: Option<String>,
    /// The file with the context, from the folder the agent works in; it should not change while the agent works.
    pub context_file: Option<String>,
    /// How deep `llm_query` gives agents that write code themselves; `limits.max_depth` if absent.
    pub max_depth: Option<u32>,
    /// Memory in mebibytes, the context among it: 1 to 1024.
    pub memory_mb: Option<u64>,
    /// Milliseconds of work in one turn, without what it waits for: 1 to 600,000.
    pub time_ms: Option<u64>,
    /// Characters of output that are kept in one turn: 1 to 1,000,000.
    pub output_chars: Option<u64>,
}

impl Rlm {
    /// The options of an agent, or what is wrong with them.
    pub fn of(definition: &Definition) -> Result<Self, String> {
        let members = definition.options.iter().map(|(name, value)| (name.clone(), value.value()));
        let options = Value::Object(members.collect::<Map<_, _>>());
        let rlm: Self =
            serde_json::from_value(options).map_err(|error| format!("its options do not fit: {error}"))?;
        if rlm.context.is_some() && rlm.context_file.is_some() {
            return Err("its options name both a `context` and a `context_file`; keep one".to_owned());
        }
        within("memory_mb", rlm.memory_mb, 1024)?;
        within("time_ms", rlm.time_ms, 600_000)?;
        within("output_chars", rlm.output_chars, 1_000_000)?;
        Ok(rlm)
    }
}

fn within(name: &str, value: Option<u64>, max: u64) -> Result<(), String> {
    match value {
        Some(value) if value == 0 || value > max => {
            Err(format!("its option `{name}` is {value}; it has to be 1 to {max}"))
        }
        Some(_) | None => Ok(()),
    }
}

impl Definition {
    /// How deep `llm_query` gives agents that write code themselves.
    pub fn query_depth(&self) -> u32 {
        let own = self.options.get("max_depth").and_then(|depth| depth.as_str().parse().ok());
        own.unwrap_or(self.limits.max_depth)
    }

    /// The context that is written down in the definition itself.
    pub(crate) fn context_text(&self) -> Option<Cow<'_, str>> {
        self.options.get("context").map(Json::to_text)
    }
}
