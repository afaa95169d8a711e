//! Where a path leads: every link on the way followed, also for what does not exist yet.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// How many links are followed.
const LINKS_MAX: usize = 40;

/// One step of a path that is still to be taken.
enum Step {
    Root,
    Up,
    Down(OsString),
}

/// The path without a link in it, as far as it exists; the rest as it was given. Nothing at the result is a link but
/// what is put there later.
pub(crate) fn resolve(root: &Path, given: &str) -> Result<PathBuf, String> {
    let mut steps = Vec::new();
    push(&mut steps, &root.join(given));
    let mut at = PathBuf::new();
    let mut links = 0;
    while let Some(step) = steps.pop() {
        match step {
            Step::Root => at = PathBuf::from("/"),
            Step::Up => {
                at.pop();
            }
            Step::Down(name) => {
                at.push(name);
                // It fails for whatever is no link, and for what does not exist.
                let Ok(target) = at.read_link() else { continue };
                links += 1;
                if links > LINKS_MAX {
                    return Err(format!("leads through more than {LINKS_MAX} links"));
                }
                at.pop();
                push(&mut steps, &target);
            }
        }
    }
    Ok(at)
}

/// Puts the steps of a path on top, the first one last.
fn push(steps: &mut Vec<Step>, path: &Path) {
    let taken = path.components().filter_map(|component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    steps.extend(taken.collect::<Vec<_>>().into_iter().rev());
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use expect_test::expect;

    use super::resolve;

    #[test]
    fn links_are_followed_wherever_they_stand() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        std::fs::create_dir_all(root.join("in/deep")).expect("made");
        std::fs::create_dir(root.join("out")).expect("made");
        std::fs::write(root.join("out/file"), "x").expect("written");
        for (target, link) in [
            ("../out", "in/away"),
            ("../out/file", "in/file"),
            ("/etc/hosts", "in/absolute"),
            ("../out/not-yet", "in/dangling"),
            ("loop", "in/loop"),
            ("away", "in/twice"),
        ] {
            symlink(target, root.join(link)).expect("linked");
        }
        let rows = [
            "",
            ".",
            "a",
            "a/b/../c",
            "deep/..",
            "../out/file",
            "away/file",
            "file",
            "absolute",
            "dangling",
            "dangling/x",
            "twice/new/x",
            "away/..",
            "loop",
            "/etc/../etc/x",
            "missing/../../out",
        ];
        let row = |given: &&str| {
            let found = resolve(&root.join("in"), given).map(|path| path.display().to_string());
            let shown = found.unwrap_or_else(|why| why).replace(&root.display().to_string(), "ROOT");
            format!("{given:<20}{shown}\n")
        };
        let table: String = rows.iter().map(row).collect();
        expect![[r#"
                                ROOT/in
            .                   ROOT/in
            a                   ROOT/in/a
            a/b/../c            ROOT/in/a/c
            deep/..             ROOT/in
            ../out/file         ROOT/out/file
            away/file           ROOT/out/file
            file                ROOT/out/file
            absolute            /etc/hosts
            dangling            ROOT/out/not-yet
            dangling/x          ROOT/out/not-yet/x
            twice/new/x         ROOT/out/new/x
            away/..             ROOT
            loop                leads through more than 40 links
            /etc/../etc/x       /etc/x
            missing/../../out   ROOT/out
        "#]]
        .assert_eq(&table);
    }
}
