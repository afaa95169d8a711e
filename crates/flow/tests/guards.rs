//! Guardrails through one door: a check and a value in, the verdict out, as tables.

use std::fmt::Write;

use antiphon_flow::guard::{Action, Check, Guard, Inspect, Pattern, Verdict};
use antiphon_flow::schema::Schema;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

fn inspect(check: Check, value: &Value) -> Verdict {
    Guard { id: "g".into(), check, action: Action::Block }.inspect(value)
}

fn said(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Passed => "passed".to_owned(),
        Verdict::Violated { message, sanitized: None } => message.clone(),
        Verdict::Violated { message, sanitized: Some(value) } => format!("{message}: {value}"),
    }
}

/// A line for each text: `text  =>  verdict`.
#[track_caller]
fn check(check: &Check, table: Expect) {
    let mut lines = String::new();
    for line in table.data().trim_matches(['\n', ' ']).lines() {
        let text = line.split("  =>").next().unwrap_or_default().trim();
        writeln!(lines, "{text}  =>  {}", said(&inspect(check.clone(), &json!(text))))
            .expect("a text takes it");
    }
    table.assert_eq(&lines);
}

#[test]
fn personal_data_is_found_by_form_and_checksum() {
    check(
        &Check::Personal,
        expect![[r#"
            write to ann.o'neil+x@mail.example.co.uk now  =>  found email: "write to [removed: email] now"
            a@b  =>  passed
            user@localhost  =>  passed
            call +49 30 901820 or +1 (555) 123-4567.  =>  found phone number (2 times): "call [removed: phone number] or [removed: phone number]."
            call 555-123-4567 or (555) 123-4567  =>  found phone number (2 times): "call [removed: phone number] or [removed: phone number]"
            555-1234  =>  passed
            card 4111 1111 1111 1111, 4111-1111-1111-1112, 5500005555555559  =>  found card number (2 times): "card [removed: card number], 4111-1111-1111-1112, [removed: card number]"
            0000 0000 0000 0000  =>  passed
            order 1234567890123456  =>  passed
            DE89 3704 0044 0532 0130 00 and DE89370400440532013001  =>  found iban: "[removed: iban] and DE89370400440532013001"
            GB82WEST12345698765432  =>  found iban: "[removed: iban]"
            ssn 123-45-6789, 000-12-3456, 666-12-3456, 900-12-3456, 123-00-4567  =>  found ssn: "ssn [removed: ssn], 000-12-3456, 666-12-3456, 900-12-3456, 123-00-4567"
            from 8.8.8.8, 127.0.0.1, 0.0.0.0, 999.1.1.1, 10.0.0.7  =>  found ip address (2 times): "from [removed: ip address], 127.0.0.1, 0.0.0.0, 999.1.1.1, [removed: ip address]"
            2026-11-16T00:21:28 version 1.2.3 costs 1,234.56  =>  passed
            nothing here  =>  passed
        "#]],
    );
}

/// Put together here, so that no scanner takes this file for a leak.
fn secrets() -> Vec<(&'static str, String)> {
    let random = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5";
    vec![
        ("aws", ["AKIA", "IOSFODNN7EXAMPLE"].concat()),
        ("github", ["ghp_", random].concat()),
        ("github fine", ["github_", "pat_", random].concat()),
        ("anthropic", ["sk-", "ant-api03-", random].concat()),
        ("openai", ["sk-", "proj-", random].concat()),
        ("slack", ["xoxb", "-123456789012-", random].concat()),
        ("google", ["AIza", random].concat()[..39].to_owned()),
        ("stripe", ["sk_", "live_", random].concat()),
        ("jwt", ["eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTYifQ.", random].concat()),
        (
            "key block",
            ["-----BEGIN RSA ", "PRIVATE KEY-----\nMIIE\nabc\n-----END RSA ", "PRIVATE KEY-----"].concat(),
        ),
        ("key without end", ["-----BEGIN ", "PRIVATE KEY-----\nMIIE"].concat()),
        ("assignment", format!("DB_PASSWORD = \"{random}\"")),
        ("header", format!("Authorization: Bearer {random}")),
        ("address", ["postgres://ann:", "hunter22@db.example.com/x"].concat()),
    ]
}

#[test]
fn secrets_are_found_taken_out_and_never_repeated() {
    let mut lines = String::new();
    for (name, secret) in secrets() {
        let verdict = inspect(Check::Secrets, &json!({"log": [format!("see {secret} there")]}));
        writeln!(lines, "{name}: {}", said(&verdict)).expect("a text takes it");
    }
    expect![[r#"
        aws: found aws key: {"log":["see [removed: aws key] there"]}
        github: found github token: {"log":["see [removed: github token] there"]}
        github fine: found github token: {"log":["see [removed: github token] there"]}
        anthropic: found anthropic key: {"log":["see [removed: anthropic key] there"]}
        openai: found openai key: {"log":["see [removed: openai key] there"]}
        slack: found slack token: {"log":["see [removed: slack token] there"]}
        google: found google key: {"log":["see [removed: google key] there"]}
        stripe: found stripe key: {"log":["see [removed: stripe key] there"]}
        jwt: found jwt: {"log":["see [removed: jwt] there"]}
        key block: found private key: {"log":["see [removed: private key] there"]}
        key without end: found private key: {"log":["see [removed: private key]"]}
        assignment: found secret: {"log":["see DB_PASSWORD = \"[removed: secret]\" there"]}
        header: found secret: {"log":["see Authorization: Bearer [removed: secret] there"]}
        address: found password: {"log":["see postgres://ann:[removed: password]@db.example.com/x there"]}
    "#]]
    .assert_eq(&lines);
    for part in ["aB3dE5", "IOSFODNN7", "MIIE", "hunter22"] {
        assert!(!lines.contains(part), "{part} is repeated in {lines}");
    }
}

#[test]
fn what_only_resembles_a_secret_is_left_alone() {
    check(
        &Check::Secrets,
        expect![[r#"
            the token count is 1234567890123456  =>  passed
            password: changeme  =>  passed
            secret = aaaaaaaaaaaaaaaaaaaaaaaa1  =>  passed
            author: someone-with-a-long-name-indeed  =>  passed
            sk-short  =>  passed
            commit 5f36dc3a0b1c2d3e4f5061728394a5b6c7d8e9f0  =>  passed
            https://example.com/a:b@c  =>  passed
        "#]],
    );
}

#[test]
fn a_member_called_a_secret_is_one_if_it_looks_like_it() {
    let random = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5";
    let value = json!({"api_key": random, "tokens": 12, "secret": "it is raining", "id": random, "n": {"clientSecret": random}});
    expect![[r#"found secret (2 times): {"api_key":"[removed: secret]","tokens":12,"secret":"it is raining","id":"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5","n":{"clientSecret":"[removed: secret]"}}"#]].assert_eq(&said(&inspect(Check::Secrets, &value)));
}

#[test]
fn every_text_is_cleaned_names_and_numbers_too() {
    let value = json!({"a@b.com": ["x@y.org", {"deep": "x@y.org and z@y.org"}], "c@d.com": 4_111_111_111_111_111_u64, "n": 5, "t": true});
    expect![[r#"found card number, email (5 times): {"[removed: email]":["[removed: email]",{"deep":"[removed: email] and [removed: email]"}],"[removed: email] 2":"[removed: card number]","n":5,"t":true}"#]].assert_eq(&said(&inspect(Check::Personal, &value)));
}

#[test]
fn patterns_lengths_and_schemas() {
    let pattern = |text| Pattern::parse(text).expect("a pattern");
    let schema = Schema::compile(json!({"properties": {"ok": {"const": true}}})).expect("a schema");
    let mut lines = String::new();
    for (check, value) in [
        (Check::MustMatch(pattern("^[A-Z]")), json!("Hello")),
        (Check::MustMatch(pattern("^[A-Z]")), json!("hello")),
        (Check::MustMatch(pattern("\"ok\"")), json!({"ok": 1})),
        (Check::MustNotMatch(pattern("(?i)damn")), json!(["Damn!", "fine"])),
        (Check::MustNotMatch(pattern("x*")), json!("aaa")),
        (Check::Length { min: Some(3), max: None }, json!("ab")),
        (Check::Length { min: None, max: Some(3) }, json!("äöüß")),
        (Check::Length { min: None, max: Some(3) }, json!([1, 2, 3])),
        (Check::Length { min: Some(1), max: Some(3) }, json!("abc")),
        (Check::Schema(schema.clone()), json!({"ok": true})),
        (Check::Schema(schema), json!({"ok": "private"})),
    ] {
        writeln!(lines, "{value}: {}", said(&inspect(check, &value))).expect("a text takes it");
    }
    expect![[r#"
        "Hello": passed
        "hello": the text does not match `^[A-Z]`
        {"ok":1}: passed
        ["Damn!","fine"]: a text matches `(?i)damn`, which none may: ["[removed: match]!","fine"]
        "aaa": passed
        "ab": the text is 2 characters long, at least 3 are wanted
        "äöüß": the text is 4 characters long, at most 3 are allowed: "äöü"
        [1,2,3]: the text is 7 characters long, at most 3 are allowed
        "abc": passed
        {"ok":true}: passed
        {"ok":"private"}: the value does not fit its schema at /ok
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_check_can_be_written_in_rust() {
    #[derive(Debug)]
    struct Loud;
    impl Inspect for Loud {
        fn inspect(&self, value: &Value) -> Verdict {
            match value.as_str() {
                Some(text) if text.ends_with('!') => Verdict::Violated {
                    message: "too loud".into(),
                    sanitized: Some(text.trim_end_matches('!').into()),
                },
                _ => Verdict::Passed,
            }
        }
    }
    let check = Check::Custom(std::sync::Arc::new(Loud));
    assert_eq!(said(&inspect(check.clone(), &json!("hey!!"))), "too loud: \"hey\"");
    assert_eq!(said(&inspect(check, &json!("hey"))), "passed");
}

#[test]
fn what_is_no_pattern_says_why() {
    for (text, why) in [
        ("(", "unclosed group"),
        ("(?=a)", "look-around"),
        (r"(a)\1", "backreferences"),
        ("[a-z]{1000}{1000}", "bytes"),
    ] {
        let error = Pattern::parse(text).expect_err(text).to_string();
        assert!(error.contains(why), "{error}");
    }
}
