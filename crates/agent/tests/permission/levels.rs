//! Rules of several sources, agents within agents, and what `always` adds.

use antiphon_agent::permission::{Ask, Policy, Sources, Subject, Verdict, built_in};
use antiphon_event::Json;
use expect_test::expect;

use crate::call::{ask_about, check, place, rules};

#[test]
fn sources_stand_in_order_and_grants_undo_no_denial() {
    let sources = Sources {
        user: rules(&["deny bash: git push *"]),
        project: rules(&[
            "allow bash: git *",
            "ask write: docs",
            "ask fetch: https://x.example",
            "ask fetch",
        ]),
        agent: rules(&["allow bash: cargo test *", "deny bash: git log"]),
        grants: rules(&[
            "allow write: /srv/project",
            "allow bash: git push *",
            "deny bash: cargo test --release",
        ]),
        place: place(),
    };
    check(
        &sources.policy(),
        &[
            "bash git push",
            "bash git log",
            "bash cargo test",
            "bash cargo test --release",
            "bash cargo run",
            "write /srv/project/docs/a.md",
            "write /srv/other/a.md",
            "write /srv/project/a.md",
            "fetch https://x.example/a?b=*",
            "fetch https://y.example/a?b=*",
            "read /srv/project/src/lib.rs",
            "read /srv/project/.env",
            "search /srv/project",
            "write /srv/project/.antiphon/grants.json",
            "read /srv/project/.antiphon",
            "read /srv/other/lib.rs",
            "todo {}",
            "mcp/x {}",
        ],
        expect![[r#"
            deny  bash git push
                    bash: {deny: bash, command: "git push *"} (user file) denies `git push`
            allow bash git log
            allow bash cargo test
            deny  bash cargo test --release
                    bash: {deny: bash, command: "cargo test --release"} (granted) denies `cargo test --release`
            ask   bash cargo run
                    bash: no rule allows `cargo run`
                    always: {allow: bash, command: "cargo run"}
            ask   write /srv/project/docs/a.md
                    write: {ask: write, path: "docs"} (project file) asks about writing `/srv/project/docs/a.md`
                    always: {allow: write, path: "/srv/project/docs/a.md"}
            ask   write /srv/other/a.md
                    write: no rule allows writing `/srv/other/a.md`
                    always: {allow: write, path: "/srv/other"}
            allow write /srv/project/a.md
            ask   fetch https://x.example/a?b=*
                    fetch: {ask: fetch, url: "https://x.example"} (project file) asks about `https://x.example/a?b=*`
                    always: {allow: fetch, url: "https://x.example/a\\?b=\\*"}
            ask   fetch https://y.example/a?b=*
                    fetch: {ask: fetch} (project file) asks about `https://y.example/a?b=*`
                    always: {allow: fetch, url: "https://y.example/**"}
            allow read /srv/project/src/lib.rs
            ask   read /srv/project/.env
                    read: {ask: "*", path: ["/**/.env", "/**/.env.*", "/**/.netrc", "/**/.ssh", "/**/.aws", "/**/*.pem", "/**/*.key"]} (built in) asks about reading `/srv/project/.env`
                    always: {allow: read, path: "/srv/project/.env"}
            allow search /srv/project
            ask   write /srv/project/.antiphon/grants.json
                    write: {ask: "*", path: "/**/.antiphon"} (built in) asks about writing `/srv/project/.antiphon/grants.json`
            ask   read /srv/project/.antiphon
                    read: {ask: "*", path: "/**/.antiphon"} (built in) asks about reading `/srv/project/.antiphon`
            ask   read /srv/other/lib.rs
                    read: no rule allows reading `/srv/other/lib.rs`
                    always: {allow: read, path: "/srv/other"}
            allow todo {}
            ask   mcp/x {}
                    mcp/x: no rule allows this call
                    always: {allow: mcp/x}
        "#]],
    );
}

#[test]
fn a_line_that_names_where_grants_are_kept_is_asked() {
    let sources = Sources { agent: rules(&["allow bash"]), place: place(), ..Sources::default() };
    check(
        &sources.policy(),
        &[
            "bash cp x .antiphon/grants.json",
            "bash cd .anti'pho'n && cp ../x grants.json",
            "bash echo x > ./.antiphon/grants.json",
            "bash mkdir -p sub/.a*",
            "bash mkdir .{antiphon,other}",
            "bash cat <<E > .antiphon/grants.json",
            "bash cat .gitignore .git*",
            "bash ls *",
        ],
        expect![[r#"
            ask   bash cp x .antiphon/grants.json
                    bash: {ask: "*", path: "/**/.antiphon"} (built in) asks about writing `.antiphon`
            ask   bash cd .anti'pho'n && cp ../x grants.json
                    bash: {ask: "*", path: "/**/.antiphon"} (built in) asks about writing `.antiphon`
            ask   bash echo x > ./.antiphon/grants.json
                    bash: {ask: "*", path: "/**/.antiphon"} (built in) asks about writing `.antiphon`
            ask   bash mkdir -p sub/.a*
                    bash: {ask: "*", path: "/**/.antiphon"} (built in) asks about writing `.antiphon`
            ask   bash mkdir .{antiphon,other}
                    bash: {ask: "*", path: "/**/.antiphon"} (built in) asks about writing `.antiphon`
            ask   bash cat <<E > .antiphon/grants.json
                    bash: {ask: "*", path: "/**/.antiphon"} (built in) asks about writing `.antiphon`
            allow bash cat .gitignore .git*
            allow bash ls *
        "#]],
    );
}

#[test]
fn what_is_built_in_can_be_read() {
    let table: String = built_in().iter().map(|rule| format!("{rule}\n")).collect();
    expect![[r#"
        {ask: "*", path: ["/**/.env", "/**/.env.*", "/**/.netrc", "/**/.ssh", "/**/.aws", "/**/*.pem", "/**/*.key"]}
        {allow: bash, path: "."}
        {allow: read, path: "."}
        {allow: search, path: "."}
        {allow: agent}
        {allow: ask}
        {allow: handoff}
        {allow: skill}
        {allow: todo}
    "#]].assert_eq(&table);
    assert!(built_in().iter().all(|rule| rule.check().is_ok()));
}

#[test]
fn an_agent_within_an_agent_may_do_no_more() {
    let outer = Policy::new(rules(&["deny bash: rm *", "allow bash: git *", "allow read"]));
    let inner = outer.inside(rules(&["deny bash: git push", "allow bash", "ask read"]));
    let mut innermost = inner.inside(rules(&["deny bash: git log", "allow *"]));
    let calls = [
        "bash rm x",
        "bash git status",
        "bash git push",
        "bash git log",
        "bash ls",
        "read /srv/x",
        "todo {}",
    ];
    check(
        &inner,
        &calls,
        expect![[r#"
            deny  bash rm x
                    bash: {deny: bash, command: "rm *"} (agent) denies `rm x`
            allow bash git status
            deny  bash git push
                    bash: {deny: bash, command: "git push"} (agent) denies `git push`
            allow bash git log
            ask   bash ls
                    bash: no rule allows `ls`
                    always: {allow: bash, command: "ls"}
            ask   read /srv/x
                    read: {ask: read} (agent) asks about reading `/srv/x`
                    always: {allow: read, path: "/srv/x"}
            ask   todo {}
                    todo: no rule allows this call
                    always: {allow: todo}
        "#]],
    );
    check(
        &innermost,
        &calls,
        expect![[r#"
            deny  bash rm x
                    bash: {deny: bash, command: "rm *"} (agent) denies `rm x`
            allow bash git status
            deny  bash git push
                    bash: {deny: bash, command: "git push"} (agent) denies `git push`
            deny  bash git log
                    bash: {deny: bash, command: "git log"} (agent) denies `git log`
            ask   bash ls
                    bash: no rule allows `ls`
                    always: {allow: bash, command: "ls"}
            ask   read /srv/x
                    read: {ask: read} (agent) asks about reading `/srv/x`
                    always: {allow: read, path: "/srv/x"}
            ask   todo {}
                    todo: no rule allows this call
                    always: {allow: todo}
        "#]],
    );
    for call in calls {
        if let Some(rule) = ask_about(call, |ask| innermost.rule_for(ask)) {
            innermost.grant(rule);
        }
    }
    check(
        &innermost,
        &calls,
        expect![[r#"
            deny  bash rm x
                    bash: {deny: bash, command: "rm *"} (agent) denies `rm x`
            allow bash git status
            deny  bash git push
                    bash: {deny: bash, command: "git push"} (agent) denies `git push`
            deny  bash git log
                    bash: {deny: bash, command: "git log"} (agent) denies `git log`
            allow bash ls
            allow read /srv/x
            allow todo {}
        "#]],
    );
}

#[test]
fn always_is_as_narrow_as_is_useful() {
    check(
        &Policy::new(rules(&["allow bash: ls *"])),
        &[
            "bash git status",
            "bash git push --force origin main",
            "bash cargo test -p antiphon-agent --lib",
            "bash git commit -m 'it'\\''s done'",
            "bash echo '' \"a b\" \\*",
            "bash ls; make all; make all",
            "bash rm -rf *",
            "bash rm -rf $X",
            "bash ls > file",
            "bash sudo ls",
            "bash sh -c ls",
            "bash export A=b",
            "bash $'x'",
            "write /srv/project/src/main.rs",
            "write /srv/project/src",
            "write /srv/project/src/.hidden",
            "write /etc/hosts.conf",
            "write /srv/a*b/c?d/x.rs",
            "write gone=",
            "fetch https://docs.rs/serde/latest?q=1",
            "fetch http://local.example:8080/x",
            "fetch https://me@docs.rs",
            "mcp/db/query {}",
        ],
        expect![[r#"
            ask   bash git status
                    bash: no rule allows `git status`
                    always: {allow: bash, command: "git status"}
            ask   bash git push --force origin main
                    bash: no rule allows `git push --force origin main`
                    always: {allow: bash, command: "git push --force origin main"}
            ask   bash cargo test -p antiphon-agent --lib
                    bash: no rule allows `cargo test -p antiphon-agent --lib`
                    always: {allow: bash, command: "cargo test *"}
            ask   bash git commit -m 'it'\''s done'
                    bash: no rule allows `git commit -m 'it'\''s done'`
                    always: {allow: bash, command: "git commit *"}
            ask   bash echo '' "a b" \*
                    bash: no rule allows `echo '' "a b" \*`
                    always: {allow: bash, command: "echo '' 'a b' '*'"}
            ask   bash ls; make all; make all
                    bash: no rule allows `make all` (a part of the line)
                    always: {allow: bash, command: "make all"}
            ask   bash rm -rf *
                    bash: no rule allows `rm -rf *`
            ask   bash rm -rf $X
                    bash: no rule allows `rm -rf $X`
            ask   bash ls > file
                    bash: no rule allows `> file` (it sends input or output elsewhere)
            ask   bash sudo ls
                    bash: no rule allows `sudo ls`
            ask   bash sh -c ls
                    bash: no rule allows `sh -c ls`
            ask   bash export A=b
                    bash: no rule allows `export A=b`
            ask   bash $'x'
                    bash: no rule allows a line that cannot be read from `$'x'` on (it is not understood)
            ask   write /srv/project/src/main.rs
                    write: no rule allows writing `/srv/project/src/main.rs`
                    always: {allow: write, path: "/srv/project/src"}
            ask   write /srv/project/src
                    write: no rule allows writing `/srv/project/src`
                    always: {allow: write, path: "/srv/project/src"}
            ask   write /srv/project/src/.hidden
                    write: no rule allows writing `/srv/project/src/.hidden`
                    always: {allow: write, path: "/srv/project/src/.hidden"}
            ask   write /etc/hosts.conf
                    write: no rule allows writing `/etc/hosts.conf`
                    always: {allow: write, path: "/etc/hosts.conf"}
            ask   write /srv/a*b/c?d/x.rs
                    write: no rule allows writing `/srv/a*b/c?d/x.rs`
                    always: {allow: write, path: "/srv/a\\*b/c\\?d"}
            ask   write gone=
                    write: no rule allows writing `gone` (it could not be found)
            ask   fetch https://docs.rs/serde/latest?q=1
                    fetch: no rule allows `https://docs.rs/serde/latest?q=1`
                    always: {allow: fetch, url: "https://docs.rs/**"}
            ask   fetch http://local.example:8080/x
                    fetch: no rule allows `http://local.example:8080/x`
                    always: {allow: fetch, url: "http://local.example:8080/**"}
            ask   fetch https://me@docs.rs
                    fetch: no rule allows `https://me@docs.rs` (no plain address)
            ask   mcp/db/query {}
                    mcp/db/query: no rule allows this call
                    always: {allow: mcp/db/query}
        "#]],
    );
}

#[test]
fn a_command_may_run_in_any_folder_of_the_project() {
    let sources = Sources { user: rules(&["allow bash: make"]), place: place(), ..Sources::default() };
    let policy = sources.policy();
    for (folder, expected) in [("/srv/project/src", true), ("/srv", false)] {
        let path = Subject::Path { given: folder.into(), resolved: folder.into(), writes: true };
        for (line, may) in [("make", expected), ("make all", false)] {
            let subjects = [Subject::Command(line.into()), path.clone()];
            let ask = Ask { tool: "bash", input: &Json::from(line), subjects: &subjects, sources: &[] };
            assert_eq!(policy.judge(&ask) == Verdict::Allow, may, "{line} in {folder}");
        }
    }
}
