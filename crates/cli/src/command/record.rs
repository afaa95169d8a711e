//! `antiphon record`: a run in, a folder out that can be replayed.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

use antiphon::Rules;
use antiphon_event::{Body, Event, Json};
use antiphon_flow::Flow;
use antiphon_port::Branch;
use antiphon_runtime::Engine;
use anyhow::{Context, Result};
use serde_json::Value;

use crate::args::flows::Record;
use crate::exit::Exit;
use crate::fixture::digest::Digest;
use crate::fixture::replay::replay as replay_flow;
use crate::fixture::talk::replay::{GRANTS, RULES, replay};
use crate::fixture::talk::{everything, is_turn};
use crate::fixture::{Fixture, Work, is_root};
use crate::hint::quoted;
use crate::output::{Output, notice};
use crate::store::Shelf;
use crate::task;

/// Records the last run of a branch, or the conversation if that was a turn of one.
pub(crate) fn run(args: &Record, output: &mut Output) -> Result<Exit> {
    let shelf = Shelf::open(&args.store)?;
    let branch = shelf.branch(&args.session, &args.branch)?;
    let events = shelf.events(&branch, None)?;
    let is_talk = events.iter().rev().find(|event| is_root(event) || is_turn(event)).is_some_and(is_turn);
    let fixture = if is_talk {
        talk(&shelf, &branch, &args.to, &events)?
    } else {
        let engine = Engine::new(shelf.journal.clone());
        let report = task::wait(async { Ok(engine.look(&branch, None, None).await?) })?;
        let flow =
            file_of(&events, "flow").filter(|_| is_as_begun(&events)).map(|path| from(&args.to, &path));
        let fixture = Fixture::record(events, report.state.to_object().into(), flow)?;
        fixture.write(&args.to)?;
        if fixture.needs_rehearsal() {
            rehearse(&fixture, &args.to)?;
        }
        fixture
    };
    let (outcomes, decisions) = (fixture.work.outcomes(), fixture.decisions.len());
    let told = format!("{}: {outcomes} outcomes, {decisions} decisions\n", args.to.display());
    output.text(&told)?;
    Ok(Exit::Done)
}

/// Replays a run that somebody changed the state of or went on with after its end: it may have gone a way that no flow goes
/// by itself, such as begun a node once more that had failed for what was changed.
fn rehearse(fixture: &Fixture, to: &Path) -> Result<()> {
    let Work::Flow(flow, outcomes) = &fixture.work else { return Ok(()) };
    let replayed = task::wait(replay_flow(fixture, outcomes, Flow::from_document(flow)?))?;
    let was = Digest::of(&fixture.events, &fixture.about.end_state);
    if was != Digest::of(&replayed.events, &replayed.report.state.to_object().into()) {
        notice(&differs(to));
    }
    Ok(())
}

fn differs(to: &Path) -> String {
    format!("a replay does not do the same: `antiphon test {}` shows how", quoted(&to.display().to_string()))
}

/// Records a conversation. It is replayed once, for what the models are told besides what was said.
fn talk(shelf: &Shelf, branch: &Branch, to: &Path, events: &[Event]) -> Result<Fixture> {
    let agent = file_of(events, "agent").map(|path| from(to, &path));
    let all = task::wait(everything(&*shelf.journal, branch))?;
    let mut fixture = Fixture::record_talk(all, agent)?;
    fixture.write(to)?;
    let folder = events.iter().rev().find_map(|event| event.body.folder());
    keep_rules(to, &fixture.events, folder.map(Path::new))?;
    let Work::Talk(talk) = &mut fixture.work else { unreachable!("it was recorded as one") };
    let definition = talk.definition()?;
    match task::wait(replay(talk, &fixture.decisions, to, &definition)) {
        Ok(replayed) => {
            talk.told = replayed.told;
            fixture.rewrite(to)?;
            let Work::Talk(talk) = &fixture.work else { unreachable!("it was recorded as one") };
            let was = Digest::of_talk(&fixture.events, &talk.told);
            if was != Digest::of_talk(&replayed.events, &talk.told) {
                notice(&differs(to));
            }
        }
        Err(why) => notice(&format!("it cannot be replayed here: {why:#}")),
    }
    Ok(fixture)
}

/// Keeps the person's own rules and what was granted before with the conversation, so that it is the same for everybody.
fn keep_rules(to: &Path, events: &[Event], folder: Option<&Path>) -> Result<()> {
    let here = env::current_dir().context("the current folder cannot be told")?;
    let rules = Rules::usual(folder.unwrap_or(&here));
    let own = |rule: &Value| {
        events.iter().any(|event| match &event.body {
            Body::GrantAdded(grant) => grant.rule == Json::from(rule.clone()),
            _ => false,
        })
    };
    for (path, name) in [(rules.user, RULES), (rules.grants, GRANTS)] {
        let Some(text) = path.and_then(|path| fs::read_to_string(path).ok()) else { continue };
        let mut kept: Value = serde_json::from_str(&text).unwrap_or_default();
        let Some(list) = kept["permissions"].as_array_mut() else { continue };
        list.retain(|rule| !own(rule));
        if !list.is_empty() {
            let path = to.join(name);
            fs::write(&path, serde_json::to_string_pretty(&kept)? + "\n")
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    Ok(())
}

/// Whether the last flow of a session is the one it was begun with, whose file is known: others may have run there since.
fn is_as_begun(events: &[Event]) -> bool {
    let mut flows = events.iter().filter_map(|event| match &event.body {
        Body::RunStart(start) if event.head.node_path.is_none() => Some(&start.graph_id),
        _ => None,
    });
    let first = flows.next();
    first == flows.next_back().or(first)
}

/// The file of the flow or the agent that the session was begun with.
fn file_of(events: &[Event], what: &str) -> Option<PathBuf> {
    let metadata = events.iter().find_map(|event| match &event.body {
        Body::SessionCreated(created) => created.metadata.as_ref(),
        _ => None,
    });
    Some(PathBuf::from(metadata?.value().get(what)?.as_str()?))
}

/// A path as it is named from a folder, so that both can be moved together.
fn from(folder: &Path, path: &Path) -> PathBuf {
    let Ok(folder) = std::path::absolute(folder) else { return path.to_owned() };
    let (here, there): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), path.components().collect());
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    let up = here[shared..].iter().map(|_| Component::ParentDir);
    up.chain(there[shared..].iter().copied()).collect()
}
