//! The agents of Strands over a model that answers at once: in a graph, and by themselves.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::super::figures::{Strands, StrandsRow};
use super::super::process::lines;
use super::Place;

pub(super) const NAME: &str = "Strands (agents)";
const PACKAGE: &str = "@strands-agents/sdk";
const SCRIPT: &str = "agent_bench.mjs";
/// How long it may take.
const LIMIT: Duration = Duration::from_secs(90);

/// Installs it, runs its agents, reads what it said.
pub(super) fn measure(folder: &Path) -> anyhow::Result<Strands> {
    let from = folder.join("strands").canonicalize().context("its folder is not there")?;
    let place = Place::new("strands-agents")?;
    // Packages are looked for beside the script.
    fs::copy(from.join(SCRIPT), place.0.join(SCRIPT)).with_context(|| format!("{SCRIPT} is not there"))?;
    place.npm(&[PACKAGE])?;
    let version = place.node_version(PACKAGE)?;
    let mut rows: Vec<StrandsRow> = Vec::new();
    for line in lines(Command::new("node").arg(SCRIPT).current_dir(&place.0), LIMIT)? {
        eprintln!("{line}");
        if let Some(row) = read(&line) {
            // What is measured twice is warm the second time.
            rows.retain(|known| known.agents != row.agents);
            rows.push(row);
        }
    }
    ensure!(!rows.is_empty(), "it measured nothing within {} s", LIMIT.as_secs());
    Ok(Strands { version, rows })
}

/// A line for people: `chain of 20 agents: graph 0.55 ms/node, bare agents 0.40 ms/call, 9.0 events/node`.
fn read(line: &str) -> Option<StrandsRow> {
    let (agents, rest) = line.strip_prefix("chain of ")?.split_once(" agents: graph ")?;
    let (graph, rest) = rest.split_once(" ms/node, bare agents ")?;
    let (bare, _) = rest.split_once(" ms/call")?;
    Some(StrandsRow {
        agents: agents.parse().ok()?,
        graph_millis: graph.parse().ok()?,
        bare_millis: bare.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_and_other_lines_passed_over() {
        let line = "chain of 20 agents: graph 0.55 ms/node, bare agents 0.40 ms/call, 9.0 events/node";
        assert_eq!(read(line), Some(StrandsRow { agents: 20, graph_millis: 0.55, bare_millis: 0.4 }));
        assert_eq!(read("same graph twice at once: THROWS busy"), None);
    }
}
