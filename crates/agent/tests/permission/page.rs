//! What `docs/permissions.md` shows is so.

use antiphon_agent::permission::{Ask, Policy, Rule, Subject, Verdict};
use antiphon_event::Json;
use regex::Regex;

const PAGE: &str = include_str!("../../../../docs/permissions.md");

/// A rule as the page writes it, in YAML, as JSON: bare words get their quotes.
fn as_json(rule: &str) -> String {
    let bare = Regex::new(r"[a-z_]+").expect("a pattern");
    let parts = rule.split('"').enumerate();
    let quoted = parts.map(|(at, part)| match at % 2 {
        0 => bare.replace_all(part, "\"$0\"").into_owned(),
        _ => format!("\"{part}\""),
    });
    quoted.collect()
}

#[test]
fn every_rule_on_the_page_can_be_read() {
    let rules: Vec<_> = PAGE.lines().filter_map(|line| line.strip_prefix("  - ")).collect();
    assert!(rules.len() >= 8);
    for text in rules {
        let rule: Rule = serde_json::from_str(&as_json(text)).expect(text);
        assert_eq!(rule.to_string(), text, "it is shown as it is written");
    }
    let short =
        "allow read`, `allow bash: git status`, `deny write: /etc/**`, `allow fetch: https://docs.rs/**";
    assert!(PAGE.contains(short), "the page has these short forms");
    for text in short.split("`, `") {
        text.parse::<Rule>().expect(text);
    }
}

#[test]
fn every_line_on_the_page_is_judged_as_it_says() {
    let policy = Policy::new(["git status", "ls *"].map(|command| {
        let text = format!("{{allow: bash, command: \"{command}\"}}");
        assert!(PAGE.contains(&text), "the page has the rule {text}");
        serde_json::from_str(&as_json(&text)).expect("a rule")
    }));
    let rows =
        PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    let rows: Vec<_> = rows.filter(|(_, verdict)| matches!(*verdict, "allow" | "ask" | "deny")).collect();
    assert!(rows.len() >= 10);
    for (line, expected) in rows {
        let subjects = [Subject::Command(line.to_owned())];
        let ask = Ask { tool: "bash", input: &Json::from(line), subjects: &subjects, sources: &[] };
        let verdict = match policy.judge(&ask) {
            Verdict::Allow => "allow",
            Verdict::Ask(_) => "ask",
            Verdict::Deny(_) => "deny",
        };
        assert_eq!(verdict, expected, "{line}");
    }
}
