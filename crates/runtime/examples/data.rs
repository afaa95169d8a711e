//! What nodes share and hand on: state with reducers, maps over lists, flows in flows, programs.
//!
//! `cargo run -p antiphon-runtime --example data`

use std::error::Error;

use antiphon_event::Json;
use antiphon_flow::function::{Failure, Reply};
use antiphon_flow::schema::Schema;
use antiphon_flow::state::{Key, Reduce};
use antiphon_flow::{Class, Edge, Expression, Flow, Formula, Node};
use antiphon_runtime::{Engine, Function, Invocation, Report};
use serde_json::{Value, json};

async fn finish(flow: Flow, invocation: Invocation) -> Result<Report, Box<dyn Error>> {
    let engine = Engine::new(antiphon_store::open("memory:")?);
    let mut run = engine.start(flow, invocation).await?;
    Ok(run.wait().await?)
}

fn key(name: &str, schema: Value, default: Value, reduce: Reduce) -> Result<Key, Box<dyn Error>> {
    Ok(Key { name: name.into(), schema: Schema::compile(schema)?, default: Some(default), reduce })
}

/// Nodes contribute to keys; the key says how contributions are folded. An invocation may bring its own values.
async fn state() -> Result<String, Box<dyn Error>> {
    let add = Function::new(|call| async move {
        let size = call.input.to_text().len() as u64;
        Ok::<_, Failure>(Reply::new(json!(size)).write("sizes", size).write("total", size))
    });
    let flow = Flow::new("state")
        .state(key("sizes", json!({"type": "array"}), json!([]), Reduce::Append)?)
        .state(key("total", json!({"type": "integer"}), json!(0), Reduce::Sum)?)
        .state(key("longest", json!({"type": "integer"}), json!(0), Reduce::Max)?)
        .node("first", Node::function(add.clone()).input(Expression::parse("'one'")?))
        .node("second", Node::function(add).input(Expression::parse("'three'")?))
        .node("last", Node::expression("state.total")?.set("longest", Expression::parse("state.sizes[1]")?))
        .edge(Edge::new("first", "second"))
        .edge(Edge::new("second", "last"))
        .build()?;
    let mut invocation = Invocation::new(json!(null));
    invocation.state.insert("total".to_owned(), Json::from(json!(100)));
    let state = finish(flow, invocation).await?.state;
    Ok(Value::from(state.to_object()).to_string())
}

/// One node for each item of a list, so many at once; outputs are in the order of the items.
async fn map() -> Result<String, Box<dyn Error>> {
    let square = Node::expression("item * item")?;
    let flow = Flow::new("map")
        .node("squares", Node::map(Expression::parse("task")?, square).max_parallel(2))
        .build()?;
    Ok(finish(flow, Invocation::new(json!([1, 2, 3]))).await?.output.as_str().to_owned())
}

/// A flow as a node: it has its own run and state, its output is the node's.
async fn nested() -> Result<String, Box<dyn Error>> {
    let inner = Flow::new("initials")
        .input(Schema::compile(json!({"type": "string"}))?)
        .node("words", Node::expression("task.split(' ')")?)
        .node("letters", Node::expression("input.map(word, word.substring(0, 1)).join('')")?)
        .edge(Edge::new("words", "letters"))
        .build()?;
    let flow = Flow::new("nested")
        .node("initials", Node::flow(inner))
        .node("shout", Node::expression("input.upperAscii()")?)
        .edge(Edge::new("initials", "shout"))
        .build()?;
    Ok(finish(flow, Invocation::new("read the manual")).await?.output.to_text().into_owned())
}

/// A program as a node. With a schema its output is read as JSON, and checked.
async fn program() -> Result<String, Box<dyn Error>> {
    let count = Node::command(["wc", "-c"])
        .input(Formula::closure(|moment| format!("{}!", moment.task().as_str().unwrap_or_default())))
        .output(Schema::compile(json!({"type": "integer"}))?)
        .effect(Class::Pure);
    let flow = Flow::new("program").node("count", count).build()?;
    Ok(finish(flow, Invocation::new("four")).await?.output.as_str().to_owned())
}

pub(crate) async fn run() -> Result<String, Box<dyn Error>> {
    let (state, map) = (state().await?, map().await?);
    let (nested, program) = (nested().await?, program().await?);
    Ok(format!("state: {state}\nmap: {map}\nnested: {nested}\nprogram: {program}\n"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run().await?);
    Ok(())
}
