//! Every Rust file opens with its place in the world.

use super::{Finding, Repository};

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let bare = repository.tree.ending(".rs").filter(|(_, text)| !opens_with_header(text));
    let what = "no header: open the file with `//!`, saying what it is, what goes in and out, where to start";
    bare.map(|(path, _)| Finding::at(path, 1, what)).collect()
}

fn opens_with_header(text: &str) -> bool {
    text.strip_prefix("//!")
        .is_some_and(|rest| rest.lines().next().is_some_and(|line| !line.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing;
    use super::check;

    #[test]
    fn a_file_without_a_header_is_found() {
        testing::check(
            check,
            &[
                ("a.rs", "//! What it is.\n"),
                ("b.rs", "use std::fmt;\n"),
                ("c.rs", "//!\n//! Too late.\n"),
                ("d.rs", ""),
                ("e.md", "no Rust"),
            ],
            expect![[r"
                b.rs:1: no header: open the file with `//!`, saying what it is, what goes in and out, where to start
                c.rs:1: no header: open the file with `//!`, saying what it is, what goes in and out, where to start
                d.rs:1: no header: open the file with `//!`, saying what it is, what goes in and out, where to start"]],
        );
    }
}
