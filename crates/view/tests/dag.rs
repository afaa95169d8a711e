//! The laws of the laid-out graph, on streams that nobody wrote.

use std::collections::HashMap;

use antiphon_event::Event;
use antiphon_testkit::{history, shape, stream};
use antiphon_view::dag::{self, Dag, EdgeKind, Group, Layout, Node};
use antiphon_view::{Changes, Fold, Projected, View};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

type Folded = Fold<Projected<Dag>>;

fn layout(fold: &Folded) -> &Layout {
    fold.view().projection().layout()
}

fn snapshot(fold: &Folded) -> Value {
    json!(layout(fold))
}

fn apart((ax, ay, aw, ah): (i64, i64, i64, i64), (bx, by, bw, bh): (i64, i64, i64, i64)) -> bool {
    ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay
}

fn of_node(node: &Node) -> (i64, i64, i64, i64) {
    (node.x, node.y, node.w, node.h)
}

fn of_group(group: &Group) -> (i64, i64, i64, i64) {
    (group.x, group.y, group.w, group.h)
}

/// Checks all that must hold of a layout.
fn check(layout: &Layout) -> Result<(), TestCaseError> {
    let nodes: HashMap<_, _> = layout.nodes.iter().map(|node| (&*node.id, node)).collect();
    prop_assert_eq!(nodes.len(), layout.nodes.len(), "ids are unique");
    prop_assert!(layout.x <= 0 && layout.y <= 0);
    let (right, bottom) = (layout.x + layout.width, layout.y + layout.height);
    for (at, node) in layout.nodes.iter().enumerate() {
        prop_assert!(node.x >= layout.x && node.x + node.w <= right, "{} is out of the picture", node.id);
        prop_assert!(node.y >= layout.y && node.bottom() <= bottom, "{} is out of the picture", node.id);
        for other in &layout.nodes[at + 1..] {
            prop_assert!(apart(of_node(node), of_node(other)), "{} overlaps {}", node.id, other.id);
        }
    }
    for edge in &layout.edges {
        let (from, to) = (nodes[&*edge.from], nodes[&*edge.to]);
        prop_assert!(to.y >= from.bottom() + 14, "{} to {} does not point down", edge.from, edge.to);
        // The first block of a run may be a guest in somebody else's message, such as a result.
        let is_guest =
            layout.nodes.iter().any(|node| node.message_id == to.message_id && node.run_id != to.run_id);
        if edge.kind == EdgeKind::Spawn && !is_guest {
            prop_assert!(to.x > from.x + from.w, "{} stands left of {}", edge.to, edge.from);
        }
    }
    for (at, group) in layout.groups.iter().enumerate() {
        for other in &layout.groups[at + 1..] {
            prop_assert!(apart(of_group(group), of_group(other)), "{} overlaps {}", group.id, other.id);
        }
        prop_assert!(group.x >= layout.x && group.x + group.w <= right);
        prop_assert!(group.y >= layout.y && group.bottom() <= bottom);
        let mut members = 0;
        for node in &layout.nodes {
            if node.message_id == group.id {
                members += 1;
                let inside = node.x >= group.x
                    && node.y >= group.y
                    && node.x + node.w <= group.x + group.w
                    && node.bottom() <= group.bottom();
                prop_assert!(inside, "{} is not inside {}", node.id, group.id);
            } else {
                prop_assert!(apart(of_node(node), of_group(group)), "{} is inside {}", node.id, group.id);
            }
        }
        prop_assert!(members > 0, "{} is empty", group.id);
    }
    Ok(())
}

/// Streams as they come, out of order, and of runs that come before or after what they hang from.
fn streams() -> impl Strategy<Value = Vec<Event>> {
    prop_oneof![stream(), stream().prop_shuffle(), late(24), side_by_side()]
}

/// Nodes that speak side by side in the run of their flow, and end when they like.
fn side_by_side() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec((0_usize..12, 0_usize..4, 0_usize..3), 0..48).prop_map(|steps| {
        let mut table = String::from("f run_start\n");
        for (nth, (kind, node, id)) in steps.into_iter().enumerate() {
            let line = match kind {
                0 | 1 => format!("f node_start n{node} 1 1"),
                2 => format!("f harness_start nodeId=n{node}"),
                3 => format!("f text t{id} \"some more of it\" nodeId=n{node}"),
                4 | 5 => format!("f text t{nth} so nodeId=n{node} messageId=m{nth}"),
                6 => format!("f tool_call c{id} bash nodeId=n{node}"),
                7 => format!("f tool_progress p{nth} c{id} going nodeId=n{node}"),
                8 => format!("f tool_result c{id} \"{}\" nodeId=n{node}", "long ".repeat(node * 6)),
                9 => format!("f harness_end {} nodeId=n{node}", ["done", "interrupted", "error"][id]),
                10 => format!("f node_end n{node}"),
                _ => ["f run_end PENDING", "f resumed", "f usage"][id].to_owned(),
            };
            table.push_str(&line);
            table.push('\n');
        }
        history(&table)
    })
}

/// Runs that hang from one another, in any order.
fn late(runs: usize) -> impl Strategy<Value = Vec<Event>> {
    let run = (any::<Index>(), any::<bool>(), any::<bool>());
    prop::collection::vec(run, 1..runs)
        .prop_map(|runs| family(&runs))
        .prop_shuffle()
        .prop_map(|runs| runs.concat())
}

/// The events of each run: what it says first and how it ends, hung from a call or a remark of one before it.
fn family(runs: &[(Index, bool, bool)]) -> Vec<Vec<Event>> {
    let mut said = Vec::new();
    for (run, (parent, spawned, ends)) in runs.iter().enumerate() {
        let parent = if run == 0 {
            "nobody".into()
        } else {
            format!("{}{}", if *spawned { 'c' } else { 't' }, parent.index(run))
        };
        let mut events = vec![
            event(&format!(
                r#"{{"type":"text","runId":"r{run}","parentId":"{parent}","id":"t{run}","content":"so"}}"#
            )),
            event(&format!(
                r#"{{"type":"tool_call","runId":"r{run}","id":"c{run}","name":"agent","input":{{}}}}"#
            )),
        ];
        events.extend(ends.then(|| event(&format!(r#"{{"type":"harness_end","runId":"r{run}"}}"#))));
        said.push(events);
    }
    said
}

fn event(json: &str) -> Event {
    Event::from_json(json).expect("valid")
}

fn config() -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: wanted.unwrap_or(64), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nothing_overlaps_and_every_arrow_points_down(events in streams()) {
        let mut fold = Folded::default();
        for event in &events {
            fold.apply(event, &mut Changes::unwanted());
        }
        check(layout(&fold))?;
        let conversation = fold.view().conversation().snapshot();
        prop_assert_eq!(layout(&fold).nodes.len(), conversation.block_count());
    }

    #[test]
    fn the_laws_hold_after_every_event_and_changes_say_all(events in streams()) {
        let mut fold = Folded::default();
        let mut seen = snapshot(&fold);
        let mut changes = Changes::wanted();
        for (position, event) in events.iter().enumerate() {
            fold.apply(event, &mut changes);
            for change in changes.take() {
                prop_assert!(change.apply(&mut seen), "leads nowhere at {}", position);
            }
            prop_assert_eq!(&seen, &snapshot(&fold), "at {}", position);
            if position % 16 == 0 {
                check(layout(&fold))?;
            }
        }
    }

    #[test]
    fn blocks_move_down_and_of_two_parts_that_are_joined_the_smaller_moves_up(events in streams()) {
        let mut fold = Folded::default();
        let mut before: Vec<i64> = Vec::new();
        for event in &events {
            fold.apply(event, &mut Changes::unwanted());
            let now: Vec<_> = layout(&fold).nodes.iter().map(|node| node.y).collect();
            let raised = before.iter().zip(&now).filter(|(was, is)| was > is).count();
            prop_assert!(raised <= now.len() / 2, "{raised} of {} moved up", now.len());
            before = now;
        }
    }

    #[test]
    fn saved_and_loaded_it_goes_on_as_if_nothing_had_happened(events in streams(), cut in any::<Index>()) {
        let (first, rest) = events.split_at(cut.index(events.len() + 1));
        let saved = serde_json::to_string(&Folded::of(first)).expect("views are saved as JSON");
        let mut loaded: Folded = serde_json::from_str(&saved).expect("was saved");
        for event in rest {
            loaded.apply(event, &mut Changes::unwanted());
        }
        prop_assert_eq!(snapshot(&loaded), snapshot(&Folded::of(&events)));
    }

    #[test]
    fn pictures_can_be_drawn_of_anything(events in streams()) {
        let fold = Folded::of(&events);
        let layout = layout(&fold);
        let pictures = [dag::svg(layout), dag::mermaid(layout), dag::dot(layout), dag::text(layout, 60)];
        for picture in pictures {
            prop_assert!(!picture.chars().any(|c| c.is_control() && c != '\n'));
        }
        prop_assert!(dag::text(layout, 60).lines().all(|line| line.chars().count() <= 60));
    }
}

/// How often each block was moved or changed after it was placed.
fn moves(events: &[Event]) -> usize {
    let mut fold = Folded::default();
    let mut changes = Changes::wanted();
    let mut moved = 0;
    for event in events {
        fold.apply(event, &mut changes);
        let is_move = |path: &[antiphon_view::Step<'_>]| {
            path.first() == Some(&"nodes".into()) && path.last() == Some(&"y".into())
        };
        moved += changes.take().iter().filter(|change| is_move(&change.path)).count();
    }
    moved
}

#[test]
fn what_is_appended_moves_nothing() {
    let shapes: [(&str, Vec<Event>); 4] = [
        ("tools", shape::tools(50)),
        ("subagents", shape::subagents(50)),
        ("iterations", shape::iterations(50)),
        ("interleaved", shape::interleaved(200, 10)),
    ];
    for (name, events) in shapes {
        assert_eq!(moves(&events), 0, "{name}");
    }
}

/// A table with a line for each of so many numbers.
fn each(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|number| line(number) + "\n").collect()
}

#[test]
fn what_was_sure_to_come_higher_up_moves_nothing() {
    let long = "long ".repeat(20);
    let starts = each(50, |n| format!("f node_start n{n} 1 1"));
    let texts = each(50, |n| format!("f text t{n} hello nodeId=n{n}"));
    let calls = each(50, |n| format!("a text t{n} so messageId=m{n}\na tool_call c{n} bash messageId=m{n}"));
    let tables = [
        ("nodes", format!("f run_start\n{starts}{texts}{}", each(50, |n| format!("f node_end n{n}")))),
        ("nodes that end from the last", {
            format!("f run_start\n{starts}{texts}{}", each(50, |n| format!("f node_end n{}", 49 - n)))
        }),
        (
            "nodes that say when they speak",
            format!(
                "f run_start\n{starts}{}{texts}{}{}",
                each(50, |n| format!("f harness_start nodeId=n{n}")),
                each(50, |n| format!("f harness_end done nodeId=n{n}")),
                each(50, |n| format!("f node_end n{n}")),
            ),
        ),
        ("results", calls.clone() + &each(50, |n| format!("a tool_result c{n} ok"))),
        ("long results", calls + &each(50, |n| format!("a tool_result c{n} \"{long}\""))),
        (
            "code",
            each(50, |n| format!("a text t{n} so messageId=m{n}\na repl_input c{n} x messageId=m{n}"))
                + &each(50, |n| format!("a repl_output c{n} \"{long}\"")),
        ),
    ];
    for (name, table) in tables {
        assert_eq!(moves(&history(&table)), 0, "{name}");
    }
}

/// A chain of runs, each hung from the one before by a call or as an answer, told in an order.
fn chain(length: usize, spawned: bool, order: impl Iterator<Item = usize>) -> Vec<Event> {
    let parent = |run: usize| if spawned { format!("c{run}") } else { format!("r{run}") };
    let first = |run: usize| match run.checked_sub(1) {
        Some(before) => format!(
            r#"{{"type":"text","runId":"r{run}","parentId":"{}","id":"t{run}","content":"so"}}"#,
            parent(before)
        ),
        None => r#"{"type":"user","runId":"r0","content":"go"}"#.to_owned(),
    };
    let call = |run: usize| {
        format!(r#"{{"type":"tool_call","runId":"r{run}","id":"c{run}","name":"agent","input":{{}}}}"#)
    };
    let events: Vec<_> = order.flat_map(|run| [event(&first(run)), event(&call(run))]).collect();
    assert_eq!(events.len(), 2 * length, "each run is told once");
    events
}

#[test]
fn a_parent_that_comes_late_costs_no_more_than_one_that_comes_in_time() {
    let length: usize = 512;
    let (half, bits) = (length / 2, length.ilog2() as usize);
    let told = |events: &[Event]| {
        let (mut fold, mut changes) = (Folded::default(), Changes::wanted());
        let mut told = 0;
        for event in events {
            fold.apply(event, &mut changes);
            told += changes.take().len();
        }
        assert_eq!(layout(&fold).edges.len(), 2 * length - 1, "all runs are adopted");
        told
    };
    for spawned in [false, true] {
        let in_time = told(&chain(length, spawned, 0..length));
        let middle_out = (0..half).flat_map(|step| [half - 1 - step, half + step]);
        let inward = (0..half).flat_map(|step| [length - 1 - step, step]);
        let shuffled = (0..length).map(|step| (step * 197) % length);
        let halves = (0..=bits + 1)
            .rev()
            .flat_map(|bit| (0..length).filter(move |run| (run + 1).trailing_zeros() as usize == bit));
        let orders: [(&str, Vec<Event>, usize); 6] = [
            ("reversed", chain(length, spawned, (0..length).rev()), 3),
            ("middle out", chain(length, spawned, middle_out), 3),
            ("from both ends", chain(length, spawned, inward), 3),
            (
                "evens, then odds",
                chain(length, spawned, (0..length).step_by(2).chain((1..length).step_by(2))),
                bits,
            ),
            ("shuffled", chain(length, spawned, shuffled), bits),
            ("in ever smaller steps", chain(length, spawned, halves), bits),
        ];
        for (name, events, times) in orders {
            let late = told(&events);
            assert!(late <= times * in_time, "{name}: {late} changes, in time {in_time}");
        }
    }
}

#[test]
fn a_snapshot_has_the_name_of_the_view() {
    assert_eq!(<Projected<Dag> as View>::NAME, "dag");
}
