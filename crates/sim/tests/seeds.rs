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
    }
    all
}

#[test]
fn runs_come_to_the_same_whenever_their_process_dies() {
    let tally = sweep(0..500, 6);
    println!("{tally:?}");
    assert!(tally.deaths > 100, "the faults happened: {tally:?}");
}
