//! Which crate may know which: the one table.
//!
//! A crate that is not listed may not exist; an arrow that is not listed may not be drawn. Both are design
//! changes: add the row or the name together with a page in `docs/decisions/`.

/// A crate of the workspace and what it may depend on.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The package without `antiphon-`, which is also its folder under `crates/`.
    pub name: &'static str,
    /// Whether it must not read a clock, do I/O, start a task or roll dice.
    pub pure: bool,
    /// Our crates it may depend on.
    pub knows: &'static [&'static str],
}

const fn pure(name: &'static str, knows: &'static [&'static str]) -> Row {
    Row { name, pure: true, knows }
}

const fn edge(name: &'static str, knows: &'static [&'static str]) -> Row {
    Row { name, pure: false, knows }
}

/// The crates, from the bottom up.
pub const ROWS: &[Row] = &[
    pure("event", &[]),
    pure("graph", &["event"]),
    pure("view", &["event", "graph"]),
    pure("flow", &["event"]),
    pure("agent", &["event", "graph", "view"]),
    edge("process", &[]),
    edge("port", &["event", "agent"]),
    edge("store", &["event", "port"]),
    edge("model", &["event", "view", "agent", "port"]),
    edge("sandbox", &["event", "agent", "process", "port"]),
    edge("interop", &["event", "agent", "process", "port"]),
    edge("runtime", &["event", "view", "flow", "agent", "process", "port"]),
    edge(
        "antiphon",
        &["event", "view", "flow", "agent", "port", "store", "model", "sandbox", "interop", "runtime"],
    ),
    edge("sim", &["event", "flow", "port", "store", "runtime"]),
    edge("testkit", &["event", "port"]),
    edge("bench", &["event", "graph", "view", "flow", "port", "store", "runtime", "antiphon", "testkit"]),
    edge(
        "cli",
        &[
            "event", "graph", "view", "flow", "agent", "process", "port", "store", "model", "runtime",
            "antiphon",
        ],
    ),
    edge("xtask", &["event", "flow"]),
];

/// What the tests of any crate may use.
pub const IN_TESTS: &[&str] = &["testkit", "store"];

/// Crates from outside that a pure crate may name, each without a clock, I/O, tasks or dice as we use it.
pub const PURE_MAY_USE: &[&str] = &[
    "foldhash", // fixed seeds only
    "imbl",
    "indexmap",   // with the hashes it is given
    "jiff",       // without `std`: it can read moments, not the clock
    "jsonschema", // without its resolvers: it fetches nothing
    "memchr",
    "regex", // linear in the text
    "saphyr-parser",
    "schemars",
    "serde",
    "serde_json",
    "serde_with",
    "similar", // no deadlines
    "smol_str",
    "strsim",
    "thin-vec",
    "thiserror",
    "triomphe",
];

/// Crates that a pure crate must not reach by any path.
pub const PURE_NEVER_REACHES: &[&str] =
    &["async-std", "chrono", "futures", "getrandom", "libc", "mio", "rand", "rayon", "smol", "tokio"];

/// What a pure crate may reach all the same, by which library, because nothing of it can be seen from outside.
pub const PURE_REACHES_UNSEEN: &[(&str, &str)] = &[
    // `jsonschema` seeds its hash tables; their order shows in no result.
    ("flow", "getrandom"),
    ("agent", "getrandom"),
    // For the same.
    ("flow", "libc"),
    ("agent", "libc"),
];
