//! An MCP server that misbehaves as it is told to.
//!
//! In: JSON lines, and words on the command line that say how to misbehave at the start. Out: JSON lines. Its tools
//! are the ways to misbehave later. With `FAKE_LOG` set, the method of all that comes in is added to that file.
//! Start reading at [`main`].

use std::fs::OpenOptions;
use std::io::{BufRead as _, Write as _};
use std::process::{Command, Stdio, exit};

use serde_json::{Value, json};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|given| given == word);
    if has("dies") {
        eprintln!("no licence\nI am leaving");
        exit(3);
    }
    let mut server = Server { words: words.clone(), has_changed: false };
    if has("rubbish") {
        println!("Welcome to the server!\n\n{{\"not\": \"a message\"}}\n{{[");
    }
    while let Some(message) = receive() {
        if !has("mute") {
            server.answer(&message);
        }
    }
}

struct Server {
    words: Vec<String>,
    has_changed: bool,
}

impl Server {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|given| given == word)
    }

    fn answer(&mut self, message: &Value) {
        let id = &message["id"];
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "initialize" if self.has("refuses") => {
                send(&json!({"id": id, "error": {"code": -32000, "message": "not today"}}));
            }
            "initialize" if self.has("modern") => {
                send(&json!({"id": id, "error": {"code": -32601, "message": "no method initialize"}}));
            }
            "server/discover" => send(&json!({"id": id, "result": {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "private",
            }})),
            "initialize" => send(&json!({"id": id, "result": {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "fake", "version": "1"},
            }})),
            "tools/list" => {
                let page = self.page(params["cursor"].as_str());
                send(&json!({"id": id, "result": page}));
            }
            "tools/call" => self.call(id, params),
            _ => {}
        }
    }

    fn page(&self, cursor: Option<&str>) -> Value {
        let number = cursor.and_then(|cursor| cursor.parse::<usize>().ok()).unwrap_or_default();
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        if self.has("endless") {
            return json!({"tools": [tool(&format!("tool{number}"))], "nextCursor": (number + 1).to_string()});
        }
        if self.has("pages") {
            let next = (number < 2).then(|| (number + 1).to_string());
            let mut page = json!({"tools": [tool(&format!("a {number}")), tool(&format!("a.{number}"))]});
            if let Some(next) = next {
                page["nextCursor"] = next.into();
            }
            return page;
        }
        let mut tools = vec![
            json!({"name": "echo", "description": "Says it again.", "annotations": {"readOnlyHint": true},
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}),
            json!({"name": "set", "inputSchema": {}, "annotations": {"idempotentHint": true}}),
            json!({"name": "list", "inputSchema": {"type": "array"}}),
            tool("echo"),
        ];
        tools.extend(
            [
                "steps", "hang", "die", "huge", "fail", "error", "change", "ask", "child", "env", "mumble",
                "deep", "strange", "flood",
            ]
            .map(tool),
        );
        if self.has_changed {
            tools.push(tool("new"));
        }
        json!({"tools": tools})
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let text =
            |text: &str| send(&json!({"id": id, "result": {"content": [{"type": "text", "text": text}]}}));
        match params["name"].as_str().unwrap_or_default() {
            "echo" => text(arguments["text"].as_str().unwrap_or_default()),
            "steps" => {
                let token = &params["_meta"]["progressToken"];
                for step in 1..=3 {
                    send(&json!({"method": "notifications/progress",
                        "params": {"progressToken": token, "progress": step, "total": 3, "message": format!("step {step}")}}));
                }
                text("all steps done");
            }
            "hang" => {}
            "die" => {
                eprintln!("out of cheese\nredo from start");
                exit(7);
            }
            "huge" => text(&"x".repeat(arguments["bytes"].as_u64().unwrap_or_default() as usize)),
            "fail" => send(&json!({"id": id, "result": {"isError": true,
                "content": [{"type": "text", "text": "it does not work"}]}})),
            "error" => send(&json!({"id": id, "error": {"code": -32602, "message": "wrong arguments"}})),
            "change" => {
                self.has_changed = true;
                send(&json!({"method": "notifications/tools/list_changed"}));
                text("changed");
            }
            "ask" => text(&ask()),
            "child" => text(&child(arguments["leaves"] == true)),
            "env" => text(&std::env::vars().map(|(name, _)| name + " ").collect::<String>()),
            "mumble" => {
                println!("debug: about to answer");
                text("said it");
            }
            "deep" => {
                let (open, close) = ("[".repeat(500), "]".repeat(500));
                println!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"structuredContent":{open}{close}}}}}"#);
            }
            "strange" => {
                send(&json!({"id": id, "result": {"content": [{"type": "smell", "scent": "roses"}]}}));
            }
            "flood" => {
                for number in 0..10_000 {
                    send(
                        &json!({"method": "notifications/message", "params": {"level": "info", "data": number}}),
                    );
                }
                text("said it all");
            }
            other => {
                send(&json!({"id": id, "error": {"code": -32601, "message": format!("no tool {other}")}}));
            }
        }
    }
}

/// Asks the client all that a server may ask, and says what came back.
fn ask() -> String {
    let ask = |method: &str, params: Value| {
        send(&json!({"id": method, "method": method, "params": params}));
        let answer = receive().unwrap_or_default();
        let what = [&answer["error"], &answer["result"]].into_iter().find(|what| !what.is_null());
        format!("{method}: {}\n", what.unwrap_or(&Value::Null))
    };
    let sampling = json!({"messages": [], "maxTokens": 1});
    let form = json!({"message": "who are you?", "requestedSchema": {"type": "object", "properties": {}}});
    ask("ping", json!({}))
        + &ask("roots/list", json!({}))
        + &ask("sampling/createMessage", sampling)
        + &ask("elicitation/create", form)
        + &ask("made/up", json!({}))
}

/// Starts a process that outlives this one unless somebody sees to it; it may leave its group.
fn child(leaves: bool) -> String {
    let mut command = Command::new(if leaves { "setsid" } else { "env" });
    let child = command.args(["sleep", "600"]).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    child.map_or_else(|error| error.to_string(), |child| child.id().to_string())
}

fn receive() -> Option<Value> {
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line).ok()? == 0 {
        return None;
    }
    let message: Value = serde_json::from_str(&line).ok()?;
    if let (Ok(path), Some(method)) = (std::env::var("FAKE_LOG"), message["method"].as_str()) {
        let mut log = OpenOptions::new().create(true).append(true).open(path).ok()?;
        writeln!(log, "{method}").ok()?;
    }
    Some(message)
}

fn send(message: &Value) {
    let mut message = message.clone();
    message["jsonrpc"] = "2.0".into();
    let mut out = std::io::stdout().lock();
    let sent = writeln!(out, "{message}").and_then(|()| out.flush());
    if sent.is_err() {
        exit(0);
    }
}
