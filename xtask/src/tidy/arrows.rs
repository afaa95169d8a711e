//! Crates depend only on what the table in [`crate::arrows`] allows.

use super::{Dependency, Finding, Kind, Package, Repository};
use crate::arrows::{IN_TESTS, PURE_MAY_USE, PURE_NEVER_REACHES, PURE_REACHES_UNSEEN, ROWS, Row};

/// Packages beside the workspace that may know everything, as nothing knows them.
const APART: &[&str] = &["fuzz"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &repository.packages {
        let name = short(&package.name);
        if APART.contains(&name) {
            continue;
        }
        let Some(row) = ROWS.iter().find(|row| row.name == name) else {
            let what = format!("`{}` is not in the table: add a row to xtask/src/arrows.rs", package.name);
            findings.push(Finding::at(&manifest(package), 1, what));
            continue;
        };
        let wrongs = package.dependencies.iter().filter_map(|dependency| {
            let line = line_of(repository, package, &dependency.name);
            let what = wrong(repository, row, dependency)?;
            Some(Finding::at(&manifest(package), line, what))
        });
        findings.extend(wrongs);
        if row.pure {
            findings.extend(reached(package));
        }
    }
    findings
}

/// What is wrong with an arrow, if anything.
fn wrong(repository: &Repository, row: &Row, dependency: &Dependency) -> Option<String> {
    let (from, to, kind) = (row.name, short(&dependency.name), dependency.kind);
    let ours = repository.packages.iter().any(|package| package.name == dependency.name);
    if !ours {
        return (row.pure && kind != Kind::Dev && !PURE_MAY_USE.contains(&to)).then(|| {
            format!(
                "`{from}` is pure and may not use `{to}`: pass in what it gives, or add it to PURE_MAY_USE"
            )
        });
    }
    let allowed = row.knows.contains(&to) || (kind == Kind::Dev && IN_TESTS.contains(&to));
    (!allowed).then(|| {
        format!("`{from}` may not know `{to}`: turn the arrow round, or change xtask/src/arrows.rs with a decision")
    })
}

fn reached(package: &Package) -> impl Iterator<Item = Finding> + '_ {
    let never = |name: &str| {
        PURE_NEVER_REACHES.contains(&name) && !PURE_REACHES_UNSEEN.contains(&(short(&package.name), name))
    };
    let reached = package.reaches.iter().filter(move |name| never(name));
    reached.map(|name| {
        let what = format!("pure, but reaches `{name}`: `cargo tree -e normal -i {name}` says how");
        Finding::at(&manifest(package), 1, what)
    })
}

fn short(name: &str) -> &str {
    name.strip_prefix("antiphon-").unwrap_or(name)
}

fn manifest(package: &Package) -> String {
    format!("{}/Cargo.toml", package.folder)
}

/// The line of the manifest that names the dependency.
fn line_of(repository: &Repository, package: &Package, dependency: &str) -> usize {
    let text = repository.tree.text(&manifest(package)).unwrap_or_default();
    text.lines().position(|line| line.starts_with(dependency)).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing::{check_packages, package};
    use super::*;

    #[test]
    fn arrows_of_the_table_are_fine_and_tests_may_use_the_testkit() {
        let graph = package("graph", &[("antiphon-event", Kind::Normal), ("antiphon-testkit", Kind::Dev)]);
        check_packages(
            check,
            &[],
            vec![package("event", &[]), package("testkit", &[("antiphon-event", Kind::Normal)]), graph],
            expect![""],
        );
    }

    #[test]
    fn an_arrow_upwards_is_found_with_its_line() {
        check_packages(
            check,
            &[("crates/event/Cargo.toml", "[dependencies]\nantiphon-graph.workspace = true\n")],
            vec![package("event", &[("antiphon-graph", Kind::Normal)]), package("graph", &[])],
            expect![
                "crates/event/Cargo.toml:2: `event` may not know `graph`: turn the arrow round, or change xtask/src/arrows.rs with a decision"
            ],
        );
    }

    #[test]
    fn the_testkit_is_for_tests_only() {
        check_packages(
            check,
            &[],
            vec![package("graph", &[("antiphon-testkit", Kind::Normal)]), package("testkit", &[])],
            expect![
                "crates/graph/Cargo.toml:1: `graph` may not know `testkit`: turn the arrow round, or change xtask/src/arrows.rs with a decision"
            ],
        );
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_found() {
        check_packages(
            check,
            &[],
            vec![package("blockchain", &[])],
            expect![
                "crates/blockchain/Cargo.toml:1: `antiphon-blockchain` is not in the table: add a row to xtask/src/arrows.rs"
            ],
        );
    }

    #[test]
    fn a_pure_crate_has_no_runtime_by_any_path() {
        let mut view = package("view", &[("tokio", Kind::Normal), ("proptest", Kind::Dev)]);
        view.reaches = vec!["tokio".into(), "mio".into()];
        check_packages(
            check,
            &[],
            vec![view],
            expect![[r"
                crates/view/Cargo.toml:1: `view` is pure and may not use `tokio`: pass in what it gives, or add it to PURE_MAY_USE
                crates/view/Cargo.toml:1: pure, but reaches `tokio`: `cargo tree -e normal -i tokio` says how
                crates/view/Cargo.toml:1: pure, but reaches `mio`: `cargo tree -e normal -i mio` says how"]],
        );
    }

    #[test]
    fn what_cannot_be_seen_is_allowed_to_the_crate_that_says_so_only() {
        let reaching = |name| {
            let mut package = package(name, &[]);
            package.reaches = vec!["libc".into(), "tokio".into()];
            package
        };
        check_packages(
            check,
            &[],
            vec![reaching("flow"), reaching("view")],
            expect![[r"
                crates/flow/Cargo.toml:1: pure, but reaches `tokio`: `cargo tree -e normal -i tokio` says how
                crates/view/Cargo.toml:1: pure, but reaches `libc`: `cargo tree -e normal -i libc` says how
                crates/view/Cargo.toml:1: pure, but reaches `tokio`: `cargo tree -e normal -i tokio` says how"]],
        );
    }
}
