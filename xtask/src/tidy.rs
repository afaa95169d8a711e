//! `tidy`: what must hold in this repository and no compiler checks.
//!
//! In: the files and the packages. Out: every finding at once, each with its place and what to do about it.
//! One file for each rule; adding one means a file and a row in [`RULES`]. Start reading at [`check`].

mod arrows;
mod fresh;
mod header;
mod hygiene;
mod links;
mod mention;
mod modules;
mod packages;
mod pure;
mod tokens;
mod tree;

use std::fmt;
use std::path::Path;

pub(crate) use packages::host;
pub use packages::{Dependency, Kind, Package};
pub use tree::Tree;

/// Something to put right.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub what: String,
}

impl Finding {
    fn at(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// What the rules look at.
#[derive(Debug, Default)]
pub struct Repository {
    /// Every file that is not ignored.
    pub tree: Tree,
    /// The packages of the workspace and of those beside it.
    pub packages: Vec<Package>,
}

type Rule = fn(&Repository) -> Vec<Finding>;

/// Every rule.
const RULES: &[Rule] = &[
    arrows::check,
    pure::check,
    header::check,
    modules::check,
    mention::check,
    fresh::check,
    hygiene::check,
    links::check,
];

/// Checks the repository at `root`; an empty list is what everybody wants.
pub fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let tree = Tree::read(root)?;
    let mut packages = packages::read(root, "Cargo.toml")?;
    if tree.holds("fuzz/Cargo.toml") {
        packages.extend(packages::read(root, "fuzz/Cargo.toml")?);
    }
    let repository = Repository { tree, packages };
    let mut findings: Vec<_> = RULES.iter().flat_map(|rule| rule(&repository)).collect();
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod testing {
    //! The one door of the rules' tests: a small tree in, the findings out as text.

    use expect_test::Expect;

    use super::{Dependency, Kind, Package, Repository, Rule, Tree};

    /// Runs a rule on files alone.
    #[track_caller]
    pub(super) fn check(rule: Rule, files: &[(&str, &str)], expected: Expect) {
        check_packages(rule, files, Vec::new(), expected);
    }

    /// Runs a rule on files and packages.
    #[track_caller]
    pub(super) fn check_packages(
        rule: Rule,
        files: &[(&str, &str)],
        packages: Vec<Package>,
        expected: Expect,
    ) {
        let repository = Repository { tree: Tree::of(files), packages };
        let findings: Vec<_> = rule(&repository).iter().map(ToString::to_string).collect();
        expected.assert_eq(&findings.join("\n"));
    }

    /// A package in `crates/` whose only target is its library.
    pub(super) fn package(name: &str, dependencies: &[(&str, Kind)]) -> Package {
        let folder = format!("crates/{name}");
        let dependencies =
            dependencies.iter().map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: *kind });
        Package {
            name: format!("antiphon-{name}"),
            roots: vec![format!("{folder}/src/lib.rs")],
            folder,
            dependencies: dependencies.collect(),
            reaches: Vec::new(),
        }
    }
}
