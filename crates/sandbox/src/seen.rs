//! What an agent has seen of files: nothing may be changed that it has not read, or that changed since.
//!
//! In this process that is what a file held. Of an earlier process only the calls are known and what they gave: a file
//! was seen if it would give the same today. Start reading at [`Seen::check`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use antiphon_port::ToolFault;

use crate::{Workspace, read};

/// How many files are remembered; the ones seen longest ago are forgotten, and then have to be read again.
const FILES_MAX: usize = 10_000;

/// The content of files as it was last seen.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    files: HashMap<PathBuf, Mark>,
    count: u64,
    /// By the paths that calls of an earlier process gave.
    earlier: HashMap<String, Earlier>,
}

/// What a call of an earlier process says a file held.
#[derive(Debug, Clone)]
pub(crate) enum Earlier {
    /// What reading it like this gave.
    Read(read::Args, String),
    /// What was put there.
    Written(blake3::Hash),
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

    /// Notes a call of an earlier process, in their order.
    pub(crate) fn recall(&self, path: String, earlier: Earlier) {
        let mut memory = self.memory();
        if memory.earlier.len() < FILES_MAX || memory.earlier.contains_key(&path) {
            memory.earlier.insert(path, earlier);
        }
    }

    /// Forgets a file that is gone.
    pub(crate) fn forget(&self, path: &Path) {
        self.memory().files.remove(path);
    }

    /// Whether a file was read and holds what it held then.
    pub(crate) fn check(workspace: &Workspace, path: &Path, content: &[u8]) -> Result<(), ToolFault> {
        let (seen, shown) = (&workspace.seen, workspace.show(path));
        let mark = seen.memory().files.get(path).copied();
        match mark {
            None if seen.saw_earlier(workspace, path, content) => {
                seen.note(path, content);
                Ok(())
            }
            None => Err(ToolFault::new(format!("`{shown}` was not read before: read it, then change it"))),
            Some(mark) if mark.content != blake3::hash(content) => {
                Err(ToolFault::new(format!("`{shown}` has changed since it was read: read it again")))
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether a call of an earlier process saw a file as it is.
    fn saw_earlier(&self, workspace: &Workspace, path: &Path, content: &[u8]) -> bool {
        let earlier = self.memory().earlier.clone();
        let is_it = |given: &str| workspace.resolve(given).is_ok_and(|resolved| resolved == path);
        earlier.iter().filter(|(given, _)| is_it(given)).any(|(_, earlier)| match earlier {
            Earlier::Read(args, gave) => read::gives(workspace, path, content, args).as_ref() == Some(gave),
            Earlier::Written(hash) => blake3::hash(content) == *hash,
        })
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{FILES_MAX, Seen};
    use crate::Workspace;

    #[test]
    fn memory_is_bounded_and_the_oldest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path()).unwrap();
        let path = |index: usize| PathBuf::from(index.to_string());
        for index in 0..=FILES_MAX {
            workspace.seen.note(&path(index), b"x");
        }
        let check = |index| Seen::check(&workspace, &path(index), b"x");
        assert!(check(0).is_err());
        assert!(check(1).is_ok());
        assert!(check(FILES_MAX).is_ok());
    }
}
