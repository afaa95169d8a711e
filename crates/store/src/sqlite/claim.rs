//! Claims: one lock file for each session, in a folder beside the database.
//!
//! The lock is the operating system's and dies with the process. The file stays: removing it would let two processes
//! lock two files of one name.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::path::PathBuf;

use antiphon_event::SessionId;
use antiphon_port::{Claim, Fault};

use super::fault::Place;

/// Takes a session, or says who has it.
pub(super) fn claim(folder: &PathBuf, place: &Place, session: &SessionId) -> Result<Claim, Fault> {
    let fault = |error| place.io("the session cannot be locked", &error);
    fs::create_dir_all(folder).map_err(fault)?;
    // Session ids come from outside and may be anything; their hash is always the name of a file.
    let name = blake3::hash(session.as_str().as_bytes()).to_hex();
    let path = folder.join(&name[..32]);
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
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // The owner may be writing it just now: then it is not known.
            _ = file.take(64).read_to_string(&mut text);
            let by = text.split(' ').next().and_then(|id| id.parse().ok());
            Err(Fault::Owned { session: session.clone(), by })
        }
        Err(TryLockError::Error(error)) => Err(fault(error)),
    }
}
