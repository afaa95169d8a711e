//! The tools, on real files, processes and servers.
//!
//! One door: [`Bench`] is a workspace in a folder of its own; `check` calls tools in it one after another and compares
//! what they say.

mod bash;
mod fetch;
mod patch;
mod process;
mod read;
mod search;
mod specs;
mod subjects;
mod todo;
mod write;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use antiphon_event::Json;
use antiphon_port::{Future, Progress, Reach, ToolCall, ToolFault, ToolReply};
use antiphon_sandbox::{Workspace, tool};
use expect_test::Expect;
use serde_json::Value;
use tempfile::TempDir;

/// A workspace in a folder of its own.
struct Bench {
    folder: TempDir,
    workspace: Workspace,
    said: Arc<Said>,
}

/// Keeps what tools say while they work.
#[derive(Default)]
struct Said(Mutex<Vec<Json>>);

impl Progress for Said {
    fn say(&self, content: Json) -> Future<()> {
        self.0.lock().expect("nobody broke down").push(content);
        Box::pin(async {})
    }
}

impl Said {
    /// All that a stream said, in one piece.
    fn text(&self, stream: &str) -> String {
        let said = self.0.lock().expect("nobody broke down");
        let values = said.iter().map(Json::value).filter(|value| value["stream"] == stream);
        values.map(|value| value["text"].as_str().expect("progress has a text").to_owned()).collect()
    }

    fn len(&self) -> usize {
        self.0.lock().expect("nobody broke down").len()
    }
}

impl Bench {
    fn new() -> Self {
        Self::with(&[])
    }

    /// With files in it.
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::new(folder.path()).expect("it exists");
        let bench = Self { folder, workspace, said: Arc::default() };
        for (path, content) in files {
            bench.put(path, content);
        }
        bench
    }

    /// With other settings.
    fn set(mut self, settings: impl FnOnce(Workspace) -> Workspace) -> Self {
        self.workspace = settings(self.workspace);
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists").join(path)
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).expect("a text")
    }

    /// Every file, with what it holds.
    fn files(&self) -> String {
        let mut found = Vec::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().expect("a folder") {
                let path = entry.expect("an entry").path();
                let shown = path.strip_prefix(self.path("")).expect("inside").display().to_string();
                if path.is_dir() {
                    found.push(format!("{shown}/\n"));
                    folders.push(path);
                } else {
                    found.push(format!("{shown}: {:?}\n", std::fs::read_to_string(path).expect("a text")));
                }
            }
        }
        found.sort();
        found.concat()
    }

    /// Calls a tool.
    async fn call(&self, name: &str, input: Value) -> Result<ToolReply, ToolFault> {
        let (key, progress) = ("run/node/1".into(), self.said.clone());
        let call = ToolCall { input: input.into(), key, progress, reach: Reach::everything() };
        tool(&self.workspace, name).expect("a tool").call(call).await
    }

    /// Calls a tool and gives what it says as text, without where the folder is.
    async fn say(&self, name: &str, input: Value) -> String {
        let said = match self.call(name, input).await {
            Ok(reply) => reply.output.to_text().into_owned(),
            Err(fault) => format!("{}: {fault}", fault.code),
        };
        self.hide(&said)
    }

    fn hide(&self, text: &str) -> String {
        text.replace(self.path("").to_str().expect("a plain name").trim_end_matches('/'), "ROOT")
    }

    /// Calls tools one after another and compares what they say.
    async fn check(&self, calls: &[(&str, Value)], expected: Expect) {
        let mut table = Vec::new();
        for (name, input) in calls {
            let said = self.say(name, input.clone()).await;
            let said: String = said.lines().map(|line| format!("  {line}\n")).collect();
            table.push(format!("{name} {}\n{said}", self.hide(&input.to_string())));
        }
        expected.assert_eq(&table.concat());
    }
}
