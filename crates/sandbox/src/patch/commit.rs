//! Changes on disk: everything is written down beside the files first, then put in place; what fails half way is
//! taken back.

use std::io;
use std::path::{Path, PathBuf};

use antiphon_port::ToolFault;

use super::plan::Planned;
use crate::Workspace;
use crate::file::Draft;

/// Makes files what they are planned to be.
pub(super) fn commit(workspace: &Workspace, files: Vec<Planned>) -> Result<(), ToolFault> {
    let changed: Vec<Planned> = files.into_iter().filter(is_change).collect();
    let mut made = Vec::new();
    let mut drafts = Vec::new();
    for planned in &changed {
        match draft(planned, &mut made) {
            Ok(draft) => drafts.push(draft),
            Err(error) => {
                drop(drafts);
                return Err(undone(&[], &made, planned, &error));
            }
        }
    }
    let mut drafts = drafts.into_iter();
    for (index, planned) in changed.iter().enumerate() {
        let placed = match drafts.next().flatten() {
            Some(draft) => draft.place(&planned.path),
            None => std::fs::remove_file(&planned.path),
        };
        if let Err(error) = placed {
            drop(drafts);
            return Err(undone(&changed[..index], &made, planned, &error));
        }
    }
    for planned in &changed {
        match &planned.after {
            Some(content) => workspace.seen.note(&planned.path, content),
            None => workspace.seen.forget(&planned.path),
        }
    }
    Ok(())
}

fn is_change(planned: &Planned) -> bool {
    planned.before.as_ref().map(|before| &before.content) != planned.after.as_ref()
}

/// The new content of a file beside it, and the folders that had to be made for that; nothing for one to delete.
fn draft(planned: &Planned, made: &mut Vec<PathBuf>) -> io::Result<Option<Draft>> {
    let Some(content) = &planned.after else { return Ok(None) };
    let missing = planned.path.ancestors().skip(1).take_while(|folder| !folder.exists());
    let missing: Vec<&Path> = missing.collect();
    for folder in missing.into_iter().rev() {
        std::fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    let metadata = planned.before.as_ref().map(|before| &before.metadata);
    Draft::new(&planned.path, content, metadata).map(Some)
}

/// Takes back what was done and says why.
fn undone(done: &[Planned], made: &[PathBuf], failed: &Planned, error: &io::Error) -> ToolFault {
    let mut left = Vec::new();
    for planned in done.iter().rev() {
        if let Err(error) = take_back(planned) {
            left.push(format!("`{}` ({error})", planned.shown));
        }
    }
    for folder in made.iter().rev() {
        // One that is not empty is in use by somebody else now.
        let _ = std::fs::remove_dir(folder);
    }
    let now = match left.as_slice() {
        [] => "nothing was changed".to_owned(),
        left => format!("changed and not to be put back: {}", left.join(", ")),
    };
    ToolFault::new(format!("cannot change `{}`: {error}; {now}", failed.shown))
}

fn take_back(planned: &Planned) -> io::Result<()> {
    match &planned.before {
        Some(before) => {
            Draft::new(&planned.path, &before.content, Some(&before.metadata))?.place(&planned.path)
        }
        None => std::fs::remove_file(&planned.path),
    }
}
