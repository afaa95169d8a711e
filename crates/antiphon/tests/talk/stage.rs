//! Where agents are talked with: an engine with real tools in a folder of its own, and people who answer what is asked.
//!
//! Out: what happened, one line per event. Start reading at [`Stage::talk`].

use std::path::Path;
use std::sync::Arc;

use antiphon::{
    Body, Definition, Engine, Event, Flow, Invocation, Outcome, Report, Rules, Run, Wardrobe, Workspace,
};
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Json, Scope, SessionId};
use antiphon_port::Tool;
use serde_json::Value;

use crate::echo::Echo;

/// A folder, and an engine whose agents work in it.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    pub(crate) engine: Engine,
    session: Option<SessionId>,
}

/// What a person says to a request; those who are asked more than they have answers for are not asked at all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Says {
    Yes,
    Always,
    ForTheProject,
    No,
    Text(&'static str),
}

impl Says {
    pub(crate) fn answer(self, relay: &Relay) -> RelayResolved {
        let (approved, answer, scope) = match self {
            Self::Yes => (Some(true), None, None),
            Self::Always => (Some(true), None, Some(Scope::Session)),
            Self::ForTheProject => (Some(true), None, Some(Scope::Project)),
            Self::No => (Some(false), None, None),
            Self::Text(text) => (None, Some(Json::from(text)), None),
        };
        let reason = (approved == Some(false)).then(|| "not now".to_owned());
        let relay_id = relay.id.clone();
        RelayResolved { relay_id, approved, answer, input: None, scope, reason, by: "ann".to_owned() }
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(Vec::new())
    }

    /// One with tools of its own.
    pub(crate) fn with(tools: Vec<Arc<dyn Tool>>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = engine(folder.path(), tools);
        Self { folder, engine, session: None }
    }

    /// The same folder with another engine, as another process would have it; nothing that was said is known.
    pub(crate) fn again(self) -> Self {
        let engine = engine(self.folder.path(), Vec::new());
        Self { engine, session: None, ..self }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Says something to an agent in the one session there is; the run, before anybody waited for it.
    pub(crate) async fn say(&mut self, agent: &Value, task: &str) -> Run {
        let definition: Definition = serde_json::from_value(agent.clone()).expect("an agent");
        let invocation = Invocation { session: self.session.clone(), ..Invocation::new(task) };
        let run = self.engine.talk(definition, invocation).await.expect("accepted");
        self.session = Some(run.session().clone());
        run
    }

    /// Says something to an agent, and answers what it asks: what happened.
    pub(crate) async fn talk(&mut self, agent: &Value, task: &str, people: &[Says]) -> String {
        let mut run = self.say(agent, task).await;
        answer(&mut run, people).await;
        self.told(&events(&run).await)
    }

    /// Runs a flow, and answers what it asks.
    pub(crate) async fn play(&self, flow: &str, people: &[Says]) -> (Report, Vec<Event>) {
        let mut run = self.start(flow).await;
        let report = answer(&mut run, people).await;
        (report, events(&run).await)
    }

    pub(crate) async fn start(&self, flow: &str) -> Run {
        let flow = read(flow).unwrap_or_else(|problems| panic!("{problems}"));
        self.engine.start(flow, Invocation::new("go")).await.expect("accepted")
    }

    /// Events in words, one per line, without what is another each time.
    pub(crate) fn told(&self, events: &[Event]) -> String {
        let folder = self.folder.path().to_string_lossy().into_owned();
        let mut lines = String::new();
        for event in events {
            let who = event.head.agent.as_ref().map(|agent| agent.chain.join("/")).unwrap_or_default();
            let line = format!("{who:8} {} {}", event.body.tag(), gist(&event.body));
            let run = event.head.run_id.as_ref().map(|run| format!("{run}/")).unwrap_or_default();
            let line = line.replace(&folder, "FOLDER").replace(&run, "");
            lines += line.trim_end();
            lines.push('\n');
        }
        lines
    }
}

pub(crate) fn read(flow: &str) -> Result<Flow, String> {
    let none = |_: &str| Err("there is no other".to_owned());
    antiphon_flow::file::read("flow.yaml", flow, &none)
        .map(|read| read.flow)
        .map_err(|problems| problems.to_string())
}

fn engine(folder: &Path, tools: Vec<Arc<dyn Tool>>) -> Engine {
    let rules = Rules { grants: Some(folder.join(".antiphon/grants.json")), ..Rules::default() };
    let workspace = Workspace::new(folder).expect("a folder");
    let wardrobe = tools
        .into_iter()
        .fold(Wardrobe::new(workspace).rules(rules).model("echo", Arc::new(Echo)), Wardrobe::tool);
    Engine::new(antiphon::open_store("memory:").expect("a store in memory")).agents(wardrobe)
}

/// Answers in turn what is asked, until the run has ended or nobody has anything left to say.
pub(crate) async fn answer(run: &mut Run, people: &[Says]) -> Report {
    let mut people = people.iter();
    loop {
        let report = run.wait().await.expect("no fault");
        if report.outcome != Outcome::Paused {
            let left = people.count();
            assert_eq!(left, 0, "{left} answers that nobody asked for");
            return report;
        }
        let asked = events(run).await;
        for id in &report.relays {
            let Some(says) = people.next() else { return report };
            let relay = asked.iter().find_map(|event| match &event.body {
                Body::Relay(relay) if relay.id == *id => Some(relay),
                _ => None,
            });
            run.answer(says.answer(relay.expect("what waits was asked"))).await.expect("it waits");
        }
    }
}

pub(crate) async fn events(run: &Run) -> Vec<Event> {
    let (mut tail, mut events) = (run.events(), Vec::new());
    while let Some(page) = tail.next().await.expect("readable") {
        events.extend(page);
    }
    events
}

fn gist(body: &Body) -> String {
    match body {
        Body::User(user) => serde_json::to_string(&user.content).expect("JSON"),
        Body::Text(text) => text.content.clone(),
        Body::Reasoning(reasoning) => reasoning.content.clone(),
        Body::ToolCall(call) => format!("{} {}", call.id, call.input.as_str()),
        Body::ToolProgress(progress) => progress.content.as_str().to_owned(),
        Body::ToolResult(result) => {
            let error = if result.is_error == Some(true) { "failed " } else { "" };
            format!("{} {error}{}", result.id, result.output.as_str())
        }
        Body::Relay(relay) => {
            let prompt = relay.prompt.as_deref().unwrap_or_default();
            format!("{:?} {}: {prompt}", relay.kind, relay.tool.as_deref().unwrap_or_default())
        }
        Body::RelayResolved(answer) => {
            let said = answer.answer.as_ref().map(|answer| answer.as_str().to_owned());
            let said = said.or_else(|| answer.approved.map(|yes| yes.to_string())).unwrap_or_default();
            format!("{said} by {}", answer.by)
        }
        Body::GrantAdded(grant) => format!("{:?} {}", grant.scope, grant.rule.as_str()),
        Body::ModelRetry(retry) => {
            format!("{} without {:?}: {}", retry.attempt, retry.discards, retry.reason)
        }
        Body::Error(error) => error.message.clone(),
        Body::CancelRequested(request) => format!("{:?} by {}", request.mode, request.by),
        Body::HarnessEnd(end) => {
            let reason = end.reason.as_ref().map(|reason| reason.as_str().to_owned()).unwrap_or_default();
            format!("{reason} after {}", end.iterations.unwrap_or_default())
        }
        Body::Handoff(handoff) => format!("{} to {}", handoff.from_node_id, handoff.to_node_id),
        Body::Summary(summary) => summary.content.clone(),
        Body::NodeEnd(end) => format!(
            "{} {}",
            end.output.as_str(),
            end.error.as_ref().map(|e| e.message.as_str()).unwrap_or_default()
        ),
        _ => String::new(),
    }
}
