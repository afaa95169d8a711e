//! Where sessions are kept, and how one is found there.
//!
//! In: a flag, the environment, antiphon.toml. Out: a [`Shelf`]. Start reading at [`Shelf::open`].

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use antiphon_event::{Body, Event, SessionId};
use antiphon_port::{Branch, Fault, Journal, Page};
use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::args::StoreArg;
use crate::hint::quoted;

/// How many events, or sessions, are read at once.
const PAGE: usize = 4096;
/// The name of the file with settings.
const SETTINGS: &str = "antiphon.toml";

/// An open store.
#[derive(Clone)]
pub(crate) struct Shelf {
    /// The journal in it.
    pub(crate) journal: Arc<dyn Journal>,
    name: String,
    hint: String,
}

/// What antiphon.toml may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    store: Option<String>,
}

impl Shelf {
    /// Opens the store that was named; the folder of its file is made if it is missing.
    pub(crate) fn open(named: &StoreArg) -> Result<Self> {
        let name = choose(named)?;
        if let Some(folder) =
            file_of(&name).and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty())
        {
            fs::create_dir_all(folder)
                .with_context(|| format!("the folder {} for the store cannot be made", folder.display()))?;
        }
        let is_usual = choose(&StoreArg::default()).is_ok_and(|usual| usual == name);
        let hint = if is_usual { String::new() } else { format!(" --store {}", quoted(&name)) };
        Ok(Self { journal: antiphon_store::open(&name)?, name, hint })
    }

    /// The option that names it on the command line, if it is not the one that is taken without.
    pub(crate) fn hint(&self) -> &str {
        &self.hint
    }

    /// Opens the store that was named if there is one yet.
    pub(crate) fn existing(named: &StoreArg) -> Result<Option<Self>> {
        let name = choose(named)?;
        if file_of(&name).is_some_and(Path::exists) { Self::open(named).map(Some) } else { Ok(None) }
    }

    /// The folder it is in, if it has one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        file_of(&self.name).and_then(Path::parent)
    }

    /// The session that a text means: `last`, an id, or the beginning or end of just one id.
    pub(crate) fn session(&self, text: &str) -> Result<SessionId> {
        let exact = SessionId::from(text);
        match self.journal.branches(&exact).wait() {
            Ok(_) => return Ok(exact),
            Err(Fault::NoSession(_)) => {}
            Err(fault) => return Err(fault.into()),
        }
        let mut found: Option<SessionId> = None;
        let mut after = None;
        loop {
            let page = self.journal.sessions(Page { after: after.take(), limit: PAGE }).wait()?;
            for session in &page {
                let id = session.id.as_str();
                if text == "last" && !self.is_called(&session.id) {
                    return Ok(session.id.clone());
                }
                if !text.is_empty() && (id.starts_with(text) || id.ends_with(text)) {
                    if let Some(other) = &found {
                        bail!("{text} could be session {other} or {id}: write more of it");
                    }
                    found = Some(session.id.clone());
                }
            }
            match page.last() {
                Some(last) => after = Some(last.id.clone()),
                None => break,
            }
        }
        found.with_context(|| format!("there is no session {text} in {}", self.name))
    }

    /// Whether an agent of another session works in it, and nobody else began it.
    fn is_called(&self, session: &SessionId) -> bool {
        let first = self.journal.read(&Branch::main(session.clone()), 0, 1).wait();
        first.unwrap_or_default().iter().any(|event| match &event.body {
            Body::SessionCreated(created) => {
                created.metadata.as_ref().is_some_and(|metadata| metadata.value().get("caller").is_some())
            }
            _ => false,
        })
    }

    /// The branch of a session, both as people name them.
    pub(crate) fn branch(&self, session: &str, branch: &str) -> Result<Branch> {
        let branch = Branch::new(self.session(session)?, branch);
        self.journal.head(&branch).wait()?;
        Ok(branch)
    }

    /// The events of a branch up to a position, or all of them.
    pub(crate) fn events(&self, branch: &Branch, at: Option<u64>) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        self.each(branch, 0, |event| {
            if at.is_none_or(|at| event.head.seq.is_some_and(|seq| seq <= at)) {
                events.push(event);
            }
            Ok(())
        })?;
        Ok(events)
    }

    /// Hands over the events of a branch after a position; the position of the last.
    pub(crate) fn each(
        &self,
        branch: &Branch,
        after: u64,
        mut take: impl FnMut(Event) -> Result<()>,
    ) -> Result<u64> {
        let mut after = after;
        loop {
            let events = self.journal.read(branch, after, PAGE).wait()?;
            let Some(last) = events.last().and_then(|event| event.head.seq) else { return Ok(after) };
            after = last;
            events.into_iter().try_for_each(&mut take)?;
        }
    }
}

/// The file of a store that has one.
fn file_of(name: &str) -> Option<&Path> {
    name.strip_prefix("sqlite:").map(Path::new)
}

/// The name of the store: flags win, then the environment, then the settings, then a file of the user's.
fn choose(named: &StoreArg) -> Result<String> {
    if let Some(name) = &named.store {
        return Ok(name.clone());
    }
    if let Some(name) = env::var("ANTIPHON_STORE").ok().filter(|name| !name.is_empty()) {
        return Ok(name);
    }
    if let Some(name) = configured()? {
        return Ok(name);
    }
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let data = data.or_else(|| env::home_dir().map(|home| home.join(".local/share")));
    let data = data.context("there is no home folder for the store: name one with --store sqlite:PATH")?;
    Ok(format!("sqlite:{}", data.join("antiphon/antiphon.db").display()))
}

/// What the nearest antiphon.toml says, here or in a folder above; paths in it are relative to its own folder.
fn configured() -> Result<Option<String>> {
    let here = env::current_dir().context("the current folder cannot be told")?;
    for folder in here.ancestors() {
        let path = folder.join(SETTINGS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        let settings: Settings = toml::from_str(&text).with_context(|| path.display().to_string())?;
        return Ok(settings.store.map(|store| match store.strip_prefix("sqlite:") {
            Some(file) => format!("sqlite:{}", folder.join(file).display()),
            None => store,
        }));
    }
    Ok(None)
}
