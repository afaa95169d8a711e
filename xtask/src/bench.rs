//! `bench`: measures, runs the peers beside it, and writes `docs/benchmarks.md`, all in one run on one machine.
//!
//! In: sizes, and the folder with the peers if there is one. Out: the page. What is measured is in `crates/bench`;
//! how it is written down is in [`page`]. Start reading at [`run`].

mod figures;
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde::de::DeserializeOwned;

use figures::{Figures, Growth, Instructions, Machine, Peer, Peers};

/// What to measure, and where to write it.
pub struct Options {
    /// Numbers of events; the bench's own if left out.
    pub sizes: Option<String>,
    /// The folder in which `ag-ui/bench.mjs` lies.
    pub peers: Option<PathBuf>,
    /// The page, from the root of the repository.
    pub output: PathBuf,
}

/// Measures everything and writes the page.
pub fn run(root: &Path, options: &Options) -> anyhow::Result<()> {
    let sizes = options.sizes.iter().flat_map(|sizes| ["--sizes", sizes]).collect::<Vec<_>>();
    let script = options.peers.as_deref().map(peer_script).transpose()?;
    let start = Instant::now();
    let step = |what: &str| eprintln!("{:>4} s  {what}", start.elapsed().as_secs());
    step("building the benches");
    let benches = ["--bench", "growth", "--bench", "instructions", "--no-run"];
    said(cargo(root).args(["bench", "--quiet", "--locked", "--package", "antiphon-bench"]).args(benches))?;
    step("measuring every workload");
    let growth = ours::<Growth>(root, "growth", &sizes)?;
    step("counting instructions");
    let instructions = instructions(root)?;
    step("measuring the peers");
    let peers = script.as_deref().map(peers).transpose()?;
    step("done");
    let figures = Figures { machine: machine()?, growth, instructions, peers };
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

/// The script that measures a peer. Asked for before anything is measured, as that takes minutes.
fn peer_script(folder: &Path) -> anyhow::Result<PathBuf> {
    let script = folder.join("ag-ui/bench.mjs").canonicalize();
    script.with_context(|| format!("looking for ag-ui/bench.mjs in {}", folder.display()))
}

/// Installs `@ag-ui/client` in a folder of its own and runs its scenarios.
fn peers(script: &Path) -> anyhow::Result<Peers> {
    let place = std::env::temp_dir().join(format!("antiphon-peers-{}", std::process::id()));
    fs::create_dir_all(&place).context("making a folder for the peers")?;
    let measured = measure_peers(script, &place);
    fs::remove_dir_all(&place).context("clearing up after the peers")?;
    measured
}

fn measure_peers(script: &Path, place: &Path) -> anyhow::Result<Peers> {
    said(Command::new("npm").args(["init", "-y"]).current_dir(place))?;
    said(
        Command::new("npm").args(["install", "--no-audit", "--no-fund", "@ag-ui/client"]).current_dir(place),
    )?;
    let mut peers = Peers::default();
    for scenario in [&["text", "10000", "100000"][..], &["tools", "1000"]] {
        eprintln!("measuring @ag-ui/client: {}", scenario.join(" "));
        let said = said(Command::new("node").arg(script).args(scenario).env("AGUI_DIR", place))?;
        said.lines().next().unwrap_or_default().clone_into(&mut peers.version);
        for line in said.lines().filter(|line| line.starts_with('{')) {
            peers.rows.push(serde_json::from_str::<Peer>(line).context("reading the figures of a peer")?);
        }
    }
    Ok(peers)
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

/// Runs a command that must succeed; what it said.
fn said(command: &mut Command) -> anyhow::Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("starting {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed");
    String::from_utf8(output.stdout).context("reading what it said")
}
