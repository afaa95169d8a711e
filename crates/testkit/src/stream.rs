//! [`stream`]: event streams that nobody wrote, from the ordinary to the broken.
//!
//! A stream is made of scripts, small tables of what really happens, woven into one another event by event;
//! then it is numbered as a journal would, or not, and damaged. It shrinks to few, unwoven, whole scripts.

mod damage;
mod script;

use std::collections::VecDeque;

use antiphon_event::{Event, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

use damage::{damage, fault, faults};
use script::{Script, script};

/// Who gives the events of a stream their positions.
#[derive(Debug, Clone, Copy)]
enum Journal {
    /// Nobody: no positions, no moments, no session.
    Absent,
    /// One branch of one session.
    OneBranch,
    /// Two branches that are written at once; every other script is on the second.
    TwoBranches,
    /// A relay that knows the moment and nothing else.
    ClockOnly,
}

/// Streams of up to a few hundred events, valid one by one but not always as a whole: calls without results,
/// results without calls, parents that come late, never, or in circles, repeats, gaps, unknown types.
pub fn stream() -> impl Strategy<Value = Vec<Event>> {
    let journal = prop_oneof![
        3 => Just(Journal::Absent),
        3 => Just(Journal::OneBranch),
        1 => Just(Journal::TwoBranches),
        1 => Just(Journal::ClockOnly),
    ];
    let parts = (vec(script(), 1..6), vec(0_u8..6, 0..16), journal);
    let harm = (vec(damage(), 0..6), vec(fault(), 0..3), any::<bool>());
    (parts, harm).prop_map(|((scripts, weave, journal), (damages, after, bare))| {
        let mut tagged = woven(&scripts, &weave);
        for damage in &damages {
            damage.harm(&mut tagged);
        }
        let mut events = number(tagged, journal);
        if bare {
            events.iter_mut().for_each(undress);
        }
        faults(&mut events, &after);
        events
    })
}

/// An event and the number of the script it came from.
type Tagged = (usize, Event);

/// Takes the scripts' events in turns: each number says whose turn it is, over and over.
fn woven(scripts: &[Script], weave: &[u8]) -> Vec<Tagged> {
    let mut queues: VecDeque<_> =
        scripts.iter().enumerate().map(|(index, script)| (index, VecDeque::from(script.events()))).collect();
    let mut turns = weave.iter().cycle();
    let mut events = Vec::new();
    while !queues.is_empty() {
        let turn = turns.next().map_or(0, |turn| usize::from(*turn)) % queues.len();
        let (index, queue) = &mut queues[turn];
        events.extend(queue.pop_front().map(|event| (*index, event)));
        if queue.is_empty() {
            queues.remove(turn);
        }
    }
    events
}

fn number(tagged: Vec<Tagged>, journal: Journal) -> Vec<Event> {
    let mut last = [0_u64; 2];
    let number = |(position, (script, mut event)): (usize, Tagged)| {
        let moment = Timestamp::from_millis(1_800_000_000_000 + position as i64 * 250);
        let branch = match journal {
            Journal::Absent => return event,
            Journal::ClockOnly => {
                event.head.at = event.head.at.or(moment);
                return event;
            }
            Journal::OneBranch => 0,
            Journal::TwoBranches => script % 2,
        };
        last[branch] += 1;
        event.head.at = event.head.at.or(moment);
        event.head.seq = Some(last[branch]);
        event.head.session_id = Some("s".into());
        event.head.branch_id = Some(["main", "other"][branch].into());
        event
    };
    tagged.into_iter().enumerate().map(number).collect()
}

/// Takes away what only some producers say.
fn undress(event: &mut Event) {
    event.head.event_flow_id = None;
    event.head.trace_id = None;
    event.head.span_id = None;
    event.head.parent_span_id = None;
    event.head.agent = None;
    event.head.message_id = None;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use antiphon_event::Kind;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn every_event_is_valid_and_nearly_every_type_comes_up() {
        let mut runner = TestRunner::deterministic();
        let mut kinds = BTreeSet::new();
        for _ in 0..200 {
            let events = stream().new_tree(&mut runner).expect("generates").current();
            for event in &events {
                assert_eq!(Event::from_json(&event.to_json()).as_ref(), Ok(event));
            }
            kinds.extend(events.iter().map(Event::kind));
        }
        let missing: Vec<_> = Kind::ALL.iter().filter(|kind| !kinds.contains(kind)).collect();
        assert!(missing.is_empty(), "never generated: {missing:?}");
        assert!(kinds.contains(&Kind::Unknown));
    }

    #[test]
    fn a_failure_shrinks_to_a_few_events() {
        let mut runner = TestRunner::deterministic();
        let bad = |events: &[Event]| events.iter().any(|event| event.kind() == Kind::ModelRetry);
        let mut tree = std::iter::repeat_with(|| stream().new_tree(&mut runner).expect("generates"))
            .find(|tree| bad(&tree.current()))
            .expect("retries come up");
        let mut steps = 0;
        while steps < 500 && if bad(&tree.current()) { tree.simplify() } else { tree.complicate() } {
            steps += 1;
        }
        assert!(tree.current().len() < 20, "{} events left", tree.current().len());
    }
}
