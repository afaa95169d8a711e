//! Checks of what can be said about a node and makes no sense.

use std::collections::HashSet;

use antiphon_event::ErrorCode;
use antiphon_event::near::{help, nearest};

use super::{Problem, Spot, Subject, Subjects};
use crate::definition::{Human, OnTimeout, Work};
use crate::guard::{Action, Check, Guard};
use crate::retry::Retry;

/// The codes of failures that are ours; tools and code may have others.
const CODES: [&str; 10] = [
    "failed",
    "timeout",
    "schema",
    "expression",
    "guardrail",
    "in_doubt",
    "hook",
    "too_large",
    "budget_exhausted",
    "cancelled",
];

/// What is to be tried again can happen. Only a doubt where the work may have codes of its own, and only if one of ours
/// is near.
pub(super) fn retries(subjects: &mut Subjects<'_>) {
    for Spot { at, path, id, node } in subjects.nodes() {
        let own = matches!(node.work, Work::Function(_) | Work::Tool(_) | Work::Flow(_) | Work::Map(_));
        for code in node.retry.iter().flat_map(|retry| &retry.on) {
            let is_known = !matches!(ErrorCode::from(code.as_str()), ErrorCode::Other(_));
            if is_known || (own && nearest(code, CODES).is_none()) {
                continue;
            }
            let message =
                format!("`{id}` is tried again after `{code}`, which is no known code of a failure");
            let problem = Problem::warning(Subject::Member(at, format!("{path}retry.on")), message);
            subjects.found.push(problem.maybe(help(code, CODES)));
        }
    }
}

/// A question can be answered, and what is said about no answer can come about.
pub(super) fn questions(subjects: &mut Subjects<'_>) {
    for Spot { at, path, id, node } in subjects.nodes() {
        let Work::Human(human) = &node.work else { continue };
        let of = |name: &str| Subject::Member(at, format!("{path}{name}"));
        let again = node.retry.as_ref().and_then(|retry| asked_again(human, retry, id, of));
        let found = doubts(human, id, of).into_iter().chain(again).chain(choices(human, id, of));
        subjects.found.extend(found);
    }
}

fn choices(human: &Human, id: &str, of: impl Fn(&str) -> Subject) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for option in &human.options {
        if option.trim().is_empty() {
            let problem = Problem::error(of("human.options"), format!("an option of `{id}` is empty"));
            found.push(problem.help("write what can be chosen, or take it out"));
        } else if !seen.insert(option) {
            let message = format!("`{id}` has the option `{option}` twice");
            found.push(Problem::error(of("human.options"), message).help("take one of them out"));
        }
    }
    found
}

fn doubts(human: &Human, id: &str, of: impl Fn(&str) -> Subject) -> Vec<Problem> {
    let mut found = Vec::new();
    if human.timeout.is_some_and(|timeout| timeout.is_zero()) {
        let message = format!("the question of `{id}` expires after 0, before anybody can answer");
        found.push(Problem::error(of("human.timeout"), message).help("leave it out to wait for ever"));
    }
    if human.timeout.is_none() && human.on_timeout != OnTimeout::Fail {
        let message = format!("`{id}` says what happens when nobody answers in time, and has no `timeout`");
        let problem = Problem::warning(of("human.on_timeout"), message);
        found.push(problem.help("add `timeout: …`, or take it out"));
    }
    if !human.options.is_empty() && human.schema.is_some() {
        let message = format!("an answer to `{id}` has to be one of its `options` and to fit its `schema`");
        found.push(Problem::warning(of("human.schema"), message).help("take one of the two out"));
    }
    found
}

/// That a question expired is no reason to ask it again.
fn asked_again(human: &Human, retry: &Retry, id: &str, of: impl Fn(&str) -> Subject) -> Option<Problem> {
    let can_expire = human.timeout.is_some() && human.on_timeout == OnTimeout::Fail && human.auto.is_none();
    let (member, is_meant) = match retry.on.as_slice() {
        [] => ("retry", can_expire),
        _ => ("retry.on", retry.names(ErrorCode::Timeout.as_str())),
    };
    let message =
        format!("`{id}` has a `retry`, and a question that nobody answers in time is not asked again");
    let problem = Problem::warning(of(member), message);
    (retry.max > 0 && is_meant).then(|| problem.help(EXPIRED))
}

const EXPIRED: &str =
    "say what holds then with `on_timeout: accept` or `reject`, or let a `fallback` take over";

/// Some text is as long as it must be.
pub(super) fn lengths(subjects: &mut Subjects<'_>) {
    for Spot { at, path, id, node } in subjects.nodes() {
        let name = if matches!(node.work, Work::Guardrail) { "guardrail" } else { "guardrails" };
        for guard in node.guards.input.iter().chain(&node.guards.output) {
            let Guard { check: Check::Length { min: Some(min), max: Some(max) }, .. } = guard else {
                continue;
            };
            if min > max {
                let message = format!("`{id}` wants texts of at least {min} and at most {max} characters");
                let problem = Problem::error(Subject::Member(at, format!("{path}{name}")), message);
                subjects.found.push(problem.help("let `min` be the smaller one"));
            }
        }
    }
}

/// What is to be taken out can be.
pub(super) fn sanitizers(subjects: &mut Subjects<'_>) {
    for Spot { at, path, id, node } in subjects.nodes() {
        let input = if matches!(node.work, Work::Guardrail) { "guardrail" } else { "guardrails.input" };
        for (member, guards) in [(input, &node.guards.input), ("guardrails.output", &node.guards.output)] {
            for (place, guard) in guards.iter().enumerate() {
                if guard.action != Action::Sanitize || guard.check.can_sanitize() {
                    continue;
                }
                let message =
                    format!("what the guardrail `{}` of `{id}` finds cannot be taken out", guard.id);
                let subject = Subject::Member(at, format!("{path}{member}.{place}.action"));
                subjects.found.push(Problem::error(subject, message).help(SANITIZERS));
            }
        }
    }
}

const SANITIZERS: &str = "let it `block` or `warn`; `sanitize` is for `secrets`, `personal`, `must_not_match` and a `length` with `max`";
