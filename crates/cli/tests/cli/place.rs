//! [`Place`]: a folder of its own with flows and a store, and the binary run there.

use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use tempfile::TempDir;

use crate::door::{self, Ran};

/// A folder with a store.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// A folder with files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let place = Self { folder: TempDir::new().expect("a folder can be made") };
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }

    /// The binary with arguments, in this folder and on its store.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = door::command(args);
        command.current_dir(self.path()).env("ANTIPHON_STORE", "sqlite:kept/store.db");
        command
    }

    /// Runs it with nothing on standard input.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        door::feed(self.command(args), b"")
    }

    /// Runs commands, one a line as in a shell without quotes but `'…'`, and tells what came of each, without what
    /// differs from run to run.
    pub(crate) fn tell(&self, script: &str) -> String {
        let mut told = String::new();
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let args = words(line);
            let ran = self.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
            told.extend(["$ ", &plain(line), "\n", &plain(&ran.told())]);
        }
        told
    }
}

fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    parts
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

/// Text without ids, hashes, times of day and durations.
pub(crate) fn plain(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, instead) in [
        (r"(?m)^\d\d:\d\d:\d\d\.\d{3}  ", ""),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
        (r"\b[0-9a-f]{64}\b", "<hash>"),
        (r" in \d+(\.\d)? m?s\b", ""),
    ] {
        text = Regex::new(pattern).expect("a pattern").replace_all(&text, instead).into_owned();
    }
    text
}
