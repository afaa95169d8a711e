//! [`Onlooker`]: a connection to a file that may only be read, which writes nothing beside it.
//!
//! Nobody writes a file without a log beside it. So while there is none the file is read as one that does not change;
//! with a log, some of what was written is in there alone, and SQLite reads that only together with an index of it. Others
//! may come and go, so it is looked each time which of the two it is now. Start reading at [`Onlooker::look`].

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use antiphon_port::Fault;
use rusqlite::{Connection, OpenFlags};

use super::fault::{Place, Trouble};
use super::schema::{beside, is_kept_out, set_up, version};

pub(super) struct Onlooker {
    path: PathBuf,
    place: Place,
    connection: Connection,
    /// How the file stood when the connection was made.
    stood: Stood,
}

/// What is seen of a file from outside: whether there is a log, how long the file is, and when it was last written.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stood {
    has_log: bool,
    file: Option<(u64, Option<SystemTime>)>,
}

impl Stood {
    fn of(path: &Path) -> Self {
        let has_log = std::fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
        let file = std::fs::metadata(path).ok().map(|file| (file.len(), file.modified().ok()));
        Self { has_log, file }
    }

    /// Whether a file that stood so has not changed as far as a connection to it can tell: where there is a log, SQLite
    /// sees what others write.
    fn is_as(self, now: Self) -> bool {
        self == now || self.has_log && now.has_log
    }
}

impl Onlooker {
    pub(super) fn open(path: &Path, place: &Place) -> Result<Self, Fault> {
        let stood = Stood::of(path);
        let connection = connect(path, place, stood)?;
        Ok(Self { path: path.to_owned(), place: place.clone(), connection, stood })
    }

    /// Looks at the file as it is now.
    pub(super) fn look<T>(
        &mut self,
        look: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let now = Stood::of(&self.path);
        if !self.stood.is_as(now) {
            (self.connection, self.stood) = (connect(&self.path, &self.place, now)?, now);
        }
        let looked = look(&mut self.connection);
        let is_whole = self.stood.has_log || self.stood == Stood::of(&self.path);
        if is_whole { looked } else { Err(self.place.written_meanwhile()) }
    }
}

fn connect(path: &Path, place: &Place, stood: Stood) -> Result<Connection, Fault> {
    let how = if stood.has_log { "mode=ro" } else { "immutable=1" };
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let uri = uri(path).map_err(|error| place.io("where it is cannot be told", &error))?;
    let opened = Connection::open_with_flags(format!("{uri}?{how}"), flags);
    let opened = opened.map_err(Trouble::from).and_then(|connection| {
        set_up(&connection)?;
        match version(&connection, place)? {
            0 => Err(place.unreadable("it is empty, and may not be written").into()),
            _ => Ok(connection),
        }
    });
    opened.map_err(|trouble| match trouble {
        Trouble::Sqlite(error) if is_kept_out(&error) && stood.has_log => {
            place.shut_log(&beside(path, "-wal"))
        }
        Trouble::Sqlite(error) if is_kept_out(&error) => place.unread(),
        trouble => trouble.at(place),
    })
}

/// A path as a URI. What stands between the second slash and the third would be a host.
fn uri(path: &Path) -> std::io::Result<String> {
    let absolute = std::path::absolute(path)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let bytes = absolute.as_os_str().as_encoded_bytes().iter().skip_while(|byte| **byte == b'/');
    let escape = |&byte: &u8| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02x}") };
    Ok(format!("file:///{}", bytes.map(escape).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_path_is_taken_for_a_host() {
        let rows =
            [("/a/b.db", "file:///a/b.db"), ("//a/b.db", "file:///a/b.db"), ("/a b?c", "file:///a%20b%3fc")];
        for (path, expected) in rows {
            assert_eq!(uri(Path::new(path)).expect("a place"), expected);
        }
    }
}
