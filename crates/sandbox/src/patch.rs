//! `patch`: parts of files changed, files made and deleted, all of it or nothing.
//!
//! In: operations on files. They are tried out in memory first ([`plan`]), text by text ([`edit`]); only if all of
//! them fit, files are touched ([`commit`]). Start reading at [`change`].

mod commit;
mod edit;
mod near;
mod plan;

use antiphon_agent::Class;
use antiphon_port::{Tool, ToolFault};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::blocking::Wanted;
use crate::{Workspace, blocking, typed};
use plan::Plan;

const DESCRIPTION: &str = "Change files, all operations together or none of them. `edit` replaces text in a file you \
have read: each `old` must stand in it exactly as written and exactly once, so give enough of what is around it \
(without line numbers), or set `all`. Edits are made in order, each on the outcome of the one before. `create` makes \
a new file, `delete` deletes one you have read.";

/// How many operations a call may have, and edits an operation.
const OPERATIONS_MAX: usize = 1000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What to do, in order.
    operations: Vec<Operation>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Operation {
    /// Change parts of a file.
    Edit {
        /// The file, from the root of the workspace.
        path: String,
        /// What to replace, in order.
        edits: Vec<Edit>,
    },
    /// Make a file that does not exist.
    Create {
        /// The file, from the root of the workspace.
        path: String,
        /// All that it shall hold.
        content: String,
    },
    /// Delete a file.
    Delete {
        /// The file, from the root of the workspace.
        path: String,
    },
}

/// One replacement.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// The text to replace.
    old: String,
    /// The text to put in its place.
    new: String,
    /// Replace it wherever it stands.
    #[serde(default)]
    all: bool,
}

impl Operation {
    fn path(&self) -> &str {
        match self {
            Self::Edit { path, .. } | Self::Create { path, .. } | Self::Delete { path } => path,
        }
    }
}

pub(crate) fn tool(workspace: &Workspace) -> impl Tool + use<> {
    let (mine, theirs) = (workspace.clone(), workspace.clone());
    typed("patch", DESCRIPTION, Class::Write, move |args: Args, _| {
        let workspace = mine.clone();
        blocking::run(move |wanted| change(&workspace, &args.operations, wanted))
    })
    .touching(move |args| {
        args.operations.iter().map(|operation| theirs.subject(operation.path(), true)).collect()
    })
}

fn change(workspace: &Workspace, operations: &[Operation], wanted: &Wanted) -> Result<String, ToolFault> {
    if operations.is_empty() || operations.len() > OPERATIONS_MAX {
        let message = format!("{} operations: 1 to {OPERATIONS_MAX}", operations.len());
        return Err(ToolFault::new(message));
    }
    let _changing = workspace.changing();
    let mut plan = Plan::new(workspace);
    let mut done = Vec::new();
    for operation in operations {
        done.push(plan.add(operation)?);
    }
    wanted.check()?;
    commit::commit(workspace, plan.files)?;
    Ok(done.join("\n"))
}
