//! Commands that are printed for people to run. Models and other people choose some of the words in them: whatever these
//! hold, a shell reads them as the one argument they are.
//!
//! Start reading at [`pending`].

use std::borrow::Cow;
use std::fmt::Write;

use antiphon_flow::consent;
use antiphon_port::Branch;

use crate::render::{Ink, Line, Page, harmless};
use crate::request::{fitted, told};
use crate::standing::Standing;

/// How many lines of a request are printed where nobody can ask for more of them.
const LINES_MAX: usize = 200;

/// How a branch is named on the command line, and the [store](crate::store::Shelf::hint) it is in.
pub(crate) fn place(branch: &Branch, store: &str) -> String {
    let session = quoted(branch.session.as_str());
    match branch.branch.as_str() {
        "main" => format!("{session}{store}"),
        name => format!("{session} --branch {}{store}", quoted(name)),
    }
}

/// What waits for people, with the commands that answer it.
pub(crate) fn pending(standing: &Standing, place: &str, page: Page) -> Vec<Line> {
    let mut lines = vec![Line::new().ink(Ink::Waiting, "paused").plain(": waiting for a person")];
    let indented = |depth: usize, line: Line| Line::new().plain(" ".repeat(depth)).join(line);
    for asked in &standing.asked {
        let request = told(&asked.who(), &asked.relay, page.width.saturating_sub(4));
        let whole = format!("`antiphon sessions events {place}` has them all");
        let (request, _) = fitted(request, LINES_MAX, &whole);
        let depths = std::iter::once(2).chain(std::iter::repeat(4));
        lines.extend(depths.zip(request).map(|(depth, line)| indented(depth, line)));
        let name = standing.name(asked);
        let answer = |answer: &str| format!("--answer {}", quoted(&format!("{name}={answer}")));
        let commands = match &asked.relay.options {
            Some(options) => options.iter().map(|option| answer(option)).collect(),
            None if consent::is_asked(&asked.relay) => {
                let name = quoted(name);
                vec![format!("--approve {name}"), format!("--deny {name} --reason …")]
            }
            None => vec![answer("…")],
        };
        let command = |said: &String| format!("    antiphon resume {place} {said}");
        lines.extend(commands.iter().map(|said| Line::new().ink(Ink::Faint, command(said))));
    }
    lines
}

/// A text as one argument of a shell's line: as it is if nothing in it means anything to a shell, else in quotes. What
/// a terminal must not be given is written as a number, in the quotes that `sh` knows as `$'…'`; a shell that does not
/// know these finds nothing in them that it would run.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    if text.chars().all(|c| harmless(c) == c) {
        return Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")));
    }
    let mut quoted = "$'".to_owned();
    for c in text.chars() {
        if harmless(c) == c && !"'\\".contains(c) {
            quoted.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            write!(quoted, "\\{byte:03o}").expect("a string takes any text");
        }
    }
    Cow::Owned(quoted + "'")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_what_is_quoted_as_the_one_text_it_is() {
        for (text, shown) in [
            ("inner/gate", "inner/gate"),
            ("sqlite:kept/a b.db", "'sqlite:kept/a b.db'"),
            ("a=…", "'a=…'"),
            ("", "''"),
            ("red'; touch pwned; echo '", r"'red'\''; touch pwned; echo '\'''"),
            ("$(touch x) `touch x` \\ \"", "'$(touch x) `touch x` \\ \"'"),
            ("a\nb'; c\\\u{1b}[2J\u{202e}", r"$'a\012b\047; c\134\033[2J\342\200\256'"),
        ] {
            assert_eq!(quoted(text), shown);
            let script = format!("printf %s {}", quoted(text));
            let Ok(read) = Command::new("bash").args(["-c", &script]).output() else { continue };
            assert_eq!(String::from_utf8_lossy(&read.stdout), text);
        }
    }
}
