//! What holds for any rules and any call.

use antiphon_agent::permission::{Action, Ask, Origins, Policy, Rule, Subject, Verdict};
use antiphon_event::{Json, Provenance};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// What lines are made of: what is granted, what is not, and every sign that means something to a shell.
const PIECES: &[&str] = &[
    "git status",
    "git",
    "status",
    "ls",
    "ls -l",
    "rm x",
    "rm",
    "id",
    "x",
    "file",
    "-c",
    "sh",
    "env",
    "eval",
    "xargs",
    "exec",
    "alias git=rm",
    "export PATH=.",
    "FOO=1",
    "PATH=.",
    "if",
    "then",
    "fi",
    "while",
    "do",
    "done",
    "for f in a",
    "case x in",
    "x)",
    "esac",
    "function git",
    "{",
    "}",
    "(",
    ")",
    "()",
    "[[",
    "]]",
    "!",
    ";",
    ";;",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "\n",
    "\r",
    "\\\n",
    "\\",
    "'",
    "\"",
    "`",
    "$(",
    "$((",
    "))",
    "${",
    "$X",
    "$'",
    "$\"",
    "<(",
    ">(",
    "<",
    ">",
    ">>",
    "<<",
    "<<<",
    ">&",
    "&>",
    "2>&1",
    "> /dev/null",
    "2>/dev/null",
    "< /dev/null",
    "#",
    "*",
    "?",
    "[",
    "]",
    "~",
    "=",
    "+=",
    "%",
    "time",
    "coproc",
    "\0",
    "\u{a0}",
    "\u{200b}",
    "\u{456}",
    "1",
    "2",
    "END",
    "$(id)",
    "`id`",
    "$(rm x)",
];

pub(crate) fn any_line() -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![3 => prop::sample::select(PIECES[..6].to_vec()), 5 => prop::sample::select(PIECES)];
    let glue =
        prop_oneof![4 => Just(" "), 2 => Just(""), 1 => Just("; "), 1 => Just(" && "), 1 => Just(" | ")];
    prop::collection::vec((piece, glue), 0..9)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, glue)| format!("{piece}{glue}")).collect())
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let action = prop::sample::select(vec![Action::Allow, Action::Ask, Action::Deny]);
    let tool = prop::sample::select(vec!["bash", "read", "*", "r*"]);
    let command = prop::sample::select(vec!["git status", "ls *", "rm *", "*", "git *", "id", "env *"]);
    let path = prop::sample::select(vec!["/srv/**", "/srv/a", "/**/x", "here", "~/x"]);
    let from = prop::sample::select(vec![Provenance::Web, Provenance::User]);
    let some = |what| prop::collection::vec(what, 0..2);
    (action, tool, some(command), some(path), prop::collection::vec(from, 0..2)).prop_map(
        |(action, tool, command, path, from)| Rule {
            command: command.into_iter().map(str::to_owned).collect(),
            path: path.into_iter().map(str::to_owned).collect(),
            from,
            ..Rule::new(action, tool)
        },
    )
}

fn any_rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(any_rule(), 0..6)
}

#[derive(Debug, Clone)]
struct Call {
    tool: &'static str,
    subjects: Vec<Subject>,
    sources: Vec<Provenance>,
}

impl Call {
    fn judged_by(&self, policy: &Policy) -> Verdict {
        self.ask(|ask| policy.judge(ask))
    }

    fn ask<T>(&self, then: impl FnOnce(&Ask<'_>) -> T) -> T {
        let input = Json::from(serde_json::json!({}));
        then(&Ask { tool: self.tool, input: &input, subjects: &self.subjects, sources: &self.sources })
    }
}

fn any_call() -> impl Strategy<Value = Call> {
    let path = prop::sample::select(vec!["/srv/a", "/srv/a/x", "/srv/../etc", "/b", "", "here/x"]);
    let path =
        path.prop_map(|path| Subject::Path { given: path.into(), resolved: path.into(), writes: true });
    let subject = prop_oneof![3 => any_line().prop_map(Subject::Command), 1 => path];
    let from = prop::sample::select(vec![Provenance::Web, Provenance::User, Provenance::Model]);
    let tool = prop::sample::select(vec!["bash", "read", "todo"]);
    (tool, prop::collection::vec(subject, 0..3), prop::collection::vec(from, 0..3))
        .prop_map(|(tool, subjects, sources)| Call { tool, subjects, sources })
}

fn strictness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask(_) => 1,
        Verdict::Deny(_) => 2,
    }
}

proptest! {
    #![proptest_config(Config { cases: 1000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn no_text_makes_the_judge_panic(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let bytes = String::from_utf8_lossy(&bytes).into_owned();
        let mut origins = Origins::default();
        for text in [text, bytes] {
            let subjects = [
                Subject::Command(text.clone()),
                Subject::Url(text.clone()),
                Subject::Path { given: text.clone(), resolved: format!("/{text}"), writes: false },
            ];
            let input = Json::from(serde_json::json!({ &text: &text }));
            let _ = text.parse::<Rule>();
            for rule in [
                Rule { command: vec![text.clone()], ..Rule::new(Action::Deny, "*") },
                Rule { path: vec![text.clone()], url: vec![text.clone()], ..Rule::new(Action::Allow, text.clone()) },
                Rule::new(Action::Allow, "*"),
            ] {
                let _ = rule.check();
                let policy = Policy::new([rule]);
                let ask = Ask { tool: "bash", input: &input, subjects: &subjects, sources: &[] };
                let _ = (policy.judge(&ask), policy.rule_for(&ask));
            }
            origins.saw(&Provenance::Web, &text);
            let _ = origins.of(&input);
        }
    }

    #[test]
    fn a_rule_comes_back_from_json_as_it_was(rule in any_rule()) {
        let text = serde_json::to_string(&rule).expect("a rule is JSON");
        prop_assert_eq!(serde_json::from_str::<Rule>(&text).expect("what was written"), rule);
    }

    #[test]
    fn one_more_denial_never_allows_more(rules in any_rules(), more in any_rule(), at in 0..6usize, call in any_call()) {
        let before = call.judged_by(&Policy::new(rules.clone()));
        let mut rules = rules;
        rules.insert(at.min(rules.len()), Rule { action: Action::Deny, ..more });
        let after = call.judged_by(&Policy::new(rules));
        prop_assert!(before == Verdict::Allow || after != Verdict::Allow);
    }

    #[test]
    fn an_agent_within_is_never_freer(outer in any_rules(), inner in any_rules(), innermost in any_rules(),
        grant in any_rule(), call in any_call()) {
        let mut policy = Policy::new(outer);
        for rules in [inner, innermost] {
            let within = policy.inside(rules);
            prop_assert!(strictness(&call.judged_by(&within)) >= strictness(&call.judged_by(&policy)));
            policy = within;
        }
        let denied = matches!(call.judged_by(&policy), Verdict::Deny(_));
        policy.grant(Rule { action: Action::Allow, ..grant });
        prop_assert_eq!(matches!(call.judged_by(&policy), Verdict::Deny(_)), denied);
    }

    #[test]
    fn what_always_adds_allows_the_call(rules in any_rules(), call in any_call()) {
        let mut policy = Policy::new(rules);
        if let Some(rule) = call.ask(|ask| policy.rule_for(ask)) {
            policy.grant(rule);
            prop_assert_eq!(call.judged_by(&policy), Verdict::Allow);
        }
    }
}
