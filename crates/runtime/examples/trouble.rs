//! When things go wrong: retries, timeouts, stand-ins, limits, cancelling, going on from the journal.
//!
//! `cargo run -p antiphon-runtime --example trouble`

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use antiphon_event::{Body, Mode};
use antiphon_flow::function::Failure;
use antiphon_flow::retry::{Backoff, Retry};
use antiphon_flow::{Edge, Flow, Human, Limits, Node};
use antiphon_port::Journal;
use antiphon_runtime::{Engine, Function, Invocation, Refused, Report};
use serde_json::json;

async fn finish(flow: Flow) -> Result<Report, Box<dyn Error>> {
    let engine = Engine::new(antiphon_store::open("memory:")?);
    let mut run = engine.start(flow, Invocation::new(json!(null))).await?;
    Ok(run.wait().await?)
}

fn never() -> Node {
    Node::function(Function::new(|_| std::future::pending::<Result<(), Failure>>()))
}

/// What failed is tried again with growing delays.
async fn retry() -> Result<String, Box<dyn Error>> {
    let flaky = Function::new(|call| async move {
        if call.attempt < 3 {
            return Err(Failure::new("not yet"));
        }
        Ok(format!("came right at attempt {}", call.attempt))
    });
    let delay = Duration::from_millis(1);
    let retry = Retry { backoff: Backoff::Exponential, delay, jitter: 0.5, ..Retry::new(5) };
    let flow = Flow::new("retry").node("flaky", Node::function(flaky).retry(retry)).build()?;
    Ok(finish(flow).await?.output.to_text().into_owned())
}

/// What takes too long is cut off; another node takes over, or the failure is part of the result.
async fn timeout() -> Result<String, Box<dyn Error>> {
    let short = Duration::from_millis(5);
    let flow = Flow::new("timeout")
        .node("slow", never().timeout(short).fallback("spare"))
        .node("spare", Node::expression("'the spare'")?)
        .node("hopeless", never().timeout(short).isolate())
        .node("both", Node::expression("input.slow + ', ' + input.hopeless.error.message")?)
        .edge(Edge::new("slow", "both"))
        .edge(Edge::new("hopeless", "both"))
        .build()?;
    Ok(finish(flow).await?.output.to_text().into_owned())
}

/// A bound that is reached ends the run; what there is by then is kept.
async fn limits() -> Result<String, Box<dyn Error>> {
    let flow = Flow::new("limits")
        .entry("round")
        .node("round", Node::expression("executions.round")?)
        .edge(Edge::new("round", "round"))
        .limits(Limits { max_node_executions: Some(4), ..Limits::default() })
        .build()?;
    let report = finish(flow).await?;
    let reason = report.reason.map(|reason| reason.to_string()).unwrap_or_default();
    Ok(format!("{:?} {reason} {}", report.outcome, report.outputs["round"].as_str()))
}

/// A run can be stopped at any time, and reports what was done.
async fn cancel() -> Result<String, Box<dyn Error>> {
    let flow = Flow::new("cancel")
        .node("quick", Node::expression("'done'")?)
        .node("endless", never())
        .edge(Edge::new("quick", "endless"))
        .build()?;
    let engine = Engine::new(antiphon_store::open("memory:")?);
    let mut run = engine.start(flow, Invocation::new(json!(null))).await?;
    run.cancel("ann", Mode::Now).await?;
    let report = run.wait().await?;
    Ok(format!("{:?}, quick {}", report.outcome, report.outputs["quick"].as_str()))
}

/// The journal is all that is needed to go on: another engine, another process, another day.
async fn resume() -> Result<String, Box<dyn Error>> {
    let built = || {
        let gate = Human { prompt: "Go on?".to_owned(), ..Human::default() };
        Flow::new("resume")
            .node("before", Node::function(Function::new(|_| async { Ok("once") })))
            .node("gate", Node::human(gate))
            .edge(Edge::new("before", "gate"))
            .build()
    };
    let journal: Arc<dyn Journal> = antiphon_store::open("memory:")?;
    let mut run = Engine::new(Arc::clone(&journal)).start(built()?, Invocation::new(json!(null))).await?;
    run.wait().await?;
    let branch = run.branch().clone();
    drop(run);
    let engine = Engine::new(Arc::clone(&journal));
    let mut run = loop {
        // The first engine lets go of the session when it has noticed that nobody is there.
        match engine.resume(branch.clone(), Some(built()?)).await {
            Err(Refused::Journal(_)) => tokio::task::yield_now().await,
            resumed => break resumed?,
        }
    };
    let paused = run.wait().await?;
    run.cancel("ann", Mode::Now).await?;
    let ended = run.wait().await?;
    let events = journal.read(&branch, 0, 1000).await?;
    let starts = events.iter().filter(|event| matches!(event.body, Body::NodeStart(_))).count();
    Ok(format!("{:?}, then {:?} after {starts} starts", paused.outcome, ended.outcome))
}

pub(crate) async fn run() -> Result<String, Box<dyn Error>> {
    let (retry, timeout, limits) = (retry().await?, timeout().await?, limits().await?);
    let (cancel, resume) = (cancel().await?, resume().await?);
    Ok(format!("retry: {retry}\ntimeout: {timeout}\nlimits: {limits}\ncancel: {cancel}\nresume: {resume}\n"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run().await?);
    Ok(())
}
