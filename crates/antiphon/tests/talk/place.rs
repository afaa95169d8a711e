//! A small MCP server, which this program itself is when it is told so: says where it runs.
//!
//! In and out: JSON lines. Start reading at [`answer`].

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

/// Tells this program to be the server.
const SERVE: &str = "ANTIPHON_TEST_SERVER";

/// The server, as an agent names it.
pub(crate) fn server() -> Value {
    let program = std::env::current_exe().expect("a test knows where it is");
    json!({"command": [program, "--exact", "place::serve", "--nocapture"], "env": {SERVE: "yes"}})
}

#[test]
fn serve() {
    if std::env::var_os(SERVE).is_none() {
        return;
    }
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let Some(result) = answer(&message) {
            let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            let mut out = std::io::stdout();
            writeln!(out, "{reply}").and_then(|()| out.flush()).expect("somebody listens");
        }
    }
}

fn answer(message: &Value) -> Option<Value> {
    let params = &message["params"];
    match message["method"].as_str()? {
        "initialize" => Some(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "place", "version": "1"},
        })),
        "tools/list" => {
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
            Some(json!({"tools": [tool("where"), tool("echo")]}))
        }
        "tools/call" => {
            let place = std::env::current_dir().expect("it runs somewhere");
            let text = match params["name"].as_str()? {
                "where" => place.display().to_string(),
                _ => params["arguments"].to_string(),
            };
            Some(json!({"content": [{"type": "text", "text": text}]}))
        }
        _ => None,
    }
}
