//! Skills in real folders: what is found, what is left out, and what a call gives.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use antiphon_event::Json;
use antiphon_interop::skill::{SkillTool, discover};
use antiphon_port::{Future, Progress, Reach, Tool as _, ToolCall};
use expect_test::{Expect, expect};

const TEA: &str = "---\nname: tea\ndescription: How to make tea.\n---\nBoil water.\n";

struct Nobody;

impl Progress for Nobody {
    fn say(&self, _: Json) -> Future<()> {
        Box::pin(async {})
    }
}

/// Writes files, or links where the text starts with `->`; looks for skills in `folders`; makes calls.
fn check(files: &[(&str, &str)], folders: &[&str], calls: &[&str], expected: Expect) {
    let root = tempfile::tempdir().expect("there is room for a folder");
    let root = root.path().canonicalize().expect("it exists");
    for (path, text) in files {
        write(&root.join(path), text).expect("the folder is ours");
    }
    let folders: Vec<_> = folders.iter().map(|folder| root.join(folder)).collect();
    let found = discover(&folders);
    let mut lines: Vec<_> =
        found.skills.iter().map(|skill| format!("{}: {}", skill.name, skill.description)).collect();
    lines.extend(found.warnings.iter().map(|warning| format!("! {warning}")));
    let tool = SkillTool::new(&found.skills);
    for call in calls {
        lines.push(format!("> {call}"));
        lines.push(answer(tool.as_ref().expect("there are skills"), call));
    }
    expected.assert_eq(&(lines.join("\n") + "\n").replace(&root.display().to_string(), "ROOT"));
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(path.parent().expect("a file is in a folder"))?;
    match text.strip_prefix("->") {
        Some(target) => symlink(target, path),
        None => std::fs::write(path, text),
    }
}

fn answer(tool: &SkillTool, input: &str) -> String {
    let input: Json = serde_json::from_str(input).expect("the test writes JSON");
    let touched: String = tool.subjects(&input).iter().map(|subject| format!("{subject:?}\n")).collect();
    let call = ToolCall { input, key: "key".into(), progress: Arc::new(Nobody), reach: Reach::everything() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    let reply = runtime.block_on(tool.call(call));
    touched
        + &reply.map_or_else(|fault| format!("failed: {fault}"), |reply| reply.output.to_text().into_owned())
}

#[test]
fn skills_are_found_in_folders_and_in_those_in_them() {
    let coffee = TEA.replace("tea", "coffee");
    check(
        &[
            ("a/tea/SKILL.md", TEA),
            ("a/coffee/SKILL.md", &coffee),
            ("a/empty/README.md", ""),
            ("a/file", ""),
            ("b/SKILL.md", &TEA.replace("tea", "water")),
            ("b/inner/SKILL.md", &TEA.replace("tea", "never")),
        ],
        &["a", "b", "a", "b"],
        &[],
        expect![[r#"
            coffee: How to make coffee.
            tea: How to make tea.
            water: How to make water.
        "#]],
    );
}

#[test]
fn what_is_broken_is_named_and_hides_no_other() {
    check(
        &[
            ("a/1/SKILL.md", "no head"),
            ("a/2/SKILL.md", "---\nname: tea\ndescription: [\n---\n"),
            ("a/3/SKILL.md/is/a/folder", ""),
            ("a/4/SKILL.md", "->nowhere"),
            ("a/5/SKILL.md", "->../../secret"),
            ("a/6/SKILL.md", TEA),
            ("a/7/SKILL.md", TEA),
            ("a/8/SKILL.md", &"x".repeat(300_000)),
            ("a/9", "->../linked"),
            ("linked/SKILL.md", &TEA.replace("tea", "linked")),
            ("secret", TEA),
        ],
        &["nowhere", "a"],
        &[],
        expect![[r#"
            tea: How to make tea.
            linked: How to make linked.
            ! ROOT/nowhere: cannot be read: No such file or directory (os error 2)
            ! ROOT/a/1/SKILL.md:1: has no head: open with a line `---`, then `name: …` and `description: …`
            ! ROOT/a/2/SKILL.md:4: no YAML: while parsing a node, did not find expected node content: a text with `:` or `#` needs quotes
            ! ROOT/a/3/SKILL.md: `SKILL.md` is no file
            ! ROOT/a/4/SKILL.md: cannot be read: `SKILL.md`: No such file or directory (os error 2)
            ! ROOT/a/5/SKILL.md: `SKILL.md` is not in the folder of the skill: name a file in it
            ! ROOT/a/7/SKILL.md: `tea` is there already: ROOT/a/6
            ! ROOT/a/8/SKILL.md: `SKILL.md` is larger than 262144 bytes
        "#]],
    );
}

#[test]
fn a_call_gives_instructions_or_a_file() {
    check(
        &[
            ("a/tea/SKILL.md", TEA),
            ("a/tea/kinds/green.md", "Seventy degrees."),
            ("a/tea/scripts/boil.sh", "#!/bin/sh"),
            ("a/tea/same.md", "->kinds/green.md"),
        ],
        &["a"],
        &[
            r#"{"name": "tea"}"#,
            r#"{"name": "tea", "file": "kinds/green.md"}"#,
            r#"{"name": "tea", "file": "./same.md"}"#,
        ],
        expect![[r#"
            tea: How to make tea.
            > {"name": "tea"}
            Path { given: "SKILL.md", resolved: "ROOT/a/tea/SKILL.md", writes: false }
            The folder of this skill is ROOT/a/tea
            Other files in it: kinds/green.md, scripts/boil.sh

            Boil water.

            > {"name": "tea", "file": "kinds/green.md"}
            Path { given: "kinds/green.md", resolved: "ROOT/a/tea/kinds/green.md", writes: false }
            Seventy degrees.
            > {"name": "tea", "file": "./same.md"}
            Path { given: "./same.md", resolved: "ROOT/a/tea/kinds/green.md", writes: false }
            Seventy degrees.
        "#]],
    );
}

#[test]
fn nothing_outside_the_folder_is_read() {
    check(
        &[
            ("a/tea/SKILL.md", TEA),
            ("a/secret", "hush"),
            ("a/tea/link", "->../secret"),
            ("a/tea/folder", "->.."),
            ("a/tea/loop", "->loop"),
            ("a/tea-secret", "hush"),
            ("a/tea/huge", &"x".repeat(300_000)),
        ],
        &["a"],
        &[
            r#"{"name": "tea", "file": "../secret"}"#,
            r#"{"name": "tea", "file": "/etc/passwd"}"#,
            r#"{"name": "tea", "file": "link"}"#,
            r#"{"name": "tea", "file": "folder/secret"}"#,
            r#"{"name": "tea", "file": "../tea-secret"}"#,
            r#"{"name": "tea", "file": "loop"}"#,
            r#"{"name": "tea", "file": "huge"}"#,
            r#"{"name": "tea", "file": "."}"#,
            r#"{"name": "tea", "file": ""}"#,
            r#"{"name": "tea", "file": "no\u0000thing"}"#,
            r#"{"name": "coffee"}"#,
            r#"{"name": "tea", "path": "x"}"#,
            r#"["tea"]"#,
        ],
        expect![[r#"
            tea: How to make tea.
            > {"name": "tea", "file": "../secret"}
            failed: skill `tea`: `../secret` is not in the folder of the skill: name a file in it
            > {"name": "tea", "file": "/etc/passwd"}
            failed: skill `tea`: `/etc/passwd` is not in the folder of the skill: name a file in it
            > {"name": "tea", "file": "link"}
            failed: skill `tea`: `link` is not in the folder of the skill: name a file in it
            > {"name": "tea", "file": "folder/secret"}
            failed: skill `tea`: `folder/secret` is not in the folder of the skill: name a file in it
            > {"name": "tea", "file": "../tea-secret"}
            failed: skill `tea`: `../tea-secret` is not in the folder of the skill: name a file in it
            > {"name": "tea", "file": "loop"}
            failed: skill `tea`: cannot be read: `loop`: Too many levels of symbolic links (os error 40)
            > {"name": "tea", "file": "huge"}
            Path { given: "huge", resolved: "ROOT/a/tea/huge", writes: false }
            failed: skill `tea`: `huge` is larger than 262144 bytes
            > {"name": "tea", "file": "."}
            Path { given: ".", resolved: "ROOT/a/tea", writes: false }
            failed: skill `tea`: `.` is no file
            > {"name": "tea", "file": ""}
            failed: skill `tea`: `` is not in the folder of the skill: name a file in it
            > {"name": "tea", "file": "no\u0000thing"}
            failed: skill `tea`: cannot be read: `no\0thing`: file name contained an unexpected NUL byte
            > {"name": "coffee"}
            failed: there is no skill `coffee`: there are tea
            > {"name": "tea", "path": "x"}
            failed: the arguments do not fit: unknown field `path`, expected `name` or `file` at line 1 column 22
            > ["tea"]
            failed: the arguments do not fit: invalid length 1, expected struct Input with 2 elements at line 1 column 7
        "#]],
    );
}
