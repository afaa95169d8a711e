//! What SQLite and the system say, as faults that name the file.

use std::path::Path;

use antiphon_port::Fault;
use rusqlite::ErrorCode;

/// The file, as faults name it.
#[derive(Debug, Clone)]
pub(super) struct Place(String);

/// Why something was not done: refused before anything was changed, or given up by SQLite.
#[derive(Debug)]
pub(super) enum Trouble {
    Refused(Fault),
    Sqlite(rusqlite::Error),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault)
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Trouble {
    pub(super) fn at(self, place: &Place) -> Fault {
        match self {
            Self::Refused(fault) => fault,
            Self::Sqlite(error) => place.fault(&error),
        }
    }
}

impl Place {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.display().to_string())
    }

    pub(super) fn name(&self) -> String {
        self.0.clone()
    }

    pub(super) fn unreadable(&self, why: impl Into<String>) -> Fault {
        Fault::Unreadable { place: self.name(), why: why.into() }
    }

    pub(super) fn io(&self, what: &str, error: &std::io::Error) -> Fault {
        self.storage(format!("{what}: {error}"), false)
    }

    fn storage(&self, why: String, passing: bool) -> Fault {
        Fault::Storage { place: self.name(), why, passing }
    }

    fn full(&self) -> Fault {
        self.storage("the disk is full: make room and try again".into(), true)
    }

    /// Somebody wants to write where that is not allowed.
    pub(super) fn read_only(&self) -> Fault {
        let why = "the file, or the folder it is in, is read-only: allow writing, or choose another";
        self.storage(why.into(), false)
    }

    /// The file is there, and that is all that may be known of it.
    pub(super) fn unread(&self) -> Fault {
        self.storage("the file may not be read: allow reading, or choose another".into(), false)
    }

    /// What was read may be half of what it was before and half of what it is now.
    pub(super) fn written_meanwhile(&self) -> Fault {
        self.storage("another program wrote the file while it was read: try again".into(), true)
    }

    /// What was written last cannot be read without writing.
    pub(super) fn shut_log(&self, log: &Path) -> Fault {
        let why = format!(
            "what was written last is in {}, which cannot be read where nothing may be written: allow writing, or \
             copy both files to a folder where you may write",
            log.display()
        );
        self.storage(why, false)
    }

    pub(super) fn fault(&self, error: &rusqlite::Error) -> Fault {
        let Some(code) = error.sqlite_error_code() else {
            return self.unreadable(format!("what is stored is not what was written: {error}"));
        };
        match code {
            ErrorCode::DiskFull => self.full(),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                self.storage("another program holds the file: try again when it is done".into(), true)
            }
            // SQLite writes to the end of the file it shares with others, which fails where there is no room.
            ErrorCode::SystemIoFailure if is(error, rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => self.full(),
            ErrorCode::SystemIoFailure => {
                self.storage(format!("the device failed, or has no room left: {error}"), true)
            }
            ErrorCode::ReadOnly => self.read_only(),
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                let what_to_do = "see that it may be read, and its folder written to";
                self.storage(format!("the file cannot be opened: {error}: {what_to_do}"), false)
            }
            ErrorCode::NotADatabase => self.unreadable("not a SQLite database: choose another file"),
            ErrorCode::DatabaseCorrupt => {
                self.unreadable(format!("the file is damaged: {error}; restore it from a copy"))
            }
            _ => self.storage(error.to_string(), false),
        }
    }
}

/// Whether SQLite says just this.
fn is(error: &rusqlite::Error, extended: i32) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(found, _) if found.extended_code == extended)
}
