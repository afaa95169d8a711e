//! Events from files and standard input, as they come, in bounded memory.
//!
//! In: paths. Out: events in order, one file after another; lines that are no events become a complaint with
//! the place and the line itself. Start reading at [`Input::each`].

mod complaint;
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
    branch: String,
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
        let branch = reading.branch.as_deref().unwrap_or(FIRST).to_owned();
        let store = reading.store.clone();
        Self { files, keep_going: reading.keep_going, at: reading.at, silent: false, branch, store }
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
        branch.clone_into(&mut self.branch);
        self
    }

    /// Hands every event over, in order.
    pub(crate) fn each(self, taker: &mut impl Taker) -> Result<()> {
        let places = self.files.iter().map(|path| self.find(path)).collect::<Result<Vec<_>>>()?;
        let sizes = places.iter().map(Place::size).collect::<Result<Vec<_>>>()?;
        let total = sizes.into_iter().sum::<Option<u64>>();
        let progress = if self.silent { Progress::none() } else { Progress::new(total) };
        let mut pass = Pass { input: &self, taker, progress, events: 0, bad: 0 };
        for place in places {
            match place {
                Place::File(path) => pass.read(Source::open(path)?)?,
                Place::Session(store, branch) => {
                    store.each(&branch, 0, |event| pass.event(event))?;
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
                let branch = store.branch(session.as_str(), &self.branch)?;
                Ok(Place::Session(store, branch))
            }
            Err(why) => bail!("there is no file {}, and {why}", name(path)),
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

/// One file, or standard input.
struct Source {
    name: String,
    reader: Box<dyn Read>,
}

impl Source {
    fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            if io::stdin().is_terminal() {
                notice("reading events from the terminal, one JSON object a line; Ctrl-D ends them");
            }
            return Ok(Self { name: "standard input".into(), reader: Box::new(io::stdin().lock()) });
        }
        let name = name(path);
        let file = File::open(path).map_err(|error| plain(&name, &error))?;
        Ok(Self { name, reader: Box::new(file) })
    }
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
    taker: &'i mut T,
    progress: Progress,
    events: u64,
    bad: u64,
}

impl<T: Taker> Pass<'_, T> {
    fn read(&mut self, mut source: Source) -> Result<()> {
        let mut lines = Lines::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = match source.reader.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", source.name)),
            };
            let chunk = &chunk[..count];
            let mut outcome = Ok(());
            lines.feed_with_lines(chunk, |item, line| {
                if outcome.is_ok() {
                    outcome = self.take(&source.name, item, line);
                }
            });
            outcome?;
            self.taker.pause()?;
            self.progress.advance(count as u64, self.events);
        }
        let mut outcome = Ok(());
        lines.finish_with_line(|item, line| outcome = self.take(&source.name, item, line));
        outcome
    }

    fn take(&mut self, name: &str, item: Result<Event, antiphon_event::Error>, line: &[u8]) -> Result<()> {
        match item {
            Ok(event) => self.event(event),
            Err(error) => self.complain(&Complaint { name, error: &error, line }),
        }
    }

    fn event(&mut self, event: Event) -> Result<()> {
        self.events += 1;
        let position = event.head.seq.unwrap_or(self.events);
        if self.input.at.is_some_and(|at| position > at) {
            return Ok(());
        }
        self.taker.event(event)
    }

    fn complain(&mut self, complaint: &Complaint<'_>) -> Result<()> {
        if !self.input.keep_going {
            self.progress.finish();
            bail!(complaint.text(crate::output::error_width()));
        }
        self.bad += 1;
        if self.bad <= SHOWN_MAX {
            self.progress.above(|| notice(&complaint.text(crate::output::error_width())));
        }
        Ok(())
    }
}
