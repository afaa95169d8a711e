//! [`Queue`]: what waits for a thread, bounded by number and by bytes.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many jobs wait at most.
const JOBS_MAX: usize = 65_536;

/// How many bytes wait at most; a single job of more is let in when nothing else waits.
const BYTES_MAX: usize = 128 * 1024 * 1024;

/// What waits, in the order in which it came.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    came: Condvar,
}

struct State<T> {
    jobs: VecDeque<(T, usize)>,
    bytes: usize,
    closed: bool,
}

/// Why a job was not let in.
#[derive(Debug)]
pub(super) enum Shut {
    /// So many wait already.
    Full(usize),
    Closed,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        let state = State { jobs: VecDeque::new(), bytes: 0, closed: false };
        Self { state: Mutex::new(state), came: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a job of so many bytes in, or gives it back.
    pub(super) fn put(&self, job: T, bytes: usize) -> Result<(), (T, Shut)> {
        let mut state = self.state();
        if state.closed {
            return Err((job, Shut::Closed));
        }
        let waiting = state.jobs.len();
        if waiting > 0 && (waiting >= JOBS_MAX || state.bytes + bytes > BYTES_MAX) {
            return Err((job, Shut::Full(waiting)));
        }
        state.bytes += bytes;
        state.jobs.push_back((job, bytes));
        drop(state);
        self.came.notify_one();
        Ok(())
    }

    /// Waits for jobs and takes as many as are there, up to a number and about so many bytes; none when it is closed
    /// and empty.
    pub(super) fn take(&self, jobs_max: usize, bytes_max: usize) -> Vec<T> {
        let mut state = self.state();
        while state.jobs.is_empty() && !state.closed {
            state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while taken.len() < jobs_max && bytes < bytes_max {
            let Some((job, size)) = state.jobs.pop_front() else {
                break;
            };
            bytes += size;
            taken.push(job);
        }
        state.bytes -= bytes;
        taken
    }

    /// Lets nothing more in. What is there is still taken.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.came.notify_all();
    }

    /// Lets nothing more in and lets go of what is there.
    pub(super) fn abandon(&self) {
        self.close();
        let left = std::mem::take(&mut self.state().jobs);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_given_back_and_one_job_of_any_size_is_let_in() {
        let queue = Queue::new();
        queue.put("larger than all", BYTES_MAX * 2).unwrap();
        assert!(matches!(queue.put("more", 1), Err(("more", Shut::Full(1)))));
        assert_eq!(queue.take(10, 10), ["larger than all"]);
        for _ in 0..JOBS_MAX {
            queue.put("small", 1).unwrap();
        }
        assert!(matches!(queue.put("more", 1), Err(("more", Shut::Full(JOBS_MAX)))));
        assert_eq!(queue.take(10, usize::MAX).len(), 10);
        assert_eq!(queue.take(usize::MAX, 7).len(), 7);
        queue.put("more", 1).unwrap();
    }

    #[test]
    fn a_closed_queue_lets_nothing_in_and_gives_what_it_has() {
        let queue = Queue::new();
        queue.put("a", 1).unwrap();
        queue.close();
        assert!(matches!(queue.put("b", 1), Err(("b", Shut::Closed))));
        assert_eq!(queue.take(9, 9), ["a"]);
        assert!(queue.take(9, 9).is_empty());
    }
}
