//! The file: its tables, its version, and how a connection to it is set up.

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_port::Fault;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::fault::{Place, Trouble};

/// Marks a file as ours: `Antp`.
const APPLICATION: i64 = 0x416e_7470;

/// The version of the tables below; a file says which it has.
const VERSION: i64 = 3;

/// How long another process may hold the file before that is a fault.
const PATIENCE: Duration = Duration::from_secs(5);

/// Records are numbered as they come, so that each goes to the end of its table; their index finds the one that holds
/// a position. The lines of a large one are packed and a blob. The head of a branch is in its row, which is how a missing
/// tail is noticed.
const TABLES: &str = "
    CREATE TABLE session (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        title TEXT
    );
    CREATE TABLE branch (
        key INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        id TEXT NOT NULL,
        parent INTEGER,
        fork INTEGER NOT NULL,
        start BLOB NOT NULL,
        seq INTEGER NOT NULL,
        hash BLOB NOT NULL,
        created INTEGER,
        updated INTEGER,
        UNIQUE (session, id)
    );
    CREATE INDEX branch_of ON branch (parent) WHERE parent IS NOT NULL;
    CREATE TABLE record (
        pos INTEGER PRIMARY KEY,
        branch INTEGER NOT NULL,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        hash BLOB NOT NULL,
        lines TEXT NOT NULL
    );
    CREATE UNIQUE INDEX record_at ON record (branch, last);
    CREATE TABLE inbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX inbox_of ON inbox (session);
";

/// Saved folds. The bytes are last, so that the rest of a row is read without them.
const FOLDS: &str = "
    CREATE TABLE fold (
        branch INTEGER NOT NULL,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        seal BLOB NOT NULL,
        bytes BLOB NOT NULL
    );
    CREATE UNIQUE INDEX fold_at ON fold (branch, name, seq);
";

/// Opens the file for writing, and makes it if it is not there; nothing if it is there and may only be read.
pub(super) fn writer(path: &Path, place: &Place) -> Result<Option<Connection>, Fault> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(|error| place.io("its folder cannot be made", &error))?;
    }
    let opened = connect(path).map_err(Trouble::from).and_then(|mut connection| {
        // What lies beside the file is not to be made by somebody who cannot take it away again.
        if connection.is_readonly("main")? {
            return Ok(None);
        }
        prepare(&mut connection, place)?;
        Ok(Some(connection))
    });
    match opened {
        Err(Trouble::Sqlite(error)) if is_kept_out(&error) && path.is_file() => Ok(None),
        opened => opened.map_err(|trouble| trouble.at(place)),
    }
}

/// Whether SQLite may not write where it has to: to the file, or beside it.
pub(super) fn is_kept_out(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied))
}

/// Opens the file for reading; a [`writer`] has opened it before.
pub(super) fn reader(path: &Path, place: &Place) -> Result<Connection, Fault> {
    let opened = connect(path).and_then(|connection| {
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    });
    opened.map_err(|error| Trouble::from(error).at(place))
}

/// The file with this at the end of its name.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection)?;
    Ok(connection)
}

pub(super) fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

fn prepare(connection: &mut Connection, place: &Place) -> Result<(), Trouble> {
    if version(connection, place)? < VERSION {
        // WAL cannot be switched on within a transaction; the file keeps it.
        connection.pragma_update(None, "journal_mode", "wal")?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        match version(&transaction, place)? {
            0 => [TABLES, FOLDS].iter().try_for_each(|tables| transaction.execute_batch(tables))?,
            // Folds can be made again, so those of a file in which they had no version go.
            1 => transaction.execute_batch(&format!("DROP TABLE fold; {FOLDS}"))?,
            _ => {}
        }
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        transaction.commit()?;
    }
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    // Without it, macOS leaves what it calls synced in the memory of the drive.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    Ok(())
}

/// The version of the file's tables; 0 for an empty file.
pub(super) fn version(connection: &Connection, place: &Place) -> Result<i64, Trouble> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(0),
        (APPLICATION, 1..=VERSION) => Ok(version),
        (APPLICATION, later) => Err(place
            .unreadable(format!(
                "written by a later version (format {later}; this one knows {VERSION}): update antiphon"
            ))
            .into()),
        _ => Err(place.unreadable("a database of another program: choose another file").into()),
    }
}
