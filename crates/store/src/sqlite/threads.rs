//! The threads behind a file: one that writes, and some that read.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use antiphon_port::{Fault, Reply};
use rusqlite::Connection;

use super::fault::{Place, Trouble};
use super::heads::Heads;
use super::queue::{Queue, Shut};
use super::schema;
use super::writer::{self, Desk, Job};

/// How many reads go on at once.
const READERS: usize = 2;

type Look = Box<dyn FnOnce(&mut Connection) + Send>;

/// The threads, and what waits for them. Dropping it lets them do what waits, and ends them.
pub(super) struct Threads {
    place: Place,
    changes: Arc<Queue<Box<dyn Job>>>,
    looks: Arc<Queue<Look>>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    /// Opens the file, makes it if it is not there, and starts the threads.
    pub(super) fn start(path: &Path, place: &Place) -> Result<Self, Fault> {
        let desk =
            Desk { connection: schema::writer(path, place)?, heads: Heads::default(), place: place.clone() };
        let (changes, looks) = (Arc::new(Queue::new()), Arc::new(Queue::<Look>::new()));
        let mut threads = Self {
            place: place.clone(),
            changes: Arc::clone(&changes),
            looks: Arc::clone(&looks),
            handles: Vec::new(),
        };
        threads.spawn("journal-writer", move || {
            let _guard = Abandon(&changes);
            writer::run(desk, &changes);
        })?;
        for _ in 0..READERS {
            let (mut connection, looks) = (schema::reader(path, place)?, Arc::clone(&looks));
            threads.spawn("journal-reader", move || {
                let _guard = Abandon(&looks);
                while let Some(look) = looks.take(1, usize::MAX).pop() {
                    look(&mut connection);
                }
            })?;
        }
        Ok(threads)
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), Fault> {
        let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        self.handles.push(spawned.map_err(|error| self.place.io("no thread can be started", &error))?);
        Ok(())
    }

    /// Queues a job for the writer.
    pub(super) fn put(&self, job: Box<dyn Job>, bytes: usize) {
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
        let look: Look = Box::new(move |connection| {
            let looked = connection.transaction().map_err(Trouble::from).and_then(|moment| look(&moment));
            // Whoever asked may not want to know any more.
            _ = sender.send(looked.map_err(|trouble| trouble.at(&place)));
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
        self.changes.close();
        self.looks.close();
        for handle in self.handles.drain(..) {
            // A thread that panicked has said so; what it held is answered as closed.
            _ = handle.join();
        }
    }
}
