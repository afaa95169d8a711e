//! The door of these tests: calls as text in, verdicts with their reasons out.

use antiphon_agent::permission::{Ask, Place, Policy, Rule, Subject, Verdict};
use antiphon_event::{Json, Provenance};
use expect_test::Expect;
use serde_json::json;

/// Rules in either form.
pub(crate) fn rules(texts: &[&str]) -> Vec<Rule> {
    let read = |text: &&str| {
        if text.starts_with('{') {
            serde_json::from_str(text).expect("a rule")
        } else {
            text.parse().expect("a rule")
        }
    };
    texts.iter().map(read).collect()
}

/// Where the agent of these tests works.
pub(crate) fn place() -> Place {
    Place { folder: Some("/srv/project".into()), home: Some("/people/ada".into()) }
}

/// A call as text: `tool what`, with `what` a line for `bash`, an address for `fetch`, `given=resolved` or a path for
/// tools of files, `{…}` for arguments of others; ` from …` at the end says where the arguments came from.
pub(crate) fn ask_about<T>(call: &str, then: impl FnOnce(&Ask<'_>) -> T) -> T {
    let (call, from) = call.split_once(" from ").unwrap_or((call, ""));
    let sources: Vec<_> = from.split_whitespace().map(Provenance::from).collect();
    let (tool, what) = call.split_once(' ').unwrap_or((call, ""));
    let path = |writes| {
        let (given, resolved) = what.split_once('=').unwrap_or((what, what));
        Subject::Path { given: given.into(), resolved: resolved.into(), writes }
    };
    let subjects = match tool {
        "bash" => vec![Subject::Command(what.into())],
        "fetch" => vec![Subject::Url(what.into())],
        "read" | "search" => vec![path(false)],
        "write" | "patch" => vec![path(true)],
        _ => vec![],
    };
    let input = if what.starts_with('{') { what.parse().expect("JSON") } else { json!({ "what": what }) };
    then(&Ask { tool, input: &Json::from(input), subjects: &subjects, sources: &sources })
}

/// Each call: the verdict, its reason, and what `always` would add.
#[track_caller]
pub(crate) fn check(policy: &Policy, calls: &[&str], expected: Expect) {
    let mut table = String::new();
    for call in calls {
        let (verdict, always) = ask_about(call, |ask| (policy.judge(ask), policy.rule_for(ask)));
        let row = match (verdict, always) {
            (Verdict::Allow, _) => format!("allow {call}"),
            (Verdict::Ask(why), Some(rule)) => format!("ask   {call}\n        {why}\n        always: {rule}"),
            (Verdict::Ask(why), None) => format!("ask   {call}\n        {why}"),
            (Verdict::Deny(why), always) => {
                assert_eq!(always, None, "what is denied cannot be granted");
                format!("deny  {call}\n        {why}")
            }
        };
        table.extend([row.as_str(), "\n"]);
    }
    expected.assert_eq(&table);
}
