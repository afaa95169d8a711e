//! [`Replay`]: answers from exchanges that a [`Recorder`](crate::Recorder) kept.
//!
//! In: a folder of fixtures. Out: for a prompt that was asked before, what was answered then; for another one, a fault that
//! says how it differs from the nearest. Start reading at [`Replay::call`](Model::call).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_agent::{Delta, Fault, Price, Prompt};
use antiphon_port::Model;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::Value;

use crate::Refused;
use crate::fault::lasting;
use crate::fixture::{Fixture, Said, VERSION, ask, digest};

/// How many files a folder may have.
const FILES_MAX: usize = 10_000;
/// How many bytes a file may have.
const FILE_MAX: u64 = 128 * 1024 * 1024;
/// How many lines of a difference are shown, of each side.
const LINES_MAX: usize = 4;
/// How many characters of a line are shown.
const LINE_MAX: usize = 160;

/// A model that answers from recorded exchanges. A prompt that was answered several times gets its answers in order, the
/// last one from then on.
pub struct Replay {
    folder: PathBuf,
    name: String,
    price: Option<Price>,
    known: BTreeMap<String, Known>,
}

/// A prompt that was asked before.
struct Known {
    file: String,
    prompt: Value,
    answers: Vec<Arc<[Said]>>,
    /// How many answers were given.
    given: AtomicUsize,
}

impl Replay {
    /// Reads a folder.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Refused> {
        let folder = folder.as_ref();
        let mut replay = Self {
            folder: folder.to_owned(),
            name: "replay".to_owned(),
            price: None,
            known: BTreeMap::new(),
        };
        for file in files(folder).map_err(|why| refused(folder, why))? {
            let fixture = read(&file).map_err(|why| refused(&file, why))?;
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let known = replay.known.entry(fixture.digest).or_insert_with(|| Known {
                file: name,
                prompt: fixture.prompt,
                answers: Vec::new(),
                given: AtomicUsize::new(0),
            });
            known.answers.push(fixture.deltas.into());
        }
        Ok(replay)
    }

    /// What it is called in events; `replay` if nobody says so.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// What it costs; nobody knows if nobody says so.
    #[must_use]
    pub fn priced(mut self, price: Option<Price>) -> Self {
        self.price = price;
        self
    }

    /// Why there is no answer: how the prompt differs from the nearest that was recorded.
    fn unknown(&self, asked: &Value) -> Fault {
        let (folder, count) = (self.folder.display(), self.known.len());
        let asked = lines(asked);
        let near = self.known.values().map(|known| {
            let lines = lines(&known.prompt);
            let same = lines.iter().zip(&asked).take_while(|(one, two)| one == two).count();
            let next = lines.get(same).zip(asked.get(same)).map_or(0, |(one, two)| alike(one, two));
            ((same, next), lines, known)
        });
        let Some(((same, _), recorded, known)) = near.max_by_key(|(same, ..)| *same) else {
            return lasting("script", format!("no exchange is recorded in `{folder}`"));
        };
        let rows = [
            side(" ", &asked[same.saturating_sub(1)..same]),
            side("-", &recorded[same..]),
            side("+", &asked[same..]),
        ];
        lasting(
            "script",
            format!(
                "no exchange in `{folder}` was recorded for this prompt; of {count}, the nearest is `{}`, and what is asked \
                 now (+) differs from it (-) in line {} of the prompt:\n{}",
                known.file,
                same + 1,
                rows.concat()
            ),
        )
    }
}

/// How many bytes two lines have in common, at both ends.
fn alike(one: &str, two: &str) -> usize {
    let begin = one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count();
    let end = one.bytes().rev().zip(two.bytes().rev()).take_while(|(one, two)| one == two).count();
    begin + end
}

fn lines(value: &Value) -> Vec<String> {
    let text = serde_json::to_string_pretty(value).expect("a value is JSON");
    text.lines().map(str::to_owned).collect()
}

fn side(mark: &str, lines: &[String]) -> String {
    let shown = lines.iter().take(LINES_MAX).map(|line| match line.char_indices().nth(LINE_MAX) {
        Some((end, _)) => format!("{mark} {}…\n", &line[..end]),
        None => format!("{mark} {line}\n"),
    });
    shown.collect()
}

fn refused(path: &Path, why: String) -> Refused {
    Refused::Setting { setting: "fixtures", why: format!("`{}`: {why}", path.display()) }
}

/// The files in a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut list = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|end| end == "json") {
            list.push(path);
        }
        if list.len() > FILES_MAX {
            return Err(format!("it has more than {FILES_MAX} files"));
        }
    }
    list.sort();
    Ok(list)
}

fn read(file: &Path) -> Result<Fixture, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > FILE_MAX {
        return Err(format!("it has {size} bytes; it may have {FILE_MAX}"));
    }
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    let fixture: Fixture = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if fixture.antiphon != VERSION {
        return Err(format!("it is of version {}; this program reads version {VERSION}", fixture.antiphon));
    }
    if !fixture.deltas.last().is_some_and(Said::is_last) {
        return Err("its answer has no end: the last of its `deltas` is no `stop` and no `fault`".to_owned());
    }
    Ok(fixture)
}

impl Model for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn call(&self, prompt: Arc<Prompt>) -> BoxStream<'static, Result<Delta, Fault>> {
        let asked = ask(&prompt);
        let Some(known) = self.known.get(&digest(&asked)) else {
            return stream::once(std::future::ready(Err(self.unknown(&asked)))).boxed();
        };
        let next = known.given.fetch_add(1, Ordering::Relaxed).min(known.answers.len() - 1);
        let answer = known.answers[next].clone();
        stream::iter((0..answer.len()).map(move |at| answer[at].delta())).boxed()
    }
}
