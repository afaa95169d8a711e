//! `antiphon check`: flow files in, every mistake out.

use antiphon_flow::check::Level;
use antiphon_flow::file::Problem;
use anyhow::Result;
use serde_json::json;

use crate::args::flows::Check;
use crate::exit::Exit;
use crate::flow_file;
use crate::output::Output;

/// Checks the files.
pub(crate) fn run(args: &Check, output: &mut Output) -> Result<Exit> {
    let mut exit = Exit::Done;
    for path in &args.flows {
        let (problems, read) = match flow_file::load(path) {
            Ok(read) => (read.warnings, Some(read.flow)),
            Err(problems) => (problems, None),
        };
        if read.is_none() {
            exit = Exit::Refused;
        }
        if args.json {
            for problem in &problems {
                output.text(&format!("{}\n", line(problem)))?;
            }
            continue;
        }
        output.text(&flow_file::told(&problems, output.page()))?;
        if let Some(flow) = read.filter(|_| problems.is_empty()) {
            let (nodes, edges) = (flow.nodes().len(), flow.edges().len());
            output.text(&format!("{}: ok, {nodes} nodes, {edges} edges\n", path.display()))?;
        }
    }
    Ok(exit)
}

fn line(problem: &Problem) -> serde_json::Value {
    let level = match problem.level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let Problem { file, place, message, help, .. } = problem;
    // What is about a file as a whole is told at its beginning.
    let mut line = json!({
        "file": file, "line": place.line.max(1), "column": place.column.max(1), "level": level, "message": message,
    });
    if let Some(help) = help {
        line["help"] = json!(help);
    }
    line
}
