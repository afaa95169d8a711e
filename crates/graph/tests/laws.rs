//! What holds for the graphs of any stream.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_event::Event;
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
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn the_graph_is_acyclic_and_the_tiers_are_whole(events in stream()) {
        let hyper = converse(&events).snapshot();
        assert_acyclic(hyper.graph());
        assert_whole(&hyper, events.len());
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
    let shapes: [(&str, fn(usize) -> Vec<Event>); 5] = [
        ("iterations", shape::iterations),
        ("tools", shape::tools),
        ("subagents", shape::subagents),
        ("alternating", shape::alternating),
        ("interleaved", |n| shape::interleaved(n, 10)),
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
