//! A [`Conversation`] put away and taken up again.

use std::collections::HashMap;
use std::sync::Arc;

use antiphon_event::{FlowNodeId, MessageId, RunId};
use foldhash::fast::FixedState;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::answer::{Callee, Latest, Stray};
use super::beside::Open;
use super::stage::Stage;
use super::step::Step;
use super::{Active, Block, Chunk, Conversation, Hypergraph, Message, Speaker, Summary};
use crate::index::hash;
use crate::node::NOWHERE;
use crate::{Place, Reducer};

#[derive(Serialize, Deserialize)]
struct Saved {
    reducer: Reducer,
    chunks: Vec<(Place, Place, u32, u32)>,
    blocks: Vec<SavedBlock>,
    messages: Vec<SavedMessage>,
    steps: Vec<Step>,
    #[serde(default)]
    beside: Vec<(u32, Option<FlowNodeId>, Open)>,
    active: Active,
    answers: Vec<(Place, Place)>,
    /// Answers with the calls they belong to.
    calls: Vec<(Place, Place)>,
    strays: Vec<((Arc<str>, Callee, u32), Stray)>,
    latest: Vec<((Arc<str>, Callee), Latest)>,
    numbers: Vec<(Arc<str>, u32)>,
    #[serde(default)]
    awaited: Vec<(Arc<str>, Vec<Place>)>,
    #[serde(default)]
    early: Vec<(Arc<str>, Vec<String>)>,
}

#[derive(Serialize, Deserialize)]
struct SavedBlock {
    node: Place,
    message: Place,
    nth: u32,
    from: u32,
    to: u32,
    last_chunk: Place,
    before: Place,
    before_in_run: Place,
    before_of_node: Place,
}

#[derive(Serialize, Deserialize)]
struct SavedMessage {
    id: MessageId,
    speaker: Speaker,
    run: Option<RunId>,
    parent: Place,
    last_block: Place,
    before: Place,
    replaced_by: Place,
    /// The text of a summary; its sources are those that it replaces.
    summary: Option<Arc<str>>,
}

impl Serialize for Conversation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hyper = &self.hyper;
        let linked = &self.answers;
        let strays = linked.strays.iter().map(|(key, stray)| (key.clone(), stray.clone()));
        let saved = Saved {
            reducer: self.reducer.clone(),
            chunks: hyper
                .chunks
                .iter()
                .map(|chunk| (chunk.block, chunk.before, chunk.from, chunk.to))
                .collect(),
            blocks: hyper.blocks.iter().map(save_block).collect(),
            messages: hyper.messages.iter().map(save_message).collect(),
            steps: self.steps.clone(),
            beside: self.beside.all(),
            active: hyper.active.clone(),
            answers: linked.answers.iter().collect(),
            calls: linked.calls.iter().collect(),
            strays: strays.collect(),
            latest: sorted(&linked.latest),
            numbers: sorted(&self.numbers),
            awaited: sorted(&self.awaited),
            early: sorted(&self.early),
        };
        saved.serialize(serializer)
    }
}

/// What a map holds, by key: what is equal is saved as equal text.
fn sorted<K: Clone + Ord, V: Clone + Ord>(map: &HashMap<K, V, FixedState>) -> Vec<(K, V)> {
    let mut entries: Vec<_> = map.iter().map(|(id, value)| (id.clone(), value.clone())).collect();
    entries.sort_unstable();
    entries
}

fn save_block(block: &Block) -> SavedBlock {
    let Block { node, message, nth, from, to, last_chunk, before, before_in_run, before_of_node, .. } =
        *block;
    SavedBlock { node, message, nth, from, to, last_chunk, before, before_in_run, before_of_node }
}

fn save_message(message: &Message) -> SavedMessage {
    let Message { id, speaker, run, parent, last_block, before, replaced_by, summary } = message.clone();
    let summary = summary.map(|summary| Arc::clone(&summary.text));
    SavedMessage { id, speaker, run, parent, last_block, before, replaced_by, summary }
}

impl<'de> Deserialize<'de> for Conversation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        saved.check().map_err(D::Error::custom)?;
        let mut conversation = Self { reducer: saved.reducer, steps: saved.steps, ..Self::default() };
        let linked = &mut conversation.answers;
        saved.answers.into_iter().for_each(|(call, answer)| linked.answers.set(call, answer));
        saved.calls.into_iter().for_each(|(answer, call)| linked.calls.set(answer, call));
        for ((_, _, run), stray) in saved.strays.iter().filter(|(_, stray)| stray.call != NOWHERE) {
            linked.lent.insert(stray.call, *run);
        }
        linked.strays = saved.strays.into_iter().collect();
        linked.latest = saved.latest.into_iter().collect();
        conversation.beside = saved.beside.into_iter().collect();
        conversation.numbers = saved.numbers.into_iter().collect();
        conversation.awaited = saved.awaited.into_iter().collect();
        conversation.early = saved.early.into_iter().collect();
        let hyper = &mut conversation.hyper;
        hyper.active = saved.active;
        hyper.chunks = saved.chunks.into_iter().map(load_chunk).collect();
        for block in saved.blocks {
            let run = conversation.reducer.graph().at(block.node).map_or(0, |node| node.run_place);
            hyper.load_block(run, &block);
        }
        saved.messages.into_iter().for_each(|message| hyper.load_message(message));
        hyper.load_sources();
        conversation.stage = Stage::of(hyper);
        hyper.messages.iter().for_each(|_| conversation.forest.plant());
        for (place, message) in hyper.messages.iter().enumerate() {
            if message.parent != NOWHERE {
                conversation.forest.join(message.parent, place as Place);
            }
        }
        Ok(conversation)
    }
}

impl Saved {
    /// Whether every place that is written down exists; what was saved by somebody else is not trusted.
    fn check(&self) -> Result<(), &'static str> {
        let within = |place: Place, count: usize| place == NOWHERE || (place as usize) < count;
        let (chunks, blocks, messages) = (self.chunks.len(), self.blocks.len(), self.messages.len());
        let nodes = self.reducer.graph().len();
        let chunks_fit = self.chunks.iter().all(|(block, before, from, to)| {
            (*block as usize) < blocks && within(*before, chunks) && from <= to
        });
        let blocks_fit = self.blocks.iter().enumerate().all(|(place, block)| {
            let earlier = |other: Place| other == NOWHERE || (other as usize) < place;
            (block.node as usize) < nodes
                && (block.message as usize) < messages
                && (block.last_chunk as usize) < chunks
                && [block.before, block.before_in_run, block.before_of_node].into_iter().all(earlier)
        });
        let is_summary =
            |place: &Place| self.messages.get(*place as usize).is_some_and(|it| it.summary.is_some());
        let messages_fit = self.messages.iter().all(|message| {
            within(message.parent, messages)
                && within(message.last_block, blocks)
                && within(message.before, messages)
                && (message.replaced_by == NOWHERE || is_summary(&message.replaced_by))
        });
        let awaited_fit = self.awaited.iter().all(|(_, waiting)| waiting.iter().all(is_summary));
        let steps_fit = self.steps.iter().all(|step| {
            let known = [step.message, step.structural, step.first, step.last];
            known.into_iter().all(|place| within(place, messages)) && within(step.block, blocks)
        });
        let beside_fit = self
            .beside
            .iter()
            .all(|(_, _, open)| within(open.message, messages) && within(open.block, blocks));
        let known = |place: &Place| (*place as usize) < nodes;
        let linked = self.answers.iter().chain(&self.calls);
        let latest_fit = self.latest.iter().all(|(_, latest)| match latest {
            Latest::Call(call) => known(call),
            Latest::Waits(_) => true,
        });
        let strays_fit =
            self.strays.iter().all(|(_, stray)| within(stray.call, nodes) && stray.nodes.iter().all(known));
        let answers_fit =
            linked.into_iter().all(|(from, to)| known(from) && known(to)) && latest_fit && strays_fit;
        let fit =
            chunks_fit && blocks_fit && messages_fit && steps_fit && beside_fit && answers_fit && awaited_fit;
        if !fit {
            return Err("the saved conversation points to places it does not have");
        }
        if self.goes_in_circles() {
            return Err("in the saved conversation a summary stands for itself");
        }
        Ok(())
    }

    /// Whether a message comes to be replaced by itself. All places must exist.
    fn goes_in_circles(&self) -> bool {
        // In which round each message was come by first; whoever is met again in the same round is on a circle.
        let mut rounds = vec![NOWHERE; self.messages.len()];
        (0..self.messages.len()).any(|start| {
            let mut at = start;
            while rounds[at] == NOWHERE {
                rounds[at] = start as Place;
                match self.messages[at].replaced_by {
                    NOWHERE => return false,
                    over => at = over as usize,
                }
            }
            rounds[at] == start as Place
        })
    }
}

fn load_chunk((block, before, from, to): (Place, Place, u32, u32)) -> Chunk {
    Chunk { block, before, from, to }
}

impl Hypergraph {
    fn load_block(&mut self, run: u32, saved: &SavedBlock) {
        let SavedBlock { node, message, nth, from, to, last_chunk, before, before_in_run, before_of_node } =
            *saved;
        let place = self.blocks.len() as Place;
        super::conversation::put(&mut self.last_block_of, run, place);
        super::conversation::put(&mut self.block_of, node, place);
        self.blocks.push(Block {
            node,
            message,
            nth,
            from,
            to,
            last_chunk,
            before,
            before_in_run,
            before_of_node,
            far_before: self.far_before(before_of_node),
        });
    }

    fn load_message(&mut self, saved: SavedMessage) {
        let SavedMessage { id, speaker, run, parent, last_block, before, replaced_by, summary } = saved;
        let summary = summary.map(|text| Arc::new(Summary { text, sources: imbl::Vector::new() }));
        self.message_ids.insert(hash(id.as_str()), self.messages.len() as Place);
        self.messages.push(Message { id, speaker, run, parent, last_block, before, replaced_by, summary });
    }

    /// Gives summaries the messages that they replace.
    fn load_sources(&mut self) {
        for place in 0..self.messages.len() {
            let summary = self.messages[place].replaced_by;
            if let Some(summary) =
                self.messages.get_mut(summary as usize).and_then(|over| over.summary.as_mut())
            {
                Arc::make_mut(summary).sources.push_back(place as Place);
            }
        }
    }
}
