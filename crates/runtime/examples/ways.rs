//! Which way a run goes: conditions as closures and as expressions, defaults, routers, loops, joins.
//!
//! `cargo run -p antiphon-runtime --example ways`

use std::error::Error;

use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce};
use antiphon_flow::{Edge, Expression, Flow, Formula, Join, Limits, Node};
use antiphon_runtime::{Engine, Invocation};
use serde_json::{Value, json};

async fn finish(flow: &Flow, task: Value) -> Result<String, Box<dyn Error>> {
    let engine = Engine::new(antiphon_store::open("memory:")?);
    let mut run = engine.start(flow.clone(), Invocation::new(task)).await?;
    Ok(run.wait().await?.output.to_text().into_owned())
}

/// A condition is a closure over what is known when its source completes, or an expression that says the same.
async fn conditions() -> Result<String, Box<dyn Error>> {
    let is_large = Formula::closure(|moment| moment.output().as_i64() > Some(100));
    let is_even = Expression::parse("output % 2 == 0")?;
    let flow = Flow::new("conditions")
        .node("number", Node::expression("task")?)
        .node("large", Node::expression("'large'")?)
        .node("even", Node::expression("'even'")?)
        .node("other", Node::expression("'neither'")?)
        .edge(Edge::new("number", "large").when(is_large))
        .edge(Edge::new("number", "even").when(is_even))
        .edge(Edge::new("number", "other").otherwise())
        .build()?;
    let mut told = Vec::new();
    for number in [7, 8, 101, 102] {
        told.push(finish(&flow, json!(number)).await?);
    }
    Ok(told.join(", "))
}

/// A router gives the id of the node to go to.
async fn router() -> Result<String, Box<dyn Error>> {
    let to = Formula::closure(|moment| if moment.task() == "left" { "west" } else { "east" });
    let flow = Flow::new("router")
        .node("crossing", Node::router(to))
        .node("west", Node::expression("'the sea'")?)
        .node("east", Node::expression("'the hills'")?)
        .edge(Edge::new("crossing", "west"))
        .edge(Edge::new("crossing", "east"))
        .build()?;
    Ok([finish(&flow, json!("left")).await?, finish(&flow, json!("right")).await?].join(", "))
}

/// An edge that leads back makes a loop, which needs a bound.
async fn looping() -> Result<String, Box<dyn Error>> {
    let schema = Schema::compile(json!({"type": "integer"}))?;
    let rounds = Key { name: "rounds".into(), schema, default: Some(json!(0)), reduce: Reduce::Sum };
    let flow = Flow::new("loop")
        .state(rounds)
        .entry("work")
        .node("work", Node::expression("state.rounds + 1")?.set("rounds", Formula::closure(|_| 1)))
        .node("done", Node::expression("'after ' + string(state.rounds) + ' rounds'")?)
        .edge(Edge::new("work", "work").when(Expression::parse("state.rounds < 3")?))
        .edge(Edge::new("work", "done").when(Expression::parse("state.rounds >= 3")?))
        .limits(Limits { max_node_executions: Some(10), ..Limits::default() })
        .build()?;
    finish(&flow, json!(null)).await
}

/// A node waits for all its sources, for the first, or for so many.
async fn joins() -> Result<String, Box<dyn Error>> {
    let mut told = Vec::new();
    for join in [Join::All, Join::Any, Join::Count(2)] {
        let mut flow = Flow::new("joins")
            .node("join", Node::expression("input")?.join(join))
            .output(Expression::parse("status.join")?);
        for source in ["a", "b", "c"] {
            flow = flow.node(source, Node::expression("1")?);
            // The last one leads on only if the task says so.
            let edge = Edge::new(source, "join");
            let edge = if source == "c" { edge.when(Expression::parse("task")?) } else { edge };
            flow = flow.edge(edge);
        }
        let flow = flow.build()?;
        let stands = [finish(&flow, json!(true)).await?, finish(&flow, json!(false)).await?];
        told.push(format!("{join:?} {}", stands.join("/")));
    }
    Ok(told.join(", "))
}

pub(crate) async fn run() -> Result<String, Box<dyn Error>> {
    let (conditions, router) = (conditions().await?, router().await?);
    let (looping, joins) = (looping().await?, joins().await?);
    Ok(format!("conditions: {conditions}\nrouter: {router}\nloop: {looping}\njoins: {joins}\n"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run().await?);
    Ok(())
}
