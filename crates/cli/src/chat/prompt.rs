//! [`Prompt`]: where a person types, with line editing, history and completion of commands.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{FileHistory, History as _};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Behavior, Config, Context, Editor, Helper};

use super::slash::COMMANDS;
use crate::output::notice;
use crate::render::{Ink, Palette};

/// How many lines are remembered.
const HISTORY_MAX: usize = 1000;
/// The file they are in, in the folder of the store.
const HISTORY: &str = "chat-history";

/// What a person did.
pub(super) enum Typed {
    /// Wrote something.
    Text(String),
    /// Pressed Ctrl-C.
    Interrupt,
    /// Has nothing more to say.
    End,
}

/// Where a person types. The editor is there while somebody types: it takes the signals of the terminal for itself, and
/// two of them would take them from one another.
pub(super) struct Prompt {
    config: Config,
    palette: Palette,
    /// What was typed before, and the file that keeps it.
    history: FileHistory,
    file: Option<PathBuf>,
}

impl Prompt {
    /// With the history that is kept in a folder, if there is one.
    pub(super) fn open(folder: Option<&Path>, palette: Palette) -> Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_MAX)
            .and_then(|config| config.history_ignore_dups(true))
            .context("the terminal cannot be read")?
            .history_ignore_space(true)
            .behavior(Behavior::PreferTerm)
            .build();
        let mut history = FileHistory::with_config(&config);
        let file = folder.map(|folder| folder.join(HISTORY));
        if let Some(file) = file.as_ref().filter(|file| file.exists())
            && let Err(error) = history.load(file)
        {
            notice(&format!("warning: the history {} cannot be read: {error}", file.display()));
        }
        Ok(Self { config, palette, history, file })
    }

    /// What is typed next, after what was typed before; it is remembered.
    pub(super) fn read(&mut self, before: &str) -> Result<Typed> {
        let typed = self.edit(before)?;
        if let Typed::Text(text) = &typed {
            self.remember(text);
        }
        Ok(match typed {
            Typed::Text(text) => Typed::Text(text.replace("\\\n", "\n")),
            other => other,
        })
    }

    fn edit(&mut self, before: &str) -> Result<Typed> {
        let history = std::mem::replace(&mut self.history, FileHistory::with_config(&self.config));
        let mut editor =
            Editor::with_history(self.config.clone(), history).context("the terminal cannot be read")?;
        editor.set_helper(Some(Words { palette: self.palette }));
        let read = editor.readline_with_initial("> ", (before, ""));
        std::mem::swap(editor.history_mut(), &mut self.history);
        typed(read)
    }

    /// Remembers what was typed, here or while something else was shown.
    pub(super) fn remember(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let added = self.history.add(text);
        let kept = added.and_then(|_| match &self.file {
            Some(file) => self.history.append(file),
            None => Ok(()),
        });
        if let Err(error) = kept
            && let Some(file) = self.file.take()
        {
            notice(&format!("warning: the history {} cannot be kept: {error}", file.display()));
        }
    }
}

/// A line that is not remembered.
pub(super) fn line(prompt: &str) -> Result<Typed> {
    let config = Config::builder().behavior(Behavior::PreferTerm).build();
    let mut editor: Editor<(), FileHistory> =
        Editor::with_config(config).context("the terminal cannot be read")?;
    typed(editor.readline(prompt))
}

fn typed(read: Result<String, ReadlineError>) -> Result<Typed> {
    match read {
        Ok(text) => Ok(Typed::Text(text)),
        Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
        Err(ReadlineError::Eof) => Ok(Typed::End),
        Err(error) => Err(error).context("the terminal cannot be read"),
    }
}

/// What the editor knows about what is typed: a line that ends with a backslash goes on, commands can be completed.
struct Words {
    palette: Palette,
}

impl Helper for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        let style = self.palette.style(Ink::Person);
        Cow::Owned(format!("{style}{prompt}{style:#}"))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if context.input().ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = line[..at].strip_prefix('/').filter(|begun| !begun.contains(char::is_whitespace));
        let Some(begun) = begun else { return Ok((at, Vec::new())) };
        let fits = COMMANDS.iter().filter(|command| command.name.starts_with(begun));
        Ok((0, fits.map(|command| format!("/{}", command.name)).collect()))
    }
}
