//! [`Outfitter`]: gives an agent what it needs to do its work: its model, its tools, its rules.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use antiphon_agent::machine::{Origin, World};
use antiphon_agent::permission::{Policy, Subject};
use antiphon_agent::{Definition, Outfit};
use antiphon_event::Json;
use antiphon_port::{Future, Model, Sandbox, Tool};

/// What an agent does its work with.
#[derive(Clone)]
pub struct Kit {
    /// What it knows of its tools, and the rules for them.
    pub outfit: Arc<Outfit>,
    /// Its model.
    pub model: Arc<dyn Model>,
    /// Its tools, by name.
    pub tools: BTreeMap<String, Arc<dyn Tool>>,
    /// Where code that its model writes is run; without it, none is.
    pub sandbox: Option<Arc<dyn Sandbox>>,
}

impl fmt::Debug for Kit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kit").field("model", &self.model.name()).finish_non_exhaustive()
    }
}

impl World for Kit {
    fn subjects(&self, tool: &str, input: &Json) -> Vec<Subject> {
        self.tools.get(tool).map(|tool| tool.subjects(input)).unwrap_or_default()
    }
}

/// Gives agents what they need. May be asked from many tasks at once, and several times for the same agent.
pub trait Outfitter: Send + Sync + 'static {
    /// What an agent needs; within the rules of the agent that calls it, if one does. Why it cannot be had otherwise.
    fn outfit(&self, definition: Arc<Definition>, within: Option<Policy>) -> Future<Result<Kit, String>>;

    /// What one run of it is given of that, told which run it is: all of it, unless somebody stands in for its model or
    /// its tools. Called before a run begins or is taken up.
    fn assign(&self, _run: &Origin, kit: Kit) -> Kit {
        kit
    }

    /// The folder that agents work in, if they have one.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// The same for runs that work in another folder; nothing if it is the same wherever they work. Why they cannot work
    /// there otherwise.
    fn at(&self, _folder: &Path) -> Result<Option<Arc<dyn Outfitter>>, String> {
        Ok(None)
    }

    /// A tool that depends on the folder: where the engine was given the very same, a run has the one of its own folder.
    fn tool(&self, _name: &str) -> Option<Arc<dyn Tool>> {
        None
    }

    /// Keeps a rule for the whole project.
    fn keep(&self, rule: &Json) -> Result<(), String>;
}
