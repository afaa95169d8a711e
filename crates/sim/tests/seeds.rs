//! Seeds, one after the other; a failure names the one it happened with.
//!
//! `ANTIPHON_SEEDS=1000..2000` tries others, `ANTIPHON_SIM_STEPS=1000000` goes on for so many steps. Code that is
//! optimised gets twenty times as far in the same time: `cargo test --release -p antiphon-sim`.

use std::env;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use antiphon_sim::{Tally, simulate_everywhere, simulate_forks, simulate_long};

/// Most of what a simulation does is making small things and dropping them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often a long run goes through its flow.
const ROUNDS: u32 = 50;

/// What the seeds came to together, and the first one that went wrong.
#[derive(Default)]
struct Swept {
    tally: Tally,
    wrong: Option<(u64, String)>,
}

/// Runs seeds until there were so many steps, side by side, and says what they came to together.
fn sweep(seeds: Range<u64>, steps: u64, simulate: impl Fn(u64) -> Result<Tally, String> + Sync) -> Tally {
    let (next, swept) = (AtomicU64::new(seeds.start), Mutex::new(Swept::default()));
    let start = Instant::now();
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let result = simulate(seed);
            let mut swept = swept.lock().expect("nobody panics while holding it");
            match result {
                Ok(tally) => swept.tally = swept.tally.and(tally),
                Err(wrong) if swept.wrong.as_ref().is_none_or(|(first, _)| seed < *first) => {
                    swept.wrong = Some((seed, wrong));
                }
                Err(_) => {}
            }
            if swept.wrong.is_some() || swept.tally.steps >= steps {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let Swept { tally, wrong } = swept.into_inner().expect("nobody panicked while holding it");
    if let Some((seed, wrong)) = wrong {
        panic!("seed {seed}: {wrong}");
    }
    let per_second = tally.steps as f64 / start.elapsed().as_secs_f64();
    println!("seeds from {}: {tally:?}, {per_second:.0} steps a second", seeds.start);
    tally
}

/// The seeds to try, the same in every run unless others are asked for.
fn seeds(usual: Range<u64>) -> Range<u64> {
    let Ok(wanted) = env::var("ANTIPHON_SEEDS") else { return usual };
    let (first, last) = wanted.split_once("..").expect("ANTIPHON_SEEDS is like 1000..2000");
    first.parse().expect("a number")..last.parse().expect("a number")
}

/// How many steps to go on for.
fn steps(usual: u64) -> u64 {
    env::var("ANTIPHON_SIM_STEPS").map_or(usual, |steps| steps.parse().expect("a number"))
}

#[test]
fn runs_come_to_the_same_whenever_their_process_dies() {
    let tally = sweep(seeds(0..500), u64::MAX, |seed| simulate_long(seed, 6, 1));
    assert!(tally.deaths > 0 && tally.checkpoints > 0, "the faults happened: {tally:?}");
}

#[test]
fn a_process_that_dies_at_every_third_append_gets_there_too() {
    let tally = sweep(0..40, u64::MAX, |seed| simulate_long(seed, 2, 1));
    assert!(tally.deaths > tally.appends / 5, "the faults happened: {tally:?}");
}

#[test]
fn a_process_may_die_at_any_append_before_it_is_kept_or_after() {
    let tally = sweep(seeds(0..u64::MAX), steps(20_000), simulate_everywhere);
    assert!(tally.deaths > 0 && tally.checkpoints > 0, "the faults happened: {tally:?}");
}

#[test]
fn a_fork_after_any_event_comes_to_the_same() {
    let tally = sweep(seeds(0..u64::MAX), steps(20_000), simulate_forks);
    assert!(tally.deaths > 0, "there were forks: {tally:?}");
}

#[test]
fn long_runs_come_to_the_same_whenever_their_process_dies() {
    let tally = sweep(seeds(0..u64::MAX), steps(20_000), |seed| simulate_long(seed, 20, ROUNDS));
    assert!(tally.deaths > 0 && tally.checkpoints > 0, "the faults happened: {tally:?}");
}
