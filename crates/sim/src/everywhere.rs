//! [`simulate_everywhere`]: one flow, and its process dying once at each append there is; [`simulate_forks`]: the same
//! flow, gone on with after each of its events, also those between two of one append, as a fork may be.
//!
//! What came before a death is not run again: the run is gone through once, undisturbed, and each death begins with
//! the journal and the outside as they were at that append.

use antiphon_event::{Body, Event};
use antiphon_port::Batch;

use crate::faulty::Trouble;
use crate::ledger::Tape;
use crate::story::{Ending, Story, Tally, branch, compare, on_virtual_time};

/// When in an append its process dies.
#[derive(Debug, Clone, Copy)]
enum Death {
    /// Before it is kept.
    Before,
    /// After it is kept, and before anybody hears of it.
    After,
    /// After so many of its events: what no process does, and a fork does.
    Within(usize),
}

/// Makes a flow from the seed and runs it undisturbed; then once for each append and each way to die at it, from
/// there on. Says what came of it, or what did not hold and where.
pub fn simulate_everywhere(seed: u64) -> Result<Tally, String> {
    simulate_deaths(seed, |_| vec![Death::After, Death::Before])
}

/// The same for each event that is not the last of its append, and no death.
pub fn simulate_forks(seed: u64) -> Result<Tally, String> {
    simulate_deaths(seed, |events| (1..events).rev().map(Death::Within).collect())
}

/// The same for some ways to die at an append of so many events.
fn simulate_deaths(seed: u64, deaths: fn(usize) -> Vec<Death>) -> Result<Tally, String> {
    on_virtual_time(async {
        let story = Story::new(seed, 1).taped();
        let calm = story.live(Trouble::None, 0).await?;
        let tape = story.ledger.known().tape.take().expect("it was taped");
        let mut all = Tally { deaths: 0, ..calm.tally };
        // From the last to the first: of what happened outside, all before an append is still known then.
        for append in (0..tape.appends.len()).rev() {
            for death in deaths(tape.appends[append].0.iter().count()) {
                if is_before_start(&tape, append, death) {
                    continue;
                }
                let told = |wrong| format!("dying at append {append}, {death:?} it is kept: {wrong}");
                let rough = go_on(&story, &tape, append, death).await.map_err(told)?;
                compare(seed, &calm.report, &rough.report).map_err(told)?;
                all = all.and(Tally { deaths: 1, ..rough.tally });
            }
        }
        Ok(all)
    })
}

/// Whether there is no run yet that could be gone on with.
fn is_before_start(tape: &Tape, append: usize, death: Death) -> bool {
    let starts = |event: &Event| matches!(event.body, Body::RunStart(_));
    match death {
        Death::Within(events) => append == 0 && !tape.appends[0].0.iter().take(events).any(starts),
        Death::Before | Death::After => false,
    }
}

/// Goes on with a run whose process died at an append.
async fn go_on(story: &Story, tape: &Tape, append: usize, death: Death) -> Result<Ending, String> {
    let kept = match death {
        Death::Before | Death::Within(_) => append,
        Death::After => append + 1,
    };
    let again = story.again(tape.appends[append].1);
    let branch = branch();
    let failed = |fault: antiphon_port::Fault| fault.to_string();
    again.store.create(&branch).await.map_err(failed)?;
    let mut seq = 0;
    for (batch, _) in &tape.appends[..kept] {
        again.ledger.kept(batch, true);
        seq = again.store.append(&branch, seq, batch.clone()).await.map_err(failed)?.last;
    }
    if let Death::Within(events) = death {
        let begun: Vec<_> = tape.appends[append].0.iter().take(events).cloned().collect();
        let begun = Batch::new(begun).expect("it holds at least one");
        again.ledger.kept(&begun, true);
        again.store.append(&branch, seq, begun).await.map_err(failed)?;
    }
    for (_, form, at, bytes) in tape.saves.iter().filter(|(before, ..)| *before <= append) {
        again.store.save(&branch, *form, *at, bytes.to_vec()).await.map_err(failed)?;
    }
    let before = again.ledger.known().steps;
    let ending = again.live(Trouble::None, 1).await?;
    let steps = ending.tally.steps - before;
    Ok(Ending { tally: Tally { steps, ..ending.tally }, ..ending })
}
