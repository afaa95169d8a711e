//! Permissions: what an agent may do, what it must ask for, what it may not do at all.
//!
//! In: rules, and what a tool is about to be called with. Out: a [`Verdict`]. No I/O: whoever asks has resolved
//! paths before. Start reading at [`Policy::judge`]; then [`Rule`], and `permission/shell.rs` for what is made of a
//! shell line.

mod address;
mod always;
mod ask;
mod command;
mod glob;
mod matching;
mod place;
mod program;
mod provenance;
mod reason;
mod rule;
mod shell;
mod source;
mod text;

pub use ask::{Ask, Subject, Verdict};
pub use place::Place;
pub use provenance::Origins;
pub use rule::{Action, File, Rule, RuleError};
pub use source::{Source, Sources, built_in};

use address::Seen;
use matching::{Decision, Matcher, Part};
use shell::{Beyond, Line};
use source::KEPT_IN;
use text::shown;

/// Whether a pattern fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    /// It cannot be told before it happens.
    Perhaps,
    Surely,
}

/// All rules that hold for an agent, the first that fits first; what none fits is asked.
///
/// ```
/// # use antiphon_agent::permission::{Ask, Policy, Subject, Verdict};
/// let policy = Policy::new(["allow bash: git status".parse()?, "deny bash: rm *".parse()?]);
/// let judge = |line: &str| {
///     let subjects = [Subject::Command(line.to_owned())];
///     policy.judge(&Ask { tool: "bash", input: &"{}".into(), subjects: &subjects, sources: &[] })
/// };
/// assert_eq!(judge("git status"), Verdict::Allow);
/// assert!(matches!(judge("git status > file"), Verdict::Ask(_)));
/// assert!(matches!(judge("git status; rm -rf x"), Verdict::Deny(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Vec<Known>,
    /// What people granted, the oldest first.
    grants: Vec<Known>,
    place: Place,
    /// The policy of the agent that called this one: it may do no more.
    bound: Option<Box<Policy>>,
}

/// A rule with where it is from.
#[derive(Debug, Clone)]
struct Known {
    rule: Rule,
    source: Source,
    matcher: Matcher,
}

impl Known {
    fn new(rule: Rule, source: Source) -> Self {
        let matcher = Matcher::read(&rule).unwrap_or_else(|_| Matcher::asking(&rule));
        Self { rule, source, matcher }
    }

    fn name(&self) -> String {
        format!("{} ({})", shown(&self.rule.to_string()), self.source.name())
    }
}

/// What was decided about a part of a call, and by which rule.
#[derive(Debug, Clone, Copy)]
struct Decided<'a> {
    decision: Decision,
    by: Option<&'a Known>,
}

impl Decided<'_> {
    const UNKNOWN: Self = Self { decision: Decision::Says(Action::Ask), by: None };
}

impl Policy {
    /// Rules of an agent, the ones that come first first. See [`Sources`] for rules of several sources.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut policy = Self::default();
        policy.extend(Source::Agent, rules);
        policy
    }

    /// Where the agent works: what relative patterns are about.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Adds rules of one source after those that are there.
    fn extend(&mut self, source: Source, rules: impl IntoIterator<Item = Rule>) {
        self.rules.extend(rules.into_iter().map(|rule| Known::new(rule, source)));
    }

    /// The policy of an agent that this one's calls: its own rules within this one. The stricter of both decides; what
    /// its own rules say nothing about is as for this one. At any depth it may do at most what this one may.
    #[must_use]
    pub fn inside(&self, rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut inner =
            Self { place: self.place.clone(), bound: Some(Box::new(self.clone())), ..Self::default() };
        inner.extend(Source::Agent, rules);
        inner
    }

    /// Adds what a person granted, here and in what bounds this: it answers what would be asked, and never undoes a
    /// denial. What a rule asks about certain commands, files, addresses or sources it answers only if it names just
    /// those.
    pub fn grant(&mut self, rule: Rule) {
        if let Some(bound) = &mut self.bound {
            bound.grant(rule.clone());
        }
        self.grants.push(Known::new(rule, Source::Grant));
    }

    /// Whether any rule wants to know where arguments came from.
    pub fn looks_at_sources(&self) -> bool {
        let own = self.rules.iter().any(|by| !by.rule.from.is_empty());
        own || self.bound.as_ref().is_some_and(|bound| bound.looks_at_sources())
    }

    /// What is to be done about a call: every part of it must be allowed, and none denied.
    pub fn judge(&self, ask: &Ask<'_>) -> Verdict {
        let lines = lines(ask);
        parts(ask, &lines)
            .iter()
            .fold(Verdict::Allow, |verdict, part| verdict.stricter(self.verdict(ask, part)))
    }

    /// Whether something that a call comes upon is as free to it as what it was called with: it is allowed, or nothing
    /// is said about it that was not said about the call. `asked` is what the call was let through with.
    pub fn reaches(&self, asked: &Ask<'_>, found: &Subject) -> bool {
        let found = std::slice::from_ref(found);
        let (lines, own) = (lines(asked), Ask { subjects: found, ..asked.clone() });
        let found_lines = self::lines(&own);
        let asked_parts = parts(asked, &lines);
        parts(&own, &found_lines).iter().all(|part| self.is_as_free(asked, &asked_parts, part))
    }

    fn is_as_free(&self, asked: &Ask<'_>, parts: &[Part<'_>], found: &Part<'_>) -> bool {
        let own = self.decide(asked, found);
        let is_allowed = own.is_some_and(|own| own.decision == Decision::Says(Action::Allow));
        let is_same = || parts.iter().any(|part| rule(self.decide(asked, part)) == rule(own));
        (is_allowed || is_same())
            && self.bound.as_ref().is_none_or(|bound| bound.is_as_free(asked, parts, found))
    }

    /// The verdict about one part, here and in all that bounds this.
    fn verdict(&self, ask: &Ask<'_>, part: &Part<'_>) -> Verdict {
        let own = self.decide(ask, part);
        match (&self.bound, own) {
            (None, own) => own.unwrap_or(Decided::UNKNOWN).verdict(ask, part),
            (Some(bound), None) => bound.verdict(ask, part),
            (Some(bound), Some(own)) => own.verdict(ask, part).stricter(bound.verdict(ask, part)),
        }
    }

    /// What the rules of this level decide about a part; nothing if none fits.
    fn decide(&self, ask: &Ask<'_>, part: &Part<'_>) -> Option<Decided<'_>> {
        let decided =
            |by: &'_ Known| by.matcher.is_about(ask).then(|| by.matcher.decides(part, &self.place))?;
        let ruled = self.rules.iter().find_map(|by| Some(Decided { decision: decided(by)?, by: Some(by) }));
        for by in self.grants.iter().rev() {
            let Some(decision) = decided(by) else {
                continue;
            };
            let is_yes = decision == Decision::Says(Action::Allow);
            if !is_yes || ruled.is_none_or(|ruled| self.answers(by, ruled, ask, part)) {
                return Some(Decided { decision, by: Some(by) });
            }
        }
        ruled
    }

    /// Whether a grant is an answer to what rules ask. What a rule asks about certain commands, files or addresses is
    /// answered for each by itself, and what it asks about sources by a grant for those.
    fn answers(&self, grant: &Known, ruled: Decided<'_>, ask: &Ask<'_>, part: &Part<'_>) -> bool {
        let (Decision::Says(Action::Ask), Some(by)) = (ruled.decision, ruled.by) else {
            return false;
        };
        let mut doubted = by.rule.from.iter().filter(|from| ask.sources.contains(from));
        let is_for_it = !by.matcher.is_about_some() || grant.matcher.names(part, &self.place);
        is_for_it && doubted.all(|from| grant.rule.from.contains(from))
    }
}

/// The rule that decided, if one did.
fn rule(decided: Option<Decided<'_>>) -> Option<&Rule> {
    decided.and_then(|decided| decided.by).map(|by| &by.rule)
}

/// The shell lines of a call, read.
fn lines<'a>(ask: &Ask<'a>) -> Vec<Line<'a>> {
    let read = |subject: &'a Subject| match subject {
        Subject::Command(text) => Some(Line::read(text)),
        Subject::Path { .. } | Subject::Url(_) => None,
    };
    ask.subjects.iter().filter_map(read).collect()
}

/// Everything that has to be allowed for a call to be allowed; never empty.
fn parts<'a>(ask: &Ask<'a>, lines: &'a [Line<'a>]) -> Vec<Part<'a>> {
    let mut parts: Vec<_> = lines.iter().flat_map(parts_of_line).collect();
    for subject in ask.subjects {
        match subject {
            Subject::Command(_) => {}
            Subject::Path { given, resolved, writes } => {
                parts.push(Part::Path { given, resolved: place::normal(resolved), writes: *writes });
            }
            Subject::Url(given) => parts.push(Part::Url { given, seen: Seen::read(given) }),
        }
    }
    if parts.is_empty() {
        parts.push(Part::Call);
    }
    parts
}

/// The parts of a shell line; never empty.
fn parts_of_line<'a>(line: &'a Line<'a>) -> Vec<Part<'a>> {
    let is_alone = line.commands.len() == 1 && line.hidden.is_none() && line.beyond.is_empty();
    let commands = line.commands.iter().map(|command| Part::Command { command, is_alone });
    let beyond = line.beyond.iter().map(|beyond| Part::Beyond(*beyond));
    let hidden = line.hidden.iter().map(|beyond| Part::Hidden(*beyond));
    let mut parts: Vec<_> = commands.chain(beyond).chain(hidden).collect();
    if parts.is_empty() {
        parts.push(Part::Hidden(Beyond { what: "it holds no command", text: "" }));
    }
    if line.mentions(KEPT_IN) {
        parts.push(Part::Path { given: KEPT_IN, resolved: Some(format!("/{KEPT_IN}")), writes: true });
    }
    parts
}
