//! Swarms: whatever way the work goes, the agent that was handed it has it, alone, and the last one answers.
//!
//! The rule is proved on paths that chance makes, against the path itself; a failure names the seed.

use std::collections::BTreeMap;

use antiphon_event::{Body, Event, Json, NodeStatus, Timestamp};
use antiphon_flow::function::Reply;
use antiphon_flow::{Attempt, Effect, Flow, Input, Now, Origin, Scheduler, Swarm};
use serde_json::{Value, json};

const PATHS: u64 = 3000;
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// One number after another, from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// A run of a swarm, driven by hand.
struct Drive {
    run: Scheduler,
    history: Vec<Event>,
}

impl Drive {
    fn new(flow: Flow) -> Self {
        Self { run: Scheduler::new(flow, origin()), history: Vec::new() }
    }

    /// Hands an input in and gives what has to be performed then.
    fn step(&mut self, input: Input) -> Vec<Attempt> {
        let mut wanted = Vec::new();
        let mut events = self.run.decide(input, now()).expect("it is taken");
        while !events.is_empty() {
            for event in events {
                let effects = self.run.apply(&event).into_iter();
                wanted.extend(effects.filter_map(|effect| match effect {
                    Effect::Perform(attempt) => Some(attempt),
                    _ => None,
                }));
                self.history.push(event);
            }
            events = self.run.advance(now());
        }
        wanted
    }

    fn start(&mut self) -> Vec<Attempt> {
        self.step(Input::Start { task: Json::from("task"), state: BTreeMap::new() })
    }

    fn give(&mut self, attempt: Attempt, output: Value) -> Vec<Attempt> {
        self.step(Input::Outcome { attempt, result: Ok(Reply::new(output)) })
    }

    fn output(&self) -> Option<String> {
        let last = self.history.last()?;
        let Body::RunEnd(end) = &last.body else { return None };
        Some(end.final_output.as_str().to_owned())
    }
}

fn origin() -> Origin {
    Origin { run: "r".into(), parent: None, turn: None, path: Vec::new(), item: false, span: None }
}

fn now() -> Now {
    Now { at: Timestamp::from_millis(1).expect("a moment"), dice: 0.0, steps: None }
}

fn swarm(names: &[&str], entry: usize, max_handoffs: u64, max_turns: u32) -> Flow {
    let agents = names.iter().map(|name| ((*name).to_owned(), Json::from(json!({})))).collect();
    let entry = Some(names[entry].to_owned());
    let swarm = Swarm { agents, entry, max_handoffs: Some(max_handoffs), max_turns: Some(max_turns) };
    swarm.flow("swarm", "agent").expect("a sound swarm")
}

#[test]
fn the_work_goes_where_it_is_handed_and_the_last_one_answers() {
    (0..PATHS).for_each(follow);
}

fn follow(seed: u64) {
    let mut dice = Dice(seed);
    let names = &NAMES[..2 + dice.below(4)];
    let (handoffs, max_handoffs) = (dice.below(12), 1 + dice.below(12));
    let max_turns = 1 + dice.below(8);
    let mut at = dice.below(names.len());
    let mut drive = Drive::new(swarm(names, at, max_handoffs as u64, max_turns as u32));
    let mut turns = vec![0; names.len()];
    let mut wanted = drive.start();
    for handoff in 0..=handoffs {
        turns[at] += 1;
        let attempt = Attempt { node: at, execution: turns[at], attempt: 1 };
        assert_eq!(wanted, [attempt], "seed {seed}, handoff {handoff}: only who has the work works");
        if handoff == handoffs {
            wanted = drive.give(attempt, json!(format!("answer of {}", names[at])));
            break;
        }
        let to = (at + 1 + dice.below(names.len() - 1)) % names.len();
        let message = format!("message {handoff}");
        wanted = drive.give(attempt, json!({"handoff": names[to], "message": message}));
        let too_often = turns[to] as usize >= max_turns;
        if too_often || handoff >= max_handoffs {
            assert_eq!(drive.run.ended(), Some(&NodeStatus::Failed), "seed {seed}: it is bounded");
            assert_eq!(wanted, [], "seed {seed}: nobody works after the end");
            return;
        }
        let input = drive.run.input(to).value();
        let source = &input.as_array().expect("blocks")[1..];
        let said = |block: &Value| block["text"].as_str().is_some_and(|text| text.contains(&message));
        assert!(
            source.len() == 1 && source[0]["nodeId"] == names[at] && said(&source[0]),
            "seed {seed}: {input}"
        );
        at = to;
    }
    assert_eq!(wanted, [], "seed {seed}: nobody works after the answer");
    assert_eq!(drive.run.ended(), Some(&NodeStatus::Completed), "seed {seed}");
    assert_eq!(drive.output(), Some(format!("\"answer of {}\"", names[at])), "seed {seed}");
    for (node, turns) in turns.iter().enumerate() {
        let status = if *turns > 0 { NodeStatus::Completed } else { NodeStatus::Skipped };
        assert_eq!(drive.run.status(node), status, "seed {seed}: who never had the work is skipped");
    }
    let mut again = Scheduler::new(drive.run.flow().clone(), origin());
    for event in &drive.history {
        again.apply(event);
    }
    assert_eq!(
        format!("{again:?}"),
        format!("{:?}", drive.run),
        "seed {seed}: a replay ends where the run did"
    );
}
