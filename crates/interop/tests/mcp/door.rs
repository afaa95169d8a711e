//! The door of these tests: a script of calls against a server, and what came of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use antiphon_agent::Server;
use antiphon_event::Json;
use antiphon_interop::mcp::{Connected, Fault, Options, connect};
use antiphon_port::{Future, Progress, Reach, Tool, ToolCall, ToolFault, ToolReply};
use expect_test::Expect;

/// What a tool said while it worked.
#[derive(Default)]
pub(crate) struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn say(&self, content: Json) -> Future<()> {
        self.0.lock().expect("nobody panics with it").push(format!("… {content}"));
        Box::pin(async {})
    }
}

/// The server that misbehaves.
pub(crate) fn fake(words: &str) -> Server {
    let tests = std::env::current_exe().expect("a test knows where it is");
    let folder = tests.parent().and_then(Path::parent).expect("tests are built into `deps`");
    let program = folder.join("examples").join("mcp_fake");
    assert!(program.exists(), "{} is missing: run `cargo build --examples`", program.display());
    let mut command = vec![program.display().to_string()];
    command.extend(words.split_whitespace().map(str::to_owned));
    Server::Program { command, env: BTreeMap::new(), dir: None }
}

/// A script of an official server, which `make setup` puts there.
pub(crate) fn official(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join("target/mcp/node_modules/@modelcontextprotocol").join(name).join("dist/index.js");
    assert!(script.exists(), "{} is missing: run `make setup`", script.display());
    script.canonicalize().expect("it exists")
}

/// Bounds that tests can reach, and time for a machine that is busy with others.
pub(crate) fn options() -> Options {
    Options { message_bytes: 100_000, start: Duration::from_secs(30), ..Options::default() }
}

/// Connects, or says why not.
pub(crate) async fn open(server: &Server, options: Options) -> Result<Connected, Fault> {
    connect("it", server, options).await
}

/// One of the tools.
pub(crate) async fn tool(server: &Connected, name: &str) -> Arc<dyn Tool> {
    let tools = server.tools().await.expect("the server lists its tools");
    let found = tools.into_iter().find(|tool| tool.spec().name == format!("it_{name}"));
    found.unwrap_or_else(|| panic!("no tool {name}"))
}

/// Calls a tool.
pub(crate) fn call(
    tool: &Arc<dyn Tool>,
    input: &str,
    heard: &Arc<Heard>,
) -> Future<Result<ToolReply, ToolFault>> {
    let input = serde_json::from_str(input).expect("the test writes JSON");
    tool.call(ToolCall { input, key: "key".into(), progress: heard.clone(), reach: Reach::everything() })
}

/// Runs a script against a server. Its lines: `specs`, `names`, `left out`, or a tool and its arguments.
pub(crate) async fn check(server: &Server, options: Options, script: &str, expected: Expect) {
    expected.assert_eq(&run(server, options, script).await);
}

/// What came of a script.
pub(crate) async fn run(server: &Server, options: Options, script: &str) -> String {
    let connected = match open(server, options).await {
        Ok(connected) => connected,
        Err(fault) => return format!("{fault}\nretryable: {}\n", fault.retryable),
    };
    let mut out = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        out += "> ";
        out += line;
        out += "\n";
        out += &match line {
            "specs" => specs(&connected).await,
            "names" => names(&connected).await,
            "left out" => connected.left_out().join("\n") + "\n",
            _ => said(&connected, line).await,
        };
    }
    connected.close().await;
    out
}

async fn specs(server: &Connected) -> String {
    let specs = server.specs().await.expect("the server lists its tools");
    specs.iter().map(|spec| format!("{} {:?} {}\n", spec.name, spec.class, spec.input)).collect()
}

async fn names(server: &Connected) -> String {
    let specs = server.specs().await.expect("the server lists its tools");
    specs.iter().map(|spec| format!("{} {:?}\n", spec.name, spec.class)).collect()
}

async fn said(server: &Connected, line: &str) -> String {
    let (name, input) = line.split_once(' ').unwrap_or((line, "{}"));
    let tool = tool(server, name).await;
    let heard = Arc::new(Heard::default());
    let reply = call(&tool, input, &heard).await;
    let mut lines = heard.0.lock().expect("nobody panics with it").clone();
    lines.push(match reply {
        Ok(reply) => shown(&reply.output),
        Err(fault) => format!("{}: {fault}", fault.code),
    });
    lines.join("\n") + "\n"
}

/// An output, its middle left out if it is long.
fn shown(output: &Json) -> String {
    let text = output.to_string();
    if text.len() <= 1000 {
        return text;
    }
    format!("{} … {} ({} bytes)", &text[..120], &text[text.len() - 120..], text.len())
}

/// Waits until something holds, and not for ever.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited in vain: {what}");
}
