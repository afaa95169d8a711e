//! Events from files and standard input, as they come, in bounded memory.
//!
//! In: paths. Out: events in order, one file after another; lines that are no events become a complaint with
//! the place and the line itself. Start reading at [`Input::each`].

mod complaint;
mod lineage;
mod progress;

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use antiphon_event::{Event, Lines};
use antiphon_port::Branch;
use anyhow::{Context, Result, bail};

use crate::args::{Reading, StoreArg};
use crate::output::notice;
use crate::render::harmless;
use crate::store::Shelf;
use complaint::Complaint;
pub(crate) use complaint::window;
use lineage::{Forks, Lineage};
use progress::Progress;

/// The branch that every session begins with.
const FIRST: &str = "main";
/// Bytes read at once.
const CHUNK: usize = 256 * 1024;
/// Bad lines that are shown before the rest is only counted.
const SHOWN_MAX: u64 = 10;

/// Where events come from and how they are read.
pub(crate) struct Input {
    files: Vec<PathBuf>,
    keep_going: bool,
    at: Option<u64>,
    silent: bool,
    branch: Option<String>,
    /// Whether files are read with all their branches, whichever was asked for.
    whole: bool,
    store: StoreArg,
}

/// What a command does with events.
pub(crate) trait Taker {
    /// Takes the next event.
    fn event(&mut self, event: Event) -> Result<()>;

    /// Told when nothing more can be had without waiting: the moment to show what there is.
    fn pause(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(Event) -> Result<()>> Taker for F {
    fn event(&mut self, event: Event) -> Result<()> {
        self(event)
    }
}

impl Input {
    /// The files, or standard input if there are none.
    pub(crate) fn new(files: &[PathBuf], reading: &Reading) -> Self {
        let files = if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() };
        let (branch, store) = (reading.branch.clone(), reading.store.clone());
        let Reading { keep_going, at, .. } = *reading;
        Self { files, keep_going, at, silent: false, branch, whole: false, store }
    }

    /// Shows no progress, as the output goes to the same terminal while events come in.
    #[must_use]
    pub(crate) fn silent(mut self, silent: bool) -> Self {
        self.silent = silent;
        self
    }

    /// Reads this branch of sessions instead of the one that was asked for.
    #[must_use]
    pub(crate) fn branch(mut self, branch: &str) -> Self {
        self.branch = Some(branch.to_owned());
        self
    }

    /// Reads all branches of files, as who takes the events chooses among them.
    #[must_use]
    pub(crate) fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Hands every event over, in order.
    pub(crate) fn each(self, taker: &mut impl Taker) -> Result<()> {
        let places = self.files.iter().map(|path| self.find(path)).collect::<Result<Vec<_>>>()?;
        let sizes = places.iter().map(Place::size).collect::<Result<Vec<_>>>()?;
        let total = sizes.into_iter().sum::<Option<u64>>();
        let lineage = self.lineage(&places)?;
        let progress = if self.silent { Progress::none() } else { Progress::new(total) };
        let mut pass = Pass { input: &self, lineage, taker, progress, events: 0, bad: 0 };
        for place in places {
            match place {
                Place::File(path) => pass.read(Source::open(path)?)?,
                Place::Session(store, branch) => {
                    store.each(&branch, 0, |event| pass.stored(event))?;
                }
            }
        }
        pass.progress.finish();
        if pass.bad > SHOWN_MAX {
            notice(&format!("… and {} more", pass.bad - SHOWN_MAX));
        }
        if pass.bad > 0 {
            let lines = if pass.bad == 1 { "line was" } else { "lines were" };
            notice(&format!("warning: {} {lines} no event and passed over", pass.bad));
        }
        Ok(())
    }

    /// A file, or a session of the store if there is no file of that name.
    fn find<'i>(&self, path: &'i Path) -> Result<Place<'i>> {
        if path == Path::new("-") || path.exists() {
            return Ok(Place::File(path));
        }
        let Some(store) = path.to_str().and(Shelf::existing(&self.store)?) else {
            return Ok(Place::File(path));
        };
        match store.session(&path.display().to_string()) {
            Ok(session) => {
                let branch = store.branch(session.as_str(), self.branch.as_deref().unwrap_or(FIRST))?;
                Ok(Place::Session(store, branch))
            }
            Err(why) => bail!("there is no file {}, and {why}", name(path)),
        }
    }

    /// What is to be read of files, if a branch of them was asked for.
    fn lineage(&self, places: &[Place<'_>]) -> Result<Option<Lineage>> {
        let Some(branch) = self.branch.as_deref().filter(|_| !self.whole) else { return Ok(None) };
        let files = places.iter().filter_map(|place| match place {
            Place::File(path) => Some(*path),
            Place::Session(..) => None,
        });
        let files: Vec<&Path> = files.collect();
        let mut forks = Forks::default();
        for path in &files {
            if !path.is_file() {
                bail!(
                    "--branch needs files, which can be read twice: write what comes from {} to one",
                    named(path)
                );
            }
            Source::open(path)?.survey(&mut forks, self.keep_going)?;
        }
        match forks.of(branch) {
            None if !files.is_empty() => {
                let names = files.iter().map(|path| name(path)).collect::<Vec<_>>().join(" or ");
                bail!("there is no branch {branch} in {names}: {}", forks.known())
            }
            lineage => Ok(lineage),
        }
    }
}

/// Where events are.
enum Place<'p> {
    File(&'p Path),
    Session(Shelf, Branch),
}

impl Place<'_> {
    fn size(&self) -> Result<Option<u64>> {
        match self {
            Self::File(path) => size(path),
            Self::Session(..) => Ok(None),
        }
    }
}

/// How long a file is, where that can be known; refused at once if it is none.
fn size(path: &Path) -> Result<Option<u64>> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let data = path.metadata().map_err(|error| plain(&name(path), &error))?;
    if data.is_dir() {
        bail!("{} is a directory, not a file of events", name(path));
    }
    Ok(data.is_file().then_some(data.len()))
}

fn name(path: &Path) -> String {
    path.display().to_string().chars().map(harmless).collect()
}

/// The name of a file, or what standard input is called.
fn named(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { name(path) }
}

/// One file, or standard input.
struct Source {
    name: String,
    reader: Box<dyn Read>,
}

impl Source {
    fn open(path: &Path) -> Result<Self> {
        let name = named(path);
        if path == Path::new("-") {
            if io::stdin().is_terminal() {
                notice("reading events from the terminal, one JSON object a line; Ctrl-D ends them");
            }
            return Ok(Self { name, reader: Box::new(io::stdin().lock()) });
        }
        let file = File::open(path).map_err(|error| plain(&name, &error))?;
        Ok(Self { name, reader: Box::new(file) })
    }

    /// Reads what there is into the chunk; nothing at the end.
    fn read<'c>(&mut self, chunk: &'c mut [u8]) -> Result<Option<&'c [u8]>> {
        loop {
            return match self.reader.read(chunk) {
                Ok(0) => Ok(None),
                Ok(count) => Ok(Some(&chunk[..count])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error).with_context(|| format!("cannot read {}", self.name)),
            };
        }
    }

    /// Looks for branches.
    fn survey(&mut self, forks: &mut Forks, keep_going: bool) -> Result<()> {
        let (mut lines, mut chunk) = (Lines::new(), vec![0; CHUNK]);
        let name = self.name.clone();
        let mut note = |item, line: &[u8]| match item {
            Ok(event) => {
                forks.note(&event);
                Ok(())
            }
            Err(_) if keep_going => Ok(()),
            Err(error) => Err(refusal(&Complaint { name: &name, error: &error, line })),
        };
        while let Some(chunk) = self.read(&mut chunk)? {
            let mut outcome = Ok(());
            lines.feed_with_lines(chunk, |item, line| {
                if outcome.is_ok() {
                    outcome = note(item, line);
                }
            });
            outcome?;
        }
        let mut outcome = Ok(());
        lines.finish_with_line(|item, line| outcome = note(item, line));
        outcome
    }
}

/// Why nothing is made of a line that is no event.
fn refusal(complaint: &Complaint<'_>) -> anyhow::Error {
    anyhow::anyhow!(complaint.text(crate::output::error_width()))
}

/// Why a file cannot be read, in words.
fn plain(name: &str, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow::anyhow!("there is no file {name}"),
        io::ErrorKind::PermissionDenied => anyhow::anyhow!("no permission to read {name}"),
        _ => anyhow::anyhow!("cannot read {name}: {error}"),
    }
}

/// One pass over all sources.
struct Pass<'i, T> {
    input: &'i Input,
    lineage: Option<Lineage>,
    taker: &'i mut T,
    progress: Progress,
    events: u64,
    bad: u64,
}

impl<T: Taker> Pass<'_, T> {
    fn read(&mut self, mut source: Source) -> Result<()> {
        let mut lines = Lines::new();
        let mut chunk = vec![0; CHUNK];
        while let Some(chunk) = source.read(&mut chunk)? {
            let mut outcome = Ok(());
            lines.feed_with_lines(chunk, |item, line| {
                if outcome.is_ok() {
                    outcome = self.take(&source.name, item, line);
                }
            });
            outcome?;
            self.taker.pause()?;
            self.progress.advance(chunk.len() as u64, self.events);
        }
        let mut outcome = Ok(());
        lines.finish_with_line(|item, line| outcome = self.take(&source.name, item, line));
        outcome
    }

    fn take(&mut self, name: &str, item: Result<Event, antiphon_event::Error>, line: &[u8]) -> Result<()> {
        match item {
            Ok(event) => self.told(event),
            Err(error) => self.complain(&Complaint { name, error: &error, line }),
        }
    }

    /// An event of a file, which may be on another branch.
    fn told(&mut self, event: Event) -> Result<()> {
        let position = self.position(&event);
        if self.lineage.as_ref().is_some_and(|lineage| !lineage.has(&event, position)) {
            return Ok(());
        }
        self.event(event, position)
    }

    /// An event of a session, whose store knows its branch.
    fn stored(&mut self, event: Event) -> Result<()> {
        let position = self.position(&event);
        self.event(event, position)
    }

    /// The position of the next event.
    fn position(&mut self, event: &Event) -> u64 {
        self.events += 1;
        event.head.seq.unwrap_or(self.events)
    }

    fn event(&mut self, event: Event, position: u64) -> Result<()> {
        if self.input.at.is_some_and(|at| position > at) {
            return Ok(());
        }
        self.taker.event(event)
    }

    fn complain(&mut self, complaint: &Complaint<'_>) -> Result<()> {
        if !self.input.keep_going {
            self.progress.finish();
            return Err(refusal(complaint));
        }
        self.bad += 1;
        if self.bad <= SHOWN_MAX {
            self.progress.above(|| notice(&complaint.text(crate::output::error_width())));
        }
        Ok(())
    }
}
