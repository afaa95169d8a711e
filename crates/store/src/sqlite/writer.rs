//! The writer: the one thread that changes the file, a group of jobs at a time.
//!
//! In: jobs, as they are asked for. Out: answers, after the commit that holds them. Whatever has queued while one commit
//! was under way goes into the next; nothing waits for company. Start reading at [`run`].

use std::sync::Arc;

use antiphon_port::{Fault, Reply};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::fault::{Place, Trouble};
use super::heads::Heads;
use super::queue::Queue;

/// How many jobs one commit holds at most.
const GROUP_MAX: usize = 4096;

/// About how many bytes one commit holds at most.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What jobs work on: the file within a transaction, and the heads of its branches.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) connection: Connection,
    pub(super) heads: Heads,
    pub(super) place: Place,
}

/// Something to be done within a transaction, and answered after it.
pub(super) trait Job: Send {
    /// Does it. What it refuses it keeps for [`Job::answer`] and has changed nothing; what SQLite gives up ends the
    /// whole transaction.
    fn perform(&mut self, desk: &mut Desk) -> rusqlite::Result<()>;

    /// Gives the answer: what was done or refused, or that the commit failed.
    fn answer(self: Box<Self>, commit: Result<(), Fault>);
}

/// A job out of a closure.
struct Task<T, F> {
    state: State<T, F>,
    sender: oneshot::Sender<Result<T, Fault>>,
}

enum State<T, F> {
    Asked(F),
    Done(Result<T, Fault>),
    Taken,
}

/// The job that does `work`, and the reply it will give.
pub(super) fn task<T, F>(work: F) -> (Box<dyn Job>, Reply<T>)
where
    T: Send + 'static,
    F: FnOnce(&mut Desk) -> Result<T, Trouble> + Send + 'static,
{
    let (sender, reply) = Reply::waiting();
    (Box::new(Task { state: State::Asked(work), sender }), reply)
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnOnce(&mut Desk) -> Result<T, Trouble> + Send,
{
    fn perform(&mut self, desk: &mut Desk) -> rusqlite::Result<()> {
        let State::Asked(work) = std::mem::replace(&mut self.state, State::Taken) else {
            unreachable!("a job is performed once");
        };
        self.state = State::Done(match work(desk) {
            Ok(done) => Ok(done),
            Err(Trouble::Refused(fault)) => Err(fault),
            Err(Trouble::Sqlite(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, commit: Result<(), Fault>) {
        let answer = match (commit, self.state) {
            (Err(fault), _) => Err(fault),
            (Ok(()), State::Done(answer)) => answer,
            (Ok(()), State::Asked(_) | State::Taken) => unreachable!("what is committed was performed"),
        };
        // Whoever asked may not want to know any more.
        _ = self.sender.send(answer);
    }
}

/// Performs jobs until the queue is closed and empty.
pub(super) fn run(mut desk: Desk, queue: &Arc<Queue<Box<dyn Job>>>) {
    loop {
        let mut group = queue.take(GROUP_MAX, GROUP_BYTES_MAX);
        if group.is_empty() {
            return;
        }
        let committed = desk.commit(&mut group);
        for job in group {
            job.answer(committed.clone());
        }
    }
}

impl Desk {
    /// Performs a group of jobs in one transaction; all of them, or none.
    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Fault> {
        self.try_commit(group).map_err(|error| {
            // What the heads were taken for did not happen.
            self.heads.clear();
            if !self.connection.is_autocommit() {
                // If even this fails, the next transaction cannot begin and says why.
                _ = self.connection.execute_batch("ROLLBACK");
            }
            self.place.fault(&error)
        })
    }

    fn try_commit(&mut self, group: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        self.heads.refresh(&self.connection)?;
        for job in group {
            job.perform(self)?;
        }
        self.heads.store(&self.connection)?;
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }
}
