//! An answer means the same, however it is cut into reads.

use crate::answers::{anthropic, openai};
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

const MESSAGE: &[&str] = &[
    r#"{"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"thinking":"Hm é"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"signature":"c2"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"😀"}}"#,
    r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"f"}}"#,
    r#"{"type":"content_block_delta","index":2,"delta":{"partial_json":"{}"}}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#,
    r#"{"type":"message_stop"}"#,
];

/// Every way a body is cut: not at all; into single bytes, with each of the three ends of lines; once, at every byte.
fn cuts(body: &[u8]) -> Vec<(String, Vec<Vec<u8>>)> {
    let mut list = vec![("whole".to_owned(), vec![body.to_vec()])];
    for end in ["\n", "\r\n", "\r"] {
        let text = String::from_utf8(body.to_vec()).expect("text").replace('\n', end);
        let bytes = text.bytes().map(|byte| vec![byte]).collect();
        list.push((format!("single bytes, lines end in {end:?}"), bytes));
    }
    for at in 0..body.len() {
        let (one, two) = body.split_at(at);
        list.push((format!("cut at byte {at}"), vec![one.to_vec(), two.to_vec()]));
    }
    list
}

async fn check(provider: &str, body: &[u8]) {
    let list = cuts(body);
    let pieces: Vec<_> = list.iter().map(|(_, pieces)| pieces.clone()).collect();
    let server = Server::start_each(move |number| Reply::events(pieces[number].clone())).await;
    let model = open(&settings(provider, server.address));
    let whole = lines(&ask(&*model, prompt("hello")).await);
    assert!(whole.ends_with("stop Calls\n"), "{whole}");
    for (name, _) in &list[1..] {
        assert_eq!(lines(&ask(&*model, prompt("hello")).await), whole, "{name}");
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
