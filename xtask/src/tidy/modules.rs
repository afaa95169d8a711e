//! Modules: every Rust file is reached from a target, lies where we put modules, and has a name that says
//! something.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;

use super::tokens::{inside, is_punct, items, tokens, word};
use super::{Finding, Package, Repository, Tree};

/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &[
    "common", "core", "types", "util", "utils", "manager", "managers", "helper", "helpers", "misc", "shared",
];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    let reached: BTreeMap<_, _> =
        repository.packages.iter().flat_map(|package| reached(&repository.tree, package)).collect();
    for (path, _) in repository.tree.ending(".rs") {
        if !reached.contains_key(path) {
            let what = "dead file: nothing declares it as a module; declare it or delete it";
            findings.push(Finding::at(path, 1, what));
        }
        if path.ends_with("/mod.rs") {
            findings.push(Finding::at(path, 1, "`foo/mod.rs` is `foo.rs` beside `foo/` here: move it"));
        }
        let mut names = path.trim_end_matches(".rs").split('/');
        if let Some(name) = names.find(|name| EMPTY_NAMES.contains(name)) {
            let what = format!("`{name}` says nothing: name it after the one idea it holds");
            findings.push(Finding::at(path, 1, what));
        }
    }
    findings
}

/// The files a package is compiled from, each with whether only its tests are.
pub(super) fn reached(tree: &Tree, package: &Package) -> BTreeMap<String, bool> {
    let mut reached = BTreeMap::new();
    for root in &package.roots {
        let in_tests = !root.starts_with(&format!("{}/src/", package.folder));
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        follow(tree, root, folder, in_tests, &mut reached);
    }
    reached
}

/// Goes into a file whose modules lie in `folder`.
fn follow(tree: &Tree, file: &str, folder: &str, in_tests: bool, reached: &mut BTreeMap<String, bool>) {
    let Some(text) = tree.text(file) else {
        return;
    };
    // A file that both the tests and the rest declare belongs to the rest.
    if reached.get(file).is_some_and(|before| in_tests || !before) {
        return;
    }
    reached.insert(file.to_owned(), in_tests);
    for (module, for_tests) in declared(&tokens(text), folder) {
        let in_tests = in_tests || for_tests;
        follow(tree, &format!("{module}.rs"), &module, in_tests, reached);
        follow(tree, &format!("{module}/mod.rs"), &module, in_tests, reached);
    }
}

/// The modules that are declared and lie in files of their own, as paths without an ending.
fn declared(tokens: &[TokenTree], folder: &str) -> Vec<(String, bool)> {
    let mut modules = Vec::new();
    for (item, for_tests) in items(tokens) {
        let Some([_, name, end]) = item.windows(3).find(|three| word(&three[0]).as_deref() == Some("mod"))
        else {
            continue;
        };
        let Some(name) = word(name) else {
            continue;
        };
        let path = format!("{folder}/{name}");
        if is_punct(Some(end), ';') {
            modules.push((path, for_tests));
        } else if let Some(tokens) = inside(end) {
            let within = declared(&tokens, &path);
            modules.extend(within.into_iter().map(|(path, inner)| (path, inner || for_tests)));
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check_packages, package};
    use super::check;

    #[test]
    fn modules_are_followed_through_files_and_inline_modules() {
        check_packages(
            check,
            &[
                ("crates/a/src/lib.rs", "mod b;\npub mod c { mod d; }\n#[cfg(test)]\nmod tests;"),
                ("crates/a/src/b.rs", "pub(crate) mod e;"),
                ("crates/a/src/b/e.rs", ""),
                ("crates/a/src/c/d.rs", ""),
                ("crates/a/src/tests.rs", ""),
            ],
            vec![package("a", &[])],
            expect![""],
        );
    }

    #[test]
    fn a_file_that_nobody_declares_is_dead() {
        check_packages(
            check,
            &[("crates/a/src/lib.rs", "// mod b;"), ("crates/a/src/b.rs", "")],
            vec![package("a", &[])],
            expect![
                "crates/a/src/b.rs:1: dead file: nothing declares it as a module; declare it or delete it"
            ],
        );
    }

    #[test]
    fn modules_lie_beside_their_folder() {
        check_packages(
            check,
            &[("crates/a/src/lib.rs", "mod b;"), ("crates/a/src/b/mod.rs", "")],
            vec![package("a", &[])],
            expect!["crates/a/src/b/mod.rs:1: `foo/mod.rs` is `foo.rs` beside `foo/` here: move it"],
        );
    }

    #[test]
    fn a_name_says_something() {
        check_packages(
            check,
            &[("crates/core/src/lib.rs", "mod utils;"), ("crates/core/src/utils.rs", "")],
            vec![package("core", &[])],
            expect![[r"
                crates/core/src/lib.rs:1: `core` says nothing: name it after the one idea it holds
                crates/core/src/utils.rs:1: `core` says nothing: name it after the one idea it holds"]],
        );
    }
}
