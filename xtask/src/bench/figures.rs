//! What the benches say, as they say it.

use serde::Deserialize;

/// Everything that goes on the page.
pub(super) struct Figures {
    pub(super) machine: Machine,
    pub(super) growth: Growth,
    pub(super) instructions: Option<Instructions>,
    pub(super) peers: Option<Peers>,
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

/// The other side of a comparison.
#[derive(Default)]
pub(super) struct Peers {
    /// What it calls itself.
    pub(super) version: String,
    pub(super) rows: Vec<Peer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Peer {
    pub(super) scenario: String,
    pub(super) n: usize,
    pub(super) events_per_cpu_second: f64,
}
