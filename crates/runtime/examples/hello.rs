//! Rust code as nodes: plain, async, and talking while it works. Events are read as they come.
//!
//! `cargo run -p antiphon-runtime --example hello`

use std::error::Error;

use antiphon_event::Body;
use antiphon_flow::function::Failure;
use antiphon_flow::{Edge, Flow, Node};
use antiphon_runtime::{Engine, Function, Invocation};

/// A function that waits without blocking.
async fn greet() -> Result<String, Box<dyn Error>> {
    let hello = Function::new(|call| async move { Ok(format!("hello {}", call.input.to_text())) });
    let flow = Flow::new("hello").node("hello", Node::function(hello)).build()?;
    let engine = Engine::new(antiphon_store::open("memory:")?);
    let mut run = engine.start(flow, Invocation::new("world")).await?;
    Ok(run.wait().await?.output.to_text().into_owned())
}

/// A function that may block, because it gets a thread of its own, and that may fail.
async fn parse() -> Result<String, Box<dyn Error>> {
    let parse = Function::plain(|call| {
        let number: i64 = call.input.to_text().parse().map_err(|_| Failure::new("that is no number"))?;
        Ok(serde_json::json!({"number": number}))
    });
    let flow = Flow::new("parse")
        .node("parse", Node::function(parse))
        .node("double", Node::expression("input.number * 2")?)
        .edge(Edge::new("parse", "double"))
        .build()?;
    let engine = Engine::new(antiphon_store::open("memory:")?);
    let mut told = Vec::new();
    for task in ["21", "twenty-one"] {
        let mut run = engine.start(flow.clone(), Invocation::new(task)).await?;
        let report = run.wait().await?;
        told.push(format!("{:?} {}", report.outcome, report.output.as_str()));
    }
    Ok(told.join(", "))
}

/// A function that says what it has while it works; whoever reads the run sees it at once.
async fn stream() -> Result<String, Box<dyn Error>> {
    let count = Function::new(|call| async move {
        for word in ["one ", "two ", "three"] {
            call.say(word).await;
        }
        Ok("counted")
    });
    let flow = Flow::new("stream").node("count", Node::function(count)).build()?;
    let engine = Engine::new(antiphon_store::open("memory:")?);
    let run = engine.start(flow, Invocation::new("go")).await?;
    let mut events = run.events();
    let mut heard = String::new();
    while let Some(page) = events.next().await? {
        for event in page {
            if let Body::Text(text) = event.body {
                heard.push_str(&text.content);
            }
        }
    }
    Ok(heard)
}

pub(crate) async fn run() -> Result<String, Box<dyn Error>> {
    Ok(format!("greet: {}\nparse: {}\nstream: {}\n", greet().await?, parse().await?, stream().await?))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run().await?);
    Ok(())
}
