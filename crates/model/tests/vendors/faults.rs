//! What goes wrong with vendors, and what is said about it. The key is in none of it: `lines` looks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use expect_test::{Expect, expect};
use futures_util::StreamExt;
use tokio::net::TcpListener;

use crate::answers::{anthropic, openai};
use crate::server::{End, Reply, Seen, Server, start_patient};
use crate::{KEY, ask, lines, open, prompt, say, settings};

const HALF: &str = r#"{"choices":[{"delta":{"content":"half"}}]}"#;
const START: &str = r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}"#;
const BLOCK: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"half"}}"#;

#[track_caller]
fn check(provider: &str, reply: Reply, expected: Expect) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    expected.assert_eq(&runtime.block_on(say(provider, reply, prompt("hello"))));
}

#[test]
fn a_status_says_what_it_was_and_when_to_come_back() {
    let echo =
        format!(r#"{{"error":{{"message":"no such key: {KEY}, Bearer {KEY}","code":"invalid_api_key"}}}}"#);
    check(
        "openai",
        Reply::text("401 Unauthorized", &echo),
        expect![[r#"
            fault authentication never: openai model `small` at 127.0.0.1:PORT answered 401 Unauthorized: no such key: [secret], Bearer [secret]; check the key and what it may be used for
        "#]],
    );
    check(
        "anthropic",
        Reply::text("403 Forbidden", &echo),
        expect![[r#"
            fault authentication never: anthropic model `small` at 127.0.0.1:PORT answered 403 Forbidden: no such key: [secret], Bearer [secret]; check the key and what it may be used for
        "#]],
    );
    check(
        "openai",
        Reply::text("429 Too Many Requests\r\nretry-after: 7", ""),
        expect![[r#"
            fault rate_limited again after 7s: openai model `small` at 127.0.0.1:PORT answered 429 Too Many Requests
        "#]],
    );
    let past = "429 Too Many Requests\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT";
    check(
        "anthropic",
        Reply::text(past, r#"{"error":{"message":"slow down"}}"#),
        expect![[r#"
            fault rate_limited again after 0ns: anthropic model `small` at 127.0.0.1:PORT answered 429 Too Many Requests: slow down
        "#]],
    );
    let busy = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    check(
        "anthropic",
        Reply::text("529 Overloaded", busy),
        expect![[r#"
            fault overloaded again: anthropic model `small` at 127.0.0.1:PORT answered 529: Overloaded
        "#]],
    );
    let long = r#"{"error":{"message":"too long","type":"exceed_context_size_error","code":400}}"#;
    check(
        "openai",
        Reply::text("400 Bad Request", long),
        expect![[r#"
            fault context_length never: openai model `small` at 127.0.0.1:PORT answered 400 Bad Request: too long
        "#]],
    );
    check(
        "openai",
        Reply::text("302 Found\r\nlocation: http://elsewhere/", ""),
        expect![[r#"
            fault invalid_request never: openai model `small` at 127.0.0.1:PORT answered 302 Found; set `base_url` to where it went
        "#]],
    );
    check(
        "openai",
        Reply::text("500 Internal Server Error", &"<p>x</p>".repeat(100_000)),
        expect![[r#"
            fault overloaded again: openai model `small` at 127.0.0.1:PORT answered 500 Internal Server Error: x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x…
        "#]],
    );
}

#[test]
fn a_page_is_no_answer() {
    let page = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>to our proxy</body></html>";
    check(
        "openai",
        Reply::text("200 OK\r\ncontent-type: text/html", page),
        expect![[r#"
            fault malformed never: openai model `small` at 127.0.0.1:PORT answered with something that is no answer; check `base_url`: Welcome to our proxy
        "#]],
    );
    check(
        "anthropic",
        Reply::text("200 OK\r\ncontent-type: text/event-stream", page),
        expect![[r#"
            fault malformed never: anthropic model `small` at 127.0.0.1:PORT answered with something that is no answer; check `base_url`: Welcome to our proxy
        "#]],
    );
    check(
        "openai",
        Reply::text("200 OK", "nothing to see"),
        expect![[r#"
            fault malformed never: openai model `small` at 127.0.0.1:PORT answered with something that is no answer; check `base_url`: nothing to see
        "#]],
    );
    check(
        "openai",
        Reply::text("200 OK", "  \n "),
        expect![[r#"
            fault connection again: openai model `small` at 127.0.0.1:PORT closed the connection without an answer
        "#]],
    );
    check(
        "openai",
        Reply::text("200 OK", r#"{"error":{"message":"no slots","code":503}}"#),
        expect![[r#"
            fault overloaded again: openai model `small` at 127.0.0.1:PORT gave up in its answer: no slots
        "#]],
    );
    check(
        "anthropic",
        Reply::text("200 OK", r#"{"type":"error","error":{"type":"api_error","message":"oops"}}"#),
        expect![[r#"
            fault overloaded again: anthropic model `small` at 127.0.0.1:PORT gave up in its answer: oops
        "#]],
    );
    check(
        "openai",
        Reply::text("200 OK", r#"{"hello":"world"}"#),
        expect![[r#"
            fault malformed never: openai model `small` at 127.0.0.1:PORT gave an answer without a `finish_reason`: {"hello":"world"}
        "#]],
    );
    check(
        "anthropic",
        Reply::text("200 OK", r#"{"half":"#),
        expect![[r#"
            fault malformed again: anthropic model `small` at 127.0.0.1:PORT sent what is no part of a message (EOF while parsing a value at line 1 column 8): {"half":
        "#]],
    );
}

#[test]
fn an_error_may_come_in_the_middle() {
    let openrouter = r#"{"error":{"code":502,"message":"provider went away"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#;
    check(
        "openai",
        Reply::events(vec![openai(&[HALF, openrouter])]),
        expect![[r#"
            text "half"
            fault overloaded again: openai model `small` at 127.0.0.1:PORT gave up in its answer: provider went away
        "#]],
    );
    let vllm = r#"{"object":"error","message":"engine died","type":"internal_error","code":500}"#;
    check(
        "openai",
        Reply::events(vec![openai(&[HALF, vllm])]),
        expect![[r#"
            text "half"
            fault overloaded again: openai model `small` at 127.0.0.1:PORT gave up in its answer: engine died
        "#]],
    );
    let named =
        [&openai(&[HALF])[..], b"event: error\ndata: {\"message\":\"too many\",\"type\":\"rate_limit\"}\n\n"]
            .concat();
    check(
        "openai",
        Reply::events(vec![named]),
        expect![[r#"
            text "half"
            fault rate_limited again: openai model `small` at 127.0.0.1:PORT gave up in its answer: too many
        "#]],
    );
    check(
        "openai",
        Reply::events(vec![openai(&[HALF, "not json"])]),
        expect![[r#"
            text "half"
            fault malformed again: openai model `small` at 127.0.0.1:PORT sent what is no chat completion (expected ident at line 1 column 2): not json
        "#]],
    );
    let busy = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    check(
        "anthropic",
        Reply::events(vec![anthropic(&[START, BLOCK, busy])]),
        expect![[r#"
            text "half"
            fault overloaded again: anthropic model `small` at 127.0.0.1:PORT gave up in its answer: Overloaded
        "#]],
    );
}

#[test]
fn an_answer_without_its_end_is_half_an_answer() {
    for end in [End::Close, End::Cut] {
        let half = Reply::events(vec![openai(&[HALF]), b"data: {\"choices\":[{\"del".to_vec()]).end(end);
        check(
            "openai",
            half,
            match end {
                End::Close => expect![[r#"
                    text "half"
                    fault connection again: openai model `small` at 127.0.0.1:PORT closed the connection in the middle of its answer
                "#]],
                End::Cut | End::Hang => expect![[r#"
                    text "half"
                    fault connection again: openai model `small` at 127.0.0.1:PORT lost the connection: unexpected EOF during chunk size line
                "#]],
            },
        );
    }
    check(
        "openai",
        Reply::events(vec![openai(&["[DONE]"])]),
        expect![[r#"
            fault connection again: openai model `small` at 127.0.0.1:PORT ended its answer before it had begun
        "#]],
    );
    check(
        "anthropic",
        Reply::events(vec![anthropic(&[START, BLOCK])]),
        expect![[r#"
            text "half"
            fault connection again: anthropic model `small` at 127.0.0.1:PORT closed the connection in the middle of its answer
        "#]],
    );
    check(
        "anthropic",
        Reply::events(vec![anthropic(&[START, r#"{"type":"message_stop"}"#])]),
        expect![[r#"
            fault connection again: anthropic model `small` at 127.0.0.1:PORT ended its answer before it had begun
        "#]],
    );
}

#[test]
fn what_comes_after_the_end_does_not_matter() {
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{}}"#;
    check(
        "openai",
        Reply::events(vec![openai(&[HALF, stop])]).end(End::Cut),
        expect![[r#"
            text "half"
            usage 2 1
            stop Done
        "#]],
    );
    check(
        "openai",
        Reply::events(vec![openai(&[HALF, stop, "[DONE]", "garbage"])]).end(End::Hang),
        expect![[r#"
            text "half"
            usage 2 1
            stop Done
        "#]],
    );
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{}}"#;
    let (address, connections) = start_patient(openai(&[HALF, stop, "[DONE]"])).await;
    let model = open(&settings("openai", address));
    for _ in 0..5 {
        assert_eq!(ask(&*model, prompt("hello")).await.len(), 3);
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn silence_has_an_end() {
    for reply in [Reply::events(vec![openai(&[HALF])]), Reply::events(Vec::new())] {
        let server = Server::start(reply.end(End::Hang)).await;
        let mut settings = settings("openai", server.address);
        settings.idle_timeout = Some("60ms".to_owned());
        let said = ask(&*open(&settings), prompt("hello")).await;
        let last = lines(&said[said.len() - 1..]);
        let expected = "fault timeout again: openai model `small` at 127.0.0.1:PORT said nothing for 60ms; \
                        `idle_timeout` says how long it may\n";
        assert_eq!(last.replace(&server.address.port().to_string(), "PORT"), expected);
    }
}

#[tokio::test]
async fn a_server_that_never_answers_and_one_that_is_not_there() {
    // Connections are taken by the system, and nobody ever reads.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut settings = settings("anthropic", address);
    settings.idle_timeout = Some("60ms".to_owned());
    let silent = lines(&ask(&*open(&settings), prompt("hello")).await);
    drop(listener);
    let gone = lines(&ask(&*open(&settings), prompt("hello")).await);
    expect![[r#"
        fault timeout again: anthropic model `small` at 127.0.0.1:PORT said nothing for 60ms; `idle_timeout` says how long it may
        fault connection again: anthropic model `small` at 127.0.0.1:PORT could not be reached: Connection refused (os error 111)
    "#]].assert_eq(&format!("{silent}{gone}").replace(&address.port().to_string(), "PORT"));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    // Before the head of the answer, and in the middle of it.
    for head in [None, Some(openai(&[HALF]))] {
        let waits = head.is_some();
        let mut reply = Reply::events(head.into_iter().collect()).end(End::Hang);
        if !waits {
            reply.head.clear();
        }
        let mut server = Server::start(reply).await;
        let mut stream = open(&settings("openai", server.address)).call(Arc::new(prompt("hello")));
        if waits {
            assert_eq!(lines(&[stream.next().await.expect("a piece")]), "text \"half\"\n");
        } else {
            // Polled until the server has the request.
            tokio::select! {
                _ = stream.next() => panic!("there is nothing to be said"),
                _ = server.request() => {}
            }
        }
        drop(stream);
        let is_gone = |seen: &Option<Seen>| matches!(seen, Some(Seen::Gone));
        while !is_gone(&server.seen.recv().await) {}
    }
}

#[test]
fn an_answer_is_bounded() {
    let many: String = (0..300)
        .map(|n| format!(r#"{{"index":{n},"id":"c{n}","function":{{"name":"f","arguments":"{{}}"}}}}"#))
        .collect::<Vec<_>>()
        .join(",");
    let row =
        format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{many}]}},"finish_reason":"tool_calls"}}]}}"#);
    check(
        "openai",
        Reply::events(vec![openai(&[&row])]),
        expect![[r#"
            fault malformed never: openai model `small` at 127.0.0.1:PORT made more than 256 calls in one answer
        "#]],
    );
    let big = vec![vec![b'x'; 1024 * 1024]; 17];
    check(
        "openai",
        Reply::events([vec![b"data: ".to_vec()], big].concat()),
        expect![[r#"
            fault malformed never: openai model `small` at 127.0.0.1:PORT sent an event of more than 16777216 bytes
        "#]],
    );
}
