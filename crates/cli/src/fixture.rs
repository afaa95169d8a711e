//! [`Fixture`]: a run as a folder, and what a flow does now when it is given the same answers from outside.
//!
//! ```text
//! fixture.json     the task, the state it began with, what came of it, and the flow file if that is known
//! flow.json        the flow as it was
//! outcomes.jsonl   what every piece of work outside the flow came to, by node, execution and attempt
//! decisions.jsonl  what people decided
//! events.jsonl     everything that happened
//! ```
//! Start reading at [`Fixture::record`], then [`replay`].

pub(crate) mod digest;
mod outcome;
pub(crate) mod replay;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, Json, Lines};
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use outcome::{Outcome, outcomes};

use crate::standing::path_of;

/// The version of the folder.
const VERSION: u32 = 1;

/// A run as a folder.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) about: About,
    pub(crate) flow: Json,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) decisions: Vec<Decision>,
    pub(crate) events: Vec<Event>,
}

/// What a run was given and what came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct About {
    antiphon: u32,
    /// The flow file, from this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) flow: Option<PathBuf>,
    /// The task.
    pub(crate) input: Value,
    /// What the state began with instead of its defaults.
    #[serde(default)]
    pub(crate) state: BTreeMap<String, Json>,
    /// The state at the end.
    pub(crate) end_state: Value,
}

/// What a person decided about a request of a node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// The node, with the nodes around it.
    pub(crate) node: String,
    /// The request, without the run.
    pub(crate) request: String,
    /// The decision.
    pub(crate) resolved: RelayResolved,
}

impl Fixture {
    /// The last run of a history; refused if it has not ended, or somebody cut it off, which no flow can repeat.
    pub(crate) fn record(events: Vec<Event>, end_state: Value, flow: Option<PathBuf>) -> Result<Self> {
        let is_root =
            |event: &Event| matches!(event.body, Body::RunStart(_)) && event.head.node_path.is_none();
        let first = events.iter().rposition(is_root).context("the session holds no run of a flow")?;
        let events: Vec<Event> = events.into_iter().skip(first).collect();
        let Body::RunStart(start) = &events[0].body else { unreachable!("it was found by its type") };
        let run = &events[0].head.run_id;
        let end = events.iter().rev().find_map(|event| match &event.body {
            Body::RunEnd(end) if event.head.run_id == *run => Some(end),
            _ => None,
        });
        let end = end.context("the run has not ended: resume it first")?;
        if end.status == Some(antiphon_event::NodeStatus::Cancelled) {
            bail!("the run was cancelled, and a replay would not be");
        }
        let definition =
            start.definition.clone().context("the flow was built in Rust and is not in the journal")?;
        let input = start.input.as_ref().map(Json::value).unwrap_or_default();
        let state = start.state.clone().unwrap_or_default();
        Ok(Self {
            about: About { antiphon: VERSION, flow, input, state, end_state },
            flow: definition,
            outcomes: outcomes(&events),
            decisions: decisions(&events),
            events,
        })
    }

    /// Writes the folder; refused if something is there.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        if folder.exists() && fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) {
            bail!("{} is there already and not empty", folder.display());
        }
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
        };
        write("fixture.json", pretty(&self.about)?)?;
        write("flow.json", pretty(&self.flow.value())?)?;
        write("outcomes.jsonl", lines(&self.outcomes)?)?;
        write("decisions.jsonl", lines(&self.decisions)?)?;
        write("events.jsonl", self.events.iter().map(|event| event.to_json() + "\n").collect())
    }

    /// Reads a folder that was written.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let open = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path)
                .with_context(|| format!("{} cannot be read: is it a fixture?", path.display()))
        };
        let about: About = serde_json::from_str(&open("fixture.json")?).context("fixture.json")?;
        if about.antiphon != VERSION {
            bail!("fixture.json is of version {}, and this program reads version {VERSION}", about.antiphon);
        }
        let flow: Value = serde_json::from_str(&open("flow.json")?).context("flow.json")?;
        Ok(Self {
            about,
            flow: Json::from(flow),
            outcomes: parse(&open("outcomes.jsonl")?).context("outcomes.jsonl")?,
            decisions: parse(&open("decisions.jsonl")?).context("decisions.jsonl")?,
            events: events(&open("events.jsonl")?).context("events.jsonl")?,
        })
    }
}

/// What people decided, in order.
fn decisions(events: &[Event]) -> Vec<Decision> {
    let of = |event: &Event| match &event.body {
        Body::RelayResolved(resolved) => Some(Decision {
            node: path_of(event),
            request: request(resolved.relay_id.as_str()).to_owned(),
            resolved: resolved.as_ref().clone(),
        }),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

/// A request's id without its run, which is another in every run.
pub(crate) fn request(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, request)| request)
}

fn pretty(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn lines(values: &[impl Serialize]) -> Result<String> {
    let lines: Result<Vec<String>, _> = values.iter().map(serde_json::to_string).collect();
    Ok(lines?.into_iter().map(|line| line + "\n").collect())
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate() {
        values.push(serde_json::from_str(line).with_context(|| format!("line {}", index + 1))?);
    }
    Ok(values)
}

fn events(text: &str) -> Result<Vec<Event>> {
    let (mut lines, mut events, mut wrong) = (Lines::new(), Vec::new(), None);
    let mut take = |item: Result<Event, antiphon_event::Error>| match item {
        Ok(event) => events.push(event),
        Err(error) => wrong = wrong.take().or(Some(error)),
    };
    lines.feed(text.as_bytes(), &mut take);
    lines.finish(&mut take);
    wrong.map_or(Ok(events), |error| Err(error.into()))
}
