//! `search`: names and lines, in order, without what is ignored, and not without end.

use std::time::{Duration, Instant};

use antiphon_sandbox::Limits;
use expect_test::expect;
use serde_json::{Value, json};

use super::Bench;

fn bench() -> Bench {
    let bench = Bench::with(&[
        (".gitignore", "*.log\n/build/\n"),
        (".ignore", "secret\n"),
        (".git/config", "needle"),
        (".github/flow.yml", "needle\n"),
        ("a.rs", "one\ntwo needle\nthree\nfour\nfive\nsix Needle\n"),
        ("b.log", "needle"),
        ("build/x.rs", "needle"),
        ("secret", "needle"),
        ("src/deep/c.rs", "a needle\r\n"),
        ("src/d.ts", "nothing\n"),
        ("src/e.tsx", "nothing\n"),
    ]);
    bench.put("binary", b"needle\0needle");
    bench.put("latin", b"caf\xe9 needle\n");
    bench
}

fn searches<const N: usize>(rows: [Value; N]) -> [(&'static str, Value); N] {
    rows.map(|row| ("search", row))
}

#[tokio::test]
async fn lines_and_names_are_found_in_order() {
    let rows = searches([
        json!({}),
        json!({"files": "*.rs"}),
        json!({"files": "src/**/*.{ts,tsx}"}),
        json!({"files": "!*.rs"}),
        json!({"files": "*.log"}),
        json!({"path": "src"}),
        json!({"pattern": "needle"}),
        json!({"pattern": "needle", "ignore_case": true, "files": "a.rs"}),
        json!({"pattern": "needle", "ignore_case": true, "files": "a.rs", "context": 1}),
        json!({"pattern": "^a n", "path": "src/deep"}),
        json!({"pattern": "needle$", "path": "src/deep/c.rs"}),
    ]);
    bench()
        .check(
            &rows,
            expect![[r#"
        search {}
          .github/flow.yml
          .gitignore
          .ignore
          a.rs
          binary
          latin
          src/d.ts
          src/deep/c.rs
          src/e.tsx
          (9 files)
        search {"files":"*.rs"}
          a.rs
          src/deep/c.rs
          (2 files)
        search {"files":"src/**/*.{ts,tsx}"}
          src/d.ts
          src/e.tsx
          (2 files)
        search {"files":"!*.rs"}
          .github/flow.yml
          .gitignore
          .ignore
          binary
          latin
          src/d.ts
          src/e.tsx
          (7 files)
        search {"files":"*.log"}
          (nothing found in 0 files)
        search {"path":"src"}
          src/d.ts
          src/deep/c.rs
          src/e.tsx
          (3 files)
        search {"pattern":"needle"}
          .github/flow.yml
               1: needle
          a.rs
               2: two needle
          latin
               1: caf� needle
          src/deep/c.rs
               1: a needle
          (4 matches in 4 of 9 files)
        search {"pattern":"needle","ignore_case":true,"files":"a.rs"}
          a.rs
               2: two needle
               6: six Needle
          (2 matches in 1 of 1 file)
        search {"pattern":"needle","ignore_case":true,"files":"a.rs","context":1}
          a.rs
               1- one
               2: two needle
               3- three
               …
               5- five
               6: six Needle
          (2 matches in 1 of 1 file)
        search {"pattern":"^a n","path":"src/deep"}
          src/deep/c.rs
               1: a needle
          (1 match in 1 of 1 file)
        search {"pattern":"needle$","path":"src/deep/c.rs"}
          src/deep/c.rs
               1: a needle
          (1 match in 1 of 1 file)
    "#]],
        )
        .await;
}

#[tokio::test]
async fn what_is_asked_for_wrongly_or_too_much_is_said() {
    let rows = searches([
        json!({"pattern": "needle", "limit": 2}),
        json!({"limit": 3}),
        json!({"pattern": "nowhere"}),
        json!({"pattern": "("}),
        json!({"pattern": "a\nb"}),
        json!({"files": "[a"}),
        json!({"path": "missing"}),
        json!({"path": "/dev/null"}),
        json!({"glob": "x"}),
    ]);
    bench().check(&rows, expect![[r#"
        search {"pattern":"needle","limit":2}
          .github/flow.yml
               1: needle
          a.rs
               2: two needle
          (2 matches in 2 of 6 files)
          (there is more: narrow the search, or raise `limit`)
        search {"limit":3}
          .github/flow.yml
          .gitignore
          .ignore
          (3 files)
          (there is more: narrow the search, or raise `limit`)
        search {"pattern":"nowhere"}
          (nothing found in 9 files)
        search {"pattern":"("}
          failed: `(` is no regular expression for one line: regex parse error:
              (?:()
              ^
          error: unclosed group
        search {"pattern":"a\nb"}
          failed: `a
          b` is no regular expression for one line: the literal "\n" is not allowed in a regex
        search {"files":"[a"}
          failed: `[a` is no glob: error parsing glob '[a': unclosed character class; missing ']'
        search {"path":"missing"}
          failed: `missing` does not exist
        search {"path":"/dev/null"}
          failed: `/dev/null` is a device, a pipe or a socket: only files are searched
        search {"glob":"x"}
          schema: the arguments of `search` do not fit: unknown field `glob`, expected one of `pattern`, `files`, `path`, `ignore_case`, `context`, `limit` at line 1 column 7
    "#]]).await;
}

#[tokio::test]
async fn long_lines_and_many_are_cut() {
    let bench = Bench::with(&[("long", &"x".repeat(1000)), ("many", &"x\n".repeat(100))])
        .set(|workspace| workspace.limits(Limits { result_chars: 500, ..Limits::default() }));
    bench.check(&searches([json!({"pattern": "x"})]), expect![[r#"
        search {"pattern":"x"}
          long
               1: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (700 characters more)
          many
               1: x
               2: x
               3: x
               4: x
               5: x
               6: x
               7: x
               8: x
               9: x
              10: x
              11: x
              12: x
              13: x
              14: x
              15: x
              16: x
          (17 matches in 2 of 2 files)
          (there is more: narrow the search)
    "#]]).await;
}

#[tokio::test]
async fn a_search_ends_when_its_time_is_over() {
    let bench = Bench::with(&[("a", "x\n")])
        .set(|workspace| workspace.limits(Limits { search_time: Duration::ZERO, ..Limits::default() }));
    bench
        .check(
            &searches([json!({"pattern": "x"})]),
            expect![[r#"
                search {"pattern":"x"}
                  (nothing found in 1 file)
                  (stopped, as it took too long: narrow the search)
            "#]],
        )
        .await;
}

#[tokio::test]
async fn a_pattern_that_is_slow_elsewhere_is_not_here() {
    let bench = Bench::with(&[("a", &"a".repeat(50_000))]);
    let begun = Instant::now();
    bench.say("search", json!({"pattern": "(a+)+$|(a|aa)+b"})).await;
    assert!(begun.elapsed() < Duration::from_secs(5));
    let said = bench.say("search", json!({"pattern": "((a{100}){100}){100}"})).await;
    assert!(
        said.contains("is no regular expression for one line: compiled regex exceeds size limit"),
        "{said}"
    );
}
