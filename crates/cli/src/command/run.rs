//! `antiphon run`: a flow file and a task in, the run's progress and result out.

use std::collections::BTreeMap;
use std::path::Path;

use antiphon_event::{Json, SessionId};
use antiphon_flow::Flow;
use antiphon_flow::schema::Schema;
use antiphon_runtime::{Invocation, Refused};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::args::flows::Run;
use crate::engine::engine;
use crate::exit::Exit;
use crate::flow_file;
use crate::live::ask::Decisions;
use crate::live::{Ears, Live};
use crate::output::{Output, notice, say};
use crate::store::Shelf;
use crate::{task, value};

/// Runs the flow.
pub(crate) fn run(args: &Run, output: &mut Output) -> Result<Exit> {
    let Some(flow) = load(&args.flow, output) else { return Ok(Exit::Refused) };
    let state = args.state.as_deref().map(state).transpose()?.unwrap_or_default();
    let task = input(args.input.as_deref(), &flow)?;
    let shelf = Shelf::open(&args.store)?;
    let place = args.session.as_deref().map(|text| shelf.branch(text, &args.branch)).transpose()?;
    let (session, branch) = place.map(|place| (place.session, place.branch)).unzip();
    let path = std::path::absolute(&args.flow).ok().map(|path| json!({"flow": path.display().to_string()}));
    let title = Some(flow.name().to_owned());
    let metadata = path.map(Json::from);
    let invocation = Invocation { state, session, branch, title, metadata, ..Invocation::new(task) };
    let live = Live::new(args.json, Decisions::default(), shelf.hint().to_owned(), output);
    task::wait(start(shelf, flow, invocation, live))
}

/// Runs a flow and follows it to its end.
pub(crate) async fn start(shelf: Shelf, flow: Flow, invocation: Invocation, live: Live<'_>) -> Result<Exit> {
    let engine = engine(shelf.journal)?.inbox();
    let ears = Ears::open()?;
    let run = engine.start(flow, invocation).await.map_err(plain)?;
    tell(run.session());
    let after = run.events().position();
    live.follow(run, after, ears).await
}

/// Says which session a run is in.
fn tell(session: &SessionId) {
    notice(&format!("session {session}"));
}

/// Reads a flow file and says what is wrong or doubtful about it; nothing if it is no flow.
pub(crate) fn load(path: &Path, output: &Output) -> Option<Flow> {
    let (flow, problems) = match flow_file::load(path) {
        Ok(read) => (Some(read.flow), read.warnings),
        Err(problems) => (None, problems),
    };
    say(&flow_file::told(&problems, output.error_page()));
    flow
}

/// The task as the flow wants it.
fn input(given: Option<&str>, flow: &Flow) -> Result<Json> {
    let schema = flow.settings().input.as_ref();
    let Some(given) = given else {
        let is_text = |schema: &Schema| schema.source().get("type").is_some_and(|kind| kind == "string");
        let wants_text = schema.is_none_or(is_text);
        return Ok(Json::from(if wants_text { Value::from("") } else { Value::Null }));
    };
    value::fitting("--input", given, schema)
}

/// The state a run begins with: an object of values by key.
fn state(given: &str) -> Result<BTreeMap<String, Json>> {
    let text = value::text(given)?;
    match serde_json::from_str(&text).context("--state is no JSON")? {
        Value::Object(members) => {
            Ok(members.into_iter().map(|(key, value)| (key, Json::from(value))).collect())
        }
        _ => bail!("--state is no JSON object"),
    }
}

/// Why a run was not begun, in the words of this command.
pub(crate) fn plain(refused: Refused) -> anyhow::Error {
    match &refused {
        Refused::Flow(antiphon_flow::Refusal::UnderWay(_)) => {
            anyhow::anyhow!("{refused} in that session: resume or cancel it first")
        }
        _ => refused.into(),
    }
}
