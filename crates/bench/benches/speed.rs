//! The time of every workload, at the sizes that matter.
//!
//! In: the table of workloads. Out: divan's table, with events per second. A million events are folded only where
//! a bar is about them.

use antiphon_bench::{Workload, workloads};
use divan::counter::ItemsCount;
use divan::{Bencher, Divan};

fn main() {
    Divan::from_args().main();
}

/// A workload at a size, shown by both.
struct Sized {
    workload: Workload,
    events: usize,
}

impl std::fmt::Display for Sized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.workload, self.events)
    }
}

fn sized(sizes: &'static [usize], core_only: bool) -> impl Iterator<Item = Sized> {
    let chosen = workloads().into_iter().filter(move |workload| workload.core || !core_only);
    chosen.flat_map(move |workload| sizes.iter().map(move |events| Sized { workload, events: *events }))
}

fn run(bencher: Bencher<'_, '_>, sized: &Sized) {
    let prepared = sized.workload.prepare(sized.events);
    let steps = prepared.run().steps;
    // What a run returns is let go of outside of the time.
    bencher.counter(ItemsCount::new(steps)).bench_local(|| prepared.run().fold);
}

#[divan::bench(args = sized(&[1_000], false), max_time = 0.2)]
fn small(bencher: Bencher<'_, '_>, sized: &Sized) {
    run(bencher, sized);
}

#[divan::bench(args = sized(&[100_000], false), max_time = 0.5)]
fn large(bencher: Bencher<'_, '_>, sized: &Sized) {
    run(bencher, sized);
}

#[divan::bench(args = sized(&[1_000_000], true), sample_count = 1)]
fn huge(bencher: Bencher<'_, '_>, sized: &Sized) {
    run(bencher, sized);
}
