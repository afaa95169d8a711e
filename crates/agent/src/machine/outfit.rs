//! [`Outfit`]: what an agent may use, as it is when it is looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_event::{Json, near};
use jsonschema::Validator;
use serde_json::Value;

use super::end::unfenced;
use crate::permission::Policy;
use crate::{Class, Spec};

/// The tools of an agent, the rules for them, and what goes with its instructions.
#[derive(Debug, Default)]
pub struct Outfit {
    tools: BTreeMap<String, Offered>,
    /// The rules.
    pub policy: Policy,
    /// Added to its instructions: what skills there are.
    pub notes: String,
    /// What code finds as `context`, where that is not in the definition.
    pub context: Option<Arc<str>>,
    /// What its answer has to fit.
    answer: Option<Validator>,
}

#[derive(Debug)]
struct Offered {
    spec: Spec,
    schema: Value,
    validator: Option<Validator>,
}

/// How many mistakes in the arguments of a call are named.
const MISTAKES_MAX: usize = 5;

impl Outfit {
    /// Tools, rules, notes for the model, and the schema of its answer.
    pub fn new(
        specs: impl IntoIterator<Item = Spec>,
        policy: Policy,
        notes: String,
        answer: Option<&Json>,
    ) -> Self {
        let offered = specs.into_iter().map(|spec| {
            // A schema that cannot be used is the tool's own fault; the tool then looks for itself.
            let schema = spec.input.value();
            let validator = jsonschema::validator_for(&schema).ok();
            (spec.name.clone(), Offered { spec, schema, validator })
        });
        let answer = answer.and_then(|schema| jsonschema::validator_for(&schema.value()).ok());
        Self { tools: offered.collect(), policy, notes, context: None, answer }
    }

    /// Whether an answer fits, or what is wrong with it.
    pub(super) fn answer(&self, text: &str) -> Result<(), String> {
        let Some(validator) = &self.answer else { return Ok(()) };
        let value: Value =
            serde_json::from_str(unfenced(text)).map_err(|error| format!("it is not JSON: {error}"))?;
        validator.validate(&value).map_err(|error| format!("{} at `{}`", error, error.instance_path()))
    }

    /// The tools, by name.
    pub fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.tools.values().map(|offered| &offered.spec)
    }

    /// A tool.
    pub fn spec(&self, name: &str) -> Option<&Spec> {
        self.tools.get(name).map(|offered| &offered.spec)
    }

    /// Whether a call may be made again when nobody knows how the last one ended; a tool nobody knows may not.
    pub(super) fn is_repeatable(&self, name: &str) -> bool {
        self.spec(name).is_some_and(|spec| Class::is_repeatable(spec.class))
    }

    /// The arguments with defaults filled in, or what is wrong with them.
    pub(super) fn check(&self, name: &str, input: &Json) -> Result<Json, String> {
        let Some(offered) = self.tools.get(name) else {
            return Err(self.unknown(name));
        };
        let mut value = input.value();
        let filled = fill(&mut value, &offered.schema);
        let mistakes: Vec<String> = offered
            .validator
            .iter()
            .flat_map(|validator| validator.iter_errors(&value))
            .take(MISTAKES_MAX)
            .map(|error| format!("{} at `{}`", error, error.instance_path()))
            .collect();
        if !mistakes.is_empty() {
            return Err(format!("the arguments do not fit the schema of `{name}`: {}", mistakes.join("; ")));
        }
        Ok(if filled { Json::from(value) } else { input.clone() })
    }

    fn unknown(&self, name: &str) -> String {
        match near::help(name, self.tools.keys().map(String::as_str)) {
            Some(help) => format!("there is no tool `{name}`; {help}"),
            None => format!("there is no tool `{name}`, nor any other"),
        }
    }
}

/// Fills in what is absent and has a default; whether anything was.
fn fill(value: &mut Value, schema: &Value) -> bool {
    let (Value::Object(members), Some(properties)) = (value, schema["properties"].as_object()) else {
        return false;
    };
    let mut any = false;
    for (name, property) in properties {
        match (members.get_mut(name), property.get("default")) {
            (Some(member), _) => any |= fill(member, property),
            (None, Some(default)) if !default.is_null() => {
                members.insert(name.clone(), default.clone());
                any = true;
            }
            (None, _) => {}
        }
    }
    any
}
