//! [`Recorder`]: a model whose exchanges are kept, each as a file that [`Replay`](crate::Replay) answers from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use antiphon_agent::{Delta, Fault, Price, Prompt, Tokens};
use antiphon_port::Model;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use crate::fault::lasting;
use crate::fixture::{Fixture, Said, VERSION, ask, clean_pieces, digest};

/// A model whose exchanges are kept in a folder, without what looks like a key, a token or a password.
///
/// A file is written when an answer is whole, or has failed; one that is dropped in the middle leaves none. The first
/// answer to a prompt in the life of a recorder is file 0 of that prompt, the second file 1, whatever was there before.
pub struct Recorder {
    model: Arc<dyn Model>,
    folder: PathBuf,
    /// How often each prompt was answered.
    counts: Arc<Mutex<HashMap<String, usize>>>,
}

impl Recorder {
    /// Keeps what is said to and by a model in a folder, which is made when it is needed.
    pub fn new(model: Arc<dyn Model>, folder: impl Into<PathBuf>) -> Self {
        Self { model, folder: folder.into(), counts: Arc::default() }
    }
}

impl Model for Recorder {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn price(&self) -> Option<Price> {
        self.model.price()
    }

    fn foresee(&self, prompt: &Prompt) -> Option<Tokens> {
        self.model.foresee(prompt)
    }

    fn call(&self, prompt: Arc<Prompt>) -> BoxStream<'static, Result<Delta, Fault>> {
        let prompt_kept = ask(&prompt);
        let fixture = Fixture {
            antiphon: VERSION,
            model: self.model.name().to_owned(),
            digest: digest(&prompt_kept),
            prompt: prompt_kept,
            deltas: Vec::new(),
        };
        let (folder, counts) = (self.folder.clone(), self.counts.clone());
        let tape = Tape { answer: self.model.call(prompt), fixture: Some(fixture), folder, counts };
        stream::unfold(tape, |mut tape| async move { tape.next().await.map(|delta| (delta, tape)) }).boxed()
    }
}

/// An exchange that is being kept.
struct Tape {
    answer: BoxStream<'static, Result<Delta, Fault>>,
    /// What was heard so far, until it is written.
    fixture: Option<Fixture>,
    folder: PathBuf,
    counts: Arc<Mutex<HashMap<String, usize>>>,
}

impl Tape {
    async fn next(&mut self) -> Option<Result<Delta, Fault>> {
        let delta = self.answer.next().await?;
        let said = Said::of(&delta);
        let is_last = said.is_last();
        if let Some(fixture) = &mut self.fixture {
            fixture.deltas.push(said);
        }
        match self.fixture.take_if(|_| is_last) {
            Some(fixture) => Some(self.keep(fixture).await.and(delta)),
            None => Some(delta),
        }
    }

    async fn keep(&mut self, mut fixture: Fixture) -> Result<(), Fault> {
        fixture.deltas = clean_pieces(std::mem::take(&mut fixture.deltas));
        let number = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(fixture.digest.clone()).or_default();
            *count += 1;
            *count - 1
        };
        let folder = self.folder.clone();
        let file = folder.join(format!("{}-{number:03}.json", fixture.digest));
        let shown = file.display().to_string();
        let written = tokio::task::spawn_blocking(move || write(&folder, &file, &fixture)).await;
        let why = match written {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Err(lasting("script", format!("the exchange could not be kept in `{shown}`: {why}")))
    }
}

/// Writes a file so that it is there whole or not at all.
fn write(folder: &Path, file: &Path, fixture: &Fixture) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut text = serde_json::to_vec_pretty(fixture)?;
    text.push(b'\n');
    let part = file.with_extension(format!("{}.part", uuid::Uuid::new_v4().simple()));
    std::fs::write(&part, text)?;
    std::fs::rename(&part, file)
}
