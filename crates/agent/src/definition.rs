//! [`Definition`]: what an agent is, as an agent file, a node of a flow or a builder says it.

use std::collections::BTreeMap;

use antiphon_event::Json;
use serde::{Deserialize, Serialize};

use crate::permission::Rule;

/// An agent. Every member but `model` has a default; a member nobody knows is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is good for: what an agent that may call it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How it makes a step.
    #[serde(default, skip_serializing_if = "Harness::is_agent")]
    pub harness: Harness,
    /// Its model.
    pub model: ModelUse,
    /// Its instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The tools it may use, by name; `server/*` for all those of an MCP server. An agent that names no tool of a
    /// server has them all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// MCP servers whose tools it may use, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp: BTreeMap<String, Server>,
    /// Folders with skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Agents it may call with the `agent` tool, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Subagent>,
    /// Agents it may hand its work to, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handoffs: Vec<String>,
    /// What it may do without asking, the first rule that fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Rule>,
    /// How many times it may call its model.
    #[serde(default = "ten")]
    pub max_iterations: u32,
    /// What happens then.
    #[serde(default)]
    pub on_limit: OnLimit,
    /// The JSON Schema of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Whether it remembers its earlier executions in a flow: `fresh` or `keep`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Memory>,
    /// When its history is put into a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<Compact>,
    /// Its bounds.
    #[serde(default)]
    pub limits: Limits,
    /// Handed to the harness as they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Json>,
}

fn ten() -> u32 {
    10
}

impl Definition {
    /// An agent with this model and nothing else.
    pub fn new(model: ModelUse) -> Self {
        Self {
            name: None,
            description: None,
            harness: Harness::Agent,
            model,
            system: None,
            tools: Vec::new(),
            mcp: BTreeMap::new(),
            skills: Vec::new(),
            agents: BTreeMap::new(),
            handoffs: Vec::new(),
            permissions: Vec::new(),
            max_iterations: ten(),
            on_limit: OnLimit::default(),
            output: None,
            context: None,
            compact: None,
            limits: Limits::default(),
            options: BTreeMap::new(),
        }
    }
}

impl From<&str> for ModelUse {
    /// A model as `provider/model`; without a provider it is `openai`.
    fn from(name: &str) -> Self {
        let (provider, model) = name.split_once('/').unwrap_or(("openai", name));
        Self { provider: provider.to_owned(), model: Some(model.to_owned()), ..Self::default() }
    }
}

/// How an agent makes a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Harness {
    /// Its model calls tools.
    #[default]
    Agent,
    /// Its model writes code, which is run.
    Rlm,
}

impl Harness {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
    fn is_agent(&self) -> bool {
        *self == Self::Agent
    }
}

/// Whether an agent remembers its earlier executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// It does not.
    Fresh,
    /// It does.
    Keep,
}

/// What happens when an agent has called its model as often as it may, and wants more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLimit {
    /// One more call, without tools, to say what it found.
    #[default]
    WrapUp,
    /// A person is asked whether it may go on.
    Ask,
}

/// A model and how it is called.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelUse {
    /// What the file calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who serves it: `openai`, `anthropic`, `scripted`, `replay` …
    pub provider: String,
    /// The model, as its vendor calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where it is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The variable of the environment with the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The file with the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<String>,
    /// How many tokens it may write in one call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How freely it chooses its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How much it may think, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_tokens: Option<u64>,
    /// How many tokens fit into its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// What a million tokens cost, instead of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceUse>,
    /// How often a call that failed is made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// How long connecting may take, as `5s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<String>,
    /// How long it may say nothing, as `60s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<String>,
    /// What a scripted model says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Json>,
    /// The folder with recorded exchanges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixtures: Option<String>,
    /// Handed to the vendor as they are.
    #[serde(default, rename = "options", skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, Json>,
}

/// What a million tokens cost in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceUse {
    /// Read.
    pub input: f64,
    /// Written.
    pub output: f64,
    /// Read from the cache; a tenth of `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Put into the cache; a quarter more than `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation: Option<f64>,
}

/// An MCP server: a program, or an address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Server {
    /// A program that is spoken to over its standard streams.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
        /// Added to its environment.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        /// Where it runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dir: Option<String>,
    },
    /// A server at an address.
    Address {
        /// The address.
        url: String,
        /// The variable of the environment with a bearer token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_env: Option<String>,
    },
}

/// An agent that another one may call. What it does not say it has from the one that calls it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Subagent {
    /// What it is good for.
    pub description: Option<String>,
    /// Its model.
    pub model: Option<ModelUse>,
    /// Its instructions.
    pub system: Option<String>,
    /// The tools it may use, of those its caller may use.
    pub tools: Option<Vec<String>>,
    /// What it may do without asking, as far as its caller may.
    pub permissions: Vec<Rule>,
    /// How many times it may call its model.
    pub max_iterations: Option<u32>,
    /// The JSON Schema of its answer.
    pub output: Option<Json>,
    /// Where it works, and what it sees of the conversation there.
    pub policy: SubagentPolicy,
    /// The branch it goes on with under `existing_branch`; one of its own name if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// Where a subagent works, which is where what it says is kept, and what it sees there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubagentPolicy {
    /// On its caller's branch; it sees its task only.
    #[default]
    SameBranch,
    /// On its caller's branch; it sees all that its caller sees, and its task.
    Fork,
    /// On a branch of its caller's session that begins with its task.
    FreshBranch,
    /// On a named branch of its caller's session; it sees what was said there before.
    ExistingBranch,
    /// In a session of its own that begins with its task.
    NewSession,
}

/// When the history of an agent is put into a summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compact {
    /// At so many tokens.
    pub at_tokens: u64,
    /// How many of the last messages stay as they are.
    #[serde(default = "four")]
    pub keep_messages: usize,
}

fn four() -> usize {
    4
}

/// The bounds of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// How many tools run at once.
    pub max_parallel_tools: usize,
    /// How many calls one step of the model may make.
    pub max_calls: usize,
    /// How many characters of a result the model sees.
    pub max_result_chars: usize,
    /// How deep agents may call agents.
    pub max_depth: u32,
    /// How many agents one agent may call.
    pub max_agents: u32,
    /// How often an answer that does not fit its schema is asked for again.
    pub max_repairs: u32,
    /// How many milliseconds a call of a tool may take.
    pub tool_timeout_ms: u64,
    /// How many milliseconds a question to a person stays open; for ever if absent.
    pub relay_timeout_ms: Option<u64>,
    /// How many tokens one run of it may use, with those of the agents it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How many US dollars, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// How many model calls, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_parallel_tools: 8,
            max_calls: 64,
            max_result_chars: 30_000,
            max_depth: 3,
            max_agents: 32,
            max_repairs: 2,
            tool_timeout_ms: 120_000,
            relay_timeout_ms: None,
            max_tokens: None,
            max_cost_usd: None,
            max_steps: None,
        }
    }
}
