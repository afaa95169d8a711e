//! `write`: a file with new content, whole or not at all.
//!
//! Whatever stands there has to have been read before and be unchanged since. Start reading at [`put`].

use std::path::Path;

use antiphon_agent::Class;
use antiphon_port::{Tool, ToolFault};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::file::{self, Draft, Entry};
use crate::seen::{Earlier, Seen};
use crate::text::count;
use crate::{Workspace, blocking, typed};

const DESCRIPTION: &str = "Write a file: a new one, or all of an old one, which you must have read before. Folders \
on the way are made. To change parts of a file use `patch`.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The file, from the root of the workspace.
    path: String,
    /// All that it shall hold.
    content: String,
}

pub(crate) fn tool(workspace: &Workspace) -> impl Tool + use<> {
    let (mine, theirs, before) = (workspace.clone(), workspace.clone(), workspace.clone());
    typed("write", DESCRIPTION, Class::Idempotent, move |args: Args, _| {
        let workspace = mine.clone();
        blocking::run(move |_| put(&workspace, &args))
    })
    .touching(move |args| vec![theirs.subject(&args.path, true)])
    .recalling(move |args: Args, _| {
        let written = Earlier::Written(blake3::hash(args.content.as_bytes()));
        before.seen.recall(args.path, written);
    })
}

fn put(workspace: &Workspace, args: &Args) -> Result<String, ToolFault> {
    let (content, bytes_max) = (args.content.as_bytes(), workspace.bounds().file_bytes);
    let path = workspace.resolve(&args.path)?;
    let shown = workspace.show(&path);
    if content.len() > bytes_max {
        let message = format!("`{shown}` would have {} bytes: {bytes_max} at most", content.len());
        return Err(ToolFault::new(message));
    }
    let failed = |error| ToolFault::new(format!("cannot write `{shown}`: {error}"));
    let size = count(content.len(), "byte");
    let _changing = workspace.changing();
    let (draft, done) = match file::entry(&path).map_err(failed)? {
        Entry::Missing => {
            path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
            (Draft::new(&path, content, None), format!("wrote `{shown}`, a new file of {size}"))
        }
        Entry::File(metadata) => {
            let old = changeable(workspace, &path, &metadata)?;
            if old == content {
                // It was written before, perhaps by an attempt whose end nobody heard of.
                workspace.seen.note(&path, content);
                return Ok(format!("`{shown}` holds exactly that already"));
            }
            Seen::check(workspace, &path, &old)?;
            let done = format!("wrote `{shown}`, {size} in place of {}", old.len());
            (Draft::new(&path, content, Some(&metadata)), done)
        }
        Entry::Folder => return Err(ToolFault::new(format!("`{shown}` is a folder"))),
        Entry::Other(what) => {
            return Err(ToolFault::new(format!("`{shown}` is {what}: only files are written")));
        }
    };
    draft.and_then(|draft| draft.place(&path)).map_err(failed)?;
    workspace.seen.note(&path, content);
    Ok(done)
}

/// What a file holds that is about to be changed, unless it is not to be.
pub(crate) fn changeable(
    workspace: &Workspace,
    path: &Path,
    metadata: &std::fs::Metadata,
) -> Result<Vec<u8>, ToolFault> {
    let (shown, bytes_max) = (workspace.show(path), workspace.bounds().file_bytes);
    if file::is_protected(metadata) {
        return Err(ToolFault::new(format!("`{shown}` is read-only: nobody may change it")));
    }
    match file::read(path, bytes_max) {
        Ok((bytes, true)) => Ok(bytes),
        Ok((_, false)) => {
            let message =
                format!("`{shown}` has {} bytes: files of {bytes_max} at most are changed", metadata.len());
            Err(ToolFault::new(message))
        }
        Err(error) => Err(ToolFault::new(format!("cannot read `{shown}`: {error}"))),
    }
}
