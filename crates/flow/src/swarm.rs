//! [`Swarm`]: agents that hand their work to one another, as a flow.
//!
//! Each agent is a node, each way from one to another an edge that is live when the agent says so: what it gives is
//! then `{handoff, message}`. So a swarm has the events, the limits and the durability of any flow. Unlike in any other, one
//! agent has the work at a time, and it may go to anybody from anywhere: see [`Settings::hands_over`].
//!
//! [`Settings::hands_over`]: crate::Settings::hands_over

use antiphon_event::Json;

use crate::check::{Level, Problem, Problems, Subject};
use crate::definition::{Edge, Flow, Limits, Node, When};
use crate::moment::{Formula, Moment};

/// How many times the work may change hands, if nothing else is said.
const HANDOFFS_MAX: u64 = 20;
/// How many times one agent may have the work, if nothing else is said.
const TURNS_MAX: u32 = 5;

/// Agents that hand their work to one another.
#[derive(Debug, Clone, Default)]
pub struct Swarm {
    /// The agents, by name, each with its settings; `handoffs` in them says to whom it may hand its work, by default to
    /// all others.
    pub agents: Vec<(String, Json)>,
    /// Who begins; the first one if absent.
    pub entry: Option<String>,
    /// How many times the work may change hands; 20 if absent.
    pub max_handoffs: Option<u64>,
    /// How many times one agent may have it before the swarm fails; 5 if absent.
    pub max_turns: Option<u32>,
}

impl Swarm {
    /// The swarm as a flow, run by the harness of that name; the error lists every mistake.
    pub fn flow(self, name: &str, harness: &str) -> Result<Flow, Problems> {
        let names: Vec<String> = self.agents.iter().map(|(name, _)| name.clone()).collect();
        let Some(entry) = self.entry.clone().or_else(|| names.first().cloned()) else {
            let message = "a swarm has at least one agent".to_owned();
            let help = Some("add one under `agents`".to_owned());
            let problem = Problem { level: Level::Error, subject: Subject::Flow, message, help };
            return Err(Problems(vec![problem]));
        };
        let handoffs = self.max_handoffs.unwrap_or(HANDOFFS_MAX);
        let limits = Limits { max_node_executions: Some(handoffs + 1), ..Limits::default() };
        let mut flow = Flow::new(name).entry(entry).limits(limits);
        flow.settings.hands_over = true;
        for (agent, settings) in self.agents {
            let others = targets(&agent, &settings, &names);
            let mut settings = settings.value();
            settings["handoffs"] = others.iter().map(String::as_str).collect();
            flow = flow.node(agent.clone(), Node::agent(harness, settings));
            for to in others {
                let when = When::If(to_whom(to.clone(), self.max_turns.unwrap_or(TURNS_MAX)));
                flow = flow.edge(Edge { from: agent.clone(), to, when });
            }
        }
        flow.build()
    }
}

/// To whom an agent may hand its work.
fn targets(agent: &str, settings: &Json, names: &[String]) -> Vec<String> {
    match settings.value()["handoffs"].as_array() {
        Some(given) => given.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect(),
        None => names.iter().filter(|name| *name != agent).cloned().collect(),
    }
}

/// Whether what an agent gave says that this one takes over, who may have the work so many times: agents that hand it to
/// one another again and again get nowhere.
fn to_whom(name: String, turns_max: u32) -> Formula {
    Formula::fallible(move |moment: &Moment<'_>| {
        let takes_over = moment.output()["handoff"] == name.as_str();
        if takes_over && moment.executions_of(&name) >= turns_max {
            return Err(format!(
                "the work goes round in circles: `{name}` has had it {turns_max} times, which is `max_turns`"
            ));
        }
        Ok(takes_over)
    })
}
