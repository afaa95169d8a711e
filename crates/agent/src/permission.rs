//! Permissions: what an agent may do, what it must ask for, what it may not do at all.
//!
//! In: rules, and what a tool is about to be called with. Out: a [`Verdict`]. No I/O: whoever asks has resolved
//! paths before. Start reading at [`Policy::judge`].

use antiphon_event::{Json, Provenance};
use serde::{Deserialize, Serialize};

/// One rule: what to do about calls it fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What to do.
    pub action: Action,
    /// The tool; `*` for all, a pattern otherwise.
    pub tool: String,
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

/// What a call of a tool touches, as the tool itself says: what rules look at besides the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A line for the shell.
    Command(String),
    /// A file or folder, with links resolved.
    Path {
        /// As it was given.
        given: String,
        /// Where it really is.
        resolved: String,
        /// Whether it may be changed.
        writes: bool,
    },
    /// An address on the web.
    Url(String),
}

/// What a tool is about to be called with.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The arguments.
    pub input: &'a Json,
    /// What the call touches.
    pub subjects: &'a [Subject],
    /// Where the arguments came from, as far as that can be told.
    pub sources: &'a [Provenance],
}

/// What is to be done about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Go ahead.
    Allow,
    /// A person decides; why, for that person.
    Ask(String),
    /// No; why, for the model.
    Deny(String),
}

/// All rules that hold for an agent, the first that fits first; what none fits is asked.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Vec<Rule>,
    /// The policy of the agent that called this one: it may do no more.
    bound: Option<Box<Policy>>,
}

impl Policy {
    /// Rules of several sources, the ones that come first first.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self { rules: rules.into_iter().collect(), bound: None }
    }

    /// The policy of an agent that this one's calls: its own rules within this one.
    #[must_use]
    pub fn inside(&self, rules: impl IntoIterator<Item = Rule>) -> Self {
        Self { rules: rules.into_iter().collect(), bound: Some(Box::new(self.clone())) }
    }

    /// Adds what a person granted.
    pub fn grant(&mut self, rule: Rule) {
        self.rules.insert(0, rule);
    }

    /// What is to be done about a call.
    pub fn judge(&self, ask: &Ask<'_>) -> Verdict {
        let fits = |rule: &&Rule| rule.tool == "*" || rule.tool == ask.tool;
        let verdict = match self.rules.iter().find(fits).map(|rule| rule.action) {
            Some(Action::Allow) => Verdict::Allow,
            Some(Action::Deny) => Verdict::Deny(format!("a rule denies `{}`", ask.tool)),
            Some(Action::Ask) | None => Verdict::Ask(format!("may it call `{}`?", ask.tool)),
        };
        match (&verdict, &self.bound) {
            (Verdict::Allow, Some(bound)) => bound.judge(ask),
            _ => verdict,
        }
    }

    /// The narrowest rule that would allow this call and its like: what `always` adds. Nothing where a call is too
    /// strange for one: it is asked each time.
    pub fn rule_for(&self, ask: &Ask<'_>) -> Option<Rule> {
        Some(Rule { action: Action::Allow, tool: ask.tool.to_owned() })
    }
}
