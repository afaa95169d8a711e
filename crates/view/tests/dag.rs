//! The laws of the laid-out graph, on streams that nobody wrote.

use std::collections::HashMap;

use antiphon_event::Event;
use antiphon_testkit::{shape, stream};
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
    for (at, node) in layout.nodes.iter().enumerate() {
        prop_assert!(
            node.x >= 0 && node.y >= 0 && node.x + node.w <= layout.width && node.bottom() <= layout.height
        );
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
        prop_assert!(group.bottom() <= layout.height && group.x + group.w <= layout.width);
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

fn config() -> ProptestConfig {
    ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nothing_overlaps_and_every_arrow_points_down(events in stream()) {
        let mut fold = Folded::default();
        for event in &events {
            fold.apply(event, &mut Changes::unwanted());
        }
        check(layout(&fold))?;
        let conversation = fold.view().conversation().snapshot();
        prop_assert_eq!(layout(&fold).nodes.len(), conversation.block_count());
    }

    #[test]
    fn the_laws_hold_after_every_event_and_changes_say_all(events in stream()) {
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
    fn blocks_move_down_and_never_up(events in stream()) {
        let mut fold = Folded::default();
        let mut before: Vec<i64> = Vec::new();
        for event in &events {
            fold.apply(event, &mut Changes::unwanted());
            let now: Vec<_> = layout(&fold).nodes.iter().map(|node| node.y).collect();
            prop_assert!(before.iter().zip(&now).all(|(was, is)| was <= is));
            before = now;
        }
    }

    #[test]
    fn saved_and_loaded_it_goes_on_as_if_nothing_had_happened(events in stream(), cut in any::<Index>()) {
        let (first, rest) = events.split_at(cut.index(events.len() + 1));
        let saved = serde_json::to_string(&Folded::of(first)).expect("views are saved as JSON");
        let mut loaded: Folded = serde_json::from_str(&saved).expect("was saved");
        for event in rest {
            loaded.apply(event, &mut Changes::unwanted());
        }
        prop_assert_eq!(snapshot(&loaded), snapshot(&Folded::of(&events)));
    }

    #[test]
    fn pictures_can_be_drawn_of_anything(events in stream()) {
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

#[test]
fn a_snapshot_has_the_name_of_the_view() {
    assert_eq!(<Projected<Dag> as View>::NAME, "dag");
}
