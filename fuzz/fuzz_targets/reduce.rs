//! Whatever can be read, through the graph reducers: no panic, no cycle, and nothing lost when saved.
//!
//! The input is JSON lines as they stand, so that recorded histories are seeds.

#![no_main]

use antiphon_event::{Event, Lines};
use antiphon_graph::{Conversation, Graph, Reducer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let events = read(input);
    let mut reducer = Reducer::default();
    let mut conversation = Conversation::default();
    for event in &events {
        reducer.apply(event);
        conversation.apply(event);
    }
    check_forest(reducer.graph());
    check_saved(&reducer);
    check_hypergraph(&conversation);
});

fn read(input: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut lines = Lines::new();
    lines.feed(input, |event| events.extend(event));
    lines.finish(|event| events.extend(event));
    events
}

/// Every node is reached from a root, once: there is no cycle and no edge twice.
fn check_forest(graph: &Graph) {
    let reached: usize = graph.roots().map(|root| graph.walk(root.id().as_str()).count()).sum();
    assert_eq!(reached, graph.len(), "the graph is a forest");
    for run in graph.runs() {
        graph.text_of(run.as_str());
    }
}

/// A reducer that was saved and loaded has the same graph.
fn check_saved(reducer: &Reducer) {
    let saved = serde_json::to_string(reducer).expect("a reducer can be saved");
    let loaded: Reducer = serde_json::from_str(&saved).expect("a saved reducer can be loaded");
    let written = |reducer: &Reducer| serde_json::to_string(reducer.graph()).expect("a graph is JSON");
    assert_eq!(written(&loaded), written(reducer), "nothing is lost when a graph is saved");
}

/// No chunk is without a block, and no block in two messages.
fn check_hypergraph(conversation: &Conversation) {
    let hypergraph = conversation.snapshot();
    let messages = 0..hypergraph.messages().len() as u32;
    let mut blocks: Vec<_> = messages.flat_map(|message| hypergraph.blocks_of(message)).collect();
    blocks.sort_unstable();
    let listed = blocks.len();
    blocks.dedup();
    assert_eq!(listed, blocks.len(), "a block is in one message");
    let chunks: usize = blocks.iter().map(|block| hypergraph.chunks_of(*block).len()).sum();
    assert_eq!(chunks, hypergraph.chunk_count(), "every chunk is in a block of a message");
    hypergraph.walk();
    hypergraph.hyperedges().for_each(drop);
}
