//! What the agent loop costs around a model and tools that take no time: per step, per streamed piece, per turn of
//! code, per agent.
//!
//! In: where to put the file, which should be a real disk. Out: a table, or one JSON object with `--json`. Medians of
//! wall time. Start reading at [`main`].

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use antiphon::{Agent, Class, Definition, Engine, Flow, Invocation, Journal, Node, Script, Step, typed};
use antiphon::{Wardrobe, Workspace, open_store};
use antiphon_flow::Edge;
use antiphon_view::{Changes, Fold, Projected, Thread};
// For its allocator, which is the program's.
use antiphon_bench as _;
use clap::Parser;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::runtime::Runtime;

/// How often each row is measured.
const TRIES: usize = 5;
/// Steps of one run, each a model call and a call of a tool.
const STEPS: usize = 500;
/// How many steps, at the beginning and at the end of such a run, are looked at one by one.
const LOOKED_AT: usize = 20;
/// Turns of a model that writes code.
const TURNS: usize = 100;
/// Pieces of one streamed answer.
const PIECES: usize = 100_000;
/// Agents in a chain.
const AGENTS: usize = 200;

/// Measures agents.
#[derive(Parser)]
struct Args {
    /// Where the file is made; the folder for temporary files if left out
    #[arg(long)]
    folder: Option<PathBuf>,
    /// One JSON object, for machines
    #[arg(long)]
    json: bool,
    /// What cargo passes to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

/// Everything that was measured.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// One model call and one call of a tool, in memory: on average, and near the beginning and the end of the run.
    step_micros: f64,
    first_steps_micros: f64,
    last_steps_micros: f64,
    /// One turn of a model that writes code, which is run, in memory.
    turn_micros: f64,
    /// A streamed piece of text, through the machine and a durable file into graph and thread.
    pieces_per_second: f64,
    /// One agent of a chain, in memory.
    agent_micros: f64,
    /// One agent by itself that says one word, in memory.
    bare_micros: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn median(mut once: impl FnMut() -> f64) -> f64 {
    once();
    middle((0..TRIES).map(|_| once()).collect())
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn micros_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

/// Microseconds of a step: the model calls a tool, the tool gives nothing, again. On average, and of those near the
/// beginning and the end.
fn step(runtime: &Runtime) -> (f64, f64, f64) {
    let call = || [Step::call("nothing", "{}"), Step::usage(1, 1)];
    let mut script = Script::new();
    for _ in 0..STEPS {
        script = script.reply(call());
    }
    let model = Arc::new(script.reply([Step::text("done"), Step::usage(1, 1)]).model());
    let called = Arc::new(Mutex::new(Vec::with_capacity(STEPS)));
    let (mut first, mut last) = (Vec::new(), Vec::new());
    let mean = median(|| {
        let moments = Arc::clone(&called);
        let nothing = typed("nothing", "Does nothing.", Class::Pure, move |_: Nothing, _| {
            moments.lock().expect("nobody panics").push(Instant::now());
            async { Ok("nothing") }
        });
        let agent = Agent::with(model.clone()).tool(nothing).max_iterations(STEPS as u32 + 1);
        let start = Instant::now();
        let answer = runtime.block_on(agent.run("go")).expect("an answer");
        let micros = micros_since(start);
        assert_eq!(answer.text(), "done", "it went through all of its steps");
        let moments = std::mem::take(&mut *called.lock().expect("nobody panics"));
        let steps: Vec<f64> = moments.windows(2).map(|two| (two[1] - two[0]).as_secs_f64() * 1e6).collect();
        assert_eq!(steps.len(), STEPS - 1, "each step called the tool");
        first.extend(&steps[..LOOKED_AT]);
        last.extend(&steps[steps.len() - LOOKED_AT..]);
        micros / STEPS as f64
    });
    (mean, middle(first), middle(last))
}

/// Microseconds of a turn of a model that writes code: it is asked, the code is run, it is told what was printed.
fn turn(runtime: &Runtime) -> f64 {
    let says =
        |code: &str| json!([{"text": format!("```js\n{code}\n```")}, {"usage": {"input": 1, "output": 1}}]);
    let mut replies = vec![says("scope.turns = (scope.turns ?? 0) + 1; console.log(scope.turns)"); TURNS - 1];
    replies.push(says("FINAL(scope.turns + 1)"));
    let definition: Definition = serde_json::from_value(json!({
        "harness": "rlm",
        "model": {"provider": "scripted", "replies": replies},
        "max_iterations": TURNS,
    }))
    .expect("a definition");
    median(|| {
        let agent = Agent::from_definition(definition.clone());
        let start = Instant::now();
        let answer = runtime.block_on(agent.run("go")).expect("an answer");
        let micros = micros_since(start);
        assert_eq!(answer.text(), TURNS.to_string(), "it went through all of its turns");
        micros / TURNS as f64
    })
}

/// Pieces a second: the model streams, every piece is durable, and somebody reads along.
fn pieces(runtime: &Runtime, args: &Args) -> f64 {
    let text: Vec<String> = (0..PIECES).map(|piece| format!("word {piece} ")).collect();
    let model = Arc::new(Script::new().reply([Step::chunks(text), Step::usage(1, 1)]).model());
    median(|| {
        let folder = match &args.folder {
            Some(folder) => tempfile::tempdir_in(folder),
            None => tempfile::tempdir(),
        };
        let folder = folder.expect("a folder");
        let journal = open_store(&format!("sqlite:{}", folder.path().join("bench.db").display()));
        let agent = Agent::with(model.clone()).journal(journal.expect("a file"));
        let start = Instant::now();
        let seen = runtime.block_on(async {
            let run = agent.start("go").await.expect("accepted");
            let mut tail = run.events();
            let mut thread = Fold::new(Projected::<Thread>::default());
            let (mut changes, mut seen) = (Changes::default(), 0);
            while let Some(events) = tail.next().await.expect("readable") {
                seen += events.len();
                for event in &events {
                    thread.apply(event, &mut changes);
                }
            }
            assert!(seen > PIECES, "all of it was read");
            black_box(&thread);
            seen
        });
        seen as f64 / start.elapsed().as_secs_f64()
    })
}

/// Microseconds of an agent in a chain of agents that say one word each.
fn chain(runtime: &Runtime) -> f64 {
    let reply = json!([[{"text": "ok"}, {"usage": {"input": 1, "output": 1}}]]);
    let settings = json!({"model": {"provider": "scripted", "replies": reply}});
    let mut flow = Flow::new("chain");
    for nth in 0..AGENTS {
        flow = flow.node(format!("n{nth}"), Node::agent("agent", settings.clone()));
        if nth > 0 {
            flow = flow.edge(Edge::new(format!("n{}", nth - 1), format!("n{nth}")));
        }
    }
    let flow = flow.build().expect("sound");
    median(|| {
        let journal: Arc<dyn Journal> = open_store("memory:").expect("a store in memory");
        let wardrobe = Wardrobe::new(Workspace::new(".").expect("a folder"));
        let engine = Engine::new(journal).agents(wardrobe);
        let start = Instant::now();
        runtime.block_on(async {
            let mut run = engine.start(flow.clone(), Invocation::new("go")).await.expect("accepted");
            run.wait().await.expect("no fault");
        });
        micros_since(start) / AGENTS as f64
    })
}

/// Microseconds of an agent by itself that says one word.
fn bare(runtime: &Runtime) -> f64 {
    let model = Arc::new(Script::new().reply([Step::text("ok"), Step::usage(1, 1)]).model());
    median(|| {
        let start = Instant::now();
        for _ in 0..AGENTS {
            let answer = runtime.block_on(Agent::with(model.clone()).run("go")).expect("an answer");
            assert_eq!(answer.text(), "ok", "it said its word");
        }
        micros_since(start) / AGENTS as f64
    })
}

fn main() {
    let args = Args::parse();
    let runtime = Runtime::new().expect("a runtime");
    let (step_micros, first_steps_micros, last_steps_micros) = step(&runtime);
    let report = Report {
        step_micros,
        first_steps_micros,
        last_steps_micros,
        turn_micros: turn(&runtime),
        pieces_per_second: pieces(&runtime, &args),
        agent_micros: chain(&runtime),
        bare_micros: bare(&runtime),
    };
    if args.json {
        println!("{}", serde_json::to_string(&report).expect("JSON"));
        return;
    }
    println!("a model call and a call of a tool, in memory   {:>10.1} µs", report.step_micros);
    println!(
        "  the first {LOOKED_AT} of {STEPS}                             {:>10.1} µs",
        report.first_steps_micros
    );
    println!(
        "  the last {LOOKED_AT}                                    {:>10.1} µs",
        report.last_steps_micros
    );
    println!("a turn of a model that writes code, in memory  {:>10.1} µs", report.turn_micros);
    println!("streamed pieces, durable and read along        {:>10.0} /s", report.pieces_per_second);
    println!("an agent of a chain of {AGENTS}, in memory           {:>10.1} µs", report.agent_micros);
    println!("an agent by itself, in memory                  {:>10.1} µs", report.bare_micros);
}
