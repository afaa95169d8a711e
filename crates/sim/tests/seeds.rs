//! Seeds, one after the other; a failure names the one it happened with.
//!
//! `ANTIPHON_SEEDS=1000..2000` tries others, `ANTIPHON_SIM_STEPS=1000000` goes on for so many steps of long runs.

use std::env;
use std::ops::Range;
use std::time::Instant;

use antiphon_sim::{Tally, simulate_long};

/// How often a long run goes through its flow.
const ROUNDS: u32 = 50;

/// Runs seeds until there were so many steps, and says what they came to together.
fn sweep(seeds: Range<u64>, every: u64, rounds: u32, steps: u64) -> Tally {
    let mut all = Tally::default();
    let start = Instant::now();
    for seed in seeds.clone() {
        let tally = simulate_long(seed, every, rounds).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        all.steps += tally.steps;
        all.appends += tally.appends;
        all.deaths += tally.deaths;
        all.events += tally.events;
        all.checkpoints += tally.checkpoints;
        if all.steps >= steps {
            break;
        }
    }
    let per_second = all.steps as f64 / start.elapsed().as_secs_f64();
    println!("seeds from {}: {all:?}, {per_second:.0} steps a second", seeds.start);
    all
}

/// The seeds to try, the same in every run unless others are asked for.
fn seeds(usual: Range<u64>) -> Range<u64> {
    let Ok(wanted) = env::var("ANTIPHON_SEEDS") else { return usual };
    let (first, last) = wanted.split_once("..").expect("ANTIPHON_SEEDS is like 1000..2000");
    first.parse().expect("a number")..last.parse().expect("a number")
}

#[test]
fn runs_come_to_the_same_whenever_their_process_dies() {
    let tally = sweep(seeds(0..500), 6, 1, u64::MAX);
    assert!(tally.deaths > 0 && tally.checkpoints > 0, "the faults happened: {tally:?}");
}

#[test]
fn a_process_that_dies_at_every_third_append_gets_there_too() {
    let tally = sweep(0..40, 2, 1, u64::MAX);
    assert!(tally.deaths > tally.appends / 5, "the faults happened: {tally:?}");
}

#[test]
fn long_runs_come_to_the_same_whenever_their_process_dies() {
    let steps = env::var("ANTIPHON_SIM_STEPS").map_or(5_000, |steps| steps.parse().expect("a number"));
    let tally = sweep(seeds(0..u64::MAX), 20, ROUNDS, steps);
    assert!(tally.deaths > 0 && tally.checkpoints > 0, "the faults happened: {tally:?}");
}
