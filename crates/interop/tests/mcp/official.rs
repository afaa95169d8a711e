//! The official servers, over their standard streams.

use std::collections::BTreeMap;
use std::sync::Arc;

use antiphon_agent::Server;
use expect_test::expect;

use crate::door::{Heard, call, check, official, open, options, run, tool};

fn node(script: &str, arguments: &[&str]) -> Server {
    let mut command = vec!["node".to_owned(), official(script).display().to_string()];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    Server::Program { command, env: BTreeMap::new(), dir: None }
}

#[tokio::test]
async fn everything_does_what_it_says() {
    check(
        &node("server-everything", &[]),
        options(),
        r#"
            names
            echo {"message": "hello"}
            get-sum {"a": 2, "b": 3}
            get-sum {"a": "two"}
            get-tiny-image
            get-annotated-message {"messageType": "success", "includeImage": false}
            get-resource-links {"count": 2}
            get-structured-content {"location": "New York"}
            trigger-long-running-operation {"duration": 0.3, "steps": 3}
        "#,
        expect![[r#"
            > names
            it_echo Read
            it_get-annotated-message Read
            it_get-env Read
            it_get-resource-links Read
            it_get-resource-reference Read
            it_get-structured-content Read
            it_get-sum Read
            it_get-tiny-image Read
            it_gzip-file-as-resource Idempotent
            it_toggle-simulated-logging Write
            it_toggle-subscriber-updates Write
            it_trigger-long-running-operation Read
            it_simulate-research-query Write
            > echo {"message": "hello"}
            "Echo: hello"
            > get-sum {"a": 2, "b": 3}
            "The sum of 2 and 3 is 5."
            > get-sum {"a": "two"}
            failed: MCP error -32602: Input validation error: Invalid arguments for tool get-sum: Invalid input: expected number, received string at a
            Invalid input: expected number, received undefined at b
            > get-tiny-image
            [{"type":"text","text":"Here's the image you requested:"},{"type":"image","mediaType":"image/png","data":"iVBORw0KGgoAAA … XR8tlwumcFgeMWRbZpA9ORQWfVm8A/FsrLaxebd5wAAAABJRU5ErkJggg=="},{"type":"text","text":"The image above is the MCP logo."}] (5547 bytes)
            > get-annotated-message {"messageType": "success", "includeImage": false}
            "Operation completed successfully"
            > get-resource-links {"count": 2}
            "Here are 2 resource links to resources available in this server:\n[resource demo://resource/dynamic/blob/1: Resource 1: plaintext resource]\n[resource demo://resource/dynamic/text/2: Resource 2: plaintext resource]"
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
async fn a_resource_of_everything_comes_with_its_address() {
    let connected = open(&node("server-everything", &[]), options()).await.expect("it starts");
    let reference = tool(&connected, "get-resource-reference").await;
    let heard = Arc::new(Heard::default());
    for (kind, expected) in [
        ("Text", "[resource demo://resource/dynamic/text/1]\nResource 1: This is a plaintext resource"),
        ("Blob", "[resource demo://resource/dynamic/blob/1, text/plain, "),
    ] {
        let input = format!(r#"{{"resourceType": "{kind}", "resourceId": 1}}"#);
        let reply = call(&reference, &input, &heard).await.expect("it gives one");
        assert!(reply.output.to_text().contains(expected), "{}", reply.output);
    }
}

#[tokio::test]
async fn filesystem_keeps_to_its_folder() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let root = folder.path().canonicalize().expect("it exists");
    std::fs::write(root.join("a.txt"), "one\ntwo\n").expect("the folder is ours");
    let path = |name: &str| root.join(name).display().to_string();
    let script = format!(
        r#"
            read_text_file {{"path": "{}"}}
            write_file {{"path": "{}", "content": "three"}}
            list_directory {{"path": "{}"}}
            read_text_file {{"path": "/etc/passwd"}}
        "#,
        path("a.txt"),
        path("b.txt"),
        path(""),
    );
    let server = node("server-filesystem", &[&root.display().to_string()]);
    let out = run(&server, options(), &script).await;
    let out = out.replace(&root.display().to_string(), "ROOT");
    expect![[r#"
        > read_text_file {"path": "ROOT/a.txt"}
        {"content":"one\ntwo\n"}
        > write_file {"path": "ROOT/b.txt", "content": "three"}
        {"content":"Successfully wrote to ROOT/b.txt"}
        > list_directory {"path": "ROOT/"}
        {"content":"[FILE] a.txt\n[FILE] b.txt"}
        > read_text_file {"path": "/etc/passwd"}
        failed: Access denied - path outside allowed directories: /etc/passwd not in ROOT
    "#]]
    .assert_eq(&out);
    assert_eq!(std::fs::read_to_string(root.join("b.txt")).expect("it was written"), "three");
}
