//! How many instructions an event costs: the same on a busy machine as on a quiet one.
//!
//! In: a few workloads at two sizes. Out: a table, or one JSON object with `--json`. The bench starts itself under
//! valgrind's callgrind for each of them and reads the count of [`measured`]. The frameworks for this ask for a
//! runner of exactly their version to be installed, which is more than a hundred crates to build.

use std::hint::black_box;
use std::process::Command;

use antiphon_bench::{Done, Prepared, Shape, THREAD, Work, Workload};
use anyhow::{Context, ensure};
use clap::Parser;
use serde::Serialize;

const WORKLOADS: &[Workload] = &[
    workload(Work::Decode, Shape::Deltas),
    workload(Work::Flat, Shape::Deltas),
    workload(Work::Flat, Shape::Tools),
    workload(THREAD, Shape::Deltas),
    workload(THREAD, Shape::Tools),
];

const SIZES: [usize; 2] = [1_000, 10_000];

const fn workload(work: Work, shape: Shape) -> Workload {
    Workload { work, shape, core: true }
}

/// Counts instructions.
#[derive(Parser)]
struct Args {
    /// One JSON object, for machines
    #[arg(long)]
    json: bool,
    /// Runs one workload at one size; the bench starts itself with this
    #[arg(long, hide = true, num_args = 2)]
    run: Option<Vec<usize>>,
    /// What cargo passes to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Serialize)]
struct Report {
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    points: Vec<Point>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Point {
    events: usize,
    instructions_per_event: f64,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if let Some([row, size]) = args.run.as_deref() {
        let prepared = WORKLOADS[*row].prepare(*size);
        println!("{}", measured(&prepared).steps);
        return Ok(());
    }
    let rows = (0..WORKLOADS.len()).map(row).collect::<anyhow::Result<_>>()?;
    let report = Report { rows };
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
        return Ok(());
    }
    println!("{:<24}{:>12}{:>12}", "instructions per event", SIZES[0], SIZES[1]);
    for row in report.rows {
        let counts = row.points.iter().map(|point| format!("{:>12.0}", point.instructions_per_event));
        println!("{:<24}{}", row.name, counts.collect::<String>());
    }
    Ok(())
}

/// What is counted. Its result is let go of outside.
#[inline(never)]
fn measured(prepared: &Prepared) -> Done {
    black_box(black_box(prepared).run())
}

fn row(row: usize) -> anyhow::Result<Row> {
    let points = SIZES.map(|size| point(row, size)).into_iter().collect::<anyhow::Result<_>>()?;
    Ok(Row { name: WORKLOADS[row].to_string(), points })
}

fn point(row: usize, size: usize) -> anyhow::Result<Point> {
    let program = std::env::current_exe().context("finding this bench")?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured*"]);
    valgrind.arg(program).args(["--run", &row.to_string(), &size.to_string()]);
    let output = valgrind.output().context("starting valgrind, which must be installed")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}");
    let steps: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().context("reading the steps")?;
    let counted = said.lines().find_map(|line| line.split_once("Collected : ")).context("no count")?.1;
    let instructions: f64 = counted.trim().parse().context("reading the count")?;
    ensure!(instructions > 0.0, "nothing was counted");
    Ok(Point { events: size, instructions_per_event: instructions / steps })
}
