//! Rules as they are written, kept and refused.

use antiphon_agent::permission::{Action, File, Policy, Rule};
use expect_test::{Expect, expect};

use crate::call::check;

/// Each rule as JSON: how it is kept, or what is wrong with it.
#[track_caller]
fn check_form(rules: &[&str], expected: Expect) {
    let mut table = String::new();
    for text in rules {
        let row = match serde_json::from_str::<Rule>(text) {
            Ok(rule) => {
                let kept = serde_json::to_string(&rule).expect("a rule is JSON");
                let again: Rule = serde_json::from_str(&kept).expect("what was kept can be read");
                assert_eq!(again, rule, "a rule comes back as it was kept");
                assert_eq!(serde_json::to_string(&again).expect("a rule is JSON"), kept);
                format!("{kept}  {rule}")
            }
            Err(wrong) => format!("refused: {wrong}"),
        };
        table.extend([row.as_str(), "\n"]);
    }
    expected.assert_eq(&table);
}

#[test]
fn both_forms_are_read_and_the_long_one_is_kept() {
    check_form(
        &[
            r#""allow read""#,
            r#""deny mcp/*""#,
            r#""ask *""#,
            r#""allow bash: git status""#,
            r#""deny write: /etc/**""#,
            r#""allow fetch: https://docs.rs/**""#,
            r#"{"allow": "bash", "command": "git status"}"#,
            r#"{"allow": "bash", "command": ["git status", "git log *"]}"#,
            r#"{"ask": "bash", "from": ["web"]}"#,
            r#"{"ask": "bash", "from": "web"}"#,
            r#"{"deny": "*", "input": {"key": "secret*"}}"#,
            r#"{"from": ["web", "file"], "url": "https://x.example", "path": ["a", "b"], "deny": "*"}"#,
        ],
        expect![[r#"
            {"allow":"read"}  {allow: read}
            {"deny":"mcp/*"}  {deny: "mcp/*"}
            {"ask":"*"}  {ask: "*"}
            {"allow":"bash","command":"git status"}  {allow: bash, command: "git status"}
            {"deny":"write","path":"/etc/**"}  {deny: write, path: "/etc/**"}
            {"allow":"fetch","url":"https://docs.rs/**"}  {allow: fetch, url: "https://docs.rs/**"}
            {"allow":"bash","command":"git status"}  {allow: bash, command: "git status"}
            {"allow":"bash","command":["git status","git log *"]}  {allow: bash, command: ["git status", "git log *"]}
            {"ask":"bash","from":"web"}  {ask: bash, from: [web]}
            {"ask":"bash","from":"web"}  {ask: bash, from: [web]}
            {"deny":"*","input":{"key":"secret*"}}  {deny: "*", input: {key: "secret*"}}
            {"deny":"*","path":["a","b"],"url":"https://x.example","from":["web","file"]}  {deny: "*", path: ["a", "b"], url: "https://x.example", from: [web, file]}
        "#]],
    );
}

#[test]
fn a_rule_that_cannot_be_one_is_refused_with_what_to_write() {
    check_form(
        &[
            r#""read""#,
            r#""permit read""#,
            r#""allow read write""#,
            r#""allow mcp/files: /etc""#,
            r#""allow bash: git status; ls""#,
            r#""allow bash: git status > file""#,
            r#""allow bash: FOO=1 git status""#,
            r#""allow bash: git $X""#,
            r#""allow bash: git ?""#,
            r#""allow bash: g*t status""#,
            r#""allow bash: git 'status""#,
            r#""allow bash: ""#,
            r#""allow fetch: docs.rs""#,
            r#""allow fetch: ftp://docs.rs""#,
            r#""allow fetch: https://me@docs.rs""#,
            r#""allow read: ../x""#,
            r#""allow read: ~/../x""#,
            r#"{"allow": "read", "deny": "read"}"#,
            r#"{"path": "x"}"#,
            r#"{}"#,
            r#"{"allow": "read", "paths": "x"}"#,
            r#"{"allow": ""}"#,
            r#"{"allow": "read", "path": []}"#,
            r#"{"allow": "read", "path": ""}"#,
            r#"{"allow": "read", "path": 7}"#,
            r#"{"ask": "bash", "from": ["webb"]}"#,
            r#"{"ask": "bash", "from": []}"#,
            r#"{"ask": "bash", "input": {}}"#,
            r#"7"#,
        ],
        expect![[r#"
            refused: the rule `read`: write `allow read`, `deny write: /etc/**`, or the long form at line 1 column 6
            refused: the rule `permit read`: write `allow read`, `deny write: /etc/**`, or the long form at line 1 column 13
            refused: the rule `allow read write`: write `allow read`, `deny write: /etc/**`, or the long form at line 1 column 18
            refused: the rule `allow mcp/files: /etc`: say what the pattern is about: `{allow: tool, path: …}` at line 1 column 23
            refused: the rule {allow: bash, command: "git status; ls"}: a rule is about one command: write several as a list at line 1 column 28
            refused: the rule {allow: bash, command: "git status > file"}: a rule is about a command and its words: `> file` is more at line 1 column 31
            refused: the rule {allow: bash, command: "FOO=1 git status"}: a rule is about a command and its words: `FOO=1` is more at line 1 column 30
            refused: the rule {allow: bash, command: "git $X"}: only `*` is a wildcard: put other signs of the shell in single quotes at line 1 column 20
            refused: the rule {allow: bash, command: "git ?"}: only `*` is a wildcard: put other signs of the shell in single quotes at line 1 column 19
            refused: the rule {allow: bash, command: "g*t status"}: the program must be named in full, or be `*` for all at line 1 column 24
            refused: the rule {allow: bash, command: "git 'status"}: a rule is about a command and its words: `'status` is more at line 1 column 25
            refused: the rule `allow bash:`: write `allow read`, `deny write: /etc/**`, or the long form at line 1 column 14
            refused: the rule {allow: fetch, url: "docs.rs"}: `docs.rs` is no address: write `https://docs.rs/**`, or `https://*.rs` for all names in it at line 1 column 22
            refused: the rule {allow: fetch, url: "ftp://docs.rs"}: `ftp://docs.rs` is no address: write `https://docs.rs/**`, or `https://*.rs` for all names in it at line 1 column 28
            refused: the rule {allow: fetch, url: "https://me@docs.rs"}: `https://me@docs.rs` is no address: write `https://docs.rs/**`, or `https://*.rs` for all names in it at line 1 column 33
            refused: the rule {allow: read, path: "../x"}: a path with `..`: write it from `/` or `~/` at line 1 column 18
            refused: the rule {allow: read, path: "~/../x"}: a path with `..`: write it from `/` or `~/` at line 1 column 20
            refused: the rule {…}: write exactly one of `allow`, `ask` and `deny`, with the tool: `{allow: read}` at line 1 column 33
            refused: the rule {…}: write exactly one of `allow`, `ask` and `deny`, with the tool: `{allow: read}` at line 1 column 13
            refused: the rule {…}: write exactly one of `allow`, `ask` and `deny`, with the tool: `{allow: read}` at line 1 column 2
            refused: unknown field `paths`, expected one of `allow`, `ask`, `deny`, `command`, `path`, `url`, `input`, `from` at line 1 column 25
            refused: the rule {allow: ""}: it names no tool: write `*` for all at line 1 column 13
            refused: the rule {allow: read}: `path` is empty and fits nothing: leave it out, or name something at line 1 column 29
            refused: the rule {allow: read, path: ""}: an empty path: write `.` for the working folder at line 1 column 29
            refused: expected a text or a list of texts at line 1 column 28
            refused: the rule {ask: bash, from: [webb]}: `from` knows no `webb`; there are user, model, tool, remote_agent, memory, file, web at line 1 column 33
            refused: the rule {ask: bash}: `from` is empty and fits nothing: leave it out, or name something at line 1 column 27
            refused: the rule {ask: bash}: `input` is empty: leave it out at line 1 column 28
            refused: invalid type: integer `7`, expected a rule: `allow read`, or `{allow: bash, command: git status}` at line 1 column 1
        "#]],
    );
    let long = format!("allow bash: git {}", "x".repeat(5000));
    assert!(long.parse::<Rule>().is_err_and(|wrong| wrong.to_string().contains("at most 4096 bytes")));
    assert!(serde_json::from_str::<File>(r#"{"permissions": ["allow read"], "rules": []}"#).is_err());
    assert_eq!(
        serde_json::from_str::<File>(r#"{"permissions": ["allow read"]}"#).expect("a file").permissions.len(),
        1
    );
}

#[test]
fn a_rule_made_in_rust_that_cannot_be_read_asks() {
    let broken = Rule { command: vec!["git status; ls".into()], ..Rule::new(Action::Allow, "bash") };
    assert!(broken.check().is_err());
    check(
        &Policy::new([broken, Rule::new(Action::Allow, "*")]),
        &["bash ls", "todo {}"],
        expect![[r#"
        ask   bash ls
                bash: {allow: bash, command: "git status; ls"} (agent) asks about `ls`
                always: {allow: bash, command: "ls"}
        allow todo {}
    "#]],
    );
}
