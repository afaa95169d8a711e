//! [`Fixture`]: a run as a folder, and what a flow or an agent does now when it is given the same answers from outside.
//!
//! ```text
//! fixture.json     what it was given, what came of it, and the file of the flow or the agent if that is known
//! flow.json        the flow as it was, or
//! agent.json       the agent as it was
//! outcomes.jsonl   what work outside came to: of a flow by node, execution and attempt; of agents what their models
//!                  answered and what their tools gave, by run
//! decisions.jsonl  what people decided
//! told.jsonl       of agents: the system prompts and tools that their models were told
//! events.jsonl     everything that happened
//! ```
//! Start reading at [`Fixture::record`], then [`replay`] and [`talk::replay`].

mod decision;
mod deputies;
pub(crate) mod digest;
mod lasting;
mod outcome;
mod patch;
pub(crate) mod replay;
mod rounds;
pub(crate) mod talk;
mod turns;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use antiphon_event::body::content::UserContent;
use antiphon_event::body::lifecycle::CancelRequested;
use antiphon_event::{Body, Event, Json, Lines, NodeStatus};
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use decision::Decision;
pub(crate) use outcome::Outcome;

use self::decision::decisions;
use self::lasting::lasting;
use self::outcome::outcomes;
use self::patch::{Patch, patches};
use self::talk::Talk;

/// The version of the folder.
const VERSION: u32 = 1;
/// What a folder is a fixture by: what it was given, and what came of it.
pub(crate) const ABOUT: &str = "fixture.json";
/// The flow or the agent as it was.
const FLOW: &str = "flow.json";
const AGENT: &str = "agent.json";

/// A run as a folder.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) about: About,
    pub(crate) work: Work,
    pub(crate) decisions: Vec<Decision>,
    pub(crate) events: Vec<Event>,
}

/// What ran.
#[derive(Debug)]
pub(crate) enum Work {
    /// A flow, and what its work outside came to.
    Flow(Json, Vec<Outcome>),
    /// An agent that somebody talked with.
    Talk(Talk),
}

impl Work {
    /// How much came from outside.
    pub(crate) fn outcomes(&self) -> usize {
        match self {
            Self::Flow(_, outcomes) => outcomes.len(),
            Self::Talk(talk) => talk.outcomes.len(),
        }
    }
}

/// What a run was given and what came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct About {
    antiphon: u32,
    /// The flow file, from this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) flow: Option<PathBuf>,
    /// The agent file, from this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<PathBuf>,
    /// What was said to the agent, turn by turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    messages: Vec<UserContent>,
    /// The task.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) input: Value,
    /// What the state began with instead of its defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) state: BTreeMap<String, Json>,
    /// How somebody changed the state from outside, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) patches: Vec<Patch>,
    /// The state at the end.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) end_state: Value,
}

impl About {
    fn new() -> Self {
        Self {
            antiphon: VERSION,
            flow: None,
            agent: None,
            messages: Vec::new(),
            input: Value::Null,
            state: BTreeMap::new(),
            patches: Vec::new(),
            end_state: Value::Null,
        }
    }
}

impl Fixture {
    /// The last run of a flow in a history; refused if it has not ended, or somebody cut it off, which no flow can repeat.
    pub(crate) fn record(events: Vec<Event>, end_state: Value, flow: Option<PathBuf>) -> Result<Self> {
        let first =
            events.iter().rposition(is_root).context("the session holds no run of a flow or of an agent")?;
        let events = everywhere(events.into_iter().skip(first).collect());
        let Body::RunStart(start) = &events[0].body else { unreachable!("it was found by its type") };
        let run = &events[0].head.run_id;
        let end = events.iter().rev().find_map(|event| match &event.body {
            Body::RunEnd(end) if event.head.run_id == *run => Some(end),
            _ => None,
        });
        let end = end.context("the run has not ended: resume it first")?;
        if end.status == Some(NodeStatus::Cancelled) {
            bail!("the run was cancelled, and a replay would not be");
        }
        let definition =
            start.definition.clone().context("the flow was built in Rust and is not in the journal")?;
        let input = start.input.as_ref().map(Json::value).unwrap_or_default();
        let state = start.state.clone().unwrap_or_default();
        let counting = lasting(&events);
        Ok(Self {
            about: About { flow, input, state, patches: patches(&counting), end_state, ..About::new() },
            work: Work::Flow(definition, outcomes(&counting)),
            decisions: decisions(&counting),
            events,
        })
    }

    /// Whether somebody did to the run what no flow does by itself: changed its state, or went on with it after its end. A
    /// replay may then not come to the same.
    pub(crate) fn needs_rehearsal(&self) -> bool {
        let mut after_end = self.root().skip_while(|event| !matches!(event.body, Body::RunEnd(_)));
        !self.about.patches.is_empty() || after_end.any(|event| matches!(event.body, Body::Resumed(_)))
    }

    /// Who stopped the run for good, and how, if somebody did.
    fn stopped(&self) -> Option<&CancelRequested> {
        let (mut stopped, mut has_ended) = (None, false);
        for event in self.root() {
            match &event.body {
                Body::CancelRequested(request) => stopped = Some(request),
                Body::RunEnd(_) => has_ended = true,
                Body::Resumed(_) if has_ended => (stopped, has_ended) = (None, false),
                _ => {}
            }
        }
        stopped
    }

    /// What happened to the run itself, which the first event begins.
    fn root(&self) -> impl Iterator<Item = &Event> {
        let run = self.events.first().and_then(|event| event.head.run_id.as_ref());
        self.events.iter().filter(move |event| event.head.run_id.as_ref() == run)
    }

    /// All turns of a conversation; refused if the last one has not ended.
    pub(crate) fn record_talk(events: Vec<Event>, agent: Option<PathBuf>) -> Result<Self> {
        let events = everywhere(events);
        let talk = Talk::record(&events)?;
        let messages = talk.messages.clone();
        let about = About { agent, messages, ..About::new() };
        Ok(Self { about, decisions: talk::decisions(&events), work: Work::Talk(talk), events })
    }

    /// Writes the folder; refused if something is there.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        if folder.exists() && fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) {
            bail!("{} is there already and not empty", folder.display());
        }
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        self.rewrite(folder)
    }

    /// Writes the folder again.
    pub(crate) fn rewrite(&self, folder: &Path) -> Result<()> {
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
        };
        write(ABOUT, pretty(&self.about)?)?;
        match &self.work {
            Work::Flow(flow, outcomes) => {
                write(FLOW, pretty(&flow.value())?)?;
                write("outcomes.jsonl", lines(outcomes)?)?;
            }
            Work::Talk(talk) => {
                write(AGENT, pretty(&talk.agent.value())?)?;
                write("outcomes.jsonl", lines(&talk.outcomes)?)?;
                write("told.jsonl", lines(&talk.told)?)?;
            }
        }
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
        let about: About = serde_json::from_str(&open(ABOUT)?).context(ABOUT)?;
        if about.antiphon != VERSION {
            bail!("{ABOUT} is of version {}, and this program reads version {VERSION}", about.antiphon);
        }
        let json = |name: &'static str| {
            Ok::<_, anyhow::Error>(Json::from(serde_json::from_str::<Value>(&open(name)?).context(name)?))
        };
        let work = if about.messages.is_empty() {
            Work::Flow(json(FLOW)?, parse(&open("outcomes.jsonl")?).context("outcomes.jsonl")?)
        } else {
            Work::Talk(Talk {
                agent: json(AGENT)?,
                messages: about.messages.clone(),
                outcomes: parse(&open("outcomes.jsonl")?).context("outcomes.jsonl")?,
                told: parse(&open("told.jsonl")?).context("told.jsonl")?,
            })
        };
        Ok(Self {
            about,
            work,
            decisions: parse(&open("decisions.jsonl")?).context("decisions.jsonl")?,
            events: events(&open("events.jsonl")?).context("events.jsonl")?,
        })
    }
}

/// The same wherever it happened: a fixture is of no folder.
fn everywhere(mut events: Vec<Event>) -> Vec<Event> {
    for event in &mut events {
        if let Some(folder) = event.body.folder_mut() {
            *folder = None;
        }
    }
    events
}

/// Whether a run of a flow begins with this event that is nobody's child.
pub(crate) fn is_root(event: &Event) -> bool {
    matches!(event.body, Body::RunStart(_)) && event.head.node_path.is_none()
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
