//! No dead files beside the code: whatever lies in `docs/`, `examples/` or `schema/` is named somewhere.

use super::{Finding, Repository};

const FOLDERS: &[&str] = &["docs/", "examples/", "schema/"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let tree = &repository.tree;
    let watched = tree.files().filter(|(path, _)| FOLDERS.iter().any(|folder| path.starts_with(folder)));
    let dead = watched.filter(|(path, _)| {
        let name = path.rsplit('/').next().unwrap_or(path);
        // Whoever opens the folder finds its README.
        name != "README.md" && !tree.files().any(|(other, text)| other != *path && names(text, name))
    });
    let what = "nothing names this file: link to it, use it or delete it";
    dead.map(|(path, _)| Finding::at(path, 1, what)).collect()
}

/// Whether a text names a file, with its ending or without.
fn names(text: &str, name: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(stem).any(|(start, _)| {
        !text[..start].ends_with(is_part) && !text[start + stem.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing;
    use super::check;

    #[test]
    fn a_file_that_nothing_names_is_dead() {
        testing::check(
            check,
            &[
                ("README.md", "[start](docs/start.md)"),
                ("docs/start.md", ""),
                ("docs/README.md", ""),
                ("docs/dead.md", "dead.md names only itself"),
                ("examples/chat.jsonl", ""),
                ("examples/chat-two.jsonl", ""),
                ("tests/a.rs", "check(\"chat-two\")"),
            ],
            expect![[r"
                docs/dead.md:1: nothing names this file: link to it, use it or delete it
                examples/chat.jsonl:1: nothing names this file: link to it, use it or delete it"]],
        );
    }
}
