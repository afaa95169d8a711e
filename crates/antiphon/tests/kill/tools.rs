//! The tools: one of each class, each leaving its trace in a log with its key.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use antiphon::{Class, Tool, ToolFault, typed};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Look {}

#[derive(Deserialize, JsonSchema)]
struct Put {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    text: String,
}

/// How long a tool takes before and after its work.
const TIME: Duration = Duration::from_millis(2);

/// Where the traces are.
pub(crate) fn log(folder: &Path) -> PathBuf {
    folder.join("log")
}

pub(crate) fn all(folder: &Path) -> Vec<Arc<dyn Tool>> {
    let add = typed("add", "Adds.", Class::Pure, |add: Add, _| async move {
        tokio::time::sleep(TIME).await;
        Ok::<_, ToolFault>((add.a + add.b).to_string())
    });
    let look = typed("look", "Looks.", Class::Read, |_: Look, _| async move {
        tokio::time::sleep(TIME).await;
        Ok::<_, ToolFault>("all is well")
    });
    let place = folder.to_owned();
    let put = typed("put", "Puts a file there.", Class::Idempotent, move |put: Put, _| {
        let path = place.join(&put.name);
        async move {
            tokio::time::sleep(TIME).await;
            std::fs::write(path, &put.name).map_err(|error| ToolFault::new(error.to_string()))?;
            tokio::time::sleep(TIME).await;
            Ok(format!("put {}", put.name))
        }
    });
    let place = log(folder);
    let note = typed("note", "Notes something.", Class::Write, move |note: Note, call| {
        let path = place.clone();
        async move {
            tokio::time::sleep(TIME).await;
            // A branch is no part of who made the call.
            let key: Vec<&str> = call.key.rsplitn(3, '/').take(2).collect();
            let line = format!("{}/{}\n", key[1], key[0]);
            let file = OpenOptions::new().create(true).append(true).open(path);
            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
            written.map_err(|error| ToolFault::new(error.to_string()))?;
            tokio::time::sleep(TIME).await;
            Ok(noted(&note.text))
        }
    });
    vec![Arc::new(add), Arc::new(look), Arc::new(put), Arc::new(note)]
}

/// What `note` gives.
pub(crate) fn noted(text: &str) -> String {
    format!("noted {text}")
}
