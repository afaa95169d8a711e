//! Claims: one lock file for each session, in a folder beside the database.
//!
//! The lock is the operating system's and dies with the process. The file stays: removing it would let two processes
//! lock two files of one name.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use antiphon_event::SessionId;
use antiphon_port::{Claim, Fault};

use super::fault::Place;

/// Takes a session, or says who has it.
pub(super) fn claim(folder: &Path, place: &Place, session: &SessionId) -> Result<Claim, Fault> {
    let fault = |error| place.io("the session cannot be locked", &error);
    fs::create_dir_all(folder).map_err(fault)?;
    let path = path_of(folder, session);
    let options = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = options.map_err(fault)?;
    match file.try_lock() {
        Ok(()) => {
            // For whoever finds it locked; the lock itself does not depend on it.
            file.set_len(0)
                .and_then(|()| writeln!(file, "{} {session}", std::process::id()))
                .map_err(fault)?;
            Ok(Claim::new(file))
        }
        Err(TryLockError::WouldBlock) => Err(owned(file, session)),
        Err(TryLockError::Error(error)) => Err(fault(error)),
    }
}

/// Who has a session, if somebody has, for those who cannot take it.
pub(super) fn owner(folder: &Path, session: &SessionId) -> Option<Fault> {
    let file = File::open(path_of(folder, session)).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| owned(file, session))
}

fn owned(file: File, session: &SessionId) -> Fault {
    let mut text = String::new();
    // The owner may be writing it just now: then it is not known.
    _ = file.take(64).read_to_string(&mut text);
    let by = text.split(' ').next().and_then(|id| id.parse().ok());
    Fault::Owned { session: session.clone(), by }
}

/// The lock file of a session. Session ids come from outside and may be anything; their hash is always the name of a file.
fn path_of(folder: &Path, session: &SessionId) -> PathBuf {
    let name = blake3::hash(session.as_str().as_bytes()).to_hex();
    folder.join(&name[..32])
}
