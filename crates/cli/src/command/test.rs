//! `antiphon test`: fixtures in, what the flow does differently now out.

use std::path::Path;

use antiphon_flow::Flow;
use anyhow::{Context, Result, bail};

use crate::args::flows::Test;
use crate::exit::Exit;
use crate::fixture::Fixture;
use crate::fixture::digest::{Difference, Digest};
use crate::fixture::replay::replay;
use crate::output::Output;
use crate::render::{Ink, Line, paint};
use crate::task;

/// Replays every fixture.
pub(crate) fn run(args: &Test, output: &mut Output) -> Result<Exit> {
    let (mut same, mut changed) = (0, 0);
    for folder in &args.folders {
        let (compared, differences) =
            test(folder, args.flow.as_deref(), output).with_context(|| folder.display().to_string())?;
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

fn test(folder: &Path, flow: Option<&Path>, output: &Output) -> Result<(usize, Vec<Difference>)> {
    let fixture = Fixture::read(folder)?;
    let flow = current(&fixture, folder, flow, output)?;
    let replayed = task::wait(replay(&fixture, flow))?;
    let was = Digest::of(&fixture.events, &fixture.about.end_state);
    let is = Digest::of(&replayed.events, &replayed.report.state);
    Ok((was.len(), was.differences(&is)))
}

/// The flow to test: the one that was named, the file it was recorded from, or as it was recorded.
fn current(fixture: &Fixture, folder: &Path, named: Option<&Path>, output: &Output) -> Result<Flow> {
    let kept = fixture.about.flow.as_ref().map(|path| folder.join(path)).filter(|path| path.exists());
    match named.map(Path::to_owned).or(kept) {
        Some(path) => match super::run::load(&path, output) {
            Some(flow) => Ok(flow),
            None => bail!("{} is no flow", path.display()),
        },
        None => Flow::from_document(&fixture.flow).map_err(Into::into),
    }
}
