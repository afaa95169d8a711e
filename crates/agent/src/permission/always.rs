//! What `always` adds: the narrowest rule that is of any use next time.
//!
//! In: a call that was asked about. Out: a rule that allows it, checked against the policy, or nothing where no narrow
//! rule would: such a call is asked each time. Start reading at [`Policy::rule_for`].

use antiphon_event::Provenance;

use super::address::Seen;
use super::glob::escape;
use super::matching::Part;
use super::program::{is_changer, is_runner};
use super::shell::{Simple, Word};
use super::source::KEPT_IN;
use super::{Action, Ask, Place, Policy, Rule, Verdict, lines, parts};

/// Programs and what they do that is done again and again with other arguments: these may follow freely. Of all other
/// commands the exact words are kept.
const OPEN: &[(&str, &[&str])] = &[
    ("cargo", &["bench", "build", "check", "clippy", "doc", "fmt", "nextest", "test", "tree"]),
    ("git", &["add", "blame", "commit"]),
    ("go", &["build", "test", "vet"]),
    ("npm", &["test"]),
    ("pnpm", &["test"]),
];

/// How many words a command has at most to be kept as it is although it is one of these.
const EXACT_MAX: usize = 2;

/// Tools that say what they touch; without that they are asked each time.
const TELLING: &[&str] = &["bash", "exec", "fetch", "patch", "read", "search", "write"];

impl Policy {
    /// The narrowest rule that would allow this call and its like: what `always` adds. Nothing where a call is too
    /// strange for one: it is asked each time.
    ///
    /// Of a shell line it keeps the words of each command, of a file its folder, of an address its host.
    pub fn rule_for(&self, ask: &Ask<'_>) -> Option<Rule> {
        let lines = lines(ask);
        let parts = parts(ask, &lines);
        [Reach::Like, Reach::Exact].into_iter().find_map(|reach| {
            let rule = self.candidate(ask, &parts, reach)?;
            let mut with_it = self.clone();
            with_it.grant(rule.clone());
            let is_enough = rule.check().is_ok() && with_it.judge(ask) == Verdict::Allow;
            is_enough.then_some(rule)
        })
    }

    fn candidate(&self, ask: &Ask<'_>, parts: &[Part<'_>], reach: Reach) -> Option<Rule> {
        let is_open = |part: &&Part<'_>| self.verdict(ask, part) != Verdict::Allow;
        let open: Vec<_> = parts.iter().filter(is_open).collect();
        let mut rule = Rule::new(Action::Allow, escape(ask.tool));
        for part in if open.is_empty() { parts.iter().collect() } else { open } {
            match part {
                Part::Call if TELLING.contains(&ask.tool) => return None,
                Part::Call => {}
                Part::Command { command, .. } => add(&mut rule.command, command_pattern(command, reach)?),
                Part::Path { resolved, .. } => {
                    add(&mut rule.path, path_pattern(resolved.as_deref()?, &self.place, reach)?);
                }
                Part::Url { seen, .. } => add(&mut rule.url, url_pattern(seen.as_ref()?, reach)),
                Part::Beyond(_) | Part::Hidden(_) => return None,
            }
        }
        rule.from = self.doubted(ask, parts);
        Some(rule)
    }

    /// The sources because of which rules ask about a call, at any level.
    fn doubted(&self, ask: &Ask<'_>, parts: &[Part<'_>]) -> Vec<Provenance> {
        let mut doubted = self.bound.as_ref().map(|bound| bound.doubted(ask, parts)).unwrap_or_default();
        let asking = parts.iter().filter_map(|part| self.decide(ask, part)?.by);
        for from in asking.filter(|by| by.rule.action == Action::Ask).flat_map(|by| &by.rule.from) {
            if ask.sources.contains(from) && !doubted.contains(from) {
                doubted.push(from.clone());
            }
        }
        doubted
    }
}

/// How far a rule reaches.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// What is like this call, too.
    Like,
    /// Just this.
    Exact,
}

fn add(patterns: &mut Vec<String>, pattern: String) {
    if !patterns.contains(&pattern) {
        patterns.push(pattern);
    }
}

/// The words of a command, or its first two and any more.
fn command_pattern(command: &Simple<'_>, reach: Reach) -> Option<String> {
    let words = &command.words;
    if is_runner(command) || is_changer(command) || !words.iter().all(Word::is_literal) {
        return None;
    }
    let name = |at: usize| words.get(at).map(|word| word.text.as_str());
    let does = OPEN.iter().find(|(program, _)| name(0) == Some(program)).map(|(_, does)| *does);
    let is_open =
        reach == Reach::Like && does.is_some_and(|does| name(1).is_some_and(|word| does.contains(&word)));
    let kept = if is_open && words.len() > EXACT_MAX { &words[..EXACT_MAX] } else { &words[..] };
    let mut pattern: Vec<_> = kept.iter().map(|word| quoted(&word.text)).collect();
    if kept.len() < words.len() {
        pattern.push("*".to_owned());
    }
    Some(pattern.join(" "))
}

/// A word as a shell reads it back.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The folder of a file; the path itself if it looks like a folder, hides, or its folder holds too much; nothing where
/// rules are kept.
fn path_pattern(path: &str, place: &Place, reach: Reach) -> Option<String> {
    if path.split('/').any(|part| part == KEPT_IN) {
        return None;
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_small = folder.matches('/').count() >= 2 && !place.is_in(folder);
    let is_file = name.contains('.') && !name.starts_with('.');
    Some(escape(if reach == Reach::Like && is_small && is_file { folder } else { path }))
}

fn url_pattern(seen: &Seen, reach: Reach) -> String {
    match reach {
        Reach::Like => seen.host_pattern(),
        Reach::Exact => seen.exact_pattern(),
    }
}
