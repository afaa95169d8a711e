//! What went wrong with a vendor, as a [`Fault`]: from a status, from an error in its words, from the connection.

use std::time::{Duration, SystemTime};

use antiphon_agent::Fault;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// How many characters of what a vendor says about an error are kept.
const SAID_MAX: usize = 400;

/// The codes a fault may have.
pub(crate) const CODES: &[&str] = &[
    "rate_limited",
    "overloaded",
    "timeout",
    "connection",
    "authentication",
    "invalid_request",
    "context_length",
    "malformed",
    "script",
];

/// A fault that trying again does not help.
pub(crate) fn lasting(code: &'static str, message: impl Into<String>) -> Fault {
    Fault { message: message.into(), code, retryable: false, retry_after: None }
}

/// A fault that may be gone the next time.
pub(crate) fn passing(code: &'static str, message: impl Into<String>) -> Fault {
    Fault { retryable: true, ..lasting(code, message) }
}

/// The vendor answered with another status than 200.
pub(crate) fn of_status(status: StatusCode, headers: &HeaderMap, body: &str) -> Fault {
    let said = Said::of(body);
    let number = of_number(status.as_u16());
    let (code, retryable) = match said.special() {
        Some(code) => code,
        // The vendor has a better word than a status that stands for many things.
        None if number.0 == "invalid_request" => said.code().unwrap_or(number),
        None => number,
    };
    let words = if said.message.is_empty() { String::new() } else { format!(": {}", said.message) };
    let hint = match code {
        "authentication" => "; check the key and what it may be used for",
        _ if status == StatusCode::NOT_FOUND => "; check `base_url` and `model`",
        _ if status.is_redirection() => "; set `base_url` to where it went",
        _ => "",
    };
    let retry_after = if retryable { retry_after(headers, SystemTime::now()) } else { None };
    let reason = status.canonical_reason().map_or_else(String::new, |reason| format!(" {reason}"));
    let message = format!("answered {}{reason}{words}{hint}", status.as_u16());
    Fault { message, code, retryable, retry_after }
}

/// The vendor sent an error in place of the rest of its answer.
pub(crate) fn of_error(error: &str) -> Fault {
    let said = Said::of(error);
    let (code, retryable) = said.code().unwrap_or(("overloaded", true));
    Fault { message: format!("gave up in its answer: {}", said.message), code, retryable, retry_after: None }
}

/// What a vendor says about an error.
struct Said {
    message: String,
    /// Its `type` and `code`, whatever it has of them.
    names: Vec<String>,
    number: Option<u16>,
}

impl Said {
    fn of(body: &str) -> Self {
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        // Some put it into a list, most into `error`, some nowhere.
        let outer = value.get(0).unwrap_or(&value);
        let inner = outer.get("error").filter(|error| !error.is_null()).unwrap_or(outer);
        let words = ["message", "detail", "error"].iter().find_map(|name| inner.get(name)?.as_str());
        let message = inner.as_str().or(words).map_or_else(|| plain(body), cut);
        let members = ["type", "code", "status"].iter().filter_map(|name| inner.get(name));
        let number = members.clone().find_map(|member| u16::try_from(member.as_u64()?).ok());
        let names = members.filter_map(Value::as_str).map(str::to_lowercase).collect();
        Self { message, names, number }
    }

    /// What it means whatever the status: that the prompt is too long, or that the money is spent.
    fn special(&self) -> Option<(&'static str, bool)> {
        let words = self.message.to_lowercase();
        let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
        let long =
            ["context length", "context_length", "context window", "context size", "prompt is too long"];
        if self.is_named(&["context_length", "exceed_context", "request_too_large"]) || says(&long) {
            return Some(("context_length", false));
        }
        // Spent money does not come back by waiting.
        self.is_named(&["insufficient_quota", "billing"]).then_some(("rate_limited", false))
    }

    /// What it means, if its own words say so.
    fn code(&self) -> Option<(&'static str, bool)> {
        let table: [(&[&str], (&str, bool)); 6] = [
            (&["overloaded", "unavailable"], ("overloaded", true)),
            (&["rate_limit", "too_many"], ("rate_limited", true)),
            (&["authentication", "permission", "invalid_api_key"], ("authentication", false)),
            (&["timeout"], ("timeout", true)),
            (&["server_error", "api_error", "internal"], ("overloaded", true)),
            (&["invalid_request", "not_found"], ("invalid_request", false)),
        ];
        let by_name = || table.iter().find(|(parts, _)| self.is_named(parts)).map(|(_, code)| *code);
        let by_number = || self.number.filter(|number| *number >= 400).map(of_number);
        self.special().or_else(by_name).or_else(by_number)
    }

    fn is_named(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.names.iter().any(|name| name.contains(part)))
    }
}

fn of_number(status: u16) -> (&'static str, bool) {
    match status {
        401 | 403 => ("authentication", false),
        408 | 504 => ("timeout", true),
        413 => ("context_length", false),
        429 => ("rate_limited", true),
        500.. => ("overloaded", true),
        _ => ("invalid_request", false),
    }
}

/// How long the vendor wants to be left alone: seconds, milliseconds or a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok();
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return seconds(millis / 1000.0);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Some(given) = number(after) {
        return seconds(given);
    }
    let then = DateTimeParser::new().parse_timestamp(after).ok()?;
    let since = now.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let now = Timestamp::from_millisecond(i64::try_from(since.as_millis()).ok()?).ok()?;
    Some(Duration::from_millis(u64::try_from(then.as_millisecond() - now.as_millisecond()).unwrap_or(0)))
}

/// The beginning of what may be a page of HTML, as a line of text.
pub(crate) fn plain(body: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in body.chars().take(8 * SAID_MAX) {
        match c {
            '<' => is_tag = true,
            '>' if is_tag => {
                is_tag = false;
                text.push(' ');
            }
            _ if !is_tag => text.push(c),
            _ => {}
        }
    }
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The beginning of a text on one line, no longer than an error may have of it.
pub(crate) fn cut(text: &str) -> String {
    let end = text.char_indices().nth(SAID_MAX).map_or(text.len(), |(end, _)| end);
    let more = if end < text.len() { "…" } else { "" };
    let line: String = text[..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{}{more}", line.trim())
}

/// What lies at the bottom of an error: the part that says what happened.
pub(crate) fn cause(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    cut(&deepest.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::{Expect, expect};
    use reqwest::StatusCode;
    use reqwest::header::{HeaderMap, HeaderValue};

    use super::{of_error, of_status, retry_after};

    #[track_caller]
    fn check(rows: &[(u16, &str)], expected: Expect) {
        let told = rows.iter().map(|(status, body)| {
            let status = StatusCode::from_u16(*status).expect("a status");
            let fault = of_status(status, &HeaderMap::new(), body);
            let again = if fault.retryable { "again" } else { "never" };
            format!("{} {again}: {}\n", fault.code, fault.message)
        });
        expected.assert_eq(&told.collect::<String>());
    }

    #[test]
    fn a_status_and_the_words_with_it_say_what_it_was() {
        check(
            &[
                (
                    401,
                    r#"{"error":{"message":"no such key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
                ),
                (403, ""),
                (429, r#"{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}"#),
                (429, r#"{"error":{"message":"pay first","type":"insufficient_quota"}}"#),
                (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
                (503, "<html><head><title>503</title></head><body>busy</body></html>"),
                (400, r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#),
                (
                    400,
                    r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
                ),
                (400, r#"{"error":"model not loaded"}"#),
                (404, r#"[{"error":{"code":404,"message":"no such model","status":"NOT_FOUND"}}]"#),
                (408, ""),
                (422, r#"{"detail":"tools: bad"}"#),
                (429, r#"{"error":{"message":"of another name","type":"invalid_request_error"}}"#),
                (500, "\u{0}\u{1}!"),
                (504, ""),
                (301, ""),
            ],
            expect![[r#"
                authentication never: answered 401 Unauthorized: no such key; check the key and what it may be used for
                authentication never: answered 403 Forbidden; check the key and what it may be used for
                rate_limited again: answered 429 Too Many Requests: slow down
                rate_limited never: answered 429 Too Many Requests: pay first
                overloaded again: answered 529: Overloaded
                overloaded again: answered 503 Service Unavailable: 503 busy
                context_length never: answered 400 Bad Request: This model's maximum context length is 8192 tokens
                context_length never: answered 400 Bad Request: prompt is too long: 9 > 8
                invalid_request never: answered 400 Bad Request: model not loaded
                invalid_request never: answered 404 Not Found: no such model; check `base_url` and `model`
                timeout again: answered 408 Request Timeout
                invalid_request never: answered 422 Unprocessable Entity: tools: bad
                rate_limited again: answered 429 Too Many Requests: of another name
                overloaded again: answered 500 Internal Server Error: !
                timeout again: answered 504 Gateway Timeout
                invalid_request never: answered 301 Moved Permanently; set `base_url` to where it went
            "#]],
        );
    }

    #[test]
    fn what_a_vendor_says_is_cut() {
        let fault = of_status(StatusCode::IM_A_TEAPOT, &HeaderMap::new(), &"é".repeat(1000));
        assert_eq!(fault.message.matches('é').count(), super::SAID_MAX);
    }

    #[test]
    fn an_error_in_mid_answer_is_read_the_same_way() {
        let rows = [
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            r#"{"error":{"code":502,"message":"provider went away"}}"#,
            r#"{"message":"bad","type":"invalid_request_error"}"#,
            r#""broken""#,
            "7",
        ];
        let told = rows.map(of_error).map(|f| format!("{} {} {}\n", f.code, f.retryable, f.message));
        expect![[r#"
            overloaded true gave up in its answer: Overloaded
            overloaded true gave up in its answer: provider went away
            invalid_request false gave up in its answer: bad
            overloaded true gave up in its answer: broken
            overloaded true gave up in its answer: 7
        "#]]
        .assert_eq(&told.concat());
    }

    #[test]
    fn the_wait_is_seconds_milliseconds_or_a_date() {
        let now = std::time::UNIX_EPOCH + Duration::from_secs(784_111_777 - 30);
        let rows = [
            ("retry-after", "7"),
            ("retry-after", "1.5"),
            ("retry-after-ms", "250"),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("retry-after", "Sun, 06 Nov 1954 08:49:37 GMT"),
            ("retry-after", "1e300"),
            ("retry-after", "-1"),
            ("retry-after", "soon"),
        ];
        let told = rows.map(|(name, value)| {
            let headers = HeaderMap::from_iter([(
                reqwest::header::HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )]);
            format!("{value}: {:?}\n", retry_after(&headers, now))
        });
        expect![[r#"
            7: Some(7s)
            1.5: Some(1.5s)
            250: Some(250ms)
            Sun, 06 Nov 1994 08:49:37 GMT: Some(30s)
            Sun, 06 Nov 1954 08:49:37 GMT: None
            1e300: None
            -1: None
            soon: None
        "#]]
        .assert_eq(&told.concat());
    }
}
