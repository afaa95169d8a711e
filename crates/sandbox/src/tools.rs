//! The tools that are there without anybody adding one.

use std::sync::Arc;

use antiphon_port::Tool;

use crate::{Workspace, bash, fetch, patch, read, search, todo, write};

type Make = fn(&Workspace) -> Arc<dyn Tool>;

const TABLE: [(&str, Make); 7] = [
    ("bash", |workspace| Arc::new(bash::tool(workspace))),
    ("read", |workspace| Arc::new(read::tool(workspace))),
    ("write", |workspace| Arc::new(write::tool(workspace))),
    ("patch", |workspace| Arc::new(patch::tool(workspace))),
    ("search", |workspace| Arc::new(search::tool(workspace))),
    ("fetch", |workspace| Arc::new(fetch::tool(workspace))),
    ("todo", |_| Arc::new(todo::tool())),
];

/// What the tools are called.
pub const NAMES: [&str; 7] = {
    let mut names = [""; TABLE.len()];
    let mut index = 0;
    while index < TABLE.len() {
        names[index] = TABLE[index].0;
        index += 1;
    }
    names
};

/// All of them in one workspace, in the order of [`NAMES`].
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let workspace = antiphon_sandbox::Workspace::new(folder.path()).unwrap();
/// let names: Vec<_> = antiphon_sandbox::tools(&workspace).iter().map(|tool| tool.spec().name.clone()).collect();
/// assert_eq!(names, antiphon_sandbox::NAMES);
/// ```
pub fn tools(workspace: &Workspace) -> Vec<Arc<dyn Tool>> {
    TABLE.iter().map(|(_, make)| make(workspace)).collect()
}

/// The one with this name.
pub fn tool(workspace: &Workspace, name: &str) -> Option<Arc<dyn Tool>> {
    TABLE.iter().find(|(known, _)| *known == name).map(|(_, make)| make(workspace))
}
