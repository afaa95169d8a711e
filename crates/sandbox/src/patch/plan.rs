//! [`Plan`]: what files are to hold in the end, tried out in memory.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use antiphon_port::ToolFault;

use super::{Edit, OPERATIONS_MAX, Operation, edit};
use crate::Workspace;
use crate::file::{self, Entry};
use crate::seen::Seen;
use crate::text::count;
use crate::write::changeable;

/// The files a call touches.
pub(super) struct Plan<'a> {
    workspace: &'a Workspace,
    pub(super) files: Vec<Planned>,
}

/// One file, before and after.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) path: PathBuf,
    /// The path as the model is shown it.
    pub(super) shown: String,
    /// What stands there; nothing if no file does.
    pub(super) before: Option<Before>,
    /// What shall stand there; nothing for no file.
    pub(super) after: Option<Vec<u8>>,
}

#[derive(Debug)]
pub(super) struct Before {
    pub(super) content: Vec<u8>,
    pub(super) metadata: Metadata,
}

impl<'a> Plan<'a> {
    pub(super) fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, files: Vec::new() }
    }

    /// Tries an operation out on the outcome of those before it, and says what it comes to.
    pub(super) fn add(&mut self, operation: &Operation) -> Result<String, ToolFault> {
        match operation {
            Operation::Edit { path, edits } => self.edit(path, edits),
            Operation::Create { path, content } => self.create(path, content),
            Operation::Delete { path } => self.delete(path),
        }
    }

    fn edit(&mut self, given: &str, edits: &[Edit]) -> Result<String, ToolFault> {
        let bytes_max = self.workspace.bounds().file_bytes;
        let planned = self.read(given)?;
        let shown = &planned.shown;
        if edits.is_empty() || edits.len() > OPERATIONS_MAX {
            return Err(ToolFault::new(format!("`{shown}`: {} edits: 1 to {OPERATIONS_MAX}", edits.len())));
        }
        let content = planned.after.get_or_insert_default();
        let mut places = 0;
        for (index, edit) in edits.iter().enumerate() {
            places += edit::apply(content, edit, bytes_max).map_err(|why| {
                ToolFault::new(format!("`{shown}`: edit {}: {why}; nothing was changed", index + 1))
            })?;
        }
        Ok(format!("edited `{shown}` in {}", count(places, "place")))
    }

    fn create(&mut self, given: &str, content: &str) -> Result<String, ToolFault> {
        let bytes_max = self.workspace.bounds().file_bytes;
        let planned = self.file(given)?;
        let shown = &planned.shown;
        if planned.after.is_some() {
            let message = format!("`{shown}` exists already: edit it, or `write` it; nothing was changed");
            return Err(ToolFault::new(message));
        }
        if content.len() > bytes_max {
            let message = format!("`{shown}` would have {} bytes: {bytes_max} at most", content.len());
            return Err(ToolFault::new(message));
        }
        planned.after = Some(content.into());
        Ok(format!("created `{shown}` of {}", count(content.len(), "byte")))
    }

    fn delete(&mut self, given: &str) -> Result<String, ToolFault> {
        if self.is_link(given) {
            let message = format!("`{given}` is a link: delete what it leads to, or the link with a command");
            return Err(ToolFault::new(message));
        }
        let planned = self.read(given)?;
        planned.after = None;
        Ok(format!("deleted `{}`", planned.shown))
    }

    /// A file that is there and was read.
    fn read(&mut self, given: &str) -> Result<&mut Planned, ToolFault> {
        let workspace = self.workspace;
        let planned = self.file(given)?;
        if planned.after.is_none() {
            let message = format!("`{}` does not exist; nothing was changed", planned.shown);
            return Err(ToolFault::new(message));
        }
        if let Some(before) = &planned.before {
            Seen::check(workspace, &planned.path, &before.content)?;
        }
        Ok(planned)
    }

    /// A file as the operations so far leave it.
    fn file(&mut self, given: &str) -> Result<&mut Planned, ToolFault> {
        let path = self.workspace.resolve(given)?;
        let known = self.files.iter().position(|planned| planned.path == path);
        let index = known.unwrap_or(self.files.len());
        if known.is_none() {
            let planned = self.find(path)?;
            self.files.push(planned);
        }
        Ok(&mut self.files[index])
    }

    /// A file as it stands.
    fn find(&self, path: PathBuf) -> Result<Planned, ToolFault> {
        let shown = self.workspace.show(&path);
        let before = match file::entry(&path) {
            Ok(Entry::Missing) => None,
            Ok(Entry::File(metadata)) => {
                Some(Before { content: changeable(self.workspace, &path, &metadata)?, metadata })
            }
            Ok(Entry::Folder) => return Err(ToolFault::new(format!("`{shown}` is a folder"))),
            Ok(Entry::Other(what)) => {
                return Err(ToolFault::new(format!("`{shown}` is {what}: only files are changed")));
            }
            Err(error) => return Err(ToolFault::new(format!("cannot look at `{shown}`: {error}"))),
        };
        let after = before.as_ref().map(|before| before.content.clone());
        Ok(Planned { path, shown, before, after })
    }

    fn is_link(&self, given: &str) -> bool {
        let path: &Path = &self.workspace.root().join(given);
        path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
    }
}
