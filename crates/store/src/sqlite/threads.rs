//! The threads behind a file: one that writes, and some that read.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use antiphon_port::{Fault, Reply};
use rusqlite::Connection;

use super::fault::{Place, Trouble};
use super::heads::Heads;
use super::onlooker::Onlooker;
use super::queue::{Queue, Shut};
use super::schema;
use super::writer::{self, Desk, Job};

/// How many reads go on at once.
const READERS: usize = 2;

type Look = Box<dyn FnOnce(&mut Reader) + Send>;

/// What a thread that reads has of the file.
enum Reader {
    Own(Connection),
    Onlooker(Onlooker),
}

impl Reader {
    /// Looks at the file as it is at one moment.
    fn look<T>(
        &mut self,
        place: &Place,
        look: impl FnOnce(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, Fault> {
        let at_once = |connection: &mut Connection| {
            let looked = connection.transaction().map_err(Trouble::from).and_then(|moment| look(&moment));
            looked.map_err(|trouble| trouble.at(place))
        };
        match self {
            Self::Own(connection) => at_once(connection),
            Self::Onlooker(onlooker) => onlooker.look(at_once),
        }
    }
}

/// The threads, and what waits for them. Dropping it lets them do what waits, and ends them.
pub(super) struct Threads {
    place: Place,
    changes: Arc<Queue<Box<dyn Job>>>,
    looks: Arc<Queue<Look>>,
    /// The one that writes; none if the file may only be read.
    writer: Option<JoinHandle<()>>,
    readers: Vec<JoinHandle<()>>,
}

impl Threads {
    /// Opens the file, makes it if it is not there, and starts the threads; those that read, if that is all that is
    /// allowed.
    pub(super) fn start(path: &Path, place: &Place) -> Result<Self, Fault> {
        let Some(connection) = schema::writer(path, place)? else { return Self::looking_on(path, place) };
        let desk = Desk { connection, heads: Heads::default(), place: place.clone() };
        let mut threads = Self::new(place);
        let changes = Arc::clone(&threads.changes);
        let writer = threads.spawn("journal-writer", move || {
            let _guard = Abandon(&changes);
            writer::run(desk, &changes);
        })?;
        threads.writer = Some(writer);
        for _ in 0..READERS {
            threads.read_with(Reader::Own(schema::reader(path, place)?))?;
        }
        Ok(threads)
    }

    /// Opens a file that may only be read, and starts the threads that do.
    pub(super) fn looking_on(path: &Path, place: &Place) -> Result<Self, Fault> {
        let mut threads = Self::new(place);
        for _ in 0..READERS {
            threads.read_with(Reader::Onlooker(Onlooker::open(path, place)?))?;
        }
        Ok(threads)
    }

    fn new(place: &Place) -> Self {
        let (changes, looks) = (Arc::new(Queue::new()), Arc::new(Queue::new()));
        Self { place: place.clone(), changes, looks, writer: None, readers: Vec::new() }
    }

    fn read_with(&mut self, mut reader: Reader) -> Result<(), Fault> {
        let looks = Arc::clone(&self.looks);
        let reader = self.spawn("journal-reader", move || {
            let _guard = Abandon(&looks);
            while let Some(look) = looks.take(1, usize::MAX).pop() {
                look(&mut reader);
            }
        })?;
        self.readers.push(reader);
        Ok(())
    }

    fn spawn(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Fault> {
        let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        spawned.map_err(|error| self.place.io("no thread can be started", &error))
    }

    /// Whether the file may be written.
    pub(super) fn may_write(&self) -> Result<(), Fault> {
        if self.writer.is_some() { Ok(()) } else { Err(self.place.read_only()) }
    }

    /// Queues a job for the writer.
    pub(super) fn put(&self, job: Box<dyn Job>, bytes: usize) {
        if let Err(fault) = self.may_write() {
            return job.answer(Err(fault));
        }
        if let Err((job, shut)) = self.changes.put(job, bytes) {
            job.answer(Err(self.shut(&shut)));
        }
    }

    /// Queues a change for the writer.
    pub(super) fn change<T, F>(&self, bytes: usize, work: F) -> Reply<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Desk) -> Result<T, Trouble> + Send + 'static,
    {
        let (job, reply) = writer::task(work);
        self.put(job, bytes);
        reply
    }

    /// Queues a look at the file as it is at one moment.
    pub(super) fn look<T, F>(&self, look: F) -> Reply<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Trouble> + Send + 'static,
    {
        let (sender, reply) = Reply::waiting();
        let place = self.place.clone();
        let look: Look = Box::new(move |reader| {
            // Whoever asked may not want to know any more.
            _ = sender.send(reader.look(&place, look));
        });
        match self.looks.put(look, 0) {
            Ok(()) => reply,
            Err((_, shut)) => Reply::ready(Err(self.shut(&shut))),
        }
    }

    fn shut(&self, shut: &Shut) -> Fault {
        match shut {
            Shut::Full(waiting) => Fault::Busy { place: self.place.name(), waiting: *waiting },
            Shut::Closed => Fault::Closed,
        }
    }
}

/// Answers what waits for a thread that panicked: it would wait for ever.
struct Abandon<'a, T>(&'a Queue<T>);

impl<T> Drop for Abandon<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.abandon();
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // The writer lets go of the file last, and on its own: of two connections that are closed at once each takes the
        // other for the last one, and nobody clears away what lies beside the file.
        self.looks.close();
        for reader in self.readers.drain(..) {
            // A thread that panicked has said so; what it held is answered as closed.
            _ = reader.join();
        }
        self.changes.close();
        if let Some(writer) = self.writer.take() {
            _ = writer.join();
        }
    }
}
