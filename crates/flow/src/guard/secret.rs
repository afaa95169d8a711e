//! Secrets: keys and tokens of well-known shape, and values that are assigned to what is called a secret.

use std::sync::LazyLock;

use super::detector::{Detector, anything};

/// How many bits a character must carry for a text to look made by a machine.
const ENTROPY_MIN: f64 = 3.2;

/// Names under which secrets are kept.
const NAMES: &str =
    r"(?:api[_-]?key|secret|token|passw(?:or)?d|pwd|credential|private[_-]?key|access[_-]?key|auth)";

static DETECTORS: LazyLock<Vec<Detector>> = LazyLock::new(|| {
    let key = |label, pattern| Detector::new(label, pattern, anything);
    vec![
        key(
            "private key",
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\z)",
        ),
        key("aws key", r"\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}\b"),
        key("github token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b"),
        key("anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,255}"),
        key("openai key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}"),
        key("slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}"),
        key("slack webhook", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{10,255}"),
        key("google key", r"\bAIza[0-9A-Za-z_-]{35}"),
        key("stripe key", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}\b"),
        key("jwt", r"\beyJ[A-Za-z0-9_-]{5,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}"),
        Detector::in_group(
            "password",
            r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:([^\s/@]{3,200})@",
            1,
            anything,
        ),
        Detector::in_group("secret", &assignment(), 1, is_random),
    ]
});

/// `API_KEY=…`, `"token": "…"`, `Authorization: Bearer …`.
fn assignment() -> String {
    format!(
        r#"(?i){NAMES}[A-Za-z0-9_-]{{0,30}}["']?\s{{0,5}}(?::|=>?|:=)\s{{0,5}}(?:bearer\s|basic\s)?["']?([A-Za-z0-9+/_.~=-]{{16,512}})"#
    )
}

static NAME: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new(&format!("(?i){NAMES}")).expect("our own pattern compiles"));

/// What finds secrets, the surest first.
pub(super) fn detectors() -> &'static [Detector] {
    &DETECTORS
}

/// A member that is called a secret and has a value that looks like one.
pub(super) fn of_member(name: &str, text: &str) -> Option<&'static str> {
    let is_one_word = (16..=512).contains(&text.len()) && !text.contains(char::is_whitespace);
    (is_one_word && NAME.is_match(name) && is_random(text)).then_some("secret")
}

/// Whether a text looks made by a machine: letters and digits, and hard to guess.
fn is_random(text: &str) -> bool {
    let has = |test: fn(&u8) -> bool| text.as_bytes().iter().any(test);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && entropy(text) >= ENTROPY_MIN
}

/// Shannon's entropy of the bytes, in bits each.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len() as f64;
    let part = |count: &u32| f64::from(*count) / length;
    counts.iter().filter(|count| **count > 0).map(part).map(|part| -part * part.log2()).sum()
}
