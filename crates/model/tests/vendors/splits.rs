//! An answer means the same, however it is cut into reads.

use antiphon_agent::{Delta, Fault};

use crate::answers::{MESSAGE, anthropic, openai};
use crate::server::{Reply, Server};
use crate::{ask, lines, open, prompt, settings};

const COMPLETION: &[&str] = &[
    r#"{"choices":[{"delta":{"role":"assistant","reasoning_content":"Hm é"}}]}"#,
    r#"{"choices":[{"delta":{"content":"Hello 😀"}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a1","function":{"name":"read","arguments":"{\"a\""}}]}}]}"#,
    r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}"#,
    r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#,
    "[DONE]",
];

async fn said(provider: &str, pieces: Vec<Vec<u8>>) -> Vec<Result<Delta, Fault>> {
    let server = Server::start(Reply::events(pieces)).await;
    ask(&*open(&settings(provider, server.address)), prompt("hello")).await
}

/// Cut once at every byte, and into single bytes; with each of the three ends of lines.
async fn check(provider: &str, body: &[u8]) {
    let whole = lines(&said(provider, vec![body.to_vec()]).await);
    assert!(whole.ends_with("stop Calls\n"), "{whole}");
    for end in ["\n", "\r\n", "\r"] {
        let text = String::from_utf8(body.to_vec()).expect("text").replace('\n', end).into_bytes();
        let single = text.iter().map(|byte| vec![*byte]).collect();
        assert_eq!(lines(&said(provider, single).await), whole, "single bytes, lines end in {end:?}");
    }
    for at in 0..body.len() {
        let (one, two) = body.split_at(at);
        assert_eq!(lines(&said(provider, vec![one.to_vec(), two.to_vec()]).await), whole, "cut at byte {at}");
    }
}

#[tokio::test]
async fn a_completion_may_be_cut_anywhere() {
    check("openai", &openai(COMPLETION)).await;
}

#[tokio::test]
async fn a_message_may_be_cut_anywhere() {
    check("anthropic", &anthropic(MESSAGE)).await;
}
