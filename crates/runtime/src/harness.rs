//! [`Harness`]: turns the settings of an agent node into events and an answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::function::{Call, Future};
use antiphon_event::body::content::{Reasoning, Text};
use antiphon_event::body::flow::Telemetry;
use antiphon_event::body::lifecycle::{HarnessEnd, HarnessStart, TotalUsage};
use antiphon_event::body::system::{Amounts, Usage};
use antiphon_event::{Body, EndReason, ErrorCode, Json, RunId};
use antiphon_flow::budget::nothing;
use antiphon_flow::function::{Failure, Reply};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::perform::Mouth;

/// One invocation of an agent.
pub struct Invoke {
    /// What the node says about the agent.
    pub settings: Json,
    /// The execution it is the work of.
    pub call: Call,
    /// The agent's own run.
    pub run: RunId,
    /// Where its events go.
    pub(crate) mouth: Mouth,
}

impl Invoke {
    /// Hands an event of the agent's run over.
    pub async fn say(&self, body: Body) {
        self.mouth.say(self.run.clone(), body).await;
    }
}

impl Invoke {
    /// Sets an amount aside before it is spent: waits while others hold what it needs, fails if it can never fit.
    pub async fn reserve(&self, amounts: Amounts) -> Result<Reservation, Failure> {
        Ok(Reservation { id: self.mouth.reserve(amounts).await?, mouth: self.mouth.clone() })
    }
}

/// An amount that was set aside. One that is never settled counts as spent whole when the work ends.
#[must_use = "what was set aside is to be settled"]
pub struct Reservation {
    id: Option<String>,
    mouth: Mouth,
}

impl Reservation {
    /// Says what was really spent.
    pub async fn settle(self, spent: Amounts) {
        self.mouth.settle(self.id, spent).await;
    }
}

/// Turns the settings of an agent node into events and an answer. Dropped to be cancelled.
pub trait Harness: Send + Sync + 'static {
    /// Runs the agent.
    fn invoke(&self, invoke: Invoke) -> Future<Result<Reply, Failure>>;
}

pub(crate) type Harnesses = BTreeMap<String, Arc<dyn Harness>>;

/// Plays replies instead of calling a model: the n-th execution gets the n-th reply, and the last one from then on.
///
/// The replies are in the node's settings, or in its model's if that is of the provider `scripted`; a model of any other
/// provider is refused. With an `output` schema in the settings the text is read as JSON.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scripted;

/// The provider whose models have their replies with them.
const PROVIDER: &str = "scripted";

#[derive(Debug, Deserialize)]
struct Script {
    #[serde(default)]
    replies: Vec<Vec<Step>>,
    #[serde(default)]
    model: Option<Model>,
    #[serde(default)]
    output: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Model {
    provider: String,
    #[serde(default)]
    replies: Vec<Vec<Step>>,
}

impl Script {
    /// What is said in this execution, from 1.
    fn steps(self, execution: u32) -> Result<Vec<Step>, Failure> {
        let mut replies = match self.model {
            None => self.replies,
            Some(Model { provider, replies }) if provider == PROVIDER => replies,
            Some(Model { provider, .. }) => {
                let message = format!("there is no provider `{provider}` here, only `{PROVIDER}`");
                return Err(Failure::new(message));
            }
        };
        let turn = (execution as usize).clamp(1, replies.len().max(1)) - 1;
        Ok(if replies.is_empty() { Vec::new() } else { replies.swap_remove(turn) })
    }
}

/// One thing a scripted model does.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    Text(String),
    Reasoning(String),
    Usage(Spent),
    Error(String),
    /// Milliseconds.
    Delay(u64),
    /// A value instead of text.
    Output(Value),
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Spent {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cost_usd: Option<f64>,
}

impl Spent {
    fn amounts(self) -> Amounts {
        Amounts {
            tokens: Some(self.input + self.output),
            cost_usd: self.cost_usd,
            steps: Some(1),
            ..nothing()
        }
    }

    fn plus(self, other: Self) -> Self {
        let cost = [self.cost_usd, other.cost_usd].into_iter().flatten();
        Self {
            input: self.input + other.input,
            output: self.output + other.output,
            cost_usd: cost.reduce(|one, two| one + two),
        }
    }
}

/// What a script says it will use.
fn expected(steps: &[Step]) -> Amounts {
    let used = steps.iter().filter_map(|step| match step {
        Step::Usage(spent) => Some(*spent),
        _ => None,
    });
    used.fold(Spent::default(), Spent::plus).amounts()
}

impl Harness for Scripted {
    fn invoke(&self, invoke: Invoke) -> Future<Result<Reply, Failure>> {
        Box::pin(async move {
            let script: Script = serde_json::from_str(invoke.settings.as_str())
                .map_err(|error| Failure::new(format!("the script of the agent cannot be read: {error}")))?;
            let mut told = Told { is_json: script.output.is_some(), ..Told::default() };
            let steps = script.steps(invoke.call.execution)?;
            invoke
                .say(Body::HarnessStart(HarnessStart {
                    agent_id: None,
                    depth: Some(0),
                    max_iterations: None,
                }))
                .await;
            let reservation = invoke.reserve(expected(&steps)).await?;
            let result = play(&invoke, steps, &mut told).await;
            reservation.settle(told.spent.amounts()).await;
            let reason = if result.is_ok() { EndReason::Done } else { EndReason::Error };
            let total_usage = Some(TotalUsage {
                input_tokens: told.spent.input,
                output_tokens: told.spent.output,
                extra: Map::new(),
            });
            let end = HarnessEnd { reason: Some(reason), iterations: Some(1), total_usage };
            invoke.say(Body::HarnessEnd(end)).await;
            result.and_then(|()| told.reply())
        })
    }
}

/// What a script has said so far.
#[derive(Debug, Default)]
struct Told {
    text: String,
    /// Whether the text is to be read as JSON.
    is_json: bool,
    output: Option<Value>,
    spent: Spent,
}

impl Told {
    fn reply(self) -> Result<Reply, Failure> {
        let telemetry = Telemetry {
            iterations: Some(1),
            tool_calls: None,
            tool_errors: None,
            iterations_exhausted: None,
            prompt_tokens: Some(self.spent.input),
            completion_tokens: Some(self.spent.output),
            total_tokens: Some(self.spent.input + self.spent.output),
            cost_usd: self.spent.cost_usd,
            extra: Map::new(),
        };
        let output = match self.output {
            Some(output) => output,
            None if self.is_json => serde_json::from_str(&self.text).map_err(|error| Failure {
                code: ErrorCode::Schema,
                message: format!("the agent was to answer in JSON: {error}"),
            })?,
            None => Value::String(self.text),
        };
        Ok(Reply { telemetry: Some(telemetry), ..Reply::new(output) })
    }
}

async fn play(invoke: &Invoke, steps: Vec<Step>, told: &mut Told) -> Result<(), Failure> {
    let id = |what: &str| format!("{}/{what}", invoke.run);
    for step in steps {
        match step {
            Step::Text(content) => {
                told.text.push_str(&content);
                invoke.say(Body::Text(Text { id: id("text").into(), content, provenance: None })).await;
            }
            Step::Reasoning(content) => {
                let reasoning =
                    Reasoning { id: id("reasoning").into(), content, signature: None, provenance: None };
                invoke.say(Body::Reasoning(reasoning)).await;
            }
            Step::Usage(spent) => {
                told.spent = told.spent.plus(spent);
                let usage = Usage {
                    input_tokens: spent.input,
                    output_tokens: spent.output,
                    cache_read_tokens: None,
                    cache_creation_tokens: None,
                    model: Some("scripted".to_owned()),
                    cost_usd: spent.cost_usd,
                };
                invoke.say(Body::Usage(Box::new(usage))).await;
            }
            Step::Error(message) => return Err(Failure { code: ErrorCode::Failed, message }),
            Step::Delay(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
            Step::Output(value) => told.output = Some(value),
        }
    }
    Ok(())
}
