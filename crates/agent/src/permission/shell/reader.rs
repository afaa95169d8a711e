//! Reads a shell line: lists, commands and redirections. Words are read in `word.rs`.
//!
//! In: text. Out: a [`Line`], or where and why reading stopped. Start reading at [`Reader::all`].

mod word;

use super::{Beyond, COMMANDS_MAX, DEPTH_MAX, Line, Simple, Word};

/// Words that begin something after which the next command stands.
const OPENERS: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "fi", "done"];

/// Words that begin something with a grammar of its own.
const UNREAD: &[&str] = &["for", "case", "select", "function", "coproc", "[[", "esac", "in", "]]"];

/// Operators that send output or input elsewhere, longer ones first.
const REDIRECTIONS: &[&str] = &["&>>", "<<<", "<<-", "&>", "<<", "<>", "<&", ">&", ">>", ">|", "<", ">"];

/// Reading stopped here.
type Read<'a, T = ()> = Result<T, Beyond<'a>>;

/// What has been read, and what has not.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    pub(super) line: Line<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, line: Line::default() }
    }

    /// Reads everything.
    pub(super) fn all(&mut self) -> Read<'a> {
        self.list(false)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes a text that comes next, if it does.
    fn take(&mut self, text: &str) -> bool {
        let comes = self.rest().starts_with(text);
        self.at += if comes { text.len() } else { 0 };
        comes
    }

    fn stop<T>(&self, what: &'static str) -> Read<'a, T> {
        Err(Beyond { what, text: self.rest() })
    }

    fn beyond(&mut self, what: &'static str, from: usize) {
        self.line.beyond.push(Beyond { what, text: &self.text[from..self.at] });
    }

    /// Blanks, and ends of lines that a backslash takes away.
    fn blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\\\n") {}
    }

    /// Commands up to the end, or up to the `)` that closes them.
    fn list(&mut self, closes: bool) -> Read<'a> {
        let mut wants_more = false;
        loop {
            self.blanks();
            while self.take("\n") {
                self.blanks();
            }
            match self.next() {
                Some(')') if closes && !wants_more => {
                    self.at += 1;
                    return Ok(());
                }
                None if !closes && !wants_more => return Ok(()),
                None => return self.stop("the line is not complete"),
                Some(_) => self.command()?,
            }
            wants_more = self.separator()?;
        }
    }

    /// What stands between two commands; whether one must follow.
    fn separator(&mut self) -> Read<'a, bool> {
        if self.rest().starts_with(";;") || self.rest().starts_with(";&") || self.rest().starts_with("|&") {
            return self.stop("it is not understood");
        }
        if self.take("&&") || self.take("||") || self.take("|") {
            return Ok(true);
        }
        let from = self.at;
        if self.take("&") {
            self.beyond("it goes on in the background", from);
        } else if !self.take(";") {
            self.take("\n");
        }
        Ok(false)
    }

    /// Something in brackets: commands of their own.
    fn nested(&mut self, what: &'static str, from: usize) -> Read<'a> {
        if self.depth == DEPTH_MAX {
            return self.stop("it is nested too deep (at most 8)");
        }
        self.depth += 1;
        self.list(true)?;
        self.depth -= 1;
        self.beyond(what, from);
        Ok(())
    }

    /// One command with all that belongs to it.
    fn command(&mut self) -> Read<'a> {
        let (mut from, mut words, mut is_begun, mut is_group) = (self.at, Vec::new(), false, false);
        loop {
            self.blanks();
            let start = self.at;
            match self.next() {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if !self.rest().starts_with("&>") => break,
                Some('#') => return self.stop("a comment"),
                Some('(') if is_begun || self.rest().starts_with("((") => {
                    return self.stop("it is not understood");
                }
                Some('(') => {
                    self.at += 1;
                    self.nested("a subshell", start)?;
                    is_group = true;
                }
                Some(_) if self.is_at_redirection() => self.redirection()?,
                Some(_) if is_group => return self.stop("it is not understood"),
                Some(_) => {
                    let word = self.word()?;
                    if self.names_descriptor(start) {
                        self.beyond("it changes the environment", start);
                        self.redirection()?;
                        is_begun = true;
                        continue;
                    }
                    if words.is_empty() && self.is_prefix(&word, start)? {
                        from = self.at;
                    } else {
                        words.push(word);
                    }
                }
            }
            is_begun = true;
        }
        if !is_begun {
            return self.stop("a command is missing");
        }
        self.push(words, from)
    }

    fn push(&mut self, words: Vec<Word>, from: usize) -> Read<'a> {
        if words.is_empty() {
            return Ok(());
        }
        if self.line.commands.len() == COMMANDS_MAX {
            return self.stop("the line holds too many commands (at most 256)");
        }
        let text = self.text[from..self.at].trim();
        self.line.commands.push(Simple { text, words });
        Ok(())
    }

    /// Whether a word stands before the command: it sets a variable, or begins a loop and the like.
    fn is_prefix(&mut self, word: &Word, start: usize) -> Read<'a, bool> {
        let raw = &self.text[start..self.at];
        if UNREAD.contains(&raw) {
            self.at = start;
            return self.stop("it is not understood");
        }
        let is_opener = OPENERS.contains(&raw);
        if is_opener {
            self.beyond("it is more than one command", start);
        }
        let is_setting = sets(&word.text);
        if is_setting {
            self.beyond("it changes the environment", start);
        }
        Ok(is_opener || is_setting)
    }

    /// Whether the word from here on is `{NAME}` right before a redirection, which sets that variable.
    fn names_descriptor(&self, start: usize) -> bool {
        let raw = &self.text[start..self.at];
        raw.starts_with('{') && raw.ends_with('}') && self.rest().starts_with(['<', '>'])
    }

    fn is_at_redirection(&self) -> bool {
        let rest = self.rest().trim_start_matches(|c: char| c.is_ascii_digit());
        rest.starts_with(['<', '>']) || self.rest().starts_with("&>")
    }

    fn redirection(&mut self) -> Read<'a> {
        let from = self.at;
        while self.next().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        if self.take("<(") || self.take(">(") {
            return self.nested("a substitution", from);
        }
        let operator = REDIRECTIONS.iter().copied().find(|operator| self.take(operator));
        if matches!(operator, Some("<<" | "<<-")) {
            self.at = from;
            return self.stop("a here-document");
        }
        self.blanks();
        let start = self.at;
        self.word()?;
        let target = &self.text[start..self.at];
        if target.is_empty() {
            return self.stop("it is not understood");
        }
        let is_harmless = match operator {
            Some("<" | ">" | ">>") => target == "/dev/null",
            Some(">&") => matches!(target, "1" | "2"),
            Some(_) | None => false,
        };
        if !is_harmless {
            self.beyond("it sends input or output elsewhere", from);
        }
        Ok(())
    }
}

/// Whether a word before a command sets a variable: `NAME=`, `NAME+=`, `NAME[…]=`.
fn sets(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
