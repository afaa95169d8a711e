//! What holds for the graphs of any stream.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::{Body, Event};
use antiphon_graph::{Active, Conversation, Graph, Hypergraph, Reducer};
use antiphon_testkit::{shape, stream};
use proptest::prelude::*;
use serde_json::Value;

fn reduce(events: &[Event]) -> Reducer {
    let mut reducer = Reducer::default();
    for event in events {
        reducer.apply(event);
    }
    reducer
}

fn converse(events: &[Event]) -> Conversation {
    let mut conversation = Conversation::default();
    for event in events {
        conversation.apply(event);
    }
    conversation
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("graphs are JSON")
}

fn load<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let saved = serde_json::to_string(value).expect("it can be saved");
    serde_json::from_str(&saved).expect("it can be loaded")
}

/// Every node has at most one parent and leads to none of its ancestors; edges are unique.
fn assert_acyclic(graph: &Graph) {
    let json = json(graph);
    let mut parent: BTreeMap<&str, &str> = BTreeMap::new();
    for (from, children) in json["edges"].as_object().expect("an object") {
        for child in children.as_array().expect("a list") {
            let child = child.as_str().expect("an id");
            assert!(parent.insert(child, from).is_none(), "{child} has two parents");
        }
    }
    for start in parent.keys() {
        let mut at = *start;
        for _ in 0..=parent.len() {
            match parent.get(at) {
                Some(up) => at = up,
                None => break,
            }
        }
        assert!(!parent.contains_key(at), "{start} is on a cycle");
    }
    assert!(parent.len() <= graph.len());
}

/// Every chunk is in one block, every block in one message, and links point to what is there.
fn assert_whole(hyper: &Hypergraph, events: usize) {
    let json = json(hyper);
    let ids = |of: &str| -> BTreeSet<String> {
        let nodes = json["nodes"].as_array().expect("a list").iter();
        nodes
            .filter(|node| node["kind"] == of)
            .map(|node| node["id"].as_str().expect("text").to_owned())
            .collect()
    };
    let mut parts = BTreeMap::new();
    let edges = json["edges"].as_array().expect("a list");
    for edge in edges {
        if matches!(edge["type"].as_str(), Some("chunk_to_block" | "block_to_message")) {
            for part in edge["roles"]["part"].as_array().expect("parts") {
                let whole = edge["roles"]["whole"][0].clone();
                assert!(
                    parts.insert(part.as_str().expect("an id").to_owned(), whole).is_none(),
                    "{part} is in two"
                );
            }
        }
    }
    for part in ids("chunk").union(&ids("block")) {
        assert!(parts.contains_key(part), "{part} is nowhere");
    }
    let known: BTreeSet<_> = ids("chunk").into_iter().chain(ids("block")).chain(ids("message")).collect();
    assert_eq!(known.len(), json["nodes"].as_array().expect("a list").len(), "ids are unique");
    for edge in edges {
        for end in edge["roles"]
            .as_object()
            .expect("roles")
            .values()
            .flat_map(|ends| ends.as_array().expect("a list"))
        {
            assert!(known.contains(end.as_str().expect("an id")), "{end} is not there: {edge}");
        }
    }
    assert!(edges.len() <= 6 * events + 6, "{} edges for {events} events", edges.len());
    assert_blocks_are_found(hyper);
}

fn assert_blocks_are_found(hyper: &Hypergraph) {
    for place in 0..hyper.block_count() as u32 {
        let id = hyper.block_id(hyper.block(place).expect("there are as many"));
        assert_eq!(hyper.block_place(&id), Some(place), "{id}");
    }
}

/// Following what comes after what, what answers what and what stands for what leads to nothing twice.
fn assert_linked_forwards(hyper: &Hypergraph) {
    let mut ahead: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut waits_for: BTreeMap<String, usize> = BTreeMap::new();
    for edge in hyper.hyperedges() {
        let [(_, from), (_, to)] = &edge.roles[..] else { panic!("a link has two roles") };
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
            ahead.entry(from.clone()).or_default().push(to.clone());
            waits_for.entry(from.clone()).or_default();
            *waits_for.entry(to.clone()).or_default() += 1;
        }
    }
    let mut free: Vec<_> = waits_for.iter().filter(|(_, n)| **n == 0).map(|(id, _)| id.clone()).collect();
    while let Some(id) = free.pop() {
        waits_for.remove(&id);
        for next in ahead.remove(&id).unwrap_or_default() {
            let waits = waits_for.get_mut(&next).expect("it waits for this one");
            *waits -= 1;
            if *waits == 0 {
                free.push(next);
            }
        }
    }
    assert!(waits_for.is_empty(), "on a circle, or behind one: {:?}", waits_for.keys());
}

/// What is seen in each slot, which is what counts, in order.
fn assert_seen_in_order(conversation: &Conversation) -> Vec<Option<u32>> {
    let hyper = conversation.snapshot();
    let count = conversation.message_count() as u32;
    let seen: Vec<_> = (0..count).map(|slot| conversation.seen_in(slot)).collect();
    let walked: Vec<_> = conversation.walk_messages().collect();
    assert_eq!(walked, seen.iter().flatten().copied().collect::<Vec<_>>());
    assert_eq!(walked, hyper.walk_messages(), "as if it were looked at for the first time");
    let active: BTreeSet<_> = (0..count).filter(|message| hyper.is_active(*message)).collect();
    assert_eq!(
        active,
        walked.iter().copied().collect(),
        "what counts is what stands under nothing that does"
    );
    assert!((0..count).all(|message| conversation.is_active(message) == hyper.is_active(message)));
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn what_is_seen_where_follows_every_event(mut events in stream()) {
        let mut conversation = Conversation::default();
        let mut before = Vec::new();
        for event in &mut events {
            // Without a position nothing is a repeat, and every choice counts.
            event.head.seq = None;
            let was = conversation.snapshot();
            conversation.apply(event);
            let seen = assert_seen_in_order(&conversation);
            let shifted = |slot: &usize| before.get(*slot).is_some_and(|was| *was != seen[*slot]);
            let shifted: BTreeSet<_> = (0..seen.len()).filter(shifted).map(|slot| slot as u32).collect();
            let said: BTreeSet<_> = conversation.shifted().iter().copied().collect();
            prop_assert!(shifted.is_subset(&said), "{}: {shifted:?} are not all in {said:?}", event.to_json());
            if let Body::ActiveChanged(choice) = &event.body {
                prop_assert_eq!(conversation.active(), &was.active_after(&choice.op, &choice.ids));
            }
            before = seen;
        }
    }

    #[test]
    fn the_graph_is_acyclic_and_the_tiers_are_whole(events in stream()) {
        let hyper = converse(&events).snapshot();
        assert_acyclic(hyper.graph());
        assert_whole(&hyper, events.len());
        assert_linked_forwards(&hyper);
        let standard = hyper.with_active(Active::standard());
        prop_assert_eq!(standard.validate(), Ok(()));
    }

    #[test]
    fn a_replay_gives_the_same_and_repeats_change_nothing(events in stream()) {
        let once = converse(&events).snapshot();
        prop_assert_eq!(json(&once), json(&converse(&events).snapshot()));
        let mut again = converse(&events);
        for event in events.iter().filter(|event| event.head.seq.is_some()) {
            again.apply(event);
        }
        prop_assert_eq!(json(&once), json(&again.snapshot()));
    }

    #[test]
    fn the_flat_graph_of_a_conversation_is_the_flat_graph(events in stream()) {
        prop_assert_eq!(json(converse(&events).snapshot().graph()), json(reduce(&events).graph()));
    }

    #[test]
    fn a_snapshot_stays_as_it_was_and_a_clone_goes_its_own_way(events in stream(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(events.len() + 1);
        let mut conversation = converse(&events[..cut]);
        let held = conversation.snapshot();
        let was = json(&held);
        let mut clone = conversation.clone();
        for event in &events[cut..] {
            conversation.apply(event);
        }
        prop_assert_eq!(json(&held), was.clone());
        prop_assert_eq!(json(&clone.snapshot()), was);
        for event in &events[cut..] {
            clone.apply(event);
        }
        prop_assert_eq!(json(&clone.snapshot()), json(&conversation.snapshot()));
    }

    #[test]
    fn saved_and_loaded_it_goes_on_as_if_nothing_had_happened(events in stream(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(events.len() + 1);
        let mut loaded = load(&converse(&events[..cut]));
        for event in &events[cut..] {
            loaded.apply(event);
        }
        prop_assert_eq!(json(&loaded.snapshot()), json(&converse(&events).snapshot()));
    }
}

#[test]
fn edges_grow_with_the_events_for_every_shape() {
    let shapes: [(&str, fn(usize) -> Vec<Event>); 7] = [
        ("iterations", shape::iterations),
        ("tools", shape::tools),
        ("subagents", shape::subagents),
        ("alternating", shape::alternating),
        ("interleaved", |n| shape::interleaved(n, 10)),
        ("two nodes", |n| shape::nodes(n, 2)),
        ("as many nodes", |n| shape::nodes(3 * n, n)),
    ];
    for (name, make) in shapes {
        let count = |n: usize| {
            let events = make(n);
            (converse(&events).snapshot().hyperedges().count() as f64) / events.len() as f64
        };
        let (small, large) = (count(100), count(1000));
        assert!(large <= small * 1.1 + 0.1, "{name}: {small} edges per event, then {large}");
    }
}

#[test]
fn every_block_of_a_stream_that_was_interrupted_often_is_found() {
    let conversation = converse(&shape::alternating(1_000));
    assert_blocks_are_found(&conversation.snapshot());
    assert_blocks_are_found(&load(&conversation).snapshot());
    assert_eq!(conversation.snapshot().block_place("block:run-0/t1~501"), None);
    assert_eq!(conversation.snapshot().block_place("block:run-0/t1~0"), None);
}

#[test]
fn a_snapshot_is_read_on_another_thread_while_the_graph_grows() {
    let events = shape::tools(5_000);
    let mut conversation = converse(&events[..10_000]);
    let held = conversation.snapshot();
    let was = json(held.graph());
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            for node in held.graph().nodes() {
                assert_eq!(held.graph().node(node.id().as_str()).map(|found| found.id()), Some(node.id()));
            }
            json(held.graph())
        });
        for event in &events[10_000..] {
            conversation.apply(event);
        }
        assert_eq!(reader.join().expect("the reader reads"), was);
    });
    assert!(conversation.graph().len() > held.graph().len());
}
