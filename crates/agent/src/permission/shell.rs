//! A shell line, taken apart: the commands in it, and what is more than a command.
//!
//! In: a line for `sh` or `bash`. Out: a [`Line`]. Only what is surely understood is taken as a command; where reading
//! stops the rest counts as hidden, and what is hidden is never allowed by a rule about commands. One pass, bounded in
//! length, depth and count. Start reading at [`Line::read`]; the reading itself is in `shell/reader.rs`.

mod reader;

use reader::Reader;

/// The longest line that is read, in bytes.
pub(super) const LINE_MAX: usize = 16 * 1024;

/// How deep subshells and substitutions may stand in one another.
const DEPTH_MAX: usize = 8;

/// How many commands a line may hold.
const COMMANDS_MAX: usize = 256;

/// A line as it was read.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    /// Every simple command, those in subshells and substitutions too.
    pub(super) commands: Vec<Simple<'a>>,
    /// What is more than a command: redirections, substitutions, settings, loops …
    pub(super) beyond: Vec<Beyond<'a>>,
    /// Where reading stopped.
    pub(super) hidden: Option<Beyond<'a>>,
}

/// A command and its arguments.
#[derive(Debug)]
pub(super) struct Simple<'a> {
    /// As it stands in the line.
    pub(super) text: &'a str,
    /// At least one.
    pub(super) words: Vec<Word>,
}

/// A word, without its quotes.
#[derive(Debug, Default, Clone)]
pub(super) struct Word {
    /// What it says; only a part of it if it is dynamic.
    pub(super) text: String,
    /// Where in `text` a `*` stood outside of quotes.
    pub(super) stars: Vec<usize>,
    /// Whether a quote or a backslash was in it.
    pub(super) quoted: bool,
    /// Whether `?`, `[`, `{` or `~` stood there: the shell puts other words in its place.
    pub(super) odd: bool,
    /// Whether its value is known only when it runs.
    pub(super) dynamic: bool,
}

impl Word {
    /// Whether the program gets exactly `text`.
    pub(super) fn is_literal(&self) -> bool {
        self.stars.is_empty() && !self.odd && !self.dynamic
    }

    fn mentions(&self, name: &str) -> bool {
        let may_be = |part: &str| {
            let known = part.find(['*', '?', '[', '{']).map(|wild| &part[..wild]);
            known.is_some_and(|known| !known.is_empty() && name.starts_with(known))
        };
        self.text.contains(name) || (!self.is_literal() && self.text.split('/').any(may_be))
    }
}

/// Something no rule about commands covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beyond<'a> {
    /// What it is.
    pub(super) what: &'static str,
    /// As it stands in the line.
    pub(super) text: &'a str,
}

impl<'a> Line<'a> {
    /// Reads a line. Never fails: what cannot be read is hidden.
    pub(super) fn read(text: &'a str) -> Self {
        let hidden = |what| Self { hidden: Some(Beyond { what, text }), ..Self::default() };
        if text.len() > LINE_MAX {
            return hidden("the line is too long to be read (at most 16384 bytes)");
        }
        if text.chars().any(is_strange) {
            return hidden("a character in it cannot be seen, or shows as something else");
        }
        let mut reader = Reader::new(text);
        match reader.all() {
            Ok(()) => {}
            Err(stopped) => reader.line.hidden = Some(stopped),
        }
        reader.line
    }

    /// Whether it names a file or folder anywhere, or holds a wildcard that may stand for it.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let rest = self.beyond.iter().chain(&self.hidden);
        self.commands.iter().flat_map(|command| &command.words).any(|word| word.mentions(name))
            || rest.into_iter().any(|beyond| beyond.text.contains(name))
    }
}

/// Whether a character does not show, or shows other than where it stands.
fn is_strange(c: char) -> bool {
    let is_invisible = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    let is_space = c.is_whitespace() && !matches!(c, ' ' | '\t' | '\n');
    is_invisible || is_space || (c.is_control() && !matches!(c, '\t' | '\n'))
}
