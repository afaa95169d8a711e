//! What rules say about files, addresses, arguments and where those came from.

use antiphon_agent::permission::Policy;
use expect_test::expect;

use crate::call::{check, place, rules};

#[test]
fn paths_are_judged_by_where_they_really_are() {
    let texts = [
        "deny write: /etc/**",
        "allow write: src",
        "allow read: docs/*.md",
        "allow read: ~/notes/**",
        "allow read: /usr/share/**/README",
        "allow patch: .",
    ];
    check(
        &Policy::new(rules(&texts)).at(place()),
        &[
            "write /srv/project/src/main.rs",
            "write /srv/project/src",
            "write /srv/project/src/a/../b.rs",
            "write /srv/project/src/../Cargo.toml",
            "write /srv/project/src/../../../etc/passwd",
            "write src/link=/etc/passwd",
            "write /etc",
            "write /etcetera/x",
            "write /srv/project/srcs/x.rs",
            "write /srv/project/SRC/x.rs",
            "write gone=",
            "write src/x=src/x",
            "read /srv/project/docs/a.md",
            "read /srv/project/docs/deep/a.md",
            "read /people/ada/notes/2026/a.txt",
            "read /people/ada/.profile",
            "read /usr/share/README",
            "read /usr/share/a/b/README",
            "read /usr/share/a/b/README.txt",
            "patch /srv/project/x",
            "patch /srv/projects/x",
            "patch /srv/project/../other/x",
        ],
        expect![[r#"
            allow write /srv/project/src/main.rs
            allow write /srv/project/src
            allow write /srv/project/src/a/../b.rs
            ask   write /srv/project/src/../Cargo.toml
                    write: no rule allows writing `/srv/project/src/../Cargo.toml` (really `/srv/project/Cargo.toml`)
                    always: {allow: write, path: "/srv/project/Cargo.toml"}
            deny  write /srv/project/src/../../../etc/passwd
                    write: {deny: write, path: "/etc/**"} (agent) denies writing `/srv/project/src/../../../etc/passwd` (really `/etc/passwd`)
            deny  write src/link=/etc/passwd
                    write: {deny: write, path: "/etc/**"} (agent) denies writing `src/link` (really `/etc/passwd`)
            deny  write /etc
                    write: {deny: write, path: "/etc/**"} (agent) denies writing `/etc`
            ask   write /etcetera/x
                    write: no rule allows writing `/etcetera/x`
                    always: {allow: write, path: "/etcetera/x"}
            ask   write /srv/project/srcs/x.rs
                    write: no rule allows writing `/srv/project/srcs/x.rs`
                    always: {allow: write, path: "/srv/project/srcs"}
            ask   write /srv/project/SRC/x.rs
                    write: no rule allows writing `/srv/project/SRC/x.rs`
                    always: {allow: write, path: "/srv/project/SRC"}
            ask   write gone=
                    write: writing `gone` (it could not be found) may be what {deny: write, path: "/etc/**"} (agent) denies
            ask   write src/x=src/x
                    write: writing `src/x` (it could not be found) may be what {deny: write, path: "/etc/**"} (agent) denies
            allow read /srv/project/docs/a.md
            ask   read /srv/project/docs/deep/a.md
                    read: no rule allows reading `/srv/project/docs/deep/a.md`
                    always: {allow: read, path: "/srv/project/docs/deep"}
            allow read /people/ada/notes/2026/a.txt
            ask   read /people/ada/.profile
                    read: no rule allows reading `/people/ada/.profile`
                    always: {allow: read, path: "/people/ada/.profile"}
            allow read /usr/share/README
            allow read /usr/share/a/b/README
            ask   read /usr/share/a/b/README.txt
                    read: no rule allows reading `/usr/share/a/b/README.txt`
                    always: {allow: read, path: "/usr/share/a/b"}
            allow patch /srv/project/x
            ask   patch /srv/projects/x
                    patch: no rule allows writing `/srv/projects/x`
                    always: {allow: patch, path: "/srv/projects/x"}
            ask   patch /srv/project/../other/x
                    patch: no rule allows writing `/srv/project/../other/x` (really `/srv/other/x`)
                    always: {allow: patch, path: "/srv/other/x"}
        "#]],
    );
    let nowhere = Policy::new(rules(&["deny write: secret", "allow write"]));
    check(
        &nowhere,
        &["write /srv/project/x"],
        expect![[r#"
        ask   write /srv/project/x
                write: writing `/srv/project/x` may be what {deny: write, path: "secret"} (agent) denies
    "#]],
    );
}

#[test]
fn addresses_are_read_strictly() {
    let texts = [
        "deny fetch: https://docs.rs/private/**",
        "allow fetch: https://docs.rs/**",
        "allow fetch: https://*.example.org",
        "allow fetch: http://local.example:8080/a/*",
    ];
    check(
        &Policy::new(rules(&texts)),
        &[
            "fetch https://docs.rs",
            "fetch https://docs.rs/serde/latest?x=1#y",
            "fetch HTTPS://DOCS.RS./serde",
            "fetch https://docs.rs:443/serde",
            "fetch https://docs.rs/private/x",
            "fetch https://docs.rs/a/../private/x",
            "fetch https://docs.rs/%2e%2e/private/x",
            "fetch http://docs.rs/serde",
            "fetch https://docs.rs:8443/serde",
            "fetch https://docs.rs.evil.example/serde",
            "fetch https://docs.rs@evil.example/",
            "fetch https://evil.example/docs.rs/",
            "fetch https://evil.example\\@docs.rs/",
            "fetch https://d\u{43e}cs.rs/",
            "fetch https://a.b.example.org/x",
            "fetch https://example.org/x",
            "fetch http://local.example:8080/a/b",
            "fetch http://local.example:8080/a/b/c",
            "fetch http://local.example:8080/a/b?q=1",
            "fetch file:///etc/passwd",
            "fetch ",
        ],
        expect![[r#"
            allow fetch https://docs.rs
            allow fetch https://docs.rs/serde/latest?x=1#y
            allow fetch HTTPS://DOCS.RS./serde
            allow fetch https://docs.rs:443/serde
            deny  fetch https://docs.rs/private/x
                    fetch: {deny: fetch, url: "https://docs.rs/private/**"} (agent) denies `https://docs.rs/private/x`
            ask   fetch https://docs.rs/a/../private/x
                    fetch: `https://docs.rs/a/../private/x` (no plain address) may be what {deny: fetch, url: "https://docs.rs/private/**"} (agent) denies
            ask   fetch https://docs.rs/%2e%2e/private/x
                    fetch: `https://docs.rs/%2e%2e/private/x` (no plain address) may be what {deny: fetch, url: "https://docs.rs/private/**"} (agent) denies
            ask   fetch http://docs.rs/serde
                    fetch: no rule allows `http://docs.rs/serde`
                    always: {allow: fetch, url: "http://docs.rs/**"}
            ask   fetch https://docs.rs:8443/serde
                    fetch: no rule allows `https://docs.rs:8443/serde`
                    always: {allow: fetch, url: "https://docs.rs:8443/**"}
            ask   fetch https://docs.rs.evil.example/serde
                    fetch: no rule allows `https://docs.rs.evil.example/serde`
                    always: {allow: fetch, url: "https://docs.rs.evil.example/**"}
            ask   fetch https://docs.rs@evil.example/
                    fetch: `https://docs.rs@evil.example/` (no plain address) may be what {deny: fetch, url: "https://docs.rs/private/**"} (agent) denies
            ask   fetch https://evil.example/docs.rs/
                    fetch: no rule allows `https://evil.example/docs.rs/`
                    always: {allow: fetch, url: "https://evil.example/**"}
            ask   fetch https://evil.example\@docs.rs/
                    fetch: `https://evil.example\@docs.rs/` (no plain address) may be what {deny: fetch, url: "https://docs.rs/private/**"} (agent) denies
            ask   fetch https://dоcs.rs/
                    fetch: `https://dоcs.rs/` (no plain address) may be what {deny: fetch, url: "https://docs.rs/private/**"} (agent) denies
            allow fetch https://a.b.example.org/x
            ask   fetch https://example.org/x
                    fetch: no rule allows `https://example.org/x`
                    always: {allow: fetch, url: "https://example.org/**"}
            allow fetch http://local.example:8080/a/b
            ask   fetch http://local.example:8080/a/b/c
                    fetch: no rule allows `http://local.example:8080/a/b/c`
                    always: {allow: fetch, url: "http://local.example:8080/**"}
            ask   fetch http://local.example:8080/a/b?q=1
                    fetch: no rule allows `http://local.example:8080/a/b?q=1`
                    always: {allow: fetch, url: "http://local.example:8080/**"}
            ask   fetch file:///etc/passwd
                    fetch: `file:///etc/passwd` (no plain address) may be what {deny: fetch, url: "https://docs.rs/private/**"} (agent) denies
            ask   fetch 
                    fetch: `` (no plain address) may be what {deny: fetch, url: "https://docs.rs/private/**"} (agent) denies
        "#]],
    );
}

#[test]
fn arguments_and_tools_are_matched_by_pattern() {
    let texts = [
        r#"{"deny": "*", "input": {"key": "secret*"}}"#,
        r#"{"allow": "mcp/db/*", "input": {"mode": "read", "limit": "1?"}}"#,
        r#"{"allow": "bash", "input": {"what": "*"}}"#,
        "allow mcp/files/*",
    ];
    check(
        &Policy::new(rules(&texts)),
        &[
            r#"todo {"key":"secret_one"}"#,
            r#"mcp/db/query {"mode":"read","limit":10}"#,
            r#"mcp/db/query {"mode":"read","limit":100}"#,
            r#"mcp/db/query {"mode":"read"}"#,
            "mcp/files/list {}",
            "mcp/filesystem {}",
            "bash ls",
        ],
        expect![[r#"
            deny  todo {"key":"secret_one"}
                    todo: {deny: "*", input: {key: "secret*"}} (agent) denies this call
            allow mcp/db/query {"mode":"read","limit":10}
            ask   mcp/db/query {"mode":"read","limit":100}
                    mcp/db/query: no rule allows this call
                    always: {allow: mcp/db/query}
            ask   mcp/db/query {"mode":"read"}
                    mcp/db/query: no rule allows this call
                    always: {allow: mcp/db/query}
            allow mcp/files/list {}
            ask   mcp/filesystem {}
                    mcp/filesystem: no rule allows this call
                    always: {allow: mcp/filesystem}
            ask   bash ls
                    bash: no rule allows `ls`
                    always: {allow: bash, command: "ls"}
        "#]],
    );
}

#[test]
fn where_arguments_came_from_can_make_a_rule_fit() {
    let texts = [
        r#"{"deny": "write", "from": "remote_agent"}"#,
        r#"{"ask": "bash", "from": ["web", "file"]}"#,
        "allow bash: curl *",
        "allow write",
    ];
    let mut policy = Policy::new(rules(&texts));
    let calls = [
        "bash curl https://x.example",
        "bash curl https://x.example from user",
        "bash curl https://x.example from user web",
        "write /srv/x from remote_agent",
        "write /srv/x from model",
    ];
    check(
        &policy,
        &calls,
        expect![[r#"
        allow bash curl https://x.example
        allow bash curl https://x.example from user
        ask   bash curl https://x.example from user web
                bash: {ask: bash, from: [web, file]} (agent) asks about `curl https://x.example`; its arguments came from web
                always: {allow: bash, command: "curl https://x.example", from: [web]}
        deny  write /srv/x from remote_agent
                write: {deny: write, from: [remote_agent]} (agent) denies writing `/srv/x`; its arguments came from remote_agent
        allow write /srv/x from model
    "#]],
    );
    policy.grant("allow bash: curl https://x.example".parse().expect("a rule"));
    check(
        &policy,
        &calls[2..3],
        expect![[r#"
        ask   bash curl https://x.example from user web
                bash: {ask: bash, from: [web, file]} (agent) asks about `curl https://x.example`; its arguments came from web
                always: {allow: bash, command: "curl https://x.example", from: [web]}
    "#]],
    );
    let granted = r#"{"allow": "bash", "command": "curl https://x.example", "from": "web"}"#;
    policy.grant(serde_json::from_str(granted).expect("a rule"));
    check(
        &policy,
        &["bash curl https://x.example from user web", "bash curl https://x.example from web file"],
        expect![[r#"
            allow bash curl https://x.example from user web
            ask   bash curl https://x.example from web file
                    bash: {ask: bash, from: [web, file]} (agent) asks about `curl https://x.example`; its arguments came from web, file
                    always: {allow: bash, command: "curl https://x.example", from: [web, file]}
        "#]],
    );
}
