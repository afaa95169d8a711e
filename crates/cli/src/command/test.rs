//! `antiphon test`: fixtures in, what the flow or the agent does differently now out.

use std::fs;
use std::path::{Path, PathBuf};

use antiphon_agent::Definition;
use antiphon_flow::Flow;
use anyhow::{Context, Result, bail};

use crate::args::flows::Test;
use crate::chat::agent;
use crate::exit::Exit;
use crate::fixture::digest::{Difference, Digest};
use crate::fixture::replay::replay;
use crate::fixture::talk::{self, Talk};
use crate::fixture::{ABOUT, Fixture, Work};
use crate::output::Output;
use crate::render::{Ink, Line, paint};
use crate::task;

/// Replays every fixture.
pub(crate) fn run(args: &Test, output: &mut Output) -> Result<Exit> {
    let (mut same, mut changed) = (0, 0);
    for folder in &found(&args.folders) {
        let (compared, differences) =
            test(folder, args, output).with_context(|| folder.display().to_string())?;
        let name = Line::new().ink(Ink::Strong, folder.display().to_string()).plain("  ");
        let page = output.page();
        let mut lines = Vec::new();
        if differences.is_empty() {
            same += 1;
            lines.push(name.ink(Ink::Good, "same").ink(Ink::Faint, format!(", {compared} things compared")));
        } else {
            changed += 1;
            lines.push(name.ink(Ink::Bad, format!("{} of {compared} things differ", differences.len())));
            lines.extend(differences.iter().flat_map(|difference| difference.lines(page.width)));
        }
        output.text(&paint(&lines, page.palette))?;
    }
    output.text(&format!("{same} same, {changed} changed\n"))?;
    Ok(if changed == 0 { Exit::Done } else { Exit::Failed })
}

/// The fixtures in folders, by name; a folder without any is taken for one that is missing.
fn found(folders: &[PathBuf]) -> Vec<PathBuf> {
    let within = |folder: &PathBuf| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut within: Vec<_> = entries.map(|entry| entry.path()).filter(|path| is_fixture(path)).collect();
        within.sort();
        if is_fixture(folder) || within.is_empty() { vec![folder.clone()] } else { within }
    };
    folders.iter().flat_map(within).collect()
}

fn is_fixture(folder: &Path) -> bool {
    folder.join(ABOUT).is_file()
}

fn test(folder: &Path, args: &Test, output: &Output) -> Result<(usize, Vec<Difference>)> {
    let fixture = Fixture::read(folder)?;
    let (was, is) = match &fixture.work {
        Work::Flow(flow, outcomes) => {
            let recorded = Flow::from_document(flow)?;
            let flow = current(&fixture, &recorded, folder, args.flow.as_deref(), output)?;
            let replayed = task::wait(replay(&fixture, outcomes, flow.clone()))?;
            let was = Digest::of(&fixture.events, &fixture.about.end_state);
            let is = Digest::of(&replayed.events, &replayed.report.state.to_object().into());
            (was.with_work(&recorded, outcomes), is.with_work(&flow, outcomes))
        }
        Work::Talk(talk) => {
            let definition = current_agent(&fixture, talk, folder, args.agent.as_deref(), output)?;
            let replayed = task::wait(talk::replay::replay(talk, &fixture.decisions, folder, &definition))?;
            let was = Digest::of_talk(&fixture.events, &talk.told);
            (was, Digest::of_talk(&replayed.events, &replayed.told))
        }
    };
    Ok(was.compare(&is))
}

/// The file to test: the one that was named, or the one it was recorded from if that is there.
fn file(folder: &Path, named: Option<&Path>, kept: Option<&PathBuf>) -> Option<PathBuf> {
    let kept = kept.map(|path| folder.join(path)).filter(|path| path.exists());
    named.map(Path::to_owned).or(kept)
}

/// The flow to test, or as it was recorded.
fn current(
    fixture: &Fixture,
    recorded: &Flow,
    folder: &Path,
    named: Option<&Path>,
    output: &Output,
) -> Result<Flow> {
    match file(folder, named, fixture.about.flow.as_ref()) {
        Some(path) => match super::run::load(&path, output) {
            Some(flow) => Ok(flow),
            None => bail!("{} is no flow", path.display()),
        },
        None => Ok(recorded.clone()),
    }
}

/// The agent to test, or as it was recorded.
fn current_agent(
    fixture: &Fixture,
    talk: &Talk,
    folder: &Path,
    named: Option<&Path>,
    output: &Output,
) -> Result<Definition> {
    match file(folder, named, fixture.about.agent.as_ref()) {
        Some(path) => match agent::read(&path, output)? {
            Some(definition) => Ok(definition),
            None => bail!("{} is no agent", path.display()),
        },
        None => talk.definition(),
    }
}
