//! What the benches say, as they say it.

use serde::Deserialize;

/// Everything that goes on the page.
pub(super) struct Figures {
    pub(super) machine: Machine,
    pub(super) growth: Growth,
    pub(super) instructions: Option<Instructions>,
    pub(super) flows: Flows,
    pub(super) journal: Journal,
    pub(super) resume: Resume,
    pub(super) agents: Agents,
    pub(super) peers: Peers,
}

/// What everything was measured on.
pub(super) struct Machine {
    pub(super) cores: usize,
    pub(super) model: String,
    pub(super) rustc: String,
}

/// What the bench `growth` says.
#[derive(Deserialize)]
pub(super) struct Growth {
    pub(super) rows: Vec<Row>,
    pub(super) tenths: Vec<Tenths>,
    pub(super) memory: Option<Memory>,
    pub(super) peers: Vec<Ours>,
}

/// One workload at each size.
#[derive(Deserialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
    pub(super) exponent: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Point {
    pub(super) events: usize,
    pub(super) ns_per_event: f64,
}

/// The last tenth of a stream against the first.
#[derive(Deserialize)]
pub(super) struct Tenths {
    pub(super) name: String,
    pub(super) events: usize,
    pub(super) ratio: f64,
}

/// What a conversation weighs.
#[derive(Deserialize)]
pub(super) struct Memory {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// Our side of a comparison.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ours {
    pub(super) scenario: String,
    pub(super) n: usize,
    pub(super) flat_events_per_second: f64,
    pub(super) thread_events_per_second: f64,
}

/// What the bench `instructions` says.
#[derive(Deserialize)]
pub(super) struct Instructions {
    pub(super) rows: Vec<Counted>,
}

#[derive(Deserialize)]
pub(super) struct Counted {
    pub(super) name: String,
    pub(super) points: Vec<Count>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Count {
    pub(super) events: usize,
    pub(super) instructions_per_event: f64,
}

/// What the bench `flows` says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Flows {
    pub(super) rows: Vec<FlowRow>,
    pub(super) weights: Vec<Weight>,
    pub(super) spawn_nanos: f64,
    pub(super) spawn_together_nanos: f64,
    pub(super) spawn_from_main_nanos: f64,
    pub(super) spawn_together_from_main_nanos: f64,
}

/// One shape of flow at each number of nodes.
#[derive(Deserialize)]
pub(super) struct FlowRow {
    pub(super) name: String,
    pub(super) points: Vec<FlowPoint>,
    pub(super) exponent: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlowPoint {
    pub(super) nodes: usize,
    pub(super) wall_nanos: f64,
    pub(super) cpu_nanos: f64,
    pub(super) best_wall_nanos: f64,
    pub(super) best_cpu_nanos: f64,
}

/// What the bench `agents` says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Agents {
    pub(super) step_micros: f64,
    pub(super) first_steps_micros: f64,
    pub(super) last_steps_micros: f64,
    pub(super) turn_micros: f64,
    pub(super) pieces_per_second: f64,
    pub(super) agent_micros: f64,
    pub(super) bare_micros: f64,
}

/// What a step adds to a file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Weight {
    pub(super) steps: usize,
    pub(super) bytes_per_step: f64,
}

/// What the bench `journal` says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Journal {
    pub(super) events: usize,
    pub(super) memory_ns_per_event: f64,
    pub(super) batched_events_per_second: f64,
    pub(super) step_micros: f64,
    pub(super) bare_micros: f64,
    pub(super) step_ratio: f64,
    pub(super) grouped_steps_per_second: f64,
    pub(super) bytes_per_step: f64,
    pub(super) stored_bytes_per_event: f64,
    pub(super) open_millis: f64,
    pub(super) tail_millis: f64,
    pub(super) middle_millis: f64,
    pub(super) read_events_per_second: f64,
}

/// What the bench `resume` says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resume {
    pub(super) events: usize,
    pub(super) resume_millis: f64,
    pub(super) look_millis: f64,
    pub(super) past_median_millis: f64,
    pub(super) past_worst_millis: f64,
    pub(super) first_resume_millis: f64,
}

/// The other sides of the comparisons, as far as they were to be had.
#[derive(Default)]
pub(super) struct Peers {
    pub(super) client: Option<Client>,
    pub(super) engines: Vec<Engine>,
    pub(super) agents: Option<Strands>,
    /// Those that were asked for and could not be measured, and why.
    pub(super) missing: Vec<String>,
}

/// The agents of Strands.
pub(super) struct Strands {
    /// What it calls itself.
    pub(super) version: String,
    pub(super) rows: Vec<StrandsRow>,
}

/// So many agents in a row: milliseconds of each, in a graph and by itself.
#[derive(Debug, PartialEq)]
pub(super) struct StrandsRow {
    pub(super) agents: usize,
    pub(super) graph_millis: f64,
    pub(super) bare_millis: f64,
}

/// `@ag-ui/client`.
#[derive(Default)]
pub(super) struct Client {
    /// What it calls itself.
    pub(super) version: String,
    pub(super) rows: Vec<ClientRow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientRow {
    pub(super) scenario: String,
    pub(super) n: usize,
    pub(super) events_per_cpu_second: f64,
}

/// One that runs graphs, too.
pub(super) struct Engine {
    pub(super) name: &'static str,
    pub(super) version: String,
    /// After so many seconds it was cut off, if it was not done by then.
    pub(super) limit: u64,
    pub(super) rows: Vec<Timing>,
}

/// What a whole run took it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Timing {
    pub(super) scenario: String,
    /// `none`, or `sqlite` where each step is kept in a file.
    pub(super) store: String,
    pub(super) nodes: usize,
    pub(super) wall_ms: f64,
    pub(super) cpu_ms: f64,
}
