//! Pure crates read no clock, do no I/O, start nothing and roll no dice.
//!
//! Looks at tokens, so that macros are seen too. Of the standard library a pure crate may use what [`STD`]
//! lists; the library itself can be neither renamed nor taken in whole, so that nothing comes in by another
//! name. What only tests use is left alone.

use proc_macro2::TokenTree;

use super::tokens::{inside, is_punct, items, line, tokens, word};
use super::{Finding, Repository, modules};
use crate::arrows::ROWS;

/// What a pure crate may use of the standard library: these and all they contain.
const STD: &[&str] = &[
    "any",
    "array",
    "assert_eq",
    "borrow",
    "boxed",
    "cell",
    "char",
    "clone",
    "cmp",
    "collections",
    "convert",
    "default",
    "error",
    "f64",
    "fmt",
    "hash",
    "i64",
    "iter",
    "marker",
    "mem",
    "num",
    "ops",
    "option",
    // To catch a panic of code that was handed in.
    "panic::AssertUnwindSafe",
    "panic::catch_unwind",
    "rc",
    "result",
    "slice",
    "str",
    "string",
    "sync::Arc",
    "sync::LazyLock",
    "sync::OnceLock",
    "sync::atomic",
    "sync::Weak",
    "time::Duration",
    "u32",
    "u64",
    "u8",
    "usize",
    "vec",
];

/// Words that have no business in a pure crate, whatever path leads to them, and why.
const WORDS: &[(&str, &str)] = &[
    ("Instant", "reads the clock"),
    ("SystemTime", "reads the clock"),
    ("RandomState", "rolls dice"),
    ("tokio", "starts tasks"),
    ("async", "waits"),
    ("thread_local", "knows its thread"),
    ("print", "does I/O"),
    ("println", "does I/O"),
    ("eprint", "does I/O"),
    ("eprintln", "does I/O"),
    ("dbg", "does I/O"),
];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &repository.packages {
        let is_pure = |name: &str| ROWS.iter().any(|row| row.pure && row.name == name);
        if !package.name.strip_prefix("antiphon-").is_some_and(is_pure) {
            continue;
        }
        for (file, in_tests) in modules::reached(&repository.tree, package) {
            let text = repository.tree.text(&file).expect("only files that are there are reached");
            if !in_tests {
                let mut scan = Scan { file: &file, findings: &mut findings };
                scan.items(&tokens(text));
            }
        }
    }
    findings
}

struct Scan<'a> {
    file: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl Scan<'_> {
    fn items(&mut self, tokens: &[TokenTree]) {
        for (item, for_tests) in items(tokens) {
            if !for_tests {
                self.item(item);
            }
        }
    }

    fn item(&mut self, item: &[TokenTree]) {
        for (index, token) in item.iter().enumerate() {
            if let Some(word) = word(token) {
                self.word(&word, index, item);
            } else if let Some(group) = inside(token) {
                self.items(&group);
            }
        }
    }

    fn word(&mut self, word: &str, index: usize, item: &[TokenTree]) {
        let before = &item[..index];
        let is_member = is_punct(before.last(), '.');
        let follows_path = is_punct(before.last(), ':');
        if let Some((_, why)) = WORDS.iter().find(|(forbidden, _)| *forbidden == word) {
            self.found(line(&item[index]), format!("`{word}` {why}"));
        } else if word == "now" && follows_path {
            self.found(line(&item[index]), "`now` reads the clock".into());
        } else if matches!(word, "std" | "core" | "alloc") && !is_member {
            self.standard(word, line(&item[index]), &item[index + 1..]);
        }
    }

    /// Checks what follows the name of the standard library.
    fn standard(&mut self, library: &str, line: usize, after: &[TokenTree]) {
        let mut paths = Vec::new();
        let [first, second, rest @ ..] = after else {
            return self.found(line, format!("`{library}` is named as a whole"));
        };
        if !(is_punct(Some(first), ':') && is_punct(Some(second), ':')) {
            return self.found(line, format!("`{library}` is named as a whole"));
        }
        spell_out("", rest, &mut paths);
        for path in paths {
            if !is_allowed(&path) {
                self.found(line, format!("`{library}::{path}` is not for pure crates"));
            }
        }
    }

    fn found(&mut self, line: usize, what: String) {
        let what = format!("{what}: this crate is pure, let the caller pass in what is needed");
        self.findings.push(Finding::at(self.file, line, what));
    }
}

/// The paths a use of a path stands for: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn spell_out(prefix: &str, tokens: &[TokenTree], paths: &mut Vec<String>) {
    match tokens {
        [group, ..] if super::tokens::is_braces(group) => {
            let members = inside(group).unwrap_or_default();
            for member in
                members.split(|token| is_punct(Some(token), ',')).filter(|member| !member.is_empty())
            {
                spell_out(prefix, member, paths);
            }
        }
        [name, colon, other, rest @ ..]
            if is_punct(Some(colon), ':')
                && is_punct(Some(other), ':')
                && rest.first().is_some_and(|next| {
                    word(next).is_some() || super::tokens::is_braces(next) || is_punct(Some(next), '*')
                }) =>
        {
            spell_out(&format!("{prefix}{name}::"), rest, paths);
        }
        [name, ..] => paths.push(format!("{prefix}{name}")),
        [] => {}
    }
}

/// Whether a path is in the list or lies within something in it.
fn is_allowed(path: &str) -> bool {
    STD.iter().any(|allowed| {
        path.strip_prefix(allowed).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::testing::{check_packages, package};
    use super::check;

    /// What is said about the library of a pure crate, without the advice.
    #[track_caller]
    fn says(text: &str, expected: Expect) {
        says_of(&[("crates/event/src/lib.rs", text)], expected);
    }

    #[track_caller]
    fn says_of(files: &[(&str, &str)], expected: Expect) {
        check_packages(check, files, vec![package("event", &[])], expected);
    }

    #[test]
    fn data_and_formatting_are_allowed() {
        says(
            "use std::{collections::{BTreeMap, HashMap}, fmt, sync::Arc};\nuse std::time::Duration;\n\
             fn f() -> core::option::Option<u8> { std::mem::take::<u8>(x.core) }",
            expect![""],
        );
    }

    #[test]
    fn the_outside_is_found_however_it_is_spelled() {
        says(
            "use std::fs;\nuse ::std::{fmt, net::TcpStream, time::{Duration, Instant}};\n\
             fn f() { std::thread::spawn(|| {}); }\nmacro_rules! m { () => { std::env::var(\"A\") } }\n\
             type T = core::time::Missing;",
            expect![[r#"
                crates/event/src/lib.rs:1: `std::fs` is not for pure crates: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:2: `std::net::TcpStream` is not for pure crates: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:2: `std::time::Instant` is not for pure crates: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:2: `Instant` reads the clock: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:3: `std::thread::spawn` is not for pure crates: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:4: `std::env::var` is not for pure crates: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:5: `core::time::Missing` is not for pure crates: this crate is pure, let the caller pass in what is needed"#]],
        );
    }

    #[test]
    fn the_standard_library_cannot_be_renamed_or_taken_whole() {
        says(
            "use std as s;\nuse std::{self as t};\nextern crate std as u;\nuse std::*;\nuse std::sync::*;\nuse r#std::fs;",
            expect![[r#"
                crates/event/src/lib.rs:1: `std` is named as a whole: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:2: `std::self` is not for pure crates: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:3: `std` is named as a whole: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:4: `std::*` is not for pure crates: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:5: `std::sync::*` is not for pure crates: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:6: `std::fs` is not for pure crates: this crate is pure, let the caller pass in what is needed"#]],
        );
    }

    #[test]
    fn a_clock_a_task_and_a_terminal_are_found_by_name() {
        says(
            "fn f() { jiff::Timestamp::now(); println!(\"x\"); self.now; now(); }\nasync fn g() {}",
            expect![[r#"
                crates/event/src/lib.rs:1: `now` reads the clock: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:1: `println` does I/O: this crate is pure, let the caller pass in what is needed
                crates/event/src/lib.rs:2: `async` waits: this crate is pure, let the caller pass in what is needed"#]],
        );
    }

    #[test]
    fn tests_may_do_as_they_like() {
        says_of(
            &[
                (
                    "crates/event/src/lib.rs",
                    "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more { use std::fs; }\nuse std::io;",
                ),
                ("crates/event/src/tests.rs", "use std::fs;"),
            ],
            expect![
                "crates/event/src/lib.rs:5: `std::io` is not for pure crates: this crate is pure, let the caller pass in what is needed"
            ],
        );
    }
}
