//! [`Tree`]: the files of the repository, read once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use ignore::WalkBuilder;

/// Files by their path from the root, with `/` between folders, and their text; a file that is no text is empty.
#[derive(Debug, Default)]
pub struct Tree(BTreeMap<String, String>);

impl Tree {
    /// Reads every file under `root` that `.gitignore` does not name.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let mut files = BTreeMap::new();
        let mut walk = WalkBuilder::new(root);
        walk.hidden(false).require_git(false).git_global(false).parents(false);
        walk.filter_entry(|entry| entry.file_name() != ".git");
        for entry in walk.build() {
            let entry = entry.context("listing the repository")?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let path = entry.path().strip_prefix(root).expect("a walk stays under its root");
            let bytes = fs::read(entry.path()).with_context(|| format!("reading {}", path.display()))?;
            let path = path.to_string_lossy().replace('\\', "/");
            files.insert(path, String::from_utf8(bytes).unwrap_or_default());
        }
        Ok(Self(files))
    }

    /// A tree that is nowhere on disk.
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    /// Every file: its path and its text.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files whose path ends so.
    pub fn ending(&self, end: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| path.ends_with(end))
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Whether there is such a file, or such a folder with a file in it.
    pub fn holds(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let first_inside = self.0.range(folder.clone()..).next();
        path.is_empty()
            || self.0.contains_key(path)
            || first_inside.is_some_and(|(found, _)| found.starts_with(&folder))
    }
}
