//! The examples in the documentation: each runs, and prints what its page says it prints.
//!
//! In: README.md and every page below docs/. In their `console` blocks a line that begins with `$ ` is a command,
//! run by `sh` at the root of the repository; the lines up to the next command are what it prints, errors last. A
//! line that is just `…` stands for any number of lines. `UPDATE_EXPECT=1` writes what is printed now into the
//! pages, with the `…` where they were. Start reading at [`every_example_prints_what_its_page_says`].

use std::env;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};

/// A line that stands for any number of lines.
const GAP: &str = "…";

#[test]
fn every_example_prints_what_its_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    pages_below(&root.join("docs"), &mut pages);
    let in_docs: usize = pages.iter().map(|page| examples(&read(page)).len()).sum();
    assert!(in_docs > 0, "docs/ has no `console` block with a command");
    pages.extend(Some(root.join("README.md")).filter(|page| page.exists()));
    let update = env::var_os("UPDATE_EXPECT").is_some();
    let mut complaints = String::new();
    let home = tempfile::tempdir().expect("a folder");
    for page in pages {
        let text = read(&page);
        let name = page.strip_prefix(&root).expect("pages are below the root").display().to_string();
        let (fresh, complaint) = renew(&name, &text, |command| run(command, &root, home.path()));
        if update && fresh != text {
            fs::write(&page, fresh).expect("pages can be written");
        }
        complaints += &complaint;
    }
    assert!(update || complaints.is_empty(), "\n{complaints}\nUPDATE_EXPECT=1 writes this into the pages.");
}

#[test]
fn every_type_of_event_and_every_view_has_its_place() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let (events, views) = (read(&docs.join("events.md")), read(&docs.join("views.md")));
    for kind in antiphon_event::Kind::ALL {
        let is_row = |line: &str| line.starts_with('|') && line.contains(&format!("`{}`", kind.tag()));
        assert!(events.lines().any(is_row), "docs/events.md has no row for `{}`", kind.tag());
    }
    for view in antiphon_view::catalogue::CATALOGUE {
        let is_title = |line: &str| line == format!("## {}", view.name);
        assert!(views.lines().any(is_title), "docs/views.md has no section for `{}`", view.name);
    }
}

/// A command on a page, and the lines of the page that say what it prints.
#[derive(Debug, PartialEq)]
struct Example<'p> {
    command: &'p str,
    printed: Range<usize>,
}

/// The examples of a page, in order.
fn examples(page: &str) -> Vec<Example<'_>> {
    let mut found: Vec<Example<'_>> = Vec::new();
    let mut inside = false;
    let mut begun = false;
    for (line, text) in page.lines().enumerate() {
        match (inside, text) {
            (false, "```console") => (inside, begun) = (true, false),
            (false, _) => {}
            (true, "```") => inside = false,
            (true, _) => match (text.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => {
                    begun = true;
                    found.push(Example { command, printed: line + 1..line + 1 });
                }
                (None, Some(example)) if begun => example.printed.end = line + 1,
                (None, _) => panic!("line {} is in a `console` block and before any command", line + 1),
            },
        }
    }
    assert!(!inside, "the last `console` block has no end");
    found
}

/// The page with what its commands print now, and what is to be said about those that differ.
fn renew(name: &str, page: &str, run: impl Fn(&str) -> String) -> (String, String) {
    let lines: Vec<&str> = page.lines().collect();
    let (mut fresh, mut complaints) = (Vec::new(), Vec::new());
    let mut kept = 0;
    for Example { command, printed } in examples(page) {
        let output = run(command);
        let output: Vec<&str> = output.lines().map(str::trim_end).collect();
        let is_plain = output.iter().all(|line| !line.starts_with("$ ") && !line.starts_with("```"));
        assert!(is_plain, "{name}: `{command}` prints a line that a page would take for something else");
        let was = &lines[printed.clone()];
        let now = shown(was, &output);
        if was != now {
            complaints.push(format!("{name}:{}: $ {command}\n{}\n", printed.start, differences(was, &now)));
        }
        fresh.extend(lines[kept..printed.start].iter().chain(&now).map(|line| format!("{line}\n")));
        kept = printed.end;
    }
    fresh.extend(lines[kept..].iter().map(|line| format!("{line}\n")));
    (fresh.concat(), complaints.concat())
}

/// What a page shows of an output: all of it, or as much on both sides of the first and last gap as it did so far
/// and between them what is still there. That is what the page says already if, and only if, the two agree.
fn shown<'p>(was: &[&'p str], output: &[&'p str]) -> Vec<&'p str> {
    let parts: Vec<&[&str]> = was.split(|line| *line == GAP).collect();
    let [first, middle @ .., last] = &parts[..] else {
        return output.to_vec();
    };
    if first.len() + last.len() > output.len() {
        return output.to_vec();
    }
    let (head, rest) = output.split_at(first.len());
    let (mut rest, tail) = rest.split_at(rest.len() - last.len());
    let mut shown = head.to_vec();
    for part in middle {
        if let Some(start) = (0..=rest.len()).find(|start| rest[*start..].starts_with(part)) {
            shown.push(GAP);
            shown.extend_from_slice(part);
            rest = &rest[start + part.len()..];
        }
    }
    shown.push(GAP);
    shown.extend_from_slice(tail);
    shown
}

/// The lines that went and those that came, with up to two around them that stayed.
fn differences(was: &[&str], now: &[&str]) -> String {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let before = was.iter().zip(now).take_while(same).count();
    let room = was.len().min(now.len()) - before;
    let after = was.iter().rev().zip(now.iter().rev()).take(room).take_while(same).count();
    let (went, came) = (&was[before..was.len() - after], &now[before..now.len() - after]);
    let stayed = &now[before.saturating_sub(2)..before];
    let follows = &now[now.len() - after..][..after.min(2)];
    let rows = [(' ', stayed), ('-', went), ('+', came), (' ', follows)];
    let lines =
        rows.iter().flat_map(|(mark, lines)| lines.iter().map(move |line| format!("  {mark} {line}\n")));
    lines.collect()
}

/// What a command prints at the root of the repository, errors last; for somebody who has nothing of their own.
fn run(command: &str, root: &Path, home: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_antiphon"));
    let folder = program.parent().expect("a program is in a folder").to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([folder].into_iter().chain(env::split_paths(&others)));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(root).stdin(Stdio::null());
    shell.env("PATH", path.expect("the folder of a build has a plain name")).env("NO_COLOR", "1");
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        shell.env(name, home);
    }
    for name in ["CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        shell.env_remove(name);
    }
    let output = shell.output().expect("there is a shell");
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("output is text")).concat()
}

fn read(page: &Path) -> String {
    fs::read_to_string(page).expect("pages are text")
}

/// Every page in a folder and those below it, in order.
fn pages_below(folder: &Path, pages: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            pages_below(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// Shows what becomes of a page whose every command prints the same: the complaints, then the page.
fn check(page: &str, output: &str, expected: Expect) {
    let (fresh, complaints) = renew("page.md", page, |_| output.to_owned());
    expected.assert_eq(&if fresh == page { complaints } else { format!("{complaints}---\n{fresh}") });
}

#[test]
fn an_example_that_prints_what_its_page_says_is_left_alone() {
    for said in [
        "1\n2\n3\n4\n",
        "…\n",
        "1\n…\n",
        "…\n4\n",
        "1\n…\n3\n…\n",
        "…\n2\n…\n4\n",
        "1\n2\n…\n3\n4\n",
        "…\n…\n4\n",
    ] {
        let page = format!("# Page\n\n```console\n$ count\n{said}```\n");
        check(&page, "1\n2\n3\n4\n", expect![""]);
    }
    check("```console\n$ true\n$ true\n```\n", "", expect![""]);
    check("```sh\n$ count\n```\n", "1\n", expect![""]);
}

#[test]
fn a_line_that_is_not_printed_is_shown_with_its_place() {
    check(
        "a\n\n```console\n$ count\n1\n2\n3\n4\n```\n",
        "1\n2\nthree\n4\n",
        expect![[r#"
        page.md:4: $ count
            1
            2
          - 3
          + three
            4

        ---
        a

        ```console
        $ count
        1
        2
        three
        4
        ```
    "#]],
    );
}

#[test]
fn gaps_stay_where_they_were() {
    check(
        "```console\n$ count\n1\n…\n2\n…\n6\n```\nend\n",
        "one\n2\n3\n4\n5\n",
        expect![[r#"
        page.md:2: $ count
          - 1
          - …
          - 2
          - …
          - 6
          + one
          + …
          + 2
          + …
          + 5

        ---
        ```console
        $ count
        one
        …
        2
        …
        5
        ```
        end
    "#]],
    );
}

#[test]
fn what_no_longer_is_between_gaps_goes() {
    check(
        "```console\n$ count\n1\n…\n9\n…\n```\n",
        "1\n2\n3\n",
        expect![[r#"
        page.md:2: $ count
            1
            …
          - 9
          - …

        ---
        ```console
        $ count
        1
        …
        ```
    "#]],
    );
}

#[test]
fn lines_do_not_count_twice() {
    check(
        "```console\n$ count\n1\n2\n…\n2\n3\n```\n",
        "1\n2\n3\n",
        expect![[r#"
        page.md:2: $ count
            1
            2
          - …
          - 2
            3

        ---
        ```console
        $ count
        1
        2
        3
        ```
    "#]],
    );
}

#[test]
fn every_command_of_a_block_has_its_own_output() {
    check(
        "```console\n$ count\n2\n$ count\n1\n```\n",
        "1\n",
        expect![[r#"
        page.md:2: $ count
          - 2
          + 1

        ---
        ```console
        $ count
        1
        $ count
        1
        ```
    "#]],
    );
}

#[test]
#[should_panic = "line 2 is in a `console` block and before any command"]
fn a_block_begins_with_a_command() {
    examples("```console\nwhat is this\n```\n");
}
