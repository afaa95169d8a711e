//! Nothing of one person's machine, nothing left undone without an issue, no test that never runs.

use proc_macro2::TokenTree;

use super::tokens::{inside, is_punct, line, tokens, word};
use super::{Finding, Repository};

/// Folders that exist on somebody's machine and not in this repository.
const MACHINE: &[&str] = &["/home/", "/Users/", "/root/", "/work/", "/tmp/"];

/// Words that stand for work left undone.
const UNDONE: &[&str] = &["TODO", "FIXME", "XXX"];

/// Files with code in which something can be left undone.
const CODE: &[&str] = &[".rs", ".toml", ".sh", ".ts", ".tsx", ".yaml", ".yml", "Makefile"];

/// Texts that others wrote, and this file, which names what it looks for.
const EXEMPT: &[&str] = &["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "xtask/src/tidy/hygiene.rs"];

pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.tree.files() {
        if EXEMPT.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let is_code = CODE.iter().any(|end| path.ends_with(end));
        for (index, content) in text.lines().enumerate() {
            if let Some(folder) = machine_path(content) {
                let what = format!("`{folder}` is a path of one machine: make it relative");
                findings.push(Finding::at(path, index + 1, what));
            }
            if let Some(undone) = is_code.then(|| undone(content)).flatten() {
                let what = format!("`{undone}` without an issue: write `{undone}(#12)`, or do it");
                findings.push(Finding::at(path, index + 1, what));
            }
        }
    }
    for (path, text) in repository.tree.ending(".rs") {
        ignored(path, &tokens(text), &mut findings);
    }
    findings
}

fn machine_path(content: &str) -> Option<&'static str> {
    MACHINE.iter().copied().find(|folder| {
        let mut starts = content.match_indices(folder).map(|(start, _)| &content[..start]);
        // `../work/` and `site.org/home/` are no paths from the root of a machine.
        starts.any(|before| {
            !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~'))
        })
    })
}

fn undone(content: &str) -> Option<&'static str> {
    UNDONE.iter().copied().find(|mark| {
        content.match_indices(mark).any(|(start, _)| {
            let (before, after) = (&content[..start], &content[start + mark.len()..]);
            let is_word =
                !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
            is_word && !after.starts_with("(#")
        })
    })
}

fn ignored(path: &str, tokens: &[TokenTree], findings: &mut Vec<Finding>) {
    for (index, token) in tokens.iter().enumerate() {
        let Some(group) = inside(token) else {
            continue;
        };
        let is_attribute = index > 0 && is_punct(tokens.get(index - 1), '#');
        if is_attribute && group.first().and_then(word).as_deref() == Some("ignore") {
            findings.push(Finding::at(path, line(token), "a test that never runs: mend it or delete it"));
        }
        ignored(path, &group, findings);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::testing;
    use super::check;

    #[test]
    fn a_path_of_one_machine_is_found() {
        testing::check(
            check,
            &[
                ("a.md", "see `/home/ada/notes`"),
                ("b.sh", "cd /root/x"),
                ("c.md", "see `../work/x` and https://site.example/home/x"),
            ],
            expect![[r#"
                a.md:1: `/home/` is a path of one machine: make it relative
                b.sh:1: `/root/` is a path of one machine: make it relative"#]],
        );
    }

    #[test]
    fn work_left_undone_has_an_issue() {
        testing::check(
            check,
            &[
                ("a.rs", "//! x\n// TODO: later\n"),
                ("b.rs", "// TODO(#7): later"),
                ("c.md", "the word TODO in prose"),
            ],
            expect!["a.rs:2: `TODO` without an issue: write `TODO(#12)`, or do it"],
        );
    }

    #[test]
    fn every_test_runs() {
        testing::check(
            check,
            &[("a.rs", "mod tests {\n#[test]\n#[ignore = \"slow\"]\nfn t() { \"#[ignore]\" }\n}")],
            expect!["a.rs:3: a test that never runs: mend it or delete it"],
        );
    }
}
