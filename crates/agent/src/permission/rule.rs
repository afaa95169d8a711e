//! [`Rule`]: what to do about calls it fits, as a person writes it.
//!
//! Start reading at [`Rule`]; how it is written in a file is in `rule/form.rs`, how it is matched in `matching.rs`.

mod form;

use std::collections::BTreeMap;
use std::fmt;

use antiphon_event::Provenance;
use serde::{Deserialize, Serialize};

pub use form::File;

/// One rule: what to do about calls it fits.
///
/// Written long, `{allow: bash, command: "git status"}`, or short, `allow bash: git status`; always kept long. All that
/// is given must fit; of a list, one.
///
/// ```
/// # use antiphon_agent::permission::Rule;
/// let long: Rule = serde_json::from_str(r#"{"deny": "write", "path": "/etc/**"}"#)?;
/// let short: Rule = "deny write: /etc/**".parse()?;
/// assert_eq!(long, short);
/// assert_eq!(serde_json::to_string(&short)?, r#"{"deny":"write","path":"/etc/**"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What to do.
    pub action: Action,
    /// The tool; `*` for all, a pattern otherwise.
    pub tool: String,
    /// Commands, word by word: `git log *`.
    pub command: Vec<String>,
    /// Files and folders, which cover what is inside.
    pub path: Vec<String>,
    /// Addresses on the web.
    pub url: Vec<String>,
    /// Patterns for arguments by name. What allows by these alone allows no command, file or address.
    pub input: BTreeMap<String, String>,
    /// Where the arguments came from; any if empty.
    pub from: Vec<Provenance>,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Go ahead.
    Allow,
    /// A person decides.
    Ask,
    /// No.
    Deny,
}

impl Action {
    const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Why a rule cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rule {rule}: {why}")]
pub struct RuleError {
    /// The rule as far as it could be read.
    pub rule: String,
    /// What is wrong with it and what to write.
    pub why: String,
}

impl Rule {
    /// A rule about all calls of a tool; the other members are for the caller to fill in.
    pub fn new(action: Action, tool: impl Into<String>) -> Self {
        Self {
            action,
            tool: tool.into(),
            command: Vec::new(),
            path: Vec::new(),
            url: Vec::new(),
            input: BTreeMap::new(),
            from: Vec::new(),
        }
    }

    /// Checks every pattern: a rule that was read from text has been checked, one made in Rust has not.
    pub fn check(&self) -> Result<(), RuleError> {
        super::matching::Matcher::read(self)
            .map(drop)
            .map_err(|why| RuleError { rule: super::text::shown(&self.to_string()), why })
    }
}

impl fmt::Display for Rule {
    /// As in a file, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}: {}", self.action.name(), Scalar(&self.tool))?;
        for (name, patterns) in [("command", &self.command), ("path", &self.path), ("url", &self.url)] {
            match &patterns[..] {
                [] => {}
                [one] => write!(f, ", {name}: {one:?}")?,
                many => write!(f, ", {name}: {many:?}")?,
            }
        }
        if !self.input.is_empty() {
            let members: Vec<_> =
                self.input.iter().map(|(name, value)| format!("{}: {value:?}", Scalar(name))).collect();
            write!(f, ", input: {{{}}}", members.join(", "))?;
        }
        if !self.from.is_empty() {
            let names: Vec<_> = self.from.iter().map(ToString::to_string).collect();
            write!(f, ", from: [{}]", names.join(", "))?;
        }
        f.write_str("}")
    }
}

/// A name, in quotes where YAML needs them.
struct Scalar<'a>(&'a str);

impl fmt::Display for Scalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = self.0.starts_with(|c: char| c.is_ascii_alphabetic())
            && self.0.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/'));
        if is_plain { f.write_str(self.0) } else { write!(f, "{:?}", self.0) }
    }
}
