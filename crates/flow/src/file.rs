//! Flow files: YAML or JSON that says what the [`Builder`](crate::Builder) says in Rust.
//!
//! In: text, and a way to load the files it names. Out: a [`Flow`], or every mistake with its line and column.
//! A flow that came from a file can be given back as one document that needs no other file.
//! Start reading at [`read`]; the format itself is the table in [`format`].

mod broken;
mod editor;
mod format;
mod guard;
mod node;
mod problem;
mod read;
mod tree;
mod verify;
mod written;
mod yaml;

use antiphon_event::Json;

pub use editor::{agent_schema, schema};
pub use problem::{Problem, Problems};
use read::{Loading, Reader};
pub use tree::Place;
use tree::Tree;
pub use yaml::{DEPTH_MAX, SIZE_MAX, VALUES_MAX};

use crate::definition::Flow;

/// Gives the text of a file, or says why it cannot. The path is the one in the file, put after the folder of
/// the file that names it.
pub type Loader<'l> = &'l dyn Fn(&str) -> Result<String, String>;

/// Looks at what a flow file takes as it is, and says what is wrong with it.
pub type Inspector<'l> = &'l dyn Fn(Inspected<'_>) -> Vec<Wrong>;

/// What a flow file takes as it is: whoever runs it knows what it means.
#[derive(Debug, Clone, Copy)]
pub enum Inspected<'a> {
    /// The settings of an agent, with its model in place of the model's name.
    Agent(&'a Json),
    /// The settings of a model that has a name.
    Model(&'a Json),
    /// The name of the tool that a node is.
    Tool(&'a str),
}

/// Something wrong with what was inspected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The part it is about, as a JSON pointer; empty for all of it.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A flow that was read.
#[derive(Debug, Clone)]
pub struct Read {
    /// The flow.
    pub flow: Flow,
    /// What may not be meant, in the order of places.
    pub warnings: Vec<Problem>,
}

/// Reads a flow file. `file` is its name, for problems and for finding the files it names.
///
/// ```
/// let text = "
/// antiphon: 1
/// nodes:
///   hello: {function: \"'hello ' + task\"}
///   shout: {function: \"input + '!'\"}
/// edges: [hello -> shout]
/// ";
/// let read = antiphon_flow::file::read("greet.yaml", text, &|_| Err("there is no other".into()))?;
/// assert_eq!(read.flow.name(), "greet");
///
/// let wrong = text.replace("shout]", "shuot]");
/// let problems = antiphon_flow::file::read("greet.yaml", &wrong, &|_| Err("there is no other".into()));
/// assert!(problems.unwrap_err().to_string().starts_with("greet.yaml:6:18: error: "));
/// # Ok::<(), antiphon_flow::file::Problems>(())
/// ```
pub fn read(file: &str, text: &str, load: Loader<'_>) -> Result<Read, Problems> {
    read_inspected(file, text, load, NOBODY)
}

/// The same with somebody who looks at its agents.
pub fn read_inspected(
    file: &str,
    text: &str,
    load: Loader<'_>,
    inspect: Inspector<'_>,
) -> Result<Read, Problems> {
    with_reader(file, load, inspect, |reader| reader.text(text))
}

/// Finds nothing wrong with any agent.
const NOBODY: Inspector<'static> = &|_| Vec::new();

/// Reads a file with an agent to talk with: its settings, with the models it names in place of the names.
pub fn read_agent(file: &str, text: &str, inspect: Inspector<'_>) -> Result<Json, Problems> {
    let load: Loader<'_> = &|_| Err("an agent names no other file".to_owned());
    let mut loading = Loading { load, inspect, open: vec![file.to_owned()], flows: 0, has_run: false };
    let mut reader = Reader::new(file, &mut loading);
    let settings = reader.agent_text(text);
    let problems = reader.verifier.problems;
    settings.map(Json::from).ok_or(Problems(problems))
}

impl Flow {
    /// The flow as one JSON document, which [`Flow::from_document`] reads; `None` if it was made in Rust.
    pub fn document(&self) -> Option<&Json> {
        self.settings().document.as_ref()
    }

    /// Reads a document that [`Flow::document`] gave, or any other that names no file. Only what no run is possible with is
    /// checked: what had begun by the checks of its time can be gone on with.
    pub fn from_document(document: &Json) -> Result<Self, Problems> {
        let tree = Tree::of_json(&document.value());
        let load: Loader<'_> = &|_| Err("a document holds the flows it needs".to_owned());
        let read = with_reader("document", load, NOBODY, |reader| {
            reader.loading.has_run = true;
            reader.verified(&tree)
        });
        read.map(|read| read.flow)
    }
}

fn with_reader(
    file: &str,
    load: Loader<'_>,
    inspect: Inspector<'_>,
    run: impl FnOnce(&mut Reader<'_, '_>) -> Option<Flow>,
) -> Result<Read, Problems> {
    let mut loading = Loading { load, inspect, open: vec![file.to_owned()], flows: 0, has_run: false };
    let mut reader = Reader::new(file, &mut loading);
    let flow = run(&mut reader);
    let mut problems = reader.verifier.problems;
    problems.sort_by(|a, b| (a.file != file, &a.file, a.place).cmp(&(b.file != file, &b.file, b.place)));
    problems.dedup();
    problems.truncate(verify::PROBLEMS_MAX);
    match flow {
        Some(flow) => Ok(Read { flow, warnings: problems }),
        None => Err(Problems(problems)),
    }
}

/// The path of a file that another names: from the folder of that other, without `.` and `..` where they can go.
fn join(file: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let folder = file.rsplit_once('/').map(|(folder, _)| folder);
    let is_absolute = folder.is_some() && file.starts_with('/');
    let mut steps: Vec<&str> = Vec::new();
    for step in folder.unwrap_or_default().split('/').chain(path.split('/')) {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn paths_are_taken_from_the_file_that_names_them() {
        for (file, path, joined) in [
            ("a.yaml", "./b.yaml", "b.yaml"),
            ("flows/a.yaml", "b.yaml", "flows/b.yaml"),
            ("flows/a.yaml", "../b.yaml", "b.yaml"),
            ("flows/a.yaml", "../../b.yaml", "../b.yaml"),
            ("/x/a.yaml", "sub//b.yaml", "/x/sub/b.yaml"),
            ("/a.yaml", "b.yaml", "/b.yaml"),
            ("x/a.yaml", "/b.yaml", "/b.yaml"),
        ] {
            assert_eq!(join(file, path), joined, "{file} {path}");
        }
    }
}
