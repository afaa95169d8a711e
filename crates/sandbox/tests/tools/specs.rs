//! What models are told of the tools.

use antiphon_agent::Spec;
use antiphon_sandbox::{Workspace, tools};
use expect_test::expect;

#[test]
fn tools_say_what_they_take() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    let row = |spec: &Spec| format!("{} ({:?})\n{}\n", spec.name, spec.class, spec.input);
    let table: String = tools(&workspace).iter().map(|tool| row(tool.spec())).collect();
    expect![[r#"
        bash (Write)
        {"type":"object","additionalProperties":false,"properties":{"command":{"type":"string","description":"The command, as bash reads it."},"timeout_ms":{"type":["integer","null"],"description":"How many milliseconds it may take; two minutes if absent, ten minutes at most.","minimum":0},"dir":{"type":["string","null"],"description":"The folder to run it in, from the root of the workspace; the root if absent."}},"required":["command"]}
        read (Read)
        {"type":"object","additionalProperties":false,"properties":{"path":{"type":"string","description":"The file or folder, from the root of the workspace."},"offset":{"type":["integer","null"],"description":"The first line to give, counted from 1.","minimum":0},"limit":{"type":["integer","null"],"description":"How many lines to give; 2000 if absent.","minimum":0}},"required":["path"]}
        write (Idempotent)
        {"type":"object","additionalProperties":false,"properties":{"path":{"type":"string","description":"The file, from the root of the workspace."},"content":{"type":"string","description":"All that it shall hold."}},"required":["path","content"]}
        patch (Write)
        {"type":"object","additionalProperties":false,"properties":{"operations":{"type":"array","items":{"oneOf":[{"description":"Change parts of a file.","type":"object","properties":{"op":{"type":"string","const":"edit"},"path":{"description":"The file, from the root of the workspace.","type":"string"},"edits":{"description":"What to replace, in order.","type":"array","items":{"description":"One replacement.","type":"object","properties":{"old":{"description":"The text to replace.","type":"string"},"new":{"description":"The text to put in its place.","type":"string"},"all":{"description":"Replace it wherever it stands.","type":"boolean","default":false}},"additionalProperties":false,"required":["old","new"]}}},"additionalProperties":false,"required":["op","path","edits"]},{"description":"Make a file that does not exist.","type":"object","properties":{"op":{"type":"string","const":"create"},"path":{"description":"The file, from the root of the workspace.","type":"string"},"content":{"description":"All that it shall hold.","type":"string"}},"additionalProperties":false,"required":["op","path","content"]},{"description":"Delete a file.","type":"object","properties":{"op":{"type":"string","const":"delete"},"path":{"description":"The file, from the root of the workspace.","type":"string"}},"additionalProperties":false,"required":["op","path"]}]},"description":"What to do, in order."}},"required":["operations"]}
        search (Read)
        {"type":"object","additionalProperties":false,"properties":{"pattern":{"type":["string","null"],"description":"The regular expression that lines have to fit."},"files":{"type":["string","null"],"description":"The glob that paths have to fit, from the folder that is searched."},"path":{"type":["string","null"],"description":"The folder or file to search, from the root of the workspace; the root if absent."},"ignore_case":{"type":"boolean","description":"Whether `a` fits `A`.","default":false},"context":{"type":["integer","null"],"description":"How many lines before and after each hit to give; none if absent, 20 at most.","minimum":0},"limit":{"type":["integer","null"],"description":"How many hits to give; 200 if absent, 2000 at most.","minimum":0}}}
        fetch (Read)
        {"type":"object","additionalProperties":false,"properties":{"url":{"type":"string","description":"The address, with http:// or https://."},"max_chars":{"type":["integer","null"],"description":"How many characters to give.","minimum":0}},"required":["url"]}
        todo (Idempotent)
        {"type":"object","additionalProperties":false,"properties":{"items":{"type":"array","items":{"type":"object","properties":{"text":{"description":"What is to be done, in one line.","type":"string"},"status":{"description":"How far it is.","type":"string","enum":["pending","in_progress","done","cancelled"]}},"additionalProperties":false,"required":["text","status"]},"description":"The whole plan, in order."}},"required":["items"]}
    "#]].assert_eq(&table);
}

#[test]
fn a_workspace_is_a_folder_that_exists() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Workspace::new(folder.path().join("missing")).is_err());
    std::fs::write(folder.path().join("file"), "").unwrap();
    assert!(Workspace::new(folder.path().join("file")).is_err());
}
