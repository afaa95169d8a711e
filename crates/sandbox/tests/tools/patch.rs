//! `patch`: edits that fit exactly, several files at once, all or nothing.

use std::os::unix::fs::symlink;

use antiphon_sandbox::Limits;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::Bench;

const CODE: &str = "fn main() {\n    let a = 1;\n    let b = 2;\n    print(a);\n    print(a);\n}\n";

/// Makes edits in a file that was read, and shows what it holds then.
async fn check(content: &str, edits: Value, expected: Expect) {
    let bench = Bench::with(&[("f", content)]);
    bench.say("read", json!({"path": "f"})).await;
    let said = bench.say("patch", json!({"operations": [{"op": "edit", "path": "f", "edits": edits}]})).await;
    let now = bench.get("f");
    let now = if now == content { "as it was".to_owned() } else { format!("{now:?}") };
    expected.assert_eq(&format!("{said}\n{now}"));
}

#[tokio::test]
async fn text_that_stands_there_once_is_replaced() {
    check(
        CODE,
        json!([{"old": "let a = 1;", "new": "let a = 3;"}]),
        expect![[r#"
        edited `f` in 1 place
        "fn main() {\n    let a = 3;\n    let b = 2;\n    print(a);\n    print(a);\n}\n""#]],
    )
    .await;
}

#[tokio::test]
async fn edits_are_made_one_on_the_other() {
    check(
        "a b",
        json!([{"old": "a", "new": "c"}, {"old": "c b", "new": "d"}]),
        expect![[r#"
        edited `f` in 2 places
        "d""#]],
    )
    .await;
}

#[tokio::test]
async fn text_that_stands_there_more_than_once_is_refused() {
    check(CODE, json!([{"old": "print(a);", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` stands there 2 times (lines 4, 5): give more of what is around the one you mean, or set `all`; nothing was changed
        as it was"#]]).await;
    check("aaa", json!([{"old": "aa", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` stands there 2 times (lines 1, 1): give more of what is around the one you mean, or set `all`; nothing was changed
        as it was"#]]).await;
}

#[tokio::test]
async fn all_of_them_are_replaced_if_wanted() {
    check(
        CODE,
        json!([{"old": "a", "new": "z", "all": true}]),
        expect![[r#"
        edited `f` in 4 places
        "fn mzin() {\n    let z = 1;\n    let b = 2;\n    print(z);\n    print(z);\n}\n""#]],
    )
    .await;
    check(
        "aaa",
        json!([{"old": "aa", "new": "x", "all": true}]),
        expect![[r#"
        edited `f` in 1 place
        "xa""#]],
    )
    .await;
}

#[tokio::test]
async fn text_that_is_not_there_is_shown_what_comes_near() {
    check(CODE, json!([{"old": "nowhere to be seen", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` is not in the file, nor anything near it: read it again; nothing was changed
        as it was"#]]).await;
    check(CODE, json!([{"old": "\tlet a = 1;\n\tlet b = 2;", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` is not in the file; lines 2 to 3 come near: line 2 is "    let a = 1;", `old` has "\tlet a = 1;"; nothing was changed
        as it was"#]]).await;
    check(CODE, json!([{"old": "let  b = 2;", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` is not in the file; line 3 comes near: line 3 is "    let b = 2;", `old` has "let  b = 2;"; nothing was changed
        as it was"#]]).await;
    check(CODE, json!([{"old": "    let a = 1;\n    let b = 3;\n", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` is not in the file; lines 2 to 3 come near: line 3 is "    let b = 2;", `old` has "    let b = 3;"; nothing was changed
        as it was"#]]).await;
    check(CODE, json!([{"old": "}\n\n\n\n\n\n\n\n", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` is not in the file, nor anything near it: read it again; nothing was changed
        as it was"#]]).await;
    check("", json!([{"old": "a", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` is not in the file, nor anything near it: read it again; nothing was changed
        as it was"#]]).await;
}

#[tokio::test]
async fn an_edit_says_something() {
    check(CODE, json!([{"old": "", "new": "x"}]), expect![[r#"
        failed: `f`: edit 1: `old` is empty: give the text to put something beside, and put it into `new` too; nothing was changed
        as it was"#]]).await;
    check(
        CODE,
        json!([{"old": "a", "new": "a"}]),
        expect![[r#"
        failed: `f`: edit 1: `old` and `new` are the same; nothing was changed
        as it was"#]],
    )
    .await;
    check(
        CODE,
        json!([]),
        expect![[r#"
        failed: `f`: 0 edits: 1 to 1000
        as it was"#]],
    )
    .await;
    check(
        CODE,
        json!([{"old": "a"}]),
        expect![[r#"
        schema: the arguments of `patch` do not fit: missing field `new` at line 1 column 62
        as it was"#]],
    )
    .await;
}

#[tokio::test]
async fn line_ends_stay_as_they_are() {
    check(
        "a\r\nb\r\nc\r\n",
        json!([{"old": "a\nb", "new": "x\ny\nz"}]),
        expect![[r#"
        edited `f` in 1 place
        "x\r\ny\r\nz\r\nc\r\n""#]],
    )
    .await;
    check(
        "a\r\nb\n",
        json!([{"old": "a\r\nb", "new": "x\ny"}]),
        expect![[r#"
        edited `f` in 1 place
        "x\ny\n""#]],
    )
    .await;
    check(
        "a\r\nb\n",
        json!([{"old": "a\nb", "new": "x"}]),
        expect![[r#"
        failed: `f`: edit 1: `old` is not in the file; lines 1 to 2 come near; nothing was changed
        as it was"#]],
    )
    .await;
}

#[tokio::test]
async fn bytes_that_are_no_text_stay_as_they_are() {
    let bench = Bench::new();
    bench.put("f", b"caf\xe9 one\n");
    bench.say("read", json!({"path": "f"})).await;
    let edit = json!({"op": "edit", "path": "f", "edits": [{"old": "one", "new": "two"}]});
    bench.say("patch", json!({"operations": [edit]})).await;
    assert_eq!(std::fs::read(bench.path("f")).unwrap(), b"caf\xe9 two\n");
}

#[tokio::test]
async fn a_small_edit_cannot_make_a_file_huge() {
    let limits = Limits { file_bytes: 1000, ..Limits::default() };
    let bench = Bench::with(&[("f", &"a".repeat(1000))]).set(|workspace| workspace.limits(limits));
    bench.say("read", json!({"path": "f"})).await;
    let edit = json!({"old": "a", "new": "b".repeat(1000), "all": true});
    let said =
        bench.say("patch", json!({"operations": [{"op": "edit", "path": "f", "edits": [edit]}]})).await;
    expect!["failed: `f`: edit 1: the file would have 1000000 bytes: 1000 at most; nothing was changed"]
        .assert_eq(&said);
}

/// Calls `patch` with operations, after `a` and `b` were read, and shows the files then.
async fn check_files(operations: Value, expected: Expect) {
    let bench = Bench::with(&[("a", "one"), ("b", "two"), ("unread", "three"), ("folder/c", "four")]);
    symlink("a", bench.path("link")).expect("linked");
    for path in ["a", "b"] {
        bench.say("read", json!({"path": path})).await;
    }
    let before = bench.files();
    let said = bench.say("patch", json!({"operations": operations})).await;
    let now = bench.files();
    let now = if now == before { "as it was\n".to_owned() } else { now };
    expected.assert_eq(&format!("{said}\n\n{now}"));
}

#[tokio::test]
async fn several_files_change_together() {
    check_files(
        json!([
            {"op": "edit", "path": "a", "edits": [{"old": "one", "new": "1"}]},
            {"op": "create", "path": "new/er", "content": "x"},
            {"op": "edit", "path": "new/er", "edits": [{"old": "x", "new": "y"}]},
            {"op": "delete", "path": "b"},
            {"op": "create", "path": "b", "content": "again"},
            {"op": "edit", "path": "link", "edits": [{"old": "1", "new": "through a link"}]},
        ]),
        expect![[r#"
            edited `a` in 1 place
            created `new/er` of 1 byte
            edited `new/er` in 1 place
            deleted `b`
            created `b` of 5 bytes
            edited `a` in 1 place

            a: "through a link"
            b: "again"
            folder/
            folder/c: "four"
            link: "through a link"
            new/
            new/er: "y"
            unread: "three"
        "#]],
    )
    .await;
}

#[tokio::test]
async fn if_one_does_not_fit_none_is_changed() {
    let first = json!({"op": "edit", "path": "a", "edits": [{"old": "one", "new": "1"}]});
    let rows = [
        (
            json!({"op": "edit", "path": "b", "edits": [{"old": "nothing", "new": "1"}]}),
            expect![[r#"
            failed: `b`: edit 1: `old` is not in the file, nor anything near it: read it again; nothing was changed

            as it was
        "#]],
        ),
        (
            json!({"op": "edit", "path": "unread", "edits": [{"old": "three", "new": "1"}]}),
            expect![[r#"
            failed: `unread` was not read before: read it, then change it

            as it was
        "#]],
        ),
        (
            json!({"op": "edit", "path": "missing", "edits": [{"old": "a", "new": "1"}]}),
            expect![[r#"
            failed: `missing` does not exist; nothing was changed

            as it was
        "#]],
        ),
        (
            json!({"op": "create", "path": "b", "content": ""}),
            expect![[r#"
            failed: `b` exists already: edit it, or `write` it; nothing was changed

            as it was
        "#]],
        ),
        (
            json!({"op": "delete", "path": "unread"}),
            expect![[r#"
            failed: `unread` was not read before: read it, then change it

            as it was
        "#]],
        ),
        (
            json!({"op": "delete", "path": "missing"}),
            expect![[r#"
            failed: `missing` does not exist; nothing was changed

            as it was
        "#]],
        ),
        (
            json!({"op": "delete", "path": "folder"}),
            expect![[r#"
            failed: `folder` is a folder

            as it was
        "#]],
        ),
        (
            json!({"op": "delete", "path": "link"}),
            expect![[r#"
            failed: `link` is a link: delete what it leads to, or the link with a command

            as it was
        "#]],
        ),
        (
            json!({"op": "move", "path": "b"}),
            expect![[r#"
            schema: the arguments of `patch` do not fit: unknown variant `move`, expected one of `edit`, `create`, `delete` at line 1 column 86

            as it was
        "#]],
        ),
        (
            json!({"op": "create", "path": "b/x", "content": ""}),
            expect![[r#"
            failed: cannot look at `b/x`: Not a directory (os error 20)

            as it was
        "#]],
        ),
    ];
    for (second, expected) in rows {
        check_files(json!([first, second]), expected).await;
    }
    // Found out only when files are touched: `x` cannot be a file and a folder. By then `a` and `b` are changed.
    check_files(
        json!([first, {"op": "delete", "path": "b"}, {"op": "create", "path": "x", "content": "1"}, {"op": "create", "path": "x/y/z", "content": "2"}]),
        expect![[r#"
            failed: cannot change `x`: Is a directory (os error 21); nothing was changed

            as it was
        "#]],
    )
    .await;
    check_files(
        json!([]),
        expect![[r#"
        failed: 0 operations: 1 to 1000

        as it was
    "#]],
    )
    .await;
}

#[tokio::test]
async fn what_changed_since_it_was_read_is_not_changed() {
    let bench = Bench::with(&[("f", "one")]);
    let edit = |old: &str, new: &str| {
        let edits = json!([{"old": old, "new": new}]);
        ("patch", json!({"operations": [{"op": "edit", "path": "f", "edits": edits}]}))
    };
    bench
        .check(
            &[
                edit("one", "two"),
                ("read", json!({"path": "f"})),
                edit("one", "two"),
                edit("two", "three"),
                ("bash", json!({"command": "echo four > f"})),
                edit("four", "five"),
                ("read", json!({"path": "f"})),
                edit("four", "five"),
            ],
            expect![[r#"
                patch {"operations":[{"op":"edit","path":"f","edits":[{"old":"one","new":"two"}]}]}
                  failed: `f` was not read before: read it, then change it
                read {"path":"f"}
                     1	one
                patch {"operations":[{"op":"edit","path":"f","edits":[{"old":"one","new":"two"}]}]}
                  edited `f` in 1 place
                patch {"operations":[{"op":"edit","path":"f","edits":[{"old":"two","new":"three"}]}]}
                  edited `f` in 1 place
                bash {"command":"echo four > f"}
                  exit code: 0
                  (it printed nothing)
                patch {"operations":[{"op":"edit","path":"f","edits":[{"old":"four","new":"five"}]}]}
                  failed: `f` has changed since it was read: read it again
                read {"path":"f"}
                     1	four
                patch {"operations":[{"op":"edit","path":"f","edits":[{"old":"four","new":"five"}]}]}
                  edited `f` in 1 place
            "#]],
        )
        .await;
}
