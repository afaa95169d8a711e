//! The nested view: everything that happened, inside what it belongs to.
//!
//! Session and branch, then event flow or trace, then agent or workflow, then the execution of its node, then
//! message, then call, then request. A level an event does not name is skipped: the node hangs from the nearest
//! one that is there. What happens at a moment hangs from the innermost of them.
//!
//! In: all events. Out: `{nodes: [Node]}`, flat: a node names the place of its parent, and the children of a
//! node stand in the order of the list. So a node that finds its parent late is one small change, and nothing
//! is ever moved within a list. [`Nested::walk`] gives the nodes as they are drawn.
//! Start reading at [`Nested::apply`](View::apply).

mod known;
mod lent;
mod node;
mod place;
mod scope;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon_event::body::content::UserContent;
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::body::rlm::{ReplInput, ReplOutput};
use antiphon_event::body::tool::{ToolCall, ToolResult};
use antiphon_event::{Body, Event, FlowNodeId, RunId, TraceId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::brief::{excerpt, preview};
use crate::edit::Edit;
use crate::forest::Forest;
use crate::index::Index;
use crate::moment;
use crate::request::{Open, Standing};
use crate::{Changes, View, path};

use known::Known;
use lent::Lent;
pub use node::{Level, Node};
use place::{Anchor, RunPlace, is_of_flow};
use scope::Scope;

/// Everything that happened, inside what it belongs to.
///
/// The first event that speaks of a node fixes its parent; only a parent that was a guess is exchanged for
/// the right one. Results and answers find their call and request by id; if there is none yet, a place is
/// kept for it, flagged `orphan`, until it appears. Ids are told apart by session and branch, and those of
/// messages, calls and requests also by run; what does not say one of these finds its call or request all the same.
/// What does not say its session and branch is where its run was last heard, or where what caused that is.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Nested {
    nodes: Vec<Node>,
    tree: Forest,
    #[serde_as(as = "Vec<(_, _)>")]
    scopes: BTreeMap<Scope, usize>,
    /// The session and branch that each run was last heard in.
    heard_in: BTreeMap<RunId, Scope>,
    /// Where the event is said that is taken in.
    #[serde(skip)]
    here: Scope,
    keys: Index<Key>,
    /// Messages that were spoken of, and in which nobody has said anything.
    unsaid: BTreeSet<usize>,
    calls: Known,
    /// What other runs lend to calls, by the place of the call.
    lent: BTreeMap<usize, Lent>,
    /// The runs for whose calls places are kept.
    keepers: BTreeMap<usize, RunId>,
    requests: Known,
    #[serde_as(as = "Vec<(_, _)>")]
    runs: BTreeMap<(Option<usize>, RunId), RunPlace>,
    /// The turn each trace belongs to.
    #[serde_as(as = "Vec<(_, _)>")]
    traces: BTreeMap<(Option<usize>, TraceId), usize>,
    anchors: Index<(Option<usize>, Anchor)>,
    /// Nodes whose parent is a guess, by what they wait for.
    #[serde_as(as = "Vec<(_, _)>")]
    waiting: BTreeMap<(Option<usize>, Anchor), Vec<usize>>,
    guessed: BTreeSet<usize>,
    /// The last execution of each node of a flow.
    executions: Index<(Option<usize>, RunId, FlowNodeId)>,
    /// The agent that is at work in an execution, where its run is that of the flow.
    inside: BTreeMap<usize, usize>,
    /// The message each stream of a run belongs to, for those that a retry discards.
    streams: Index<(Option<usize>, RunId, String)>,
    open: Open<usize>,
    /// What is being heard and may still change, by where and of whom.
    #[serde_as(as = "Vec<(_, _)>")]
    hearing: BTreeMap<(Option<usize>, Option<String>), usize>,
}

/// What code is called that an agent writes.
const CODE: &str = "code";

/// A node: its scope, level, run where that matters, and id. The latest message of an id is known without its run, too.
type Key = (Option<usize>, Level, Option<RunId>, String);

impl Nested {
    /// All nodes, in the order they were heard of.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All nodes as they are drawn: depth first, each with its depth.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.tree.walk().map(|(depth, place)| (depth, &self.nodes[place]))
    }

    fn edit(&mut self, place: usize, changes: &mut Changes, edit: impl FnOnce(&mut Node, &mut Edit<'_>)) {
        edit(&mut self.nodes[place], &mut Edit::at(changes, path!["nodes", place]));
    }

    fn user(&mut self, event: &Event, content: &UserContent, changes: &mut Changes) -> usize {
        let message = self.message(event, changes).unwrap_or_else(|| {
            let parent = self.surroundings(event, changes);
            let run = event.head.run_id.as_ref().map_or("user", RunId::as_str);
            self.add(Node::new(Level::Message, run, parent), changes)
        });
        self.edit(message, changes, |node, edit| {
            edit.fill("label", &mut node.label, Some("user".to_owned()));
            edit.write("text", &mut node.text, &content.to_text());
        });
        message
    }

    /// Adds a piece of a stream to its message, which is that of the event, else the stream itself.
    fn stream(
        &mut self,
        event: &Event,
        id: &str,
        changes: &mut Changes,
        write: impl FnOnce(&mut Node, &mut Edit<'_>),
    ) -> Option<usize> {
        let run = event.head.run_id.clone()?;
        let scope = self.scope(changes);
        let stream = (scope, run.clone(), id.to_owned());
        let known = self.streams.get(&stream);
        let message = self.message(event, changes).or(known).unwrap_or_else(|| {
            self.find_or_add((scope, Level::Message, Some(run), id.to_owned()), event, changes)
        });
        if known != Some(message) {
            self.begin_stream(message, changes);
            self.streams.insert(stream, message);
        }
        self.edit(message, changes, write);
        Some(message)
    }

    /// What a message said before a retry gives way to what it says now.
    fn begin_stream(&mut self, message: usize, changes: &mut Changes) {
        self.edit(message, changes, |node, edit| {
            edit.fill("label", &mut node.label, Some("assistant".to_owned()));
            if node.discarded {
                edit.wipe("text", &mut node.text);
                edit.wipe("reasoning", &mut node.reasoning);
                edit.drop_flag("discarded", &mut node.discarded);
            }
        });
    }

    fn discard(&mut self, event: &Event, ids: &[String], changes: &mut Changes) -> Option<usize> {
        let run = event.head.run_id.clone()?;
        let (scope, at) = (self.scope(changes), self.at(event));
        for id in ids {
            let stream = self.streams.get(&(scope, run.clone(), id.clone()));
            // A call of another run is not this one's to throw away, and one that comes after the retry is a new one.
            let is_made = |call: &usize| !self.calls.is_others(&at, *call) && !self.nodes[*call].orphan;
            let call = || self.calls.exact(&at, &id.as_str().into()).filter(is_made);
            if let Some(place) = stream.or_else(call) {
                self.tell(place, event, changes, |node, edit| {
                    edit.put("discarded", &mut node.discarded, true);
                });
            }
        }
        self.surroundings(event, changes)
    }

    /// Adds a call where an event says.
    fn add_call(&mut self, event: &Event, id: &str, changes: &mut Changes) -> usize {
        let parent = self.parent_for(Level::Call, event, changes);
        self.add(Node::new(Level::Call, id, parent), changes)
    }

    /// Makes a call known by its id; if another call has that, by its run, too.
    fn anchor_call(&mut self, event: &Event, id: &str, call: usize, changes: &mut Changes) {
        let scope = self.scope(changes);
        let mut anchor = (scope, Anchor::Cause(id.to_owned()));
        if self.is_taken(&anchor, |known| known != call)
            && let Some(run) = &event.head.run_id
        {
            anchor.1 = Anchor::Cause(format!("{run}/{id}"));
        }
        if !self.is_taken(&anchor, |_| true) {
            self.anchor(anchor, call, changes);
        }
    }

    /// Whether a name is that of something else than a run, which gives it up.
    fn is_taken(&self, name: &(Option<usize>, Anchor), by: impl Fn(usize) -> bool) -> bool {
        self.anchors.get(name).is_some_and(|known| {
            let level = self.nodes[known].level;
            !matches!(level, Level::Run | Level::Agent | Level::Workflow) && by(known)
        })
    }

    /// The call an event is about, or is lent to; a place is kept for one that has not appeared.
    fn call(&mut self, event: &Event, id: &Arc<str>, changes: &mut Changes) -> usize {
        let at = self.at(event);
        let known = self.calls.about(&at, id, |place| self.is_open(place) && !self.lent.contains_key(&place));
        let call = known.unwrap_or_else(|| {
            let call = self.add_call(event, id, changes);
            self.keep(call, changes);
            self.keepers.extend(event.head.run_id.clone().map(|run| (call, run)));
            self.anchor_call(event, id, call, changes);
            call
        });
        if self.calls.spoken(&at, id) != Some(call) {
            if self.calls.is_others(&at, call) {
                self.lend(call, event, self.nodes[call].clone(), Node::new(Level::Call, id, None));
            }
            self.calls.spoken_of(&at, id, call);
        }
        call
    }

    /// The call a request is about: that of its run, an open one of another, or a place that is kept.
    fn asked_about(&mut self, event: &Event, id: &Arc<str>, changes: &mut Changes) -> usize {
        let known = self.calls.about(&self.at(event), id, |place| self.is_open(place));
        known.unwrap_or_else(|| self.call(event, id, changes))
    }

    /// Whether a call has appeared and has no result.
    fn is_open(&self, call: usize) -> bool {
        let node = &self.nodes[call];
        !node.orphan && !lent::is_done(node)
    }

    /// The call, or the code, that an event begins; and whether that had begun before.
    fn begin_call(&mut self, event: &Event, id: &Arc<str>, changes: &mut Changes) -> (usize, bool) {
        let at = self.at(event);
        let spoken = self.calls.spoken(&at, id);
        let lent = spoken.filter(|call| self.is_lent_by(*call, event));
        let known = self.calls.begins(&at, id, |place| self.nodes[place].orphan);
        let call = match (lent, known) {
            (Some(lent), _) => self.take_back(lent, event, changes),
            (None, Some(call)) => {
                if let Some(keeper) = self.keepers.remove(&call).filter(|_| spoken.is_none()) {
                    self.take_over(call, keeper);
                }
                self.appeared(call, None, event, changes);
                call
            }
            (None, None) => self.add_call(event, id, changes),
        };
        let again = self.calls.has_begun(&at, id, call);
        if !again {
            self.calls.begun(&at, id, call);
        }
        self.anchor_call(event, id, call, changes);
        (call, again)
    }

    /// A call that comes again is about to run.
    fn tool_call(&mut self, event: &Event, tool: &ToolCall, changes: &mut Changes) -> usize {
        let (call, again) = self.begin_call(event, &tool.id.shared(), changes);
        self.tell(call, event, changes, |node, edit| {
            edit.put("label", &mut node.label, Some(tool.name.clone()));
            edit.fill("status", &mut node.status, Some("pending".to_owned()));
            edit.take("input", &mut node.input, preview(&tool.input));
            if again {
                lent::runs(node, edit);
            }
        });
        call
    }

    fn repl_input(&mut self, event: &Event, code: &ReplInput, changes: &mut Changes) -> usize {
        let (call, _) = self.begin_call(event, &code.id.shared(), changes);
        self.tell(call, event, changes, |node, edit| {
            edit.put("label", &mut node.label, Some(CODE.to_owned()));
            edit.take("input", &mut node.input, excerpt(&code.code));
            lent::runs(node, edit);
        });
        call
    }

    fn progress(&mut self, event: &Event, id: &Arc<str>, changes: &mut Changes) -> usize {
        let call = self.call(event, id, changes);
        self.tell(call, event, changes, lent::runs);
        call
    }

    fn tool_result(&mut self, event: &Event, result: &ToolResult, changes: &mut Changes) -> usize {
        let call = self.call(event, &result.id.shared(), changes);
        let status = if result.is_error == Some(true) { "error" } else { "done" };
        self.tell_result(call, event, changes, |node, edit| {
            edit.fill("label", &mut node.label, result.tool().map(ToOwned::to_owned));
            edit.put("status", &mut node.status, Some(status.to_owned()));
            edit.take("output", &mut node.output, preview(&result.output));
        });
        call
    }

    fn repl_output(&mut self, event: &Event, output: &ReplOutput, changes: &mut Changes) -> usize {
        let call = self.call(event, &output.id.shared(), changes);
        let status = if output.error.is_some() { "error" } else { "done" };
        let given = output.error.as_deref().and_then(excerpt).or_else(|| excerpt(&output.stdout));
        let given = given.or_else(|| output.answer.as_deref().and_then(excerpt));
        self.tell_result(call, event, changes, |node, edit| {
            edit.fill("label", &mut node.label, Some(CODE.to_owned()));
            edit.put("status", &mut node.status, Some(status.to_owned()));
            edit.take("output", &mut node.output, given.clone());
        });
        call
    }

    fn relay(&mut self, event: &Event, relay: &Relay, changes: &mut Changes) -> usize {
        let (at, id) = (self.at(event), relay.id.shared());
        let known = self.requests.begins(&at, &id, |place| self.nodes[place].orphan);
        let call = relay.tool_call_id.as_ref().map(|call| self.asked_about(event, &call.shared(), changes));
        let request = if let Some(request) = known {
            self.appeared(request, call, event, changes);
            request
        } else {
            let above = call.or_else(|| self.parent_for(Level::Request, event, changes));
            self.add(Node::new(Level::Request, &id, above), changes)
        };
        self.requests.begun(&at, &id, request);
        let asked = relay.prompt.clone().or_else(|| relay.params.as_ref().and_then(preview));
        let run = event.head.run_id.as_ref();
        let waits = run.is_some_and(|run| self.open.ask(request, run, relay));
        let status = Some(Standing::Pending.name().to_owned());
        self.edit(request, changes, |node, edit| {
            edit.put("label", &mut node.label, Some(relay.kind.to_string()));
            edit.take("status", &mut node.status, status.filter(|_| waits));
            edit.take("input", &mut node.input, asked);
        });
        request
    }

    fn relay_resolved(&mut self, event: &Event, resolved: &RelayResolved, changes: &mut Changes) -> usize {
        let (at, id) = (self.at(event), resolved.relay_id.shared());
        let known = self.requests.about(&at, &id, |place| self.open.is_unanswered(&place));
        let request = known.unwrap_or_else(|| {
            let above = self.parent_for(Level::Request, event, changes);
            let request = self.add(Node::new(Level::Request, &id, above), changes);
            self.keep(request, changes);
            request
        });
        self.requests.spoken_of(&at, &id, request);
        if !self.open.answer(request) {
            return request;
        }
        let status = Standing::of(resolved).name();
        let answer = resolved.answer.as_ref().and_then(preview).or_else(|| resolved.reason.clone());
        self.edit(request, changes, |node, edit| {
            edit.put("status", &mut node.status, Some(status.to_owned()));
            edit.take("output", &mut node.output, answer);
        });
        request
    }

    /// What happened at a moment, in words. What was heard is corrected until it is final.
    fn moment(&mut self, event: &Event, text: String, changes: &mut Changes) -> usize {
        let parent = self.message(event, changes).or_else(|| self.around(event, changes));
        let heard = match &event.body {
            Body::VoiceTranscript(heard) => Some((heard.is_final, (parent, heard.speaker.clone()))),
            _ => None,
        };
        let known = heard.as_ref().and_then(|(_, speaker)| self.hearing.remove(speaker));
        let place = known.unwrap_or_else(|| {
            let tag = event.body.tag();
            let label = Some(tag.replace(['_', ':'], " "));
            self.add(Node { label, ..Node::new(Level::Moment, tag, parent) }, changes)
        });
        self.edit(place, changes, |node, edit| edit.put("text", &mut node.text, text));
        if let Some((false, speaker)) = heard {
            self.hearing.insert(speaker, place);
        }
        place
    }

    /// Nobody waits any more for what an event shows to be over.
    fn settle(&mut self, event: &Event, changes: &mut Changes) {
        for (request, standing) in self.open.settle(event) {
            self.edit(request, changes, |node, edit| {
                edit.put("status", &mut node.status, Some(standing.name().to_owned()));
            });
        }
    }

    /// Sets how the run of an event stands, where it has a node of its own.
    fn run_stands(&mut self, event: &Event, status: &str, changes: &mut Changes) -> Option<usize> {
        let place = self.surroundings(event, changes)?;
        if matches!(self.nodes[place].level, Level::Agent | Level::Workflow | Level::Run) {
            self.edit(place, changes, |node, edit| {
                edit.put("status", &mut node.status, Some(status.to_owned()));
            });
        }
        Some(place)
    }

    fn flow_start(&mut self, event: &Event, name: &str, changes: &mut Changes) -> Option<usize> {
        let workflow = self.run_stands(event, "EXECUTING", changes)?;
        self.edit(workflow, changes, |node, edit| edit.fill("label", &mut node.label, Some(name.to_owned())));
        Some(workflow)
    }

    fn flow_node(
        &mut self,
        event: &Event,
        execution: u32,
        status: &str,
        changes: &mut Changes,
    ) -> Option<usize> {
        let (run, node) = (event.head.run_id.clone()?, event.head.node_id.clone()?);
        let scope = self.scope(changes);
        let key = (scope, Level::Node, Some(run.clone()), format!("{node}:{execution}"));
        let place = self.find_or_add(key, event, changes);
        self.executions.insert((scope, run, node.clone()), place);
        self.edit(place, changes, |row, edit| {
            edit.fill("label", &mut row.label, Some(node.to_string()));
            edit.put("status", &mut row.status, Some(status.to_owned()));
        });
        Some(place)
    }

    /// The execution of a node that an event of its flow is about, else what is around.
    fn of_node(&mut self, event: &Event, changes: &mut Changes) -> Option<usize> {
        let scope = self.scope(changes);
        self.execution(scope, event).or_else(|| self.surroundings(event, changes))
    }

    /// What is around an event that is about no node itself: what a flow says of a node is of its execution.
    fn around(&mut self, event: &Event, changes: &mut Changes) -> Option<usize> {
        if is_of_flow(event) { self.of_node(event, changes) } else { self.surroundings(event, changes) }
    }

    /// A node that is under way waits for a person.
    fn interrupt(&mut self, event: &Event, changes: &mut Changes) -> Option<usize> {
        let place = self.of_node(event, changes)?;
        if self.nodes[place].level == Level::Node && self.nodes[place].status.as_deref() == Some("EXECUTING")
        {
            self.edit(place, changes, |node, edit| {
                edit.put("status", &mut node.status, Some("INTERRUPTED".to_owned()));
            });
        }
        Some(place)
    }

    /// A run goes on, in the words of its kind.
    fn resumed(&mut self, event: &Event, changes: &mut Changes) -> Option<usize> {
        let place = self.surroundings(event, changes)?;
        let status = if self.nodes[place].level == Level::Workflow { "EXECUTING" } else { "running" };
        self.run_stands(event, status, changes)
    }

    fn node_start(
        &mut self,
        event: &Event,
        execution: u32,
        attempt: u32,
        changes: &mut Changes,
    ) -> Option<usize> {
        let place = self.flow_node(event, execution, "EXECUTING", changes)?;
        let (run, node) = (event.head.run_id.as_ref()?, event.head.node_id.as_ref()?);
        let again = if attempt > 1 { format!(":{attempt}") } else { String::new() };
        let start = format!("{run}:{node}:{execution}:start{again}");
        let scope = self.scope(changes);
        self.anchor((scope, Anchor::Cause(start)), place, changes);
        Some(place)
    }
}

impl View for Nested {
    const NAME: &'static str = "nested";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        self.hear(event);
        self.settle(event, changes);
        let place = match &event.body {
            Body::User(user) => Some(self.user(event, &user.content, changes)),
            Body::Text(text) => self.stream(event, text.id.as_str(), changes, |node, edit| {
                edit.write("text", &mut node.text, &text.content);
            }),
            Body::Reasoning(reasoning) => self.stream(event, reasoning.id.as_str(), changes, |node, edit| {
                edit.write("reasoning", &mut node.reasoning, &reasoning.content);
            }),
            Body::ToolCall(call) => Some(self.tool_call(event, call, changes)),
            Body::ToolProgress(progress) => {
                Some(self.progress(event, &progress.tool_call_id.shared(), changes))
            }
            Body::ToolResult(result) => Some(self.tool_result(event, result, changes)),
            Body::ReplInput(code) => Some(self.repl_input(event, code, changes)),
            Body::ReplProgress(progress) => Some(self.progress(event, &progress.id.shared(), changes)),
            Body::ReplOutput(output) => Some(self.repl_output(event, output, changes)),
            Body::Relay(relay) => Some(self.relay(event, relay, changes)),
            Body::RelayResolved(resolved) => Some(self.relay_resolved(event, resolved, changes)),
            Body::ModelRetry(retry) => self.discard(event, &retry.discards, changes),
            Body::HarnessStart(_) => self.run_stands(event, "running", changes),
            Body::HarnessEnd(end) => {
                self.run_stands(event, end.reason.as_ref().map_or("done", |reason| reason.as_str()), changes)
            }
            Body::RunStart(start) => self.flow_start(event, &start.graph_id, changes),
            Body::RunEnd(end) => self.run_stands(
                event,
                end.status.as_ref().map_or("COMPLETED", |status| status.as_str()),
                changes,
            ),
            Body::NodeStart(start) => self.node_start(event, start.execution, start.attempt, changes),
            Body::NodeEnd(end) => self.flow_node(event, end.execution, end.status.as_str(), changes),
            Body::NodeSkipped(skipped) => self.flow_node(event, skipped.execution, "SKIPPED", changes),
            Body::NodeRetry(retry) => self.flow_node(event, retry.execution, "FAILED", changes),
            Body::NodeTimeout(_) => self.of_node(event, changes),
            Body::Interrupt(_) => self.interrupt(event, changes),
            Body::Resumed(_) => self.resumed(event, changes),
            body => match moment::text(body) {
                Some(text) => Some(self.moment(event, text, changes)),
                None => self.message(event, changes).or_else(|| self.around(event, changes)),
            },
        };
        if let Some(place) = place {
            self.tell(place, event, changes, |node, edit| edit.count("events", &mut node.events));
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        Snapshot { nodes: &self.nodes }
    }
}

#[derive(Serialize)]
struct Snapshot<'a> {
    nodes: &'a [Node],
}
