//! What an agent has seen of files: nothing may be changed that it has not read, or that changed since.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon_port::ToolFault;

/// How many files are remembered; the ones seen longest ago are forgotten, and then have to be read again.
const FILES_MAX: usize = 10_000;

/// The content of files as it was last seen.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    files: HashMap<PathBuf, Mark>,
    count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    content: blake3::Hash,
    /// Which note of all it was.
    noted: u64,
}

impl Seen {
    /// Notes what a file holds.
    pub(crate) fn note(&self, path: &Path, content: &[u8]) {
        let content = blake3::hash(content);
        let mut memory = self.memory();
        memory.count += 1;
        let noted = memory.count;
        memory.files.insert(path.to_owned(), Mark { content, noted });
        if memory.files.len() > FILES_MAX {
            let oldest = memory.files.iter().min_by_key(|(_, mark)| mark.noted).map(|(path, _)| path.clone());
            oldest.and_then(|path| memory.files.remove(&path));
        }
    }

    /// Forgets a file that is gone.
    pub(crate) fn forget(&self, path: &Path) {
        self.memory().files.remove(path);
    }

    /// Whether a file was read and holds what it held then; `shown` is the path for the model.
    pub(crate) fn check(&self, path: &Path, content: &[u8], shown: &str) -> Result<(), ToolFault> {
        let mark = self.memory().files.get(path).copied();
        match mark {
            None => Err(ToolFault::new(format!("`{shown}` was not read before: read it, then change it"))),
            Some(mark) if mark.content != blake3::hash(content) => {
                Err(ToolFault::new(format!("`{shown}` has changed since it was read: read it again")))
            }
            Some(_) => Ok(()),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{FILES_MAX, Seen};

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let seen = Seen::default();
        let path = |index: usize| PathBuf::from(index.to_string());
        for index in 0..=FILES_MAX {
            seen.note(&path(index), b"x");
        }
        assert!(seen.check(&path(0), b"x", "0").is_err());
        assert!(seen.check(&path(1), b"x", "1").is_ok());
        assert!(seen.check(&path(FILES_MAX), b"x", "last").is_ok());
    }
}
