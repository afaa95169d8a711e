//! `antiphon sessions events` and `export`: the events of a branch as lines.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::proof;
use crate::args::sessions::{Events, Export};
use crate::output::Output;
use crate::store::Shelf;

/// How often new events are looked for.
const EVERY: Duration = Duration::from_millis(100);
/// How many events are exported at once.
const PAGE: usize = 4096;

/// Prints the events, and those to come if asked to.
pub(super) fn run(args: &Events, output: &mut Output) -> Result<()> {
    let shelf = Shelf::open(&args.which.store)?;
    let branch = shelf.branch(&args.which.session, &args.which.branch)?;
    let mut after = args.after;
    loop {
        after = shelf.each(&branch, after, |event| {
            output.text(&event.to_json())?;
            Ok(output.text("\n")?)
        })?;
        if !args.follow {
            return Ok(());
        }
        output.flush()?;
        std::thread::sleep(EVERY);
    }
}

/// Writes the events with the hash of each beside it, up to where the branch ends now.
pub(super) fn export(args: &Export, output: &mut Output) -> Result<()> {
    let shelf = Shelf::open(&args.which.store)?;
    let branch = shelf.branch(&args.which.session, &args.which.branch)?;
    let mut file = args.to.as_deref().map(Draft::begin).transpose()?;
    let head = shelf.journal.head(&branch).wait()?;
    let mut after = 0;
    while after < head.seq {
        let limit = usize::try_from(head.seq - after).map_or(PAGE, |left| left.min(PAGE));
        let page = shelf.journal.export(&branch, after, limit).wait()?;
        let Some(last) = page.last().and_then(|exported| exported.event.head.seq) else {
            bail!("{branch} ends at {} and has no event after {after}: run `antiphon verify`", head.seq);
        };
        after = last;
        for exported in page {
            let mut event = exported.event;
            proof::note(&mut event, exported.hash, head);
            let line = event.to_json();
            match &mut file {
                Some(file) => file.line(&line)?,
                None => output.text(&format!("{line}\n"))?,
            }
        }
    }
    file.map_or(Ok(()), Draft::finish)
}

/// A file that is written beside the one it is to be, and takes its place when it is whole.
struct Draft {
    to: PathBuf,
    /// What there is until then; nothing for what is no file and cannot be replaced, such as a pipe.
    beside: Option<PathBuf>,
    out: BufWriter<File>,
}

impl Draft {
    fn begin(to: &Path) -> Result<Self> {
        let failed = || format!("{} cannot be written", to.display());
        let known = fs::metadata(to).ok();
        if known.as_ref().is_some_and(|known| !known.is_file()) {
            let out = BufWriter::new(File::create(to).with_context(failed)?);
            return Ok(Self { to: to.to_owned(), beside: None, out });
        }
        // What a link leads to is replaced, and not the link; what may not be written is not replaced either.
        let to = match &known {
            Some(_) => File::options().write(true).open(to).and_then(|_| fs::canonicalize(to)),
            None => Ok(to.to_owned()),
        };
        let to = to.with_context(failed)?;
        let mut name = to.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let beside = to.with_file_name(name);
        let file = File::create_new(&beside).with_context(failed)?;
        let draft = Self { to, beside: Some(beside), out: BufWriter::new(file) };
        if let Some(known) = known {
            draft.out.get_ref().set_permissions(known.permissions()).with_context(failed)?;
        }
        Ok(draft)
    }

    fn line(&mut self, line: &str) -> Result<()> {
        writeln!(self.out, "{line}").with_context(|| format!("{} cannot be written", self.to.display()))
    }

    fn finish(mut self) -> Result<()> {
        let failed = || format!("{} cannot be written", self.to.display());
        self.out.flush().with_context(failed)?;
        if let Some(beside) = &self.beside {
            self.out.get_ref().sync_all().with_context(failed)?;
            fs::rename(beside, &self.to).with_context(failed)?;
            self.beside = None;
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            // What is not whole is of no use; if it stays, nothing is lost.
            let _ = fs::remove_file(beside);
        }
    }
}
