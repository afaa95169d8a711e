//! Generated files are what the code would generate now.

use super::{Finding, Repository};
use crate::generate::{FILES, Generated};

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    stale(repository, FILES)
}

fn stale(repository: &Repository, files: &[Generated]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, make) in files {
        let fresh = make();
        let old = repository.tree.text(path).unwrap_or_default();
        if old != fresh {
            let same = old.lines().zip(fresh.lines()).take_while(|(old, fresh)| old == fresh).count();
            findings.push(Finding::at(
                path,
                same + 1,
                "not what the code generates: run `cargo xtask generate`",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing;
    use super::stale;

    #[test]
    fn a_stale_file_is_found_at_the_first_line_that_differs() {
        testing::check(
            |repository| {
                stale(
                    repository,
                    &[
                        ("fresh.json", || "1\n2\n".into()),
                        ("stale.json", || "1\n2\n".into()),
                        ("missing.json", || "1\n".into()),
                    ],
                )
            },
            &[("fresh.json", "1\n2\n"), ("stale.json", "1\n3\n")],
            expect![[r"
                stale.json:2: not what the code generates: run `cargo xtask generate`
                missing.json:1: not what the code generates: run `cargo xtask generate`"]],
        );
    }
}
