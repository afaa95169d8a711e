//! [`Agent`]: an agent in a few lines.

use std::sync::Arc;

use antiphon_agent::permission::{Action, Rule};
use antiphon_agent::{Definition, ModelUse};
use antiphon_event::{Json, SessionId};
use antiphon_port::{Fault, Journal, Model, Tool};
use antiphon_runtime::{Engine, Invocation, Outcome, Refused, Report, Run, Stopped};
use antiphon_sandbox::Workspace;
use serde_json::{Value, json};

use crate::wardrobe::{OWN, Wardrobe};

/// An agent: a model with instructions and tools.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), antiphon::Error> {
/// use antiphon::{Agent, Class, Step, scripted, typed};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// let add = typed("add", "Adds two numbers.", Class::Pure, |add: Add, _| async move {
///     Ok((add.a + add.b).to_string())
/// });
/// let model = scripted(["1 + 2 is 3."]);
/// let answer = Agent::new(model).system("You can add.").tool(add).run("What is 1 + 2?").await?;
/// assert_eq!(answer.text(), "1 + 2 is 3.");
/// # Ok(())
/// # }
/// ```
pub struct Agent {
    definition: Definition,
    own: Option<Arc<dyn Model>>,
    tools: Vec<Arc<dyn Tool>>,
    workspace: Option<Workspace>,
    journal: Option<Arc<dyn Journal>>,
}

/// What an agent said in the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its answer: text, or a value if it was given a schema.
    pub output: Json,
    /// What came of the run.
    pub report: Report,
}

impl Answer {
    /// The answer as text.
    pub fn text(&self) -> String {
        self.output.to_text().into_owned()
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not begin.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The journal failed.
    #[error(transparent)]
    Stopped(Box<Stopped>),
    /// The journal could not be opened.
    #[error(transparent)]
    Journal(#[from] Fault),
    /// There is no folder to work in.
    #[error("the working folder cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    /// It ended without an answer.
    #[error("the agent {}: {}", word(.0.outcome), .0.output.to_text())]
    Failed(Box<Report>),
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(Box::new(stopped))
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "is done",
        Outcome::Failed => "failed",
        Outcome::Cancelled => "was cancelled",
        Outcome::Paused => "waits for a person",
    }
}

/// A model that says these things, one after another: for tests and demonstrations.
pub fn scripted<T: Into<String>>(replies: impl IntoIterator<Item = T>) -> ModelUse {
    let replies: Vec<Value> = replies.into_iter().map(|text| json!([{"text": text.into()}])).collect();
    ModelUse {
        provider: "scripted".to_owned(),
        replies: Some(Json::from(Value::Array(replies))),
        ..ModelUse::default()
    }
}

impl Agent {
    /// An agent with this model, by its settings or as `provider/model`.
    pub fn new(model: impl Into<ModelUse>) -> Self {
        Self {
            definition: Definition::new(model.into()),
            own: None,
            tools: Vec::new(),
            workspace: None,
            journal: None,
        }
    }

    /// An agent with a model of your own.
    pub fn with(model: Arc<dyn Model>) -> Self {
        let settings =
            ModelUse { provider: OWN.to_owned(), model: Some(OWN.to_owned()), ..ModelUse::default() };
        Self { own: Some(model), ..Self::new(settings) }
    }

    /// An agent as a file defines it.
    pub fn from_definition(definition: Definition) -> Self {
        Self { definition, own: None, tools: Vec::new(), workspace: None, journal: None }
    }

    /// Its instructions.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.definition.system = Some(text.into());
        self
    }

    /// A tool of your own. It runs without asking: you handed it over.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        let name = tool.spec().name.clone();
        self.definition.permissions.push(Rule::new(Action::Allow, &name));
        self.definition.tools.push(name);
        self.tools.push(Arc::new(tool));
        self
    }

    /// Tools that are there already, by name: `bash`, `read`, `write`, `patch`, `search`, `fetch`, `todo`, `ask`.
    #[must_use]
    pub fn tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.definition.tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// The JSON Schema of its answer.
    #[must_use]
    pub fn output(mut self, schema: impl Into<Json>) -> Self {
        self.definition.output = Some(schema.into());
        self
    }

    /// How many times it may call its model; 10 unless said otherwise.
    #[must_use]
    pub fn max_iterations(mut self, max: u32) -> Self {
        self.definition.max_iterations = max;
        self
    }

    /// How many tokens one run of it may use, with those of the agents it calls; a call that would not fit is not made,
    /// and the run ends. No bound unless said otherwise.
    #[must_use]
    pub fn max_tokens(mut self, max: u64) -> Self {
        self.definition.limits.max_tokens = Some(max);
        self
    }

    /// How many US dollars, likewise. The models need prices.
    #[must_use]
    pub fn max_cost_usd(mut self, max: f64) -> Self {
        self.definition.limits.max_cost_usd = Some(max);
        self
    }

    /// How many model calls, likewise.
    #[must_use]
    pub fn max_steps(mut self, max: u64) -> Self {
        self.definition.limits.max_steps = Some(max);
        self
    }

    /// A rule: what it may do without asking. The first that fits counts.
    #[must_use]
    pub fn permission(mut self, rule: Rule) -> Self {
        self.definition.permissions.push(rule);
        self
    }

    /// Where its tools work; the current folder unless said otherwise.
    #[must_use]
    pub fn workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Where its events are kept; in memory unless said otherwise.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Gives it a task and waits for its answer. What it has to ask a person for is denied by nobody being there: use
    /// [`start`](Self::start) to answer.
    pub async fn run(&self, task: impl Into<Json>) -> Result<Answer, Error> {
        let mut run = self.start(task).await?;
        let report = run.wait().await?;
        match report.outcome {
            Outcome::Completed => Ok(Answer { output: report.output.clone(), report }),
            Outcome::Failed | Outcome::Cancelled | Outcome::Paused => Err(Error::Failed(Box::new(report))),
        }
    }

    /// Gives it a task; the handle gives its events as they happen, and takes answers to what it asks.
    pub async fn start(&self, task: impl Into<Json>) -> Result<Run, Error> {
        self.say(task, None).await
    }

    /// Says something to it in a session that has begun.
    pub async fn go_on(&self, session: SessionId, task: impl Into<Json>) -> Result<Run, Error> {
        self.say(task, Some(session)).await
    }

    /// Says something to it once a turn that is under way has ended. To be heard by that turn itself, use
    /// [`Run::steer`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), antiphon::Error> {
    /// use antiphon::{Agent, open_store, scripted};
    ///
    /// let agent = Agent::new(scripted(["One.", "Two."])).journal(open_store("memory:")?);
    /// let first = agent.start("Count.").await?;
    /// let mut second = agent.then(first, "Go on.").await?;
    /// assert_eq!(second.wait().await?.output.to_text(), "Two.");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn then(&self, mut turn: Run, task: impl Into<Json>) -> Result<Run, Error> {
        let report = turn.wait().await?;
        match report.outcome {
            Outcome::Paused => Err(Error::Failed(Box::new(report))),
            Outcome::Completed | Outcome::Failed | Outcome::Cancelled => {
                self.go_on(report.session, task).await
            }
        }
    }

    async fn say(&self, task: impl Into<Json>, session: Option<SessionId>) -> Result<Run, Error> {
        let invocation = Invocation { session, ..Invocation::new(task) };
        Ok(self.engine()?.talk(self.definition.clone(), invocation).await?)
    }

    fn engine(&self) -> Result<Engine, Error> {
        let workspace = match &self.workspace {
            Some(workspace) => workspace.clone(),
            None => Workspace::new(".")?,
        };
        let mut wardrobe = Wardrobe::new(workspace);
        if let Some(model) = &self.own {
            wardrobe = wardrobe.model(OWN, Arc::clone(model));
        }
        for tool in &self.tools {
            wardrobe = wardrobe.tool(Arc::clone(tool));
        }
        let journal = match &self.journal {
            Some(journal) => Arc::clone(journal),
            None => antiphon_store::open("memory:")?,
        };
        Ok(Engine::new(journal).agents(wardrobe))
    }
}
