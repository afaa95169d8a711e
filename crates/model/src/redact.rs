//! Takes secrets out of text: keys, tokens, passwords, by what they look like.
//!
//! In: text from outside or for a file. Out: the same with `[secret]` in place of each. Start reading at [`redact`].

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// What stands in place of a secret.
pub(crate) const SECRET: &str = "[secret]";

/// What secrets look like; the first group, if there is one, stays.
const PATTERNS: &[&str] = &[
    // Keys of vendors, with their well-known beginnings.
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{12,}",
    r"\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{12,}",
    r"\b(?:gsk|xai|hf|npm|glpat|pypi)[-_][A-Za-z0-9_-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    // What stands after a telling name.
    r#"(?i)(\bbearer\s+|authorization["']?\s*[:=]\s*["']?(?:basic|token)\s+)[A-Za-z0-9._~+/=-]{8,}"#,
    r"(?i)(\b[a-z0-9]+://[^\s/:@]*:)[^\s/@]+@",
    r#"(?i)(["']?\b[a-z0-9_-]*(?:api[-_]?key|secret|passw(?:or)?d|access[-_]?token|auth[-_]?token)["']?\s*[:=]\s*["']?)[^\s"',;&\[\]{}]{6,}"#,
];

static SECRETS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    PATTERNS.iter().map(|pattern| Regex::new(pattern).expect("the patterns are well formed")).collect()
});

/// The text without what looks like a secret. Linear in the text.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    for pattern in &*SECRETS {
        if pattern.is_match(&clean) {
            let replaced = pattern.replace_all(&clean, |found: &regex::Captures<'_>| {
                let kept = found.get(1).map_or("", |kept| kept.as_str());
                let at = if found[0].ends_with('@') { "@" } else { "" };
                format!("{kept}{SECRET}{at}")
            });
            clean = Cow::Owned(replaced.into_owned());
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::redact;

    #[track_caller]
    fn check(texts: &[&str], expected: Expect) {
        expected.assert_eq(&texts.iter().map(|text| format!("{}\n", redact(text))).collect::<String>());
    }

    #[test]
    fn secrets_go_by_what_they_look_like() {
        let slack = ["xoxb", "1234567890-abcdef"].join("-");
        check(
            &[
                "Incorrect API key provided: sk-proj-abcDEF0123456789.",
                "Authorization: Bearer abc.def-ghi123",
                "x-api-key: sk-ant-REDACTED",
                r#"{"api_key":"0123456789","password": "hunter22", "note":"kept"}"#,
                "OPENAI_API_KEY=abcdef123456 and CLIENT_SECRET='abcdef123456'",
                "AKIAIOSFODNN7EXAMPLE ghp_0123456789abcdef0123456789",
                &slack,
                "postgres://me:pa55word@db/x",
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w",
            ],
            expect![[r#"
                Incorrect API key provided: [secret].
                Authorization: Bearer [secret]
                x-api-key: [secret]
                {"api_key":"[secret]","password": "[secret]", "note":"kept"}
                OPENAI_API_KEY=[secret] and CLIENT_SECRET='[secret]'
                [secret] [secret]
                [secret]
                postgres://me:[secret]@db/x
                [secret]
                [secret]
            "#]],
        );
    }

    #[test]
    fn other_text_stays() {
        let texts = [
            "a risk-averse plan, task-0123456789, the secret: tea",
            "password: [secret]",
            "basic information on the token bucket",
            "http://127.0.0.1:8080/v1",
        ];
        for text in texts {
            assert_eq!(redact(text), text);
        }
        let once = redact("Bearer abcdefgh12345 sk-0123456789abcdef").into_owned();
        assert_eq!(redact(&once), once, "taking secrets out twice is the same as once");
    }
}
