//! Laws of `why` and `diff` on histories that make no sense: parts of real ones, in any order.

use antiphon_event::{Event, Lines};
use antiphon_testkit::stream;
use antiphon_view::diff::diff;
use antiphon_view::why::{CAUSES_MAX, Causes};
use antiphon_view::{Changes, Fold, View};
use proptest::collection::vec;
use proptest::prelude::*;

/// Events of all recorded histories and one of every type, without positions.
fn pool() -> Vec<Event> {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut paths = vec![format!("{root}/../event/tests/wire/every_type.jsonl")];
    for name in ["concurrent-tools", "nested-subagents", "flow-with-cycle", "rlm-session"] {
        paths.push(format!("{root}/../../examples/histories/{name}.jsonl"));
    }
    let mut events = Vec::new();
    for path in paths {
        let mut lines = Lines::new();
        lines.feed(&std::fs::read(path).expect("a history"), |event| {
            let mut event: Event = event.expect("an event");
            event.head.seq = None;
            events.push(event);
        });
    }
    events
}

/// Stretches of the pool, one after another.
fn jumble() -> impl Strategy<Value = Vec<Event>> {
    let pool = pool();
    vec((0..pool.len(), 1..12_usize), 0..12).prop_map(move |stretches| {
        let stretches = stretches.into_iter();
        stretches.flat_map(|(start, length)| pool[start..].iter().take(length).cloned()).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_event_has_an_answer_that_ends(events in jumble()) {
        let fold = Fold::<Causes>::of(&events);
        for index in 0..events.len() {
            let why = fold.view().why_nth(index).expect("every event is known");
            prop_assert!(!why.cut && why.causes.len() <= CAUSES_MAX);
        }
        prop_assert!(fold.view().why_nth(events.len()).is_none());
    }

    #[test]
    fn nothing_comes_from_itself(events in stream()) {
        let fold = Fold::<Causes>::of(&events);
        for why in (0..).map_while(|index| fold.view().why_nth(index)) {
            prop_assert!(!why.cut, "{:?}", why.causes[0]);
        }
    }

    #[test]
    fn a_saved_fold_goes_on_and_its_changes_lead_to_its_snapshot(events in jumble(), at in any::<prop::sample::Index>()) {
        let half = at.index(events.len() + 1);
        let mut fold = Causes::default();
        let mut changes = Changes::wanted();
        let mut snapshot = serde_json::to_value(fold.snapshot()).expect("JSON");
        for (index, event) in events.iter().enumerate() {
            if index == half {
                let saved = serde_json::to_string(&fold).expect("a fold can be saved");
                fold = serde_json::from_str(&saved).expect("a saved fold can be loaded");
            }
            fold.apply(event, &mut changes);
            for change in changes.take() {
                prop_assert!(change.apply(&mut snapshot));
            }
        }
        prop_assert_eq!(&snapshot, &serde_json::to_value(fold.snapshot()).expect("JSON"));
        let whole = Fold::<Causes>::of(&events);
        prop_assert_eq!(&fold, whole.view());
    }

    #[test]
    fn a_history_does_not_differ_from_itself(events in jumble()) {
        let found = diff(&events, &events);
        prop_assert!(found.same);
        prop_assert_eq!(found.common, events.len() as u64);
    }

    #[test]
    fn what_only_one_has_only_the_other_lacks(a in jumble(), b in jumble()) {
        let (there, back) = (diff(&a, &b), diff(&b, &a));
        prop_assert_eq!(there.same, back.same);
        prop_assert_eq!(there.said.len(), back.said.len());
        prop_assert_eq!(there.called.len(), back.called.len());
        prop_assert_eq!(there.decided.len(), back.decided.len());
        prop_assert_eq!(there.ran.len(), back.ran.len());
        prop_assert_eq!(there.spent.a, back.spent.b);
    }
}
