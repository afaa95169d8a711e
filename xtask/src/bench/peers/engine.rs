//! Those that run graphs, too: [`ENGINES`], and how what they print is read.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::super::figures::{Engine, Timing};
use super::super::process::{lines, said};
use super::Place;

/// One that runs graphs, and how it is measured.
pub(super) struct Driven {
    pub(super) name: &'static str,
    /// Where its files lie among the peers.
    folder: &'static str,
    language: Language,
    /// What is installed; the version shown is the first one's.
    packages: &'static [&'static str],
    /// Its files, those it needs from the folder above among them.
    files: &'static [&'static str],
    /// Which of them drives it.
    main: &'static str,
    /// The text of that one, if it does not lie among the peers.
    script: Option<&'static str>,
    args: &'static [&'static str],
    /// How many seconds it gets; what it has not measured by then is left out.
    limit: u64,
    read: fn(&str) -> Option<Timing>,
}

#[derive(Clone, Copy)]
enum Language {
    Python,
    Node,
}

/// All of them. What takes any of them minutes is not among the arguments.
pub(super) const ENGINES: &[Driven] = &[
    Driven {
        name: "LangGraph",
        folder: "langgraph",
        language: Language::Python,
        packages: &["langgraph", "langgraph-checkpoint-sqlite", "uvloop"],
        files: &["workloads.py", "common.py"],
        main: "bench.py",
        script: Some(include_str!("langgraph.py")),
        args: &[],
        limit: 240,
        read: |line| serde_json::from_str(line).ok(),
    },
    Driven {
        name: "Strands (TypeScript)",
        folder: "strands",
        language: Language::Node,
        packages: &["@strands-agents/sdk"],
        files: &["bench.mjs"],
        main: "bench.mjs",
        script: None,
        args: &["chain:1000", "fan:1000", "cycle:10000", "dense:16"],
        limit: 90,
        read: strands,
    },
    Driven {
        name: "Strands (Python)",
        folder: "strands",
        language: Language::Python,
        packages: &["strands-agents"],
        files: &["bench.py"],
        main: "bench.py",
        script: None,
        args: &["chain:1000", "fan:1000", "cycle:10000", "dense:16"],
        limit: 90,
        read: strands,
    },
    Driven {
        name: "pydantic-graph",
        folder: "langgraph/peers",
        language: Language::Python,
        packages: &["pydantic-graph", "uvloop"],
        files: &["run_peers.py", "../common.py"],
        main: "run_peers.py",
        script: None,
        args: &["pydantic-graph"],
        limit: 90,
        read: pydantic_graph,
    },
    Driven {
        name: "AgentOS",
        folder: "agentos",
        language: Language::Node,
        packages: &["@framers/agentos"],
        files: &["bench.mjs"],
        main: "bench.mjs",
        script: None,
        args: &[],
        limit: 150,
        read: agentos,
    },
];

impl Driven {
    /// Installs it, runs it for as long as it may, reads what it said.
    pub(super) fn measure(&self, folder: &Path) -> anyhow::Result<Engine> {
        let from = folder.join(self.folder).canonicalize().context("its folder is not there")?;
        let place = Place::new(&self.folder.replace('/', "-"))?;
        for file in self.files.iter().map(Path::new) {
            let copy = place.0.join(file.file_name().context("a file has a name")?);
            fs::copy(from.join(file), copy).with_context(|| format!("{} is not there", file.display()))?;
        }
        let mut command = self.install(&place)?;
        let version = self.version(&place)?;
        let mut rows = Vec::new();
        for line in lines(command.args(self.args).current_dir(&place.0), Duration::from_secs(self.limit))? {
            eprintln!("{line}");
            rows.extend((self.read)(&line));
        }
        ensure!(!rows.is_empty(), "it measured nothing within {} s", self.limit);
        Ok(Engine { name: self.name, version, limit: self.limit, rows })
    }

    /// Its packages and its script, in place; what runs it.
    fn install(&self, place: &Place) -> anyhow::Result<Command> {
        let mut command = match self.language {
            Language::Python => {
                place.pip(self.packages)?;
                Command::new(place.python())
            }
            Language::Node => {
                place.npm(self.packages)?;
                let mut node = Command::new("node");
                node.arg("--expose-gc");
                node
            }
        };
        if let Some(text) = self.script {
            fs::write(place.0.join(self.main), text).context("its script cannot be written")?;
        }
        command.arg(self.main);
        Ok(command)
    }

    /// The package's own word for its version, and that of what runs it.
    fn version(&self, place: &Place) -> anyhow::Result<String> {
        let package = self.packages[0];
        match self.language {
            Language::Python => {
                let code = "import sys, platform, importlib.metadata as found; \
                    print(found.version(sys.argv[1]) + \", Python \" + platform.python_version())";
                let version = said(Command::new(place.python()).args(["-c", code, package]))?;
                Ok(format!("{package} {}", version.trim()))
            }
            Language::Node => place.node_version(package),
        }
    }
}

/// A line of JSON for each scenario.
fn strands(line: &str) -> Option<Timing> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Said {
        scenario: String,
        node_runs: usize,
        run_ms: f64,
        cpu_ms: f64,
    }
    let Said { scenario, node_runs, run_ms, cpu_ms } = serde_json::from_str(line).ok()?;
    Some(Timing { scenario, store: "none".to_owned(), nodes: node_runs, wall_ms: run_ms, cpu_ms })
}

/// A line for people: the name, then words and numbers by turns.
fn agentos(line: &str) -> Option<Timing> {
    let (name, rest) = line.split_at_checked(52)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let nodes = words.first()?.parse().ok()?;
    let scenario = format!("{} {nodes}", name.trim());
    let (wall_ms, cpu_ms) = (after(&words, "med")?, after(&words, "cpu")?);
    Some(Timing { scenario, store: "none".to_owned(), nodes, wall_ms, cpu_ms })
}

/// A line for people: the engine, the workload with its number of nodes, then words and numbers by turns.
fn pydantic_graph(line: &str) -> Option<Timing> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, scenario, ..] = words[..] else {
        return None;
    };
    let nodes = scenario.rsplit_once('_')?.1.parse().ok()?;
    let (wall_ms, cpu_ms) = (after(&words, "median")?, after(&words, "cpu")?);
    Some(Timing { scenario: scenario.to_owned(), store: "none".to_owned(), nodes, wall_ms, cpu_ms })
}

/// The number after a word.
fn after(words: &[&str], word: &str) -> Option<f64> {
    let at = words.iter().position(|found| *found == word)?;
    words.get(at + 1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_and_other_lines_passed_over() {
        let table = [
            (
                agentos as fn(&str) -> Option<Timing>,
                "fan-out/fan-in, parallel batch                          1000 node   med      61.52 ms      61.52 us/node      16255 node/s  cpu     54.01 ms",
                Some(("fan-out/fan-in, parallel batch 1000", 1000, 61.52, 54.01)),
            ),
            (
                pydantic_graph,
                "pydantic-graph   chain_1000             median     58.49 min     57.02 cpu     57.91 ms  per node 58.4 us (cpu 57.9) n=40 load 0.5 ",
                Some(("chain_1000", 1000, 58.49, 57.91)),
            ),
            (pydantic_graph, "pydantic-graph chain_1000 FAILED TypeError()", None),
            (agentos, "    serialised checkpoint bytes: 0.38 MB total, 3.8 KB mean", None),
            (
                strands,
                r#"{"sdk":"ts","scenario":"fan:1000","nodeRuns":1002,"runMs":20.5,"cpuMs":21}"#,
                Some(("fan:1000", 1002, 20.5, 21.0)),
            ),
            (strands, "!! fan:1000: expected 1002 node runs, saw 3", None),
        ];
        for (read, line, wanted) in table {
            let found = read(line);
            let found =
                found.as_ref().map(|found| (&*found.scenario, found.nodes, found.wall_ms, found.cpu_ms));
            assert_eq!(found, wanted, "{line}");
        }
    }
}
