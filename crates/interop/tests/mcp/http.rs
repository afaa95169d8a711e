//! Servers at an address: the official one, and one that wants a token.

use std::process::Stdio;
use std::sync::Arc;

use antiphon_agent::Server;
use antiphon_interop::mcp::Options;
use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use expect_test::expect;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

use crate::door::{Heard, call, check, official, open, options, tool};

fn at(port: u16, token_env: Option<&str>) -> Server {
    Server::Address { url: format!("http://127.0.0.1:{port}/mcp"), token_env: token_env.map(str::to_owned) }
}

/// Starts the official server and waits until it listens.
async fn everything() -> (Child, u16) {
    let free = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    let port = free.local_addr().expect("it is bound").port();
    drop(free);
    let mut child = Command::new("node")
        .arg(official("server-everything"))
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("node is there: run `make setup`");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    while let Some(line) = lines.next_line().await.expect("it can be read") {
        if line.contains("listening on port") {
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (child, port);
        }
    }
    panic!("the server ended before it listened");
}

#[tokio::test]
async fn everything_does_what_it_says_over_http() {
    let (_child, port) = everything().await;
    check(
        &at(port, None),
        options(),
        r#"
            echo {"message": "hello"}
            get-structured-content {"location": "New York"}
            trigger-long-running-operation {"duration": 0.3, "steps": 3}
        "#,
        expect![[r#"
            > echo {"message": "hello"}
            "Echo: hello"
            > get-structured-content {"location": "New York"}
            {"temperature":33,"conditions":"Cloudy","humidity":82}
            > trigger-long-running-operation {"duration": 0.3, "steps": 3}
            … {"progress":1.0,"total":3.0}
            … {"progress":2.0,"total":3.0}
            … {"progress":3.0,"total":3.0}
            "Long running operation completed. Duration: 0.3 seconds, Steps: 3."
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_goes_away_is_a_clear_fault() {
    let (mut child, port) = everything().await;
    let connected = open(&at(port, None), options()).await.expect("it is there");
    let echo = tool(&connected, "echo").await;
    child.kill().await.expect("it is ours");
    let fault = call(&echo, r#"{"message": "hello"}"#, &Arc::new(Heard::default())).await;
    let fault = fault.expect_err("nobody is there").to_string();
    assert!(fault.starts_with("MCP server `it` "), "{fault}");
    let nobody = open(&at(port, None), options()).await.err().expect("nobody is there");
    assert!(nobody.retryable, "{nobody}");
}

/// A server that answers in plain JSON to whoever has the token: a word that is in the environment of every test.
async fn guarded() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let app = axum::Router::new().route("/mcp", axum::routing::post(answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    port
}

async fn answer(headers: HeaderMap, Json(message): Json<Value>) -> Response {
    let token = headers.get("authorization").and_then(|value| value.to_str().ok());
    if token != Some(concat!("Bearer ", env!("CARGO_PKG_NAME"))) {
        return (StatusCode::UNAUTHORIZED, "go away").into_response();
    }
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "guarded", "version": "1"},
        }),
        "tools/list" => {
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"tools": [tool("hello"), tool("huge"), tool("huge-event"), tool("html"), tool("broken")]})
        }
        "tools/call" => match message["params"]["name"].as_str().unwrap_or_default() {
            "huge" => json!({"content": [{"type": "text", "text": "x".repeat(1_000_000)}]}),
            "huge-event" => {
                let event = format!("data: {}\n\n", "x".repeat(1_000_000));
                return ([("content-type", "text/event-stream")], event).into_response();
            }
            "html" => return ([("content-type", "text/html")], "<h1>Welcome</h1>").into_response(),
            "broken" => return ([("content-type", "application/json")], "{]").into_response(),
            _ => json!({"content": [{"type": "text", "text": "welcome"}]}),
        },
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into_response()
}

#[tokio::test]
async fn a_token_comes_from_the_environment() {
    let port = guarded().await;
    check(
        &at(port, Some("CARGO_PKG_NAME")),
        options(),
        "hello",
        expect![[r#"
        > hello
        "welcome"
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_token_that_is_wrong_or_missing_is_not_told() {
    let port = guarded().await;
    check(
        &at(port, Some("CARGO_PKG_DESCRIPTION")),
        options(),
        "",
        expect![[r#"
            MCP server `it` cannot be connected to: unexpected server response: HTTP 401 Unauthorized: go away
            retryable: false
        "#]],
    )
    .await;
    check(
        &at(port, Some("NO_SUCH_VARIABLE")),
        options(),
        "",
        expect![[r#"
        MCP server `it` needs a token: set the variable `NO_SUCH_VARIABLE`
        retryable: false
    "#]],
    )
    .await;
    check(
        &at(port, None),
        options(),
        "",
        expect![[r#"
            MCP server `it` cannot be connected to: unexpected server response: HTTP 401 Unauthorized: go away
            retryable: false
        "#]],
    )
    .await;
}

#[tokio::test]
async fn answers_that_are_none_or_too_large_are_refused_over_http() {
    let port = guarded().await;
    let options = Options { quiet: std::time::Duration::from_secs(5), ..options() };
    check(
        &at(port, Some("CARGO_PKG_NAME")),
        options,
        "
            huge
            huge-event
            html
            broken
            hello
        ",
        expect![[r#"
            > huge
            failed: MCP server `it` refused `huge`: the answer is larger than the 100000 bytes that are allowed: ask for less (-32603)
            > huge-event
            failed: MCP server `it` refused `huge-event`: the answer is larger than the 100000 bytes that are allowed: ask for less (-32603)
            > html
            failed: MCP server `it` failed while `html` was called: Unexpected content type: Some("text/html")
            > broken
            failed: MCP server `it` failed while `broken` was called: unexpected server response: no message: key must be a string at line 1 column 2: {]
            > hello
            "welcome"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn only_http_is_spoken() {
    for url in ["ftp://127.0.0.1/mcp", "no address"] {
        let server = Server::Address { url: url.to_owned(), token_env: None };
        let fault = open(&server, options()).await.err().expect("it is refused");
        assert!(!fault.retryable, "{fault}");
    }
}
