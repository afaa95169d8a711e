//! [`Command`]: the pattern of a rule for a shell command, word by word.
//!
//! In: `git log *`. Out: whether a command of a line surely fits (what allows must), or may fit (what denies and asks
//! goes by). Start reading at [`Command::covers`] and [`Command::touches`].

use super::Fit;
use super::glob::Glob;
use super::program::{is_changer, is_runner, name_of, runs_what_it_reads, works_out};
use super::shell::{Line, Simple, Word};
use super::text::shown;

/// How often a script within a command is looked into.
const SCRIPTS_MAX: usize = 3;

/// A pattern for a command.
#[derive(Debug, Clone)]
pub(super) struct Command {
    words: Vec<Glob>,
    /// Whether any arguments may follow.
    is_open: bool,
    /// Whether any program fits.
    is_any: bool,
}

impl Command {
    /// Reads `git log *`: words as a shell reads them; `*` in a word is any characters, as the last word any arguments.
    pub(super) fn read(pattern: &str) -> Result<Self, String> {
        let mut line = Line::read(pattern);
        if let Some(beyond) = line.hidden.or(line.beyond.pop()) {
            return Err(format!("a rule is about a command and its words: `{}` is more", shown(beyond.text)));
        }
        let (Some(command), true) = (line.commands.pop(), line.commands.is_empty()) else {
            return Err("a rule is about one command: write several as a list".to_owned());
        };
        let mut words = command.words;
        if words.iter().any(|word| word.dynamic || word.odd) {
            return Err("only `*` is a wildcard: put other signs of the shell in single quotes".to_owned());
        }
        let is_star = |word: &Word| word.text == "*" && !word.stars.is_empty();
        let is_any = words.first().is_some_and(is_star);
        let is_open = words.last().is_some_and(is_star);
        if !is_any && words.first().is_some_and(|word| !word.stars.is_empty()) {
            return Err("the program must be named in full, or be `*` for all".to_owned());
        }
        words.truncate(words.len() - usize::from(is_open));
        let words = words.iter().map(|word| Glob::with_stars(&word.text, &word.stars)).collect();
        Ok(Self { words, is_open, is_any })
    }

    /// Whether it surely fits, with nothing left open: what allows goes by this.
    pub(super) fn covers(&self, command: &Simple<'_>) -> bool {
        let program = &command.words[0];
        if !program.is_literal()
            || program.quoted
            || works_out(command)
            || (self.is_any && (is_runner(command) || is_changer(command)))
        {
            return false;
        }
        let count = self.words.len();
        let has_room = command.words.len() == count || (self.is_open && command.words.len() > count);
        let fits = |(pattern, word): (&Glob, &Word)| word.is_literal() && pattern.fits(&word.text);
        has_room
            && command.words.iter().all(|word| !word.dynamic)
            && self.words.iter().zip(&command.words).all(fits)
    }

    /// Whether it is about this very command and no other.
    pub(super) fn names(&self, command: &Simple<'_>) -> bool {
        let is_same = |(pattern, word): (&Glob, &Word)| pattern.is(&word.text);
        !self.is_open && self.covers(command) && self.words.iter().zip(&command.words).all(is_same)
    }

    /// Whether it fits or may fit, also under another path or within `sudo` and the like: what denies and asks goes
    /// by this.
    pub(super) fn touches(&self, command: &Simple<'_>) -> Fit {
        self.touches_within(command, SCRIPTS_MAX)
    }

    fn touches_within(&self, command: &Simple<'_>, scripts: usize) -> Fit {
        let mut fit = self.touches_words(&command.words);
        if runs_what_it_reads(&command.words) {
            fit = fit.max(Fit::Perhaps);
        }
        if is_runner(command) {
            for at in 1..command.words.len() {
                if runs_what_it_reads(&command.words[at..]) {
                    fit = fit.max(Fit::Perhaps);
                }
                fit = fit.max(self.touches_words(&command.words[at..]));
                fit = fit.max(self.touches_script(&command.words[at], scripts));
            }
        }
        fit
    }

    /// A word that may be a script of its own.
    fn touches_script(&self, word: &Word, scripts: usize) -> Fit {
        if !word.text.contains(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.' | '/')) {
            return Fit::No;
        }
        if scripts == 0 {
            return Fit::Perhaps;
        }
        let line = Line::read(&word.text);
        let hidden = if line.hidden.is_some() { Fit::Perhaps } else { Fit::No };
        let within = line.commands.iter().map(|command| self.touches_within(command, scripts - 1)).max();
        hidden.max(within.unwrap_or(Fit::No))
    }

    fn touches_words(&self, words: &[Word]) -> Fit {
        for (at, pattern) in self.words.iter().enumerate() {
            let Some(word) = words.get(at) else {
                return Fit::No;
            };
            if !word.is_literal() {
                return Fit::Perhaps;
            }
            let is_program = at == 0 && pattern.fits(name_of(&word.text));
            if !is_program && !pattern.fits(&word.text) {
                return Fit::No;
            }
        }
        let more = &words[self.words.len()..];
        match (self.is_open, more.is_empty()) {
            (true, _) | (false, true) => Fit::Surely,
            (false, false) if more.iter().all(|word| !word.is_literal()) => Fit::Perhaps,
            (false, false) => Fit::No,
        }
    }
}
