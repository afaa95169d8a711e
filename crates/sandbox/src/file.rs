//! Files: read without being led astray, changed whole or not at all.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::fcntl::OFlag;
use tempfile::TempPath;

/// What stands at a path.
pub(crate) enum Entry {
    Missing,
    File(Metadata),
    Folder,
    /// Something that is neither: what it is.
    Other(&'static str),
}

/// What stands at a path that has been resolved: a link there came later, and is not followed.
pub(crate) fn entry(path: &Path) -> io::Result<Entry> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Entry::Missing),
        Err(error) => return Err(error),
    };
    let kind = metadata.file_type();
    Ok(if kind.is_file() {
        Entry::File(metadata)
    } else if kind.is_dir() {
        Entry::Folder
    } else if kind.is_symlink() {
        Entry::Other("a link")
    } else {
        Entry::Other("a device, a pipe or a socket")
    })
}

/// Opens a file to read it; never a link, and never something that makes one wait.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no longer a file"));
    }
    Ok(file)
}

/// Reads a file, at most so many bytes, and says whether that is all of it.
pub(crate) fn read(path: &Path, bytes_max: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() <= bytes_max;
    bytes.truncate(bytes_max);
    Ok((bytes, whole))
}

/// New content beside the file it is for; gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Draft(TempPath);

impl Draft {
    /// Writes content down for a path, with the rights and the owner of the file that stands there.
    pub(crate) fn new(path: &Path, content: &[u8], old: Option<&Metadata>) -> io::Result<Self> {
        let folder = path.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
        // What a new file may be is for the umask to say.
        let mode = old.map_or(0o666, |old| old.mode() & 0o7777);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".antiphon-").suffix(".new").permissions(Permissions::from_mode(mode));
        let mut draft = builder.tempfile_in(folder)?;
        draft.write_all(content)?;
        if let Some(old) = old {
            keep(draft.as_file(), old)?;
        }
        draft.as_file().sync_all()?;
        Ok(Self(draft.into_temp_path()))
    }

    /// Puts it where it belongs, at once.
    pub(crate) fn place(self, path: &Path) -> io::Result<()> {
        self.0.persist(path).map_err(|error| error.error)
    }
}

fn keep(file: &File, old: &Metadata) -> io::Result<()> {
    // Only the administrator may give a file away; for everybody else it is theirs already, or becomes theirs.
    let _ = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
    file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))
}

/// Whether a file is meant to stay as it is.
pub(crate) fn is_protected(metadata: &Metadata) -> bool {
    metadata.mode() & 0o222 == 0
}
