//! [`simulate_everywhere`]: one flow, and its process dying once at each append there is.
//!
//! What came before a death is not run again: the run is gone through once, undisturbed, and each death begins with
//! the journal and the outside as they were at that append.

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
}

/// Makes a flow from the seed and runs it undisturbed; then once for each append and each way to die at it, from
/// there on. Says what came of it, or what did not hold and where.
pub fn simulate_everywhere(seed: u64) -> Result<Tally, String> {
    on_virtual_time(async {
        let story = Story::new(seed, 1).taped();
        let calm = story.live(Trouble::None, 0).await?;
        let tape = story.ledger.known().tape.take().expect("it was taped");
        let mut all = Tally { deaths: 0, ..calm.tally };
        // From the last to the first: of what happened outside, all before an append is still known then.
        for append in (0..tape.appends.len()).rev() {
            for death in [Death::After, Death::Before] {
                let told = |wrong| format!("dying at append {append}, {death:?} it is kept: {wrong}");
                let rough = go_on(&story, &tape, append, death).await.map_err(told)?;
                compare(seed, &calm.report, &rough.report).map_err(told)?;
                all = all.and(Tally { deaths: 1, ..rough.tally });
            }
        }
        Ok(all)
    })
}

/// Goes on with a run whose process died at an append.
async fn go_on(story: &Story, tape: &Tape, append: usize, death: Death) -> Result<Ending, String> {
    let kept = match death {
        Death::Before => append,
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
    for (_, form, at, bytes) in tape.saves.iter().filter(|(before, ..)| *before <= append) {
        again.store.save(&branch, *form, *at, bytes.to_vec()).await.map_err(failed)?;
    }
    let before = again.ledger.known().steps;
    let ending = again.live(Trouble::None, 1).await?;
    let steps = ending.tally.steps - before;
    Ok(Ending { tally: Tally { steps, ..ending.tally }, ..ending })
}
