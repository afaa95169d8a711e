//! Files of a skill: none outside its folder, none too large.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// The largest file that is read, in bytes.
const FILE_MAX: u64 = 256 * 1024;

/// How much of a name is shown, in characters.
const SHOWN_MAX: usize = 200;

/// How many files are listed.
const LISTED_MAX: usize = 100;

/// How many folders are looked into for them.
const FOLDERS_MAX: usize = 100;

/// Where a file of a skill really is. The folder must have its links resolved.
pub(super) fn resolve(folder: &Path, file: &str) -> Result<PathBuf, String> {
    let path = Path::new(file);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let outside = || format!("`{}` is not in the folder of the skill: name a file in it", shown(file));
    if !is_inside || file.is_empty() {
        return Err(outside());
    }
    let resolved = folder
        .join(path)
        .canonicalize()
        .map_err(|error| format!("cannot be read: `{}`: {error}", shown(file)))?;
    if resolved.starts_with(folder) { Ok(resolved) } else { Err(outside()) }
}

/// The text of a file of a skill.
pub(super) fn text(folder: &Path, file: &str) -> Result<String, String> {
    let path = resolve(folder, file)?;
    let cannot = |error: std::io::Error| format!("cannot be read: `{}`: {error}", shown(file));
    // Opening a pipe would wait for somebody to write.
    let kind = path.metadata().map_err(cannot)?;
    if !kind.is_file() {
        return Err(format!("`{}` is no file", shown(file)));
    }
    let mut bytes = Vec::new();
    File::open(&path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(format!("`{}` is larger than {FILE_MAX} bytes", shown(file)));
    }
    String::from_utf8(bytes).map_err(|_| format!("`{}` is no text", shown(file)))
}

/// A name that others wrote, fit to be shown.
fn shown(file: &str) -> String {
    file.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect()
}

/// The files of a skill besides its own, by name; links are not followed. Some are left out if there are many.
pub(super) fn others(folder: &Path, own: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    let mut looked = 0;
    while let Some(inner) = folders.pop() {
        looked += 1;
        let Ok(entries) = std::fs::read_dir(&inner) else {
            continue;
        };
        for entry in entries.flatten().take(LISTED_MAX) {
            let path = entry.path();
            let Ok(name) = path.strip_prefix(folder).map(|name| name.display().to_string()) else {
                continue;
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && looked + folders.len() < FOLDERS_MAX => folders.push(path),
                Ok(kind) if kind.is_file() && name != own => files.push(name),
                _ => {}
            }
        }
        if files.len() > LISTED_MAX {
            break;
        }
    }
    files.sort();
    files.truncate(LISTED_MAX);
    files
}
