//! [`Transcript`]: what was said, one row for each message.
//!
//! In: what people and models say, calls and what came of them, the ends of model calls and runs, retries. Rows stand in the
//! order of their first appearance and never move. Start reading at [`Message`], then [`Transcript::apply`]; when a message is
//! over is in `transcript/step.rs`, how far below the root somebody speaks who does not say it in `transcript/depth.rs`.

mod depth;
mod step;
mod voice;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use antiphon_event::body::content::{User, UserContent};
use antiphon_event::{Body, Event, FlowNodeId, Json, MessageId, RunId, StreamId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use self::depth::Depths;
use self::step::Calls;
use crate::index::Index;
use crate::value::{agent_name, put, renew};
use crate::{Changes, View, path};

/// The conversation as a person reads it.
///
/// A piece of text belongs to the message of its run that its event names; without a name, to the message its stream began
/// in, else to what its run, or its node of a flow, is just saying. Reasoning is kept apart from text. What a retry discards
/// is left out, also when more of it arrives late; what begins after the retry counts. What was heard of a voice is a message
/// once it is final.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Transcript {
    messages: Vec<Message>,
    by_name: Index<(Role, Arc<str>)>,
    /// What runs name by ids that others had before.
    renamed: Index<(RunId, Arc<str>)>,
    /// How many messages wanted to have an id that was taken.
    copies: Index<(Role, Arc<str>)>,
    by_stream: Index<(RunId, StreamId)>,
    streams: Vec<Stream>,
    /// For each message, what its text and its reasoning are made of.
    made_of: Vec<[Vec<Piece>; 2]>,
    runs: BTreeMap<RunId, Speaker>,
    depths: Depths,
    /// What agents are called whose events do not say it.
    #[serde_as(as = "Vec<(_, _)>")]
    agents: BTreeMap<(RunId, Option<FlowNodeId>), String>,
}

/// One message.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The message; without a name of its own, that of its first stream, or `<run>:user`.
    pub id: Arc<str>,
    /// Who speaks.
    pub role: Role,
    /// The run that speaks; empty, and left out of snapshots, where a voice was heard in none.
    #[serde(default = "voice::no_run", skip_serializing_if = "voice::is_no_run")]
    pub run_id: RunId,
    /// The agent that speaks.
    pub agent: Option<String>,
    /// The flow node it speaks in.
    pub node_id: Option<FlowNodeId>,
    /// How far that agent is below the root.
    pub depth: u32,
    /// What was said, with media in brackets.
    pub text: String,
    /// What was thought before it was said; empty if nothing was.
    pub reasoning: String,
    /// What a user message is made of, if not of plain text.
    pub parts: Option<Vec<Json>>,
    /// Whose voice it was, of what was heard.
    pub speaker: Option<String>,
    /// Whether more may come.
    pub streaming: bool,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it was finished.
    pub ended_at: Option<Timestamp>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person, or whoever speaks for one.
    User,
    /// A model.
    Assistant,
}

/// A stream of text or reasoning.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stream {
    messages: Vec<usize>,
    discarded: bool,
}

/// So many bytes of a message came from this stream.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Piece {
    stream: usize,
    length: usize,
}

/// What a run is saying.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Speaker {
    /// Its unfinished messages, by the flow node they are of.
    open: BTreeSet<(Option<FlowNodeId>, usize)>,
    /// The one that was begun last.
    latest: Option<usize>,
    calls: Calls,
    ended: bool,
    /// Whether nodes of a flow begin in it: then what names none of them is none of theirs.
    is_flow: bool,
}

/// The two voices of a message: which list of pieces, and which member.
#[derive(Clone, Copy)]
enum Voice {
    Text = 0,
    Reasoning = 1,
}

impl View for Transcript {
    const NAME: &'static str = "transcript";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        if let Body::VoiceTranscript(heard) = &event.body {
            self.heard(event, heard, changes);
        }
        let Some(run) = &event.head.run_id else { return };
        self.note_depth(run, event, changes);
        match &event.body {
            Body::User(user) => self.user(run, event, user, changes),
            Body::Text(text) => self.say(run, event, &text.id, Voice::Text, &text.content, changes),
            Body::Reasoning(thought) => {
                self.say(run, event, &thought.id, Voice::Reasoning, &thought.content, changes);
            }
            Body::ToolCall(call) => self.called(run, call.id.shared(), event),
            Body::ReplInput(code) => self.called(run, code.id.shared(), event),
            Body::ToolResult(result) => self.answer(run, result.id.shared(), event, changes),
            Body::ReplOutput(output) => self.answer(run, output.id.shared(), event, changes),
            Body::ModelRetry(retry) => self.discard(run, &retry.discards, changes),
            Body::Usage(_) | Body::NodeEnd(_) => self.finish(run, event, changes),
            Body::HarnessEnd(_) | Body::RunEnd(_) => self.end(run, event, changes),
            Body::HarnessStart(start) => {
                self.runs.entry(run.clone()).or_default().ended = false;
                if let (None, Some(agent)) = (&event.head.agent, &start.agent_id) {
                    self.name_agent(run, event, agent.as_str());
                }
            }
            Body::Resumed(_) => self.runs.entry(run.clone()).or_default().ended = false,
            Body::NodeStart(_) => {
                self.runs.entry(run.clone()).or_default().is_flow = true;
                self.finish(run, event, changes);
            }
            _ => {}
        }
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Snapshot<'a> {
            messages: &'a [Message],
        }
        Snapshot { messages: &self.messages }
    }
}

impl Transcript {
    /// All messages, in the order of their first appearance.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn user(&mut self, run: &RunId, event: &Event, user: &User, changes: &mut Changes) {
        self.finish(run, event, changes);
        let named = event.head.message_id.as_ref().map(MessageId::shared);
        let id = named.unwrap_or_else(|| format!("{run}:user").into());
        let id = self.free(Role::User, &id);
        let place = self.add(Role::User, id, run, event, changes);
        let message = &mut self.messages[place];
        let text = user.content.to_text().into_owned();
        put(&mut message.text, text, changes, path!["messages", place, "text"]);
        if let UserContent::Parts(parts) = &user.content {
            let parts = parts.iter().map(|part| part.json.clone()).collect();
            renew(&mut message.parts, Some(parts), changes, path!["messages", place, "parts"]);
        }
        close(message, place, event, changes);
    }

    fn say(
        &mut self,
        run: &RunId,
        event: &Event,
        id: &StreamId,
        voice: Voice,
        content: &str,
        changes: &mut Changes,
    ) {
        let stream = self.stream(run, id);
        if self.streams[stream].discarded {
            return;
        }
        let place = self.message_of(stream, run, event, id, changes);
        let message = &mut self.messages[place];
        let (said, name) = match voice {
            Voice::Text => (&mut message.text, "text"),
            Voice::Reasoning => (&mut message.reasoning, "reasoning"),
        };
        said.push_str(content);
        changes.append(path!["messages", place, name], content);
        let pieces = &mut self.made_of[place][voice as usize];
        match pieces.last_mut() {
            Some(piece) if piece.stream == stream => piece.length += content.len(),
            _ => push_sparing(pieces, Piece { stream, length: content.len() }),
        }
        self.open(place, run, changes);
    }

    /// The message that a piece of a stream belongs to.
    fn message_of(
        &mut self,
        stream: usize,
        run: &RunId,
        event: &Event,
        id: &StreamId,
        changes: &mut Changes,
    ) -> usize {
        let node = event.head.node_id.as_ref();
        let open = || self.runs.get(run).and_then(|speaker| self.open_in(speaker, node));
        let found = match &event.head.message_id {
            Some(named) => self.named(run, named),
            None => self.streams[stream].messages.last().copied().or_else(open),
        };
        let place = found.unwrap_or_else(|| {
            let id = match &event.head.message_id {
                Some(named) => self.call_next(run, named),
                None => self.unnamed(run, id),
            };
            self.add(Role::Assistant, id, run, event, changes)
        });
        let messages = &mut self.streams[stream].messages;
        if messages.last() != Some(&place) {
            push_sparing(messages, place);
        }
        place
    }

    /// The message that a run calls by an id.
    fn named(&self, run: &RunId, id: &MessageId) -> Option<usize> {
        let id = id.shared();
        let renamed = || self.renamed.get(&(run.clone(), Arc::clone(&id)));
        let first = self.by_name.get(&(Role::Assistant, Arc::clone(&id)));
        first.filter(|place| self.messages[*place].run_id == *run).or_else(renamed)
    }

    /// What the next message is called that a run calls so: differently, if another run had that before.
    fn call_next(&mut self, run: &RunId, named: &MessageId) -> Arc<str> {
        let id = self.free(Role::Assistant, &named.shared());
        if *id != *named.as_str() {
            self.renamed.insert((run.clone(), named.shared()), self.messages.len());
        }
        id
    }

    fn stream(&mut self, run: &RunId, id: &StreamId) -> usize {
        let key = (run.clone(), id.clone());
        self.by_stream.get(&key).unwrap_or_else(|| {
            self.streams.push(Stream { messages: Vec::new(), discarded: false });
            self.by_stream.insert(key, self.streams.len() - 1);
            self.streams.len() - 1
        })
    }

    /// Leaves out what the streams have said, and what they may still say. An id that nobody has used yet is no stream's.
    fn discard(&mut self, run: &RunId, ids: &[String], changes: &mut Changes) {
        let mut touched = Vec::new();
        for id in ids {
            let Some(stream) = self.by_stream.get(&(run.clone(), StreamId::from(id.as_str()))) else {
                continue;
            };
            self.streams[stream].discarded = true;
            touched.append(&mut self.streams[stream].messages);
        }
        touched.sort_unstable();
        touched.dedup();
        for place in touched {
            let message = &mut self.messages[place];
            let voices = [("text", &mut message.text), ("reasoning", &mut message.reasoning)];
            for ((name, said), pieces) in voices.into_iter().zip(&mut self.made_of[place]) {
                let kept = without_discarded(said, pieces, &self.streams);
                put(said, kept, changes, path!["messages", place, name]);
            }
        }
    }

    /// What a run is just saying in a flow node. In the run of a flow, what names no node goes on with no node's.
    fn open_in(&self, speaker: &Speaker, node: Option<&FlowNodeId>) -> Option<usize> {
        let of_node = (node.cloned(), 0)..=(node.cloned(), usize::MAX);
        let latest = || {
            let is_any = node.is_none() && !speaker.is_flow;
            speaker.latest.filter(|latest| {
                is_any && self.messages.get(*latest).is_some_and(|message| message.streaming)
            })
        };
        speaker.open.range(of_node).next_back().map(|(_, place)| *place).or_else(latest)
    }

    /// Ends a run, or what it does in a node of a flow.
    fn end(&mut self, run: &RunId, event: &Event, changes: &mut Changes) {
        self.finish(run, event, changes);
        let speaker = self.runs.entry(run.clone()).or_default();
        let is_whole = event.head.node_id.is_none() || matches!(event.body, Body::RunEnd(_));
        speaker.ended |= is_whole || !speaker.is_flow;
    }

    /// Notes what the agent of a run, or of a node of it, is called; it keeps its first name.
    fn name_agent(&mut self, run: &RunId, event: &Event, name: &str) {
        let node = event.head.node_id.clone();
        if self.agents.contains_key(&(run.clone(), node.clone())) {
            return;
        }
        self.agents.insert((run.clone(), node), name.to_owned());
    }

    fn open(&mut self, place: usize, run: &RunId, changes: &mut Changes) {
        if self.messages[place].streaming {
            return;
        }
        let speaker = self.runs.entry(run.clone()).or_default();
        if speaker.ended {
            return;
        }
        speaker.open.insert((self.messages[place].node_id.clone(), place));
        speaker.latest = Some(place);
        let message = &mut self.messages[place];
        put(&mut message.streaming, true, changes, path!["messages", place, "streaming"]);
        if message.ended_at.take().is_some() {
            changes.remove(path!["messages", place, "endedAt"]);
        }
    }

    fn add(&mut self, role: Role, id: Arc<str>, run: &RunId, event: &Event, changes: &mut Changes) -> usize {
        let place = self.messages.len();
        self.by_name.insert((role, Arc::clone(&id)), place);
        let message = Message {
            id,
            role,
            run_id: run.clone(),
            agent: agent_name(event).or_else(|| self.agent_of(role, run, event)),
            node_id: event.head.node_id.clone(),
            depth: self.depths.of(place, role, run, event),
            text: String::new(),
            reasoning: String::new(),
            parts: None,
            speaker: None,
            streaming: false,
            started_at: event.head.at,
            ended_at: None,
        };
        changes.append(path!["messages"], &message);
        self.messages.push(message);
        self.made_of.push(Default::default());
        place
    }

    /// What the agent of a run is called whose event does not say it.
    fn agent_of(&self, role: Role, run: &RunId, event: &Event) -> Option<String> {
        if self.agents.is_empty() || role == Role::User {
            return None;
        }
        let of = |node: Option<FlowNodeId>| self.agents.get(&(run.clone(), node)).cloned();
        of(event.head.node_id.clone()).or_else(|| of(None))
    }

    /// What a message is called that nobody named: as its first stream, or that with its run.
    fn unnamed(&mut self, run: &RunId, stream: &StreamId) -> Arc<str> {
        let id = stream.shared();
        if self.by_name.get(&(Role::Assistant, Arc::clone(&id))).is_none() {
            return id;
        }
        self.free(Role::Assistant, &format!("{run}/{stream}").into())
    }

    /// The id itself, or with `~2`, `~3` … if other messages of that role have it.
    fn free(&mut self, role: Role, id: &Arc<str>) -> Arc<str> {
        let mut name = Arc::clone(id);
        while self.by_name.get(&(role, Arc::clone(&name))).is_some() {
            let copies = self.copies.get(&(role, Arc::clone(id))).unwrap_or(1) + 1;
            self.copies.insert((role, Arc::clone(id)), copies);
            name = format!("{id}~{copies}").into();
        }
        name
    }
}

fn close(message: &mut Message, place: usize, event: &Event, changes: &mut Changes) {
    put(&mut message.streaming, false, changes, path!["messages", place, "streaming"]);
    renew(&mut message.ended_at, event.head.at, changes, path!["messages", place, "endedAt"]);
}

/// Adds to a list that most often has one element.
fn push_sparing<T>(list: &mut Vec<T>, item: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(item);
}

/// What is left of a text without its discarded pieces, which are forgotten.
fn without_discarded(said: &str, pieces: &mut Vec<Piece>, streams: &[Stream]) -> String {
    let mut kept = String::new();
    let mut rest = said;
    pieces.retain(|piece| {
        let (said, after) = rest.split_at(piece.length);
        rest = after;
        let keep = !streams[piece.stream].discarded;
        if keep {
            kept.push_str(said);
        }
        keep
    });
    kept
}
