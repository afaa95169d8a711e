//! The head of a `SKILL.md`: YAML between two lines `---`.
//!
//! In: the text. Out: the name and the description, and where the instructions begin; or what is wrong and in which
//! line. Members that nobody needs are passed over, whatever they hold.

use saphyr_parser::{Event, Parser, Span};

/// The longest head, in bytes.
const HEAD_MAX: usize = 16 * 1024;

/// The longest name, in characters.
const NAME_MAX: usize = 64;

/// The longest description, in characters.
const DESCRIPTION_MAX: usize = 1024;

/// What a skill says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Front<'t> {
    pub(super) name: String,
    pub(super) description: String,
    /// The instructions.
    pub(super) body: &'t str,
}

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// Counted from 1.
    pub(super) line: u32,
    pub(super) message: String,
}

impl Wrong {
    fn at(line: u32, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// Takes a `SKILL.md` apart.
pub(super) fn parse(text: &str) -> Result<Front<'_>, Wrong> {
    let (head, body) = split(text)?;
    let mut name = None;
    let mut description = None;
    for (line, member, value) in members(head)? {
        let slot = match member.as_str() {
            "name" => &mut name,
            "description" => &mut description,
            _ => continue,
        };
        let text = value.filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| Wrong::at(line, format!("`{member}` must be a text")))?;
        if slot.replace((line, text)).is_some() {
            return Err(Wrong::at(line, format!("`{member}` is there twice")));
        }
    }
    let needed = |slot: Option<(u32, String)>, member: &str| {
        slot.ok_or_else(|| Wrong::at(1, format!("`{member}` is missing: add a line `{member}: …`")))
    };
    let name = needed(name, "name").and_then(check_name)?;
    let description = needed(description, "description").and_then(check_description)?;
    Ok(Front { name, description, body })
}

fn check_name((line, name): (u32, String)) -> Result<String, Wrong> {
    let is_safe = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if !is_safe || name.len() > NAME_MAX {
        let message = format!("`name` must be letters, digits, `-` and `_`, at most {NAME_MAX}");
        return Err(Wrong::at(line, message));
    }
    Ok(name)
}

fn check_description((line, description): (u32, String)) -> Result<String, Wrong> {
    let length = description.chars().count();
    if length > DESCRIPTION_MAX {
        let message = format!("`description` has {length} characters, at most {DESCRIPTION_MAX} are allowed");
        return Err(Wrong::at(line, message));
    }
    Ok(description.trim().to_owned())
}

/// The head, without the lines around it, and the rest.
fn split(text: &str) -> Result<(&str, &str), Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err(Wrong::at(1, "has no head: open with a line `---`, then `name: …` and `description: …`"));
    }
    let mut end = first.len();
    for line in text[end..].split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&text[first.len()..end], text[end + line.len()..].trim_start_matches(['\r', '\n'])));
        }
        end += line.len();
        if end > HEAD_MAX {
            return Err(Wrong::at(
                1,
                format!("the head is longer than {HEAD_MAX} bytes: close it with `---`"),
            ));
        }
    }
    Err(Wrong::at(1, "the head has no end: close it with a line `---`"))
}

/// The members at the top: line, name, and the text if it is one.
fn members(head: &str) -> Result<Vec<(u32, String, Option<String>)>, Wrong> {
    let mut members = Vec::new();
    // The name that waits for its value.
    let mut open: Option<(u32, String)> = None;
    let mut depth = 0_u32;
    for event in Parser::new_from_str(head) {
        let (event, span) = event.map_err(|error| {
            let message = format!("no YAML: {}: a text with `:` or `#` needs quotes", error.info());
            Wrong::at(line(error.marker().line()), message)
        })?;
        let value = match event {
            Event::MappingStart(..) if depth == 0 => {
                depth = 1;
                continue;
            }
            Event::SequenceStart(..) | Event::Scalar(..) | Event::Alias(..) if depth == 0 => {
                return Err(Wrong::at(place(&span), "the head must hold members, as `name: …`"));
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                if depth != 1 {
                    continue;
                }
                None
            }
            Event::Scalar(text, ..) if depth == 1 => Some(text.into_owned()),
            Event::Alias(..) if depth == 1 => None,
            _ => continue,
        };
        match (open.take(), value) {
            (None, Some(name)) => open = Some((place(&span), name)),
            (None, None) => return Err(Wrong::at(place(&span), "the name of a member must be a text")),
            (Some((line, name)), value) => members.push((line, name, value)),
        }
    }
    Ok(members)
}

/// A line of the head, as a line of the file.
fn line(in_head: usize) -> u32 {
    u32::try_from(in_head).unwrap_or(u32::MAX).saturating_add(1)
}

fn place(span: &Span) -> u32 {
    line(span.start.line())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::parse;

    fn check(text: &str, expected: Expect) {
        let found = match parse(text) {
            Ok(front) => format!("{:?} {:?} {:?}", front.name, front.description, front.body),
            Err(wrong) => format!("line {}: {}", wrong.line, wrong.message),
        };
        expected.assert_eq(&found);
    }

    #[test]
    fn a_head_names_and_describes() {
        check(
            "---\nname: tea\ndescription: Makes tea.\n---\n\nBoil.\n",
            expect![[r#""tea" "Makes tea." "Boil.\n""#]],
        );
        check(
            "\u{feff}---\r\nname: tea\r\ndescription: \"a: b\"\r\n---\r\nBoil.",
            expect![[r#""tea" "a: b" "Boil.""#]],
        );
        check(
            "---\nlicense: MIT\nname: tea\nmetadata: {name: x, list: [name, y]}\ndescription: >\n  Makes\n  tea.\nallowed-tools:\n  - bash\n---",
            expect![[r#""tea" "Makes tea." """#]],
        );
        check(
            "---\nname: tea\ndescription: a\n---\n---\nname: b\n---\n",
            expect![[r#""tea" "a" "---\nname: b\n---\n""#]],
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        check(
            "",
            expect!["line 1: has no head: open with a line `---`, then `name: …` and `description: …`"],
        );
        check(
            "# Tea\n",
            expect!["line 1: has no head: open with a line `---`, then `name: …` and `description: …`"],
        );
        check("---\nname: tea\n", expect!["line 1: the head has no end: close it with a line `---`"]);
        check("---\n---\nBoil.", expect!["line 1: `name` is missing: add a line `name: …`"]);
        check(
            "---\nname: tea\n---\n",
            expect!["line 1: `description` is missing: add a line `description: …`"],
        );
        check("---\nname: tea\ndescription:\n---\n", expect!["line 3: `description` must be a text"]);
        check("---\nname: tea\ndescription: [a]\n---\n", expect!["line 3: `description` must be a text"]);
        check(
            "---\nname: tea\nname: coffee\ndescription: a\n---\n",
            expect!["line 3: `name` is there twice"],
        );
        check(
            "---\nname: tea\ndescription: Use when: thirsty\n---\n",
            expect![
                "line 3: no YAML: mapping values are not allowed in this context: a text with `:` or `#` needs quotes"
            ],
        );
        check(
            "---\nname: ../tea\ndescription: a\n---\n",
            expect!["line 2: `name` must be letters, digits, `-` and `_`, at most 64"],
        );
        check("---\n- name\n---\n", expect!["line 2: the head must hold members, as `name: …`"]);
        check("---\n? [name]\n: tea\n---\n", expect!["line 2: the name of a member must be a text"]);
        check("---\nx: &a [*a]\nname: *a\ndescription: a\n---\n", expect!["line 3: `name` must be a text"]);
        check(
            &format!("---\nname: tea\ndescription: {}\n---\n", "x".repeat(1025)),
            expect!["line 3: `description` has 1025 characters, at most 1024 are allowed"],
        );
        check(
            &format!("---\nname: tea\nx: {}\n---\n", "x\n".repeat(10_000)),
            expect!["line 1: the head is longer than 16384 bytes: close it with `---`"],
        );
        check(
            &format!("---\nx: {}\n---\n", "[".repeat(10_000)),
            expect!["line 2: no YAML: recursion limit exceeded: a text with `:` or `#` needs quotes"],
        );
    }
}
