//! `fuzz`: runs the targets in `fuzz/` for a while, on the stable compiler.
//!
//! In: how long, and which target. Out: a line for each target, or the input that broke one and how to run it
//! again. What cargo-fuzz asks a nightly compiler for is asked of LLVM by name; see
//! `docs/decisions/0003-fuzzing-on-stable.md`. Start reading at [`run`].

use std::fs::{self, File};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Command;

use antiphon_event::Kind;
use anyhow::{Context, bail, ensure};

use crate::tidy;

/// Counts edges, remembers where they are, and shows the fuzzer what is compared with what.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// More memory than this is a finding, in megabytes.
const MEMORY_MAX: u32 = 1024;

/// The longest input that is tried, in bytes.
const INPUT_MAX: u32 = 4 * 1024;

/// More time than this on one input is a finding, in seconds.
const INPUT_SECONDS: u32 = 10;

/// Builds the targets and runs each, or one, for so many seconds.
pub fn run(root: &Path, seconds: NonZeroU32, only: Option<&str>) -> anyhow::Result<()> {
    let fuzz = root.join("fuzz");
    let all = targets(&fuzz)?;
    let chosen: Vec<_> = all.iter().filter(|name| only.is_none_or(|only| only == **name)).collect();
    ensure!(!chosen.is_empty(), "no target `{}`; there are: {}", only.unwrap_or(""), all.join(", "));
    let programs = build(&fuzz)?;
    let dictionary = write_dictionary(&fuzz)?;
    for target in chosen {
        let place = Place { program: programs.join(target), fuzz: &fuzz, root, target };
        place.run(seconds, &dictionary)?;
    }
    Ok(())
}

/// The targets, which are the files in `fuzz_targets/`.
fn targets(fuzz: &Path) -> anyhow::Result<Vec<String>> {
    let folder = fuzz.join("fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Builds all targets; the folder they are in.
fn build(fuzz: &Path) -> anyhow::Result<PathBuf> {
    // Naming the target keeps the flags away from build scripts, which have no fuzzer to link with.
    let host = tidy::host()?;
    let target = fuzz.join("target");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--locked", "--release", "--bins", "--target", &host]);
    cargo.arg("--target-dir").arg(&target).current_dir(fuzz).env("RUSTFLAGS", FLAGS);
    let status = cargo.status().context("starting cargo build")?;
    ensure!(status.success(), "the fuzz targets did not build (a C++ compiler is needed: c++)");
    Ok(target.join(host).join("release"))
}

/// Writes the words of the vocabulary down for the fuzzer, which would take long to guess them.
fn write_dictionary(fuzz: &Path) -> anyhow::Result<PathBuf> {
    let path = fuzz.join("target/vocabulary.dict");
    let words = Kind::ALL.iter().map(|kind| format!(r#""\"type\":\"{}\",""#, kind.tag()));
    let needs = Kind::ALL
        .iter()
        .flat_map(|kind| kind.needs())
        .map(|need| need.name())
        .map(|name| format!(r#""\"{name}\":\"x\",""#));
    let mut lines: Vec<_> = words.chain(needs).collect();
    lines.sort();
    lines.dedup();
    fs::write(&path, lines.join("\n") + "\n").context("writing the dictionary")?;
    Ok(path)
}

/// One target and where its things lie.
struct Place<'a> {
    program: PathBuf,
    fuzz: &'a Path,
    root: &'a Path,
    target: &'a str,
}

impl Place<'_> {
    fn run(&self, seconds: NonZeroU32, dictionary: &Path) -> anyhow::Result<()> {
        let corpus = self.fuzz.join("corpus").join(self.target);
        let artifacts = self.fuzz.join("artifacts").join(self.target);
        for folder in [&corpus, &artifacts] {
            fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        let log = artifacts.join("log");
        let file = File::create(&log).context("making the log")?;
        let mut fuzzer = Command::new(&self.program);
        fuzzer.arg(&corpus).args(self.seeds()).stdout(file.try_clone()?).stderr(file);
        // The same inputs are made in every run, so that what one run finds the next finds too.
        fuzzer
            .arg("-seed=1")
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-rss_limit_mb={MEMORY_MAX}"));
        fuzzer.arg(format!("-max_len={INPUT_MAX}")).arg(format!("-timeout={INPUT_SECONDS}"));
        fuzzer.arg(format!("-dict={}", dictionary.display()));
        fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display()));
        let status = fuzzer.status().with_context(|| format!("starting {}", self.program.display()))?;
        let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        if !status.success() {
            bail!("{}", self.broken(&said));
        }
        let done =
            said.lines().rfind(|line| line.starts_with("Done ")).context("the fuzzer did not finish")?;
        println!("fuzz {}: {}, nothing found", self.target, done.to_lowercase());
        Ok(())
    }

    /// Recorded histories, to begin with; flows for what reads flows.
    fn seeds(&self) -> Option<PathBuf> {
        let folder = if self.target == "flow" { "examples/flows" } else { "examples/histories" };
        let seeds = self.root.join(folder);
        seeds.is_dir().then_some(seeds)
    }

    /// What to tell about an input that broke a target.
    fn broken(&self, said: &str) -> String {
        let target = self.target;
        let from = said.lines().position(|line| line.contains("panicked at") || line.contains("ERROR:"));
        let lines: Vec<_> = said.lines().skip(from.unwrap_or(0)).take(30).collect();
        let written =
            said.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path);
        let again = match written {
            Some(path) => format!("run it again with: {} {path}", self.program.display()),
            None => "it left no input behind".to_owned(),
        };
        format!("fuzz {target} found something:\n{}\n\n{again}", lines.join("\n"))
    }
}
