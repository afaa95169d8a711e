//! `write`: new files, old files that were read, and what is left alone.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use antiphon_sandbox::{Limits, Workspace, tool};
use expect_test::expect;
use serde_json::{Value, json};

use super::Bench;

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({"path": path, "content": content}))
}

fn read(path: &str) -> (&'static str, Value) {
    ("read", json!({"path": path}))
}

#[tokio::test]
async fn only_what_was_read_is_written_over() {
    let bench = Bench::with(&[("old", "one"), ("folder/x", "")]);
    bench
        .check(
            &[
                write("new", "a"),
                write("new", "b"),
                write("deep/er/new", "ä"),
                write("old", "two"),
                write("old", "one"),
                write("old", "two"),
                ("bash", json!({"command": "echo three > old"})),
                write("old", "four"),
                read("old"),
                write("old", "four"),
                ("bash", json!({"command": "touch old; rm new"})),
                write("old", "five"),
                write("new", "again"),
                write("folder", "x"),
                write("old/below", "x"),
                write("/dev/null", "x"),
                write("", "x"),
            ],
            expect![[r#"
                write {"path":"new","content":"a"}
                  wrote `new`, a new file of 1 byte
                write {"path":"new","content":"b"}
                  wrote `new`, 1 byte in place of 1
                write {"path":"deep/er/new","content":"ä"}
                  wrote `deep/er/new`, a new file of 2 bytes
                write {"path":"old","content":"two"}
                  failed: `old` was not read before: read it, then change it
                write {"path":"old","content":"one"}
                  `old` holds exactly that already
                write {"path":"old","content":"two"}
                  wrote `old`, 3 bytes in place of 3
                bash {"command":"echo three > old"}
                  exit code: 0
                  (it printed nothing)
                write {"path":"old","content":"four"}
                  failed: `old` has changed since it was read: read it again
                read {"path":"old"}
                     1	three
                write {"path":"old","content":"four"}
                  wrote `old`, 4 bytes in place of 6
                bash {"command":"touch old; rm new"}
                  exit code: 0
                  (it printed nothing)
                write {"path":"old","content":"five"}
                  wrote `old`, 4 bytes in place of 4
                write {"path":"new","content":"again"}
                  wrote `new`, a new file of 5 bytes
                write {"path":"folder","content":"x"}
                  failed: `folder` is a folder
                write {"path":"old/below","content":"x"}
                  failed: cannot write `old/below`: Not a directory (os error 20)
                write {"path":"/dev/null","content":"x"}
                  failed: `/dev/null` is a device, a pipe or a socket: only files are written
                write {"path":"","content":"x"}
                  failed: `ROOT` is a folder
            "#]],
        )
        .await;
    expect![[r#"
        deep/
        deep/er/
        deep/er/new: "ä"
        folder/
        folder/x: ""
        new: "again"
        old: "five"
    "#]]
    .assert_eq(&bench.files());
}

#[tokio::test]
async fn links_lead_where_they_lead_and_stay_links() {
    let outside = tempfile::tempdir().unwrap();
    let bench = Bench::with(&[("target", "old")]);
    symlink("target", bench.path("link")).unwrap();
    symlink(outside.path().join("new"), bench.path("dangling")).unwrap();
    bench
        .check(
            &[read("link"), write("link", "new")],
            expect![[r#"
        read {"path":"link"}
             1	old
        write {"path":"link","content":"new"}
          wrote `target`, 3 bytes in place of 3
    "#]],
        )
        .await;
    bench.say("write", json!({"path": "dangling", "content": "outside"})).await;
    assert!(bench.path("link").is_symlink());
    assert!(bench.path("dangling").is_symlink());
    assert_eq!(bench.get("target"), "new");
    assert_eq!(std::fs::read_to_string(outside.path().join("new")).unwrap(), "outside");
}

#[tokio::test]
async fn rights_are_kept_and_respected() {
    let bench = Bench::with(&[("script", "#!/bin/sh"), ("fixed", "x")]);
    let set = |name, mode| {
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(bench.path(name), rights).unwrap();
    };
    set("script", 0o751);
    set("fixed", 0o444);
    bench
        .check(
            &[
                read("script"),
                write("script", "#!/bin/bash"),
                read("fixed"),
                write("fixed", "y"),
                write("new", ""),
            ],
            expect![[r##"
                read {"path":"script"}
                     1	#!/bin/sh
                write {"path":"script","content":"#!/bin/bash"}
                  wrote `script`, 11 bytes in place of 9
                read {"path":"fixed"}
                     1	x
                write {"path":"fixed","content":"y"}
                  failed: `fixed` is read-only: nobody may change it
                write {"path":"new","content":""}
                  wrote `new`, a new file of 0 bytes
            "##]],
        )
        .await;
    let mode = |name| std::fs::metadata(bench.path(name)).unwrap().mode() & 0o777;
    assert_eq!(mode("script"), 0o751);
    std::fs::write(bench.path("usual"), "").unwrap();
    assert_eq!(mode("new"), mode("usual"));
}

#[tokio::test]
async fn size_is_bounded() {
    let limits = Limits { file_bytes: 10, ..Limits::default() };
    let bench = Bench::new().set(|workspace| workspace.limits(limits));
    bench
        .check(
            &[write("a", "0123456789"), write("b", "0123456789a")],
            expect![[r#"
        write {"path":"a","content":"0123456789"}
          wrote `a`, a new file of 10 bytes
        write {"path":"b","content":"0123456789a"}
          failed: `b` would have 11 bytes: 10 at most
    "#]],
        )
        .await;
}

#[tokio::test]
async fn of_many_writers_one_wins_and_nothing_is_mixed() {
    let bench = Bench::with(&[("file", "start")]);
    bench.say("read", json!({"path": "file"})).await;
    let contents: Vec<_> = (0..20).map(|index| index.to_string().repeat(100_000)).collect();
    let writes =
        contents.iter().map(|content| bench.call("write", json!({"path": "file", "content": content})));
    let done = futures_util::future::join_all(writes).await;
    assert!(done.iter().all(Result::is_ok), "each knows what the one before wrote");
    assert!(contents.contains(&bench.get("file")));
    assert_eq!(bench.path("").read_dir().unwrap().count(), 1, "nothing is left beside it");
}

#[tokio::test]
async fn what_an_earlier_process_read_or_wrote_counts_if_it_would_be_the_same_today() {
    let files = ["same", "changed", "part", "put", "other"];
    let bench = Bench::with(&files.map(|name| (name, "one\ntwo\nthree\n")));
    let part = ("read", json!({"path": "part", "offset": 2, "limit": 1}));
    let calls = [read("same"), read("./changed"), part, write("put", "mine"), read("same")];
    let later = Bench { workspace: Workspace::new(bench.path("")).unwrap(), ..Bench::new() };
    for (name, input) in calls {
        if name == "write" {
            bench.say("read", json!({"path": "put"})).await;
        }
        let gave = bench.call(name, input.clone()).await.expect("it works").output;
        tool(&later.workspace, name).expect("a tool").recall(&input.into(), &gave.to_text());
    }
    bench.put("changed", "one\nTWO\nthree\n");
    later
        .check(
            &files.map(|name| write(name, "new")),
            expect![[r#"
        write {"path":"same","content":"new"}
          wrote `same`, 3 bytes in place of 14
        write {"path":"changed","content":"new"}
          failed: `changed` was not read before: read it, then change it
        write {"path":"part","content":"new"}
          wrote `part`, 3 bytes in place of 14
        write {"path":"put","content":"new"}
          wrote `put`, 3 bytes in place of 4
        write {"path":"other","content":"new"}
          failed: `other` was not read before: read it, then change it
    "#]],
        )
        .await;
}
