//! [`Prompt`]: where a person types, with line editing, history and completion of commands.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
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

/// Where a person types.
pub(super) struct Prompt {
    editor: Editor<Words, FileHistory>,
    history: Option<PathBuf>,
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
        let mut editor = Editor::with_config(config).context("the terminal cannot be read")?;
        editor.set_helper(Some(Words { palette }));
        let history = folder.map(|folder| folder.join(HISTORY));
        if let Some(history) = history.as_ref().filter(|history| history.exists())
            && let Err(error) = editor.load_history(history)
        {
            notice(&format!("warning: the history {} cannot be read: {error}", history.display()));
        }
        Ok(Self { editor, history })
    }

    /// What is typed next, after what was typed before; it is remembered.
    pub(super) fn read(&mut self, before: &str) -> Result<Typed> {
        let typed = typed(self.editor.readline_with_initial("> ", (before, "")))?;
        if let Typed::Text(text) = &typed
            && !text.trim().is_empty()
        {
            let added = self.editor.add_history_entry(text.as_str());
            let kept = added.and_then(|_| match &self.history {
                Some(history) => self.editor.append_history(history),
                None => Ok(()),
            });
            if let Err(error) = kept
                && let Some(history) = self.history.take()
            {
                notice(&format!("warning: the history {} cannot be kept: {error}", history.display()));
            }
        }
        Ok(match typed {
            Typed::Text(text) => Typed::Text(text.replace("\\\n", "\n")),
            other => other,
        })
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
