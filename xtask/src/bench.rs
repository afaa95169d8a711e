//! `bench`: measures, runs the peers beside it, and writes `docs/benchmarks.md`, all in one run on one machine.
//!
//! In: sizes, and the folder with the peers if there is one. Out: the page. What is measured is in `crates/bench`;
//! the others are in [`peers`]; how it is written down is in [`page`]. Start reading at [`run`].

mod figures;
mod page;
mod peers;
mod process;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde::de::DeserializeOwned;

use figures::{Figures, Growth, Instructions, Machine, Peers};
use process::said;

/// Whose figures are on the page; one more bench, `speed`, is for people at work on the code.
const BENCHES: &[&str] = &["growth", "flows", "agents", "journal", "resume", "instructions"];

/// What to measure, and where to write it.
pub struct Options {
    /// Numbers of events; the bench's own if left out.
    pub sizes: Option<String>,
    /// The folder in which the peers lie, each in a folder of its own.
    pub peers: Option<PathBuf>,
    /// The page, from the root of the repository.
    pub output: PathBuf,
}

/// Measures everything and writes the page.
pub fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    if let Some(folder) = &options.peers {
        // Looked for before anything is measured, as that takes minutes.
        ensure!(folder.is_dir(), "there is no folder {} with peers", folder.display());
    }
    let sizes = options.sizes.iter().flat_map(|sizes| ["--sizes", sizes]).collect::<Vec<_>>();
    let longest = options.sizes.as_deref().and_then(|sizes| sizes.rsplit(',').next());
    let events = longest.iter().flat_map(|events| ["--events", events]).collect::<Vec<_>>();
    let start = Instant::now();
    let step = |what: &str| eprintln!("{:>4} s  {what}", start.elapsed().as_secs());
    step("building the benches");
    let named = BENCHES.iter().flat_map(|bench| ["--bench", bench]);
    let build = ["bench", "--quiet", "--locked", "--package", "antiphon-bench", "--no-run"];
    said(cargo(root).args(build).args(named))?;
    step("measuring every workload");
    let growth = ours::<Growth>(root, "growth", &sizes)?;
    step("measuring flows");
    let flows = ours(root, "flows", &[])?;
    step("measuring agents");
    let agents = ours(root, "agents", &[])?;
    step("measuring the journal");
    let journal = ours(root, "journal", &events)?;
    step("measuring how runs are taken up");
    let resume = ours(root, "resume", &events)?;
    step("counting instructions");
    let instructions = instructions(root)?;
    let peers = options.peers.as_deref().map_or_else(Peers::default, |folder| peers::measure(folder, &step));
    step("done");
    let figures =
        Figures { machine: machine()?, growth, instructions, flows, journal, resume, agents, peers };
    let path = root.join(&options.output);
    fs::write(&path, page::write(&figures)).with_context(|| format!("writing {}", path.display()))?;
    println!("{} written", options.output.display());
    Ok(())
}

/// Runs one of our benches and reads its figures.
fn ours<T: DeserializeOwned>(root: &Path, bench: &str, args: &[&str]) -> anyhow::Result<T> {
    let mut cargo = cargo(root);
    cargo.args(["bench", "--quiet", "--locked", "--package", "antiphon-bench", "--bench", bench, "--"]);
    let said = said(cargo.arg("--json").args(args))?;
    serde_json::from_str(&said).with_context(|| format!("reading the figures of {bench}"))
}

fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo
}

/// Instructions can be counted only where there is valgrind.
fn instructions(root: &Path) -> anyhow::Result<Option<Instructions>> {
    let there = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return ours(root, "instructions", &[]).map(Some);
    }
    eprintln!("no valgrind: instructions are not counted");
    Ok(None)
}

/// What kind of machine this is, and nothing that says which.
fn machine() -> anyhow::Result<Machine> {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name"));
    Ok(Machine {
        cores: std::thread::available_parallelism()?.get(),
        model: model.map_or("unknown", |model| model.trim_start_matches([' ', '\t', ':'])).to_owned(),
        rustc: said(Command::new("rustc").arg("--version"))?.trim().to_owned(),
    })
}
