//! [`Standing`]: how the last run of a branch stands, from its events alone.

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Body, EndReason, Event, Head, NodeStatus, RelayId, RunId, near};
use anyhow::{Result, bail};

use crate::render::{Ink, Line, unit};
use crate::request::verdict;

/// How the last run of a branch stands.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// The last run that is nobody's child: of a flow, or a turn of an agent.
    pub(crate) root: Option<Root>,
    /// What people were asked and have not answered, in order.
    pub(crate) asked: Vec<Asked>,
    /// What they were asked and what was decided, as long as that run lasts.
    decided: Vec<(Asked, RelayResolved)>,
}

/// A run that is nobody's child.
#[derive(Debug)]
pub(crate) struct Root {
    /// The run.
    pub(crate) run: RunId,
    /// How it ended, if it has.
    pub(crate) ended: Option<NodeStatus>,
    /// What went wrong last that is about the run as a whole.
    pub(crate) trouble: Option<String>,
}

/// A request and where it came from.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The run that asks.
    pub(crate) run: Option<RunId>,
    /// The node that asks, with the nodes around it.
    pub(crate) node: String,
    /// What is asked.
    pub(crate) relay: Relay,
}

/// What a text may say of a request, the most telling first.
const READINGS: [fn(&Asked, &str) -> bool; 5] = [
    |asked, text| asked.relay.id == *text,
    |asked, text| !text.is_empty() && asked.node == text,
    |asked, text| !text.is_empty() && asked.node.rsplit('/').next() == Some(text),
    |asked, text| {
        asked.call() == text || asked.relay.tool_call_id.as_ref().is_some_and(|call| *call == *text)
    },
    |asked, text| asked.relay.id.as_str().starts_with(text) || asked.relay.id.as_str().ends_with(text),
];

impl Asked {
    /// Who asks, with room behind it; nothing for an agent that is talked with.
    pub(crate) fn who(&self) -> Line {
        let room = if self.node.is_empty() { "" } else { "  " };
        Line::new().ink(Ink::Strong, &self.node).plain(room)
    }

    /// The call it is about, or the request itself, without the run.
    fn call(&self) -> &str {
        let call = self.relay.tool_call_id.as_ref().map_or(self.relay.id.as_str(), |call| call.as_str());
        unit::short(call)
    }
}

impl Standing {
    /// How things stand after events.
    pub(crate) fn of<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut standing = Self::default();
        events.into_iter().for_each(|event| standing.apply(event));
        standing
    }

    /// Takes in one event.
    pub(crate) fn apply(&mut self, event: &Event) {
        let head = &event.head;
        let is_root = head.node_path.is_none();
        match &event.body {
            Body::RunStart(_) if is_root => self.begin(head),
            Body::HarnessStart(start) if head.node_id.is_none() && start.depth.unwrap_or(0) == 0 => {
                self.begin(head);
            }
            // In a session of its own a called agent comes first.
            Body::HarnessStart(_) if self.root.is_none() => self.begin(head),
            Body::RunEnd(end) => self.end(head, end.status.clone()),
            Body::HarnessEnd(end) => self.end(head, Some(status(end.reason.as_ref()))),
            Body::Resumed(_) => {
                if let Some(root) = self.root_of(head) {
                    (root.ended, root.trouble) = (None, None);
                }
            }
            Body::Error(error) if head.node_id.is_none() => {
                if let Some(root) = self.root_of(head) {
                    root.trouble = Some(error.message.clone());
                }
            }
            Body::Relay(relay) => {
                let node = path_of(event);
                self.asked.push(Asked { run: head.run_id.clone(), node, relay: relay.as_ref().clone() });
            }
            Body::RelayResolved(resolved) => {
                let is_decided = |asked: &mut Asked| asked.relay.id == resolved.relay_id;
                let decided = self.asked.extract_if(.., is_decided);
                self.decided.extend(decided.map(|asked| (asked, resolved.as_ref().clone())));
            }
            Body::NodeEnd(_) => {
                let node = path_of(event);
                self.asked.retain(|asked| asked.run != head.run_id || asked.node != node);
            }
            _ => {}
        }
    }

    fn begin(&mut self, head: &Head) {
        if let Some(run) = head.run_id.clone().filter(|_| self.is_over()) {
            self.root = Some(Root { run, ended: None, trouble: None });
            self.asked.clear();
            self.decided.clear();
        }
    }

    fn end(&mut self, head: &Head, status: Option<NodeStatus>) {
        self.asked.retain(|asked| asked.run != head.run_id);
        if let Some(root) = self.root_of(head) {
            root.ended = status;
            self.asked.clear();
        }
    }

    /// The root, if an event is of its own run.
    fn root_of(&mut self, head: &Head) -> Option<&mut Root> {
        self.root.as_mut().filter(|root| Some(&root.run) == head.run_id.as_ref())
    }

    fn is_over(&self) -> bool {
        self.root.as_ref().is_none_or(|root| root.ended.is_some())
    }

    /// The request that a text means: an id, the node that asks, the call it is about, or the beginning or end of an id;
    /// the first of these that fits any has to fit just one.
    pub(crate) fn find(&self, text: &str) -> Result<&Asked> {
        let fits = |reading: &fn(&Asked, &str) -> bool| {
            self.asked.iter().filter(|asked| reading(asked, text)).collect::<Vec<_>>()
        };
        let found = READINGS.iter().map(fits).find(|found| !found.is_empty()).unwrap_or_default();
        match found[..] {
            [one] => Ok(one),
            [] => {
                if let Some((asked, decided)) = self.decided(text) {
                    bail!("{} is not asked any more: it was {}", asked.relay.id, verdict(decided));
                }
                let help = near::help(text, self.asked.iter().map(|asked| self.name(asked)));
                let help = help.map(|help| format!("; {help}")).unwrap_or_default();
                bail!("nothing that is asked goes by {text}{help}")
            }
            [a, b, ..] => bail!("{text} could be {} or {}: write more of it", a.relay.id, b.relay.id),
        }
    }

    /// The last request that a text could mean and that was decided, and how.
    pub(crate) fn decided(&self, text: &str) -> Option<&(Asked, RelayResolved)> {
        self.decided.iter().rev().find(|(asked, _)| READINGS.iter().any(|fits| fits(asked, text)))
    }

    /// The shortest name that means just this request: its node, the end of its id where it is no node's, or all of that.
    pub(crate) fn name<'a>(&self, asked: &'a Asked) -> &'a str {
        let names = [asked.node.as_str(), unit::short(asked.relay.id.as_str())];
        let is_unmistakable =
            |name: &&str| self.find(name).is_ok_and(|found| found.relay.id == asked.relay.id);
        names
            .into_iter()
            .filter(|name| !name.is_empty())
            .find(is_unmistakable)
            .unwrap_or(asked.relay.id.as_str())
    }

    /// Whether a request waits for an answer.
    pub(crate) fn asks(&self, relay: &RelayId) -> bool {
        self.asked.iter().any(|asked| asked.relay.id == *relay)
    }
}

/// How a turn of an agent ended, in the words of a run.
fn status(reason: Option<&EndReason>) -> NodeStatus {
    match reason {
        Some(EndReason::Cancelled) => NodeStatus::Cancelled,
        Some(EndReason::Error | EndReason::Budget | EndReason::Interrupted) => NodeStatus::Failed,
        Some(EndReason::Done | EndReason::MaxIterations | EndReason::Other(_)) | None => {
            NodeStatus::Completed
        }
    }
}

/// The node of an event with the nodes around it.
pub(crate) fn path_of(event: &Event) -> String {
    let head = &event.head;
    match (&head.node_path, &head.node_id) {
        (Some(path), _) => path.iter().map(|node| node.as_str()).collect::<Vec<_>>().join("/"),
        (None, Some(node)) => node.to_string(),
        (None, None) => String::new(),
    }
}
