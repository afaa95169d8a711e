//! [`Matcher`]: a rule, ready to be held against the parts of a call.
//!
//! In: a [`Rule`] and a [`Part`]. Out: what the rule decides about it, if anything. What allows must surely fit; what
//! denies or asks need only perhaps fit, and then a person decides. Start reading at [`Matcher::decides`].

use antiphon_event::{Json, Provenance};
use serde_json::Value;

use super::address::{Address, Seen};
use super::command::Command;
use super::glob::{Glob, PATTERN_MAX};
use super::place::{Path, Place};
use super::program::is_changer;
use super::shell::{Beyond, Simple};
use super::{Action, Ask, Fit, Rule};

/// The patterns of a rule.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    action: Action,
    tool: Glob,
    /// Whether the rule names one tool.
    names_tool: bool,
    command: Vec<Command>,
    path: Vec<Path>,
    url: Vec<Address>,
    input: Vec<(String, Glob)>,
    from: Vec<Provenance>,
}

/// A part of a call: each has to be allowed.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// The call as a whole, where its tool says nothing about what it touches.
    Call,
    /// A command of a line.
    Command {
        command: &'a Simple<'a>,
        /// Whether nothing else is in the line.
        is_alone: bool,
    },
    /// What is more than a command.
    Beyond(Beyond<'a>),
    /// A line, or the rest of one, that could not be read.
    Hidden(Beyond<'a>),
    /// A file or folder, and where it really is if that is known.
    Path { given: &'a str, resolved: Option<String>, writes: bool },
    /// An address, and where it leads if that is beyond doubt.
    Url { given: &'a str, seen: Option<Seen> },
}

/// What a rule decides about a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// What the rule says.
    Says(Action),
    /// It would be denied if the part is what it may be: a person decides.
    MayDeny,
}

impl Matcher {
    /// Reads the patterns of a rule, or says what is wrong.
    pub(super) fn read(rule: &Rule) -> Result<Self, String> {
        if rule.tool.is_empty() {
            return Err("it names no tool: write `*` for all".to_owned());
        }
        let lists = [&rule.command, &rule.path, &rule.url].into_iter().flatten();
        let patterns = lists.chain(rule.input.values()).chain([&rule.tool]);
        if patterns.into_iter().any(|pattern| pattern.len() > PATTERN_MAX) {
            return Err(format!("a pattern is too long (at most {PATTERN_MAX} bytes)"));
        }
        if let Some(Provenance::Other(word)) =
            rule.from.iter().find(|from| matches!(from, Provenance::Other(_)))
        {
            let known = "user, model, tool, remote_agent, memory, file, web";
            return Err(format!("`from` knows no `{word}`; there are {known}"));
        }
        Ok(Self {
            action: rule.action,
            tool: Glob::word(&rule.tool),
            names_tool: !rule.tool.contains(['*', '?']),
            command: rule.command.iter().map(|text| Command::read(text)).collect::<Result<_, _>>()?,
            path: rule.path.iter().map(|text| Path::read(text)).collect::<Result<_, _>>()?,
            url: rule.url.iter().map(|text| Address::read(text)).collect::<Result<_, _>>()?,
            input: rule.input.iter().map(|(name, text)| (name.clone(), Glob::word(text))).collect(),
            from: rule.from.clone(),
        })
    }

    /// One that asks about every call of the tool: stands for a rule that cannot be read.
    pub(super) fn asking(rule: &Rule) -> Self {
        Self {
            action: Action::Ask,
            tool: Glob::word(&rule.tool),
            names_tool: false,
            command: Vec::new(),
            path: Vec::new(),
            url: Vec::new(),
            input: Vec::new(),
            from: Vec::new(),
        }
    }

    /// Whether the rule is about such a call at all, whatever it touches.
    pub(super) fn is_about(&self, ask: &Ask<'_>) -> bool {
        self.tool.fits(ask.tool)
            && (self.from.is_empty() || self.from.iter().any(|from| ask.sources.contains(from)))
            && (self.input.is_empty() || self.fits_input(ask.input))
    }

    fn fits_input(&self, input: &Json) -> bool {
        let value = input.value();
        self.input.iter().all(|(name, pattern)| match value.get(name) {
            None => false,
            Some(Value::String(text)) => pattern.fits(text),
            Some(other) => pattern.fits(&other.to_string()),
        })
    }

    /// What the rule decides about a part of a call it is about; nothing if it does not fit.
    pub(super) fn decides(&self, part: &Part<'_>, place: &Place) -> Option<Decision> {
        match self.action {
            Action::Allow => self.covers(part, place).then_some(Decision::Says(Action::Allow)),
            Action::Ask => (self.touches(part, place) != Fit::No).then_some(Decision::Says(Action::Ask)),
            Action::Deny => match self.touches(part, place) {
                Fit::Surely => Some(Decision::Says(Action::Deny)),
                Fit::Perhaps => Some(Decision::MayDeny),
                Fit::No => None,
            },
        }
    }

    /// Whether the rule asks about certain commands, files or addresses.
    pub(super) fn is_about_some(&self) -> bool {
        !self.is_about_all()
    }

    /// Whether the rule names this very part.
    pub(super) fn names(&self, part: &Part<'_>, place: &Place) -> bool {
        match part {
            Part::Call => self.names_tool,
            Part::Command { command, .. } => self.command.iter().any(|pattern| pattern.names(command)),
            Part::Path { resolved, .. } => {
                let is_it = |path: &String| self.path.iter().any(|pattern| pattern.names(path, place));
                resolved.as_ref().is_some_and(is_it)
            }
            Part::Url { seen, .. } => {
                seen.as_ref().is_some_and(|seen| self.url.iter().any(|pattern| pattern.names(seen)))
            }
            Part::Beyond(_) | Part::Hidden(_) => false,
        }
    }

    fn is_about_all(&self) -> bool {
        self.command.is_empty() && self.path.is_empty() && self.url.is_empty()
    }

    /// Whether the part surely is what the rule is about.
    fn covers(&self, part: &Part<'_>, place: &Place) -> bool {
        if self.is_about_all() {
            // The text of an argument says too little about what it does to allow that.
            return self.input.is_empty() || matches!(part, Part::Call);
        }
        match part {
            Part::Command { command, is_alone } => {
                (*is_alone || !is_changer(command))
                    && self.command.iter().any(|pattern| pattern.covers(command))
            }
            Part::Path { resolved: Some(path), .. } => {
                self.path.iter().any(|pattern| pattern.fits(path, place) == Some(true))
            }
            Part::Url { seen: Some(seen), .. } => self.url.iter().any(|pattern| pattern.fits(seen)),
            Part::Call
            | Part::Beyond(_)
            | Part::Hidden(_)
            | Part::Path { resolved: None, .. }
            | Part::Url { seen: None, .. } => false,
        }
    }

    /// Whether the part is or may be what the rule is about.
    fn touches(&self, part: &Part<'_>, place: &Place) -> Fit {
        if self.is_about_all() {
            return Fit::Surely;
        }
        let perhaps = |may_be: bool| if may_be { Fit::Perhaps } else { Fit::No };
        match part {
            Part::Call => perhaps(self.names_tool),
            Part::Command { command, .. } => {
                self.command.iter().map(|pattern| pattern.touches(command)).max().unwrap_or(Fit::No)
            }
            Part::Beyond(_) => Fit::No,
            Part::Hidden(_) => perhaps(!self.command.is_empty()),
            Part::Path { resolved: None, .. } => perhaps(!self.path.is_empty()),
            Part::Path { resolved: Some(path), .. } => {
                let fit = |pattern: &Path| match pattern.fits(path, place) {
                    Some(true) => Fit::Surely,
                    Some(false) => Fit::No,
                    None => Fit::Perhaps,
                };
                self.path.iter().map(fit).max().unwrap_or(Fit::No)
            }
            Part::Url { seen: None, .. } => perhaps(!self.url.is_empty()),
            Part::Url { seen: Some(seen), .. } => {
                if self.url.iter().any(|pattern| pattern.fits(seen)) {
                    Fit::Surely
                } else {
                    Fit::No
                }
            }
        }
    }
}
