//! What calls say they touch: where paths really lead, before anything is done.

use std::os::unix::fs::symlink;

use antiphon_agent::permission::Subject;
use antiphon_sandbox::tool;
use expect_test::expect;
use serde_json::json;

use super::Bench;

#[test]
fn paths_are_named_by_where_they_lead() {
    let bench = Bench::with(&[("in/file", "x")]);
    symlink("/etc", bench.path("away")).unwrap();
    symlink("/etc/not-yet", bench.path("dangling")).unwrap();
    symlink("loop", bench.path("loop")).unwrap();
    let rows = [
        ("bash", json!({"command": "ls; rm x"})),
        ("bash", json!({"command": "ls", "dir": "away/ssl"})),
        ("read", json!({"path": "in/../in/file"})),
        ("read", json!({"path": "away/passwd"})),
        ("read", json!({"path": "/a/../b"})),
        ("read", json!({"path": "loop"})),
        ("write", json!({"path": "dangling", "content": ""})),
        ("write", json!({"path": "new/er", "content": ""})),
        (
            "patch",
            json!({"operations": [{"op": "delete", "path": "away/x"}, {"op": "create", "path": "in/y", "content": ""}]}),
        ),
        ("search", json!({"pattern": "x"})),
        ("search", json!({"path": "away"})),
        ("fetch", json!({"url": "HTTP://Example.ORG:80/a/../b c#d"})),
        ("fetch", json!({"url": "http://2130706433/"})),
        ("fetch", json!({"url": "not an address"})),
        ("todo", json!({"items": []})),
        ("read", json!({"file": "x"})),
    ];
    let mut table = Vec::new();
    for (name, input) in rows {
        table.push(format!("{name} {input}\n"));
        for subject in tool(&bench.workspace, name).unwrap().subjects(&input.into()) {
            let shown = match subject {
                Subject::Command(line) => format!("command {line}"),
                Subject::Url(url) => format!("url {url}"),
                Subject::Path { given, resolved, writes } => {
                    let resolved = bench.hide(&resolved);
                    format!("{} {given:?} at {resolved}", if writes { "changes" } else { "reads" })
                }
            };
            table.push(format!("  {shown}\n"));
        }
    }
    expect![[r#"
        bash {"command":"ls; rm x"}
          command ls; rm x
        bash {"command":"ls","dir":"away/ssl"}
          command ls
          changes "away/ssl" at /etc/ssl
        read {"path":"in/../in/file"}
          reads "in/../in/file" at ROOT/in/file
        read {"path":"away/passwd"}
          reads "away/passwd" at /etc/passwd
        read {"path":"/a/../b"}
          reads "/a/../b" at /b
        read {"path":"loop"}
          reads "loop" at ROOT/loop
        write {"path":"dangling","content":""}
          changes "dangling" at /etc/not-yet
        write {"path":"new/er","content":""}
          changes "new/er" at ROOT/new/er
        patch {"operations":[{"op":"delete","path":"away/x"},{"op":"create","path":"in/y","content":""}]}
          changes "away/x" at /etc/x
          changes "in/y" at ROOT/in/y
        search {"pattern":"x"}
          reads "" at ROOT
        search {"path":"away"}
          reads "away" at /etc
        fetch {"url":"HTTP://Example.ORG:80/a/../b c#d"}
          url http://example.org/b%20c#d
        fetch {"url":"http://2130706433/"}
          url http://127.0.0.1/
        fetch {"url":"not an address"}
          url not an address
        todo {"items":[]}
        read {"file":"x"}
    "#]]
    .assert_eq(&table.concat());
}

#[tokio::test]
async fn a_call_goes_where_it_said_it_would() {
    let bench = Bench::with(&[("in/file", "x"), ("out/file", "y")]);
    let turn = |target: &str| {
        let _ = std::fs::remove_file(bench.path("link"));
        symlink(target, bench.path("link")).unwrap();
    };
    let input = json!({"path": "link/file"});
    let ask = || tool(&bench.workspace, "read").unwrap().subjects(&input.clone().into());
    turn("in");
    ask();
    turn("out");
    let refused = "failed: `link/file` leads elsewhere than when it was asked about: call again";
    assert_eq!(bench.say("read", input.clone()).await, refused);
    ask();
    assert_eq!(bench.say("read", input.clone()).await, "   1\ty");
    // Of two calls that were asked about at different times, neither knows which word was for it.
    ask();
    turn("in");
    ask();
    assert_eq!(bench.say("read", input.clone()).await, refused);
    // Nor does the first of two calls use up what was said for the second.
    ask();
    ask();
    assert_eq!(bench.say("read", input.clone()).await, "   1\tx");
    turn("out");
    assert_eq!(bench.say("read", input.clone()).await, refused);
}
