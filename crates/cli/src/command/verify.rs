//! `antiphon verify`: reads every record of a branch and says whether it is what was written.

use antiphon_port::{Branch, Hash, Head, Verdict};
use anyhow::{Context, Result};

use crate::args::flows::Verify;
use crate::exit::Exit;
use crate::output::{Output, notice};
use crate::render::unit;
use crate::store::Shelf;

/// How many hashes are read at once.
const PAGE: usize = 4096;

/// Prints the head, or names the first record that is not what was written.
pub(crate) fn run(args: &Verify, output: &mut Output) -> Result<Exit> {
    let kept: Option<Hash> = args.head.as_deref().map(str::parse).transpose().context("--head")?;
    let shelf = Shelf::open(&args.store)?;
    let branch = Branch::new(shelf.session(&args.session)?, &*args.branch);
    let (head, vouched) = match shelf.journal.verify(&branch).wait()? {
        Verdict::Whole { head, vouched } => (head, vouched),
        Verdict::Broken(damage) => {
            notice(&damage.to_string());
            return Ok(Exit::Failed);
        }
    };
    let Some(kept) = kept else {
        output.text(&format!("{}  {branch}, {}{}\n", head.hash, events(head), checkpoints(vouched)))?;
        return Ok(Exit::Done);
    };
    match find(&shelf, &branch, kept)? {
        Some(seq) if seq == head.seq => {
            output.text(&format!("{branch} is as it was, {}{}\n", events(head), checkpoints(vouched)))?;
        }
        Some(seq) => {
            output.text(&format!("{branch} is as it was up to event {seq}, and {} now\n", events(head)))?;
        }
        None => {
            notice(&format!(
                "{branch} never had that head: it is whole, and another history ({})",
                head.hash
            ));
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Done)
}

fn events(head: Head) -> String {
    unit::several(head.seq, "event")
}

/// How many saved folds are what the events say, if there are any.
fn checkpoints(vouched: u64) -> String {
    match vouched {
        0 => String::new(),
        1 => ", 1 checkpoint vouched for".to_owned(),
        many => format!(", {many} checkpoints vouched for"),
    }
}

/// The position that a hash is the head of.
fn find(shelf: &Shelf, branch: &Branch, kept: Hash) -> Result<Option<u64>> {
    let mut after = 0;
    loop {
        let page = shelf.journal.export(branch, after, PAGE).wait()?;
        if let Some(found) = page.iter().find(|exported| exported.hash == kept) {
            return Ok(found.event.head.seq);
        }
        let Some(last) = page.last().and_then(|exported| exported.event.head.seq) else { return Ok(None) };
        after = last;
    }
}
