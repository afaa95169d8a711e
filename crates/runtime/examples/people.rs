//! People and rules: questions answered through the handle, guardrails with a check of one's own, hooks, also such that look something up.
//!
//! `cargo run -p antiphon-runtime --example people`

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use antiphon_event::body::flow::Diagnostic;
use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Json};
use antiphon_flow::guard::{Action, Check, Guard, Inspect, Verdict};
use antiphon_flow::hook::{self, Advice, Hook, Point};
use antiphon_flow::{Edge, Expression, Flow, Human, Node};
use antiphon_runtime::{AsyncHook, Engine, Invocation, Occasion, Outcome, Run};
use serde_json::Value;

async fn start(flow: Flow, task: &str) -> Result<Run, Box<dyn Error>> {
    let engine = Engine::new(antiphon_store::open("memory:")?);
    Ok(engine.start(flow, Invocation::new(task)).await?)
}

/// Answers what a run waits for.
async fn answer(run: &mut Run, approved: bool) -> Result<String, Box<dyn Error>> {
    let paused = run.wait().await?;
    assert_eq!(paused.outcome, Outcome::Paused, "somebody is asked");
    for relay_id in paused.relays {
        let (answer, input, scope, reason) = (None, None, None, None);
        let (approved, by) = (Some(approved), "ann".to_owned());
        run.answer(RelayResolved { relay_id, approved, answer, input, scope, reason, by }).await?;
    }
    let report = run.wait().await?;
    Ok(format!("{:?} {}", report.outcome, report.output.as_str()))
}

/// A person is asked; the run waits, and the decision becomes the node's output.
async fn human() -> Result<String, Box<dyn Error>> {
    let gate = Human { prompt: "Publish?".to_owned(), ..Human::default() };
    let flow = Flow::new("human")
        .node("gate", Node::human(gate))
        .node("publish", Node::expression("'published by ' + input.by")?)
        .node("drop", Node::expression("'dropped by ' + input.by")?)
        .edge(Edge::new("gate", "publish").when(Expression::parse("output.approved")?))
        .edge(Edge::new("gate", "drop").otherwise())
        .build()?;
    let yes = answer(&mut start(flow.clone(), "text").await?, true).await?;
    let no = answer(&mut start(flow, "text").await?, false).await?;
    Ok(format!("{yes}, {no}"))
}

/// A check of one's own: no shouting.
#[derive(Debug)]
struct Quiet;

impl Inspect for Quiet {
    fn inspect(&self, value: &Value) -> Verdict {
        let text = value.as_str().unwrap_or_default();
        if text.chars().any(char::is_lowercase) {
            return Verdict::Passed;
        }
        let sanitized = Some(text.to_lowercase().into());
        Verdict::Violated { message: "all in capitals".to_owned(), sanitized }
    }
}

/// Guardrails look at what goes in and what comes out; what they block waits for a person.
async fn guardrails() -> Result<String, Box<dyn Error>> {
    let quiet = Check::Custom(Arc::new(Quiet));
    let quiet = Guard { id: "quiet".to_owned(), check: quiet, action: Action::Sanitize };
    let short = Check::Length { min: None, max: Some(12) };
    let short = Guard { id: "short".to_owned(), check: short, action: Action::Block };
    let echo = Node::expression("input + '!'")?.guard_input(quiet).guard_output(short);
    let flow = Flow::new("guardrails").node("echo", echo).build()?;
    let sanitized = start(flow.clone(), "HELLO").await?.wait().await?.output.to_text().into_owned();
    let overridden = answer(&mut start(flow.clone(), "a long sentence").await?, true).await?;
    let failed = answer(&mut start(flow, "a long sentence").await?, false).await?;
    Ok(format!("{sanitized}, {overridden}, {failed}"))
}

/// A hook is consulted about everything, and may rewrite, add, cancel or ask.
struct Overseer;

impl Hook for Overseer {
    fn look(&self, point: Point<'_>) -> Result<Advice, String> {
        let mut advice = Advice::default();
        match point {
            Point::BeforeRun { task } => advice.input = Some(Json::from(task.to_text().trim())),
            Point::BeforeNode { node, .. } if *node == "danger" => {
                advice.verdict = hook::Verdict::Cancel("not on my watch".to_owned());
            }
            Point::BeforeNode { node, .. } if *node == "costly" => {
                advice.verdict = hook::Verdict::Ask("This costs money. Go on?".to_owned());
            }
            Point::AfterNode { node, output, .. } => {
                let message = format!("{node} gave {}", output.as_str());
                let (level, source) = ("info".to_owned(), "overseer".to_owned());
                advice.events.push(Body::Diagnostic(Diagnostic { level, source, message }));
            }
            _ => {}
        }
        Ok(advice)
    }
}

async fn hooks() -> Result<String, Box<dyn Error>> {
    let flow = Flow::new("hooks")
        .hook(Overseer)
        .node("costly", Node::expression("'<' + input + '>'")?)
        .node("danger", Node::expression("'boom'")?)
        .edge(Edge::new("costly", "danger"))
        .build()?;
    let mut run = start(flow, "  hello  ").await?;
    let outcome = answer(&mut run, true).await?;
    let mut events = run.events();
    let mut said = Vec::new();
    while let Some(page) = events.next().await? {
        said.extend(page.into_iter().filter_map(|event| match event.body {
            Body::Diagnostic(diagnostic) => Some(diagnostic.message),
            _ => None,
        }));
    }
    Ok(format!("{outcome}, {}", said.join(", ")))
}

/// Who may do what is known elsewhere: such a hook waits for the answer, and the run for the hook.
async fn lookup() -> Result<String, Box<dyn Error>> {
    async fn permitted(node: &str) -> bool {
        tokio::time::sleep(Duration::from_millis(1)).await;
        node != "launch"
    }
    let permits = AsyncHook::new(|occasion| async move {
        let mut advice = Advice::default();
        if let Occasion::BeforeNode { node, .. } = occasion
            && !permitted(node.as_str()).await
        {
            advice.verdict = hook::Verdict::Cancel(format!("`{node}` has no permit"));
        }
        Ok(advice)
    });
    let flow = Flow::new("lookup")
        .hook(permits.limit(Duration::from_secs(30)))
        .node("fuel", Node::expression("'fuelled'")?)
        .node("launch", Node::expression("'up'")?)
        .edge(Edge::new("fuel", "launch"))
        .build()?;
    let report = start(flow, "go").await?.wait().await?;
    Ok(format!("{:?}, fuel {}", report.outcome, report.outputs["fuel"].as_str()))
}

pub(crate) async fn run() -> Result<String, Box<dyn Error>> {
    let (human, guardrails, hooks) = (human().await?, guardrails().await?, hooks().await?);
    let lookup = lookup().await?;
    Ok(format!("human: {human}\nguardrails: {guardrails}\nhooks: {hooks}\nlookup: {lookup}\n"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", run().await?);
    Ok(())
}
