//! `cargo xtask`: the repository's own commands.
//!
//! In: a subcommand. Out: what it found or wrote, and an exit code. The work is in the library beside this file.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{bench, fuzz, generate, tidy};

/// The repository's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks what the compiler cannot: arrows between crates, purity, headers, dead files, links
    Tidy,
    /// Writes the files that are made from the code
    Generate,
    /// Feeds the decoder and the reducers with what nobody would write
    Fuzz {
        /// How long to run each target
        #[arg(long, default_value = "20")]
        seconds: NonZeroU32,
        /// Only this target; all of them if left out
        target: Option<String>,
    },
    /// Measures, and writes docs/benchmarks.md
    Bench {
        /// Numbers of events, with commas between them; up to a million if left out
        #[arg(long)]
        sizes: Option<String>,
        /// The folder with ag-ui, langgraph, strands and agentos, to measure those of them that are there too
        #[arg(long)]
        peers: Option<PathBuf>,
        /// The page to write
        #[arg(long, default_value = "docs/benchmarks.md")]
        output: PathBuf,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    match Args::parse().command {
        Command::Tidy => return Ok(report(&tidy::check(root)?)),
        Command::Generate => generate::write(root)?,
        Command::Fuzz { seconds, target } => fuzz::run(root, seconds, target.as_deref())?,
        Command::Bench { sizes, peers, output } => {
            bench::run(root, &bench::Options { sizes, peers, output })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn report(findings: &[tidy::Finding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy");
            ExitCode::SUCCESS
        }
        count => {
            eprintln!("\n{count} to put right");
            ExitCode::FAILURE
        }
    }
}
