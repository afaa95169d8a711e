//! Seeds, one after the other; a failure names the one it happened with.

use antiphon_sim::{Tally, simulate};

/// Runs the seeds and says what they came to together.
fn sweep(seeds: std::ops::Range<u64>, every: u64) -> Tally {
    let mut all = Tally::default();
    for seed in seeds {
        let tally = simulate(seed, every).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        all.steps += tally.steps;
        all.appends += tally.appends;
        all.deaths += tally.deaths;
        all.events += tally.events;
        all.checkpoints += tally.checkpoints;
    }
    all
}

/// The seeds to try: `ANTIPHON_SEEDS=1000..2000`, or some that are the same in every run.
fn seeds() -> std::ops::Range<u64> {
    let Ok(wanted) = std::env::var("ANTIPHON_SEEDS") else { return 0..500 };
    let (first, last) = wanted.split_once("..").expect("ANTIPHON_SEEDS is like 1000..2000");
    first.parse().expect("a number")..last.parse().expect("a number")
}

#[test]
fn runs_come_to_the_same_whenever_their_process_dies() {
    let seeds = seeds();
    let start = std::time::Instant::now();
    let tally = sweep(seeds.clone(), 6);
    println!("seeds {seeds:?} in {:?}: {tally:?}", start.elapsed());
    assert!(tally.deaths > 0 && tally.checkpoints > 0, "the faults happened: {tally:?}");
}

#[test]
fn a_process_that_dies_at_every_third_append_gets_there_too() {
    let tally = sweep(0..40, 2);
    assert!(tally.deaths > tally.appends / 5, "the faults happened: {tally:?}");
}
