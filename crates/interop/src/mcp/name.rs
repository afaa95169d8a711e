//! Names for tools that every vendor takes: letters, digits, `_` and `-`, at most 64.
//!
//! A tool keeps its name for as long as its server is connected, whatever else the server lists later.

use std::collections::{BTreeMap, BTreeSet};

/// The longest name, in characters.
const NAME_MAX: usize = 64;

/// Gives names out, each once.
#[derive(Debug, Default)]
pub(super) struct Names {
    given: BTreeMap<(String, String), String>,
    taken: BTreeSet<String>,
}

impl Names {
    /// The name of a tool of a server; the same each time it is asked for.
    pub(super) fn name(&mut self, server: &str, tool: &str) -> String {
        let key = (server.to_owned(), tool.to_owned());
        if let Some(name) = self.given.get(&key) {
            return name.clone();
        }
        let whole = format!("{}_{}", safe(server), safe(tool));
        let mut name = whole[..whole.len().min(NAME_MAX)].to_owned();
        for number in 2.. {
            if !self.taken.contains(&name) {
                break;
            }
            let end = format!("_{number}");
            name = format!("{}{end}", &whole[..whole.len().min(NAME_MAX - end.len())]);
        }
        self.taken.insert(name.clone());
        self.given.insert(key, name.clone());
        name
    }
}

fn safe(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().take(NAME_MAX + 1).map(keep).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::Names;

    fn check(tools: &[(&str, &str)], expected: Expect) {
        let mut names = Names::default();
        let lines = tools.iter().map(|(server, tool)| names.name(server, tool) + "\n");
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn a_name_is_safe_and_bears_the_server() {
        check(
            &[("files", "read-file"), ("my files", "read/it"), ("ü", "日本"), ("", ""), ("a\"b", "c\nd")],
            expect![[r"
                files_read-file
                my_files_read_it
                ____
                _
                a_b_c_d
            "]],
        );
    }

    #[test]
    fn names_that_would_be_the_same_are_numbered_and_stay() {
        check(
            &[("a", "b.c"), ("a", "b c"), ("a_b", "c"), ("a", "b_c_2"), ("a", "b c"), ("a", "b.c")],
            expect![[r"
                a_b_c
                a_b_c_2
                a_b_c_3
                a_b_c_2_2
                a_b_c_2
                a_b_c
            "]],
        );
    }

    #[test]
    fn a_long_name_is_cut_and_still_unlike_others() {
        let long = "x".repeat(300);
        check(
            &[("server", &long), ("server", &format!("{long}y")), (&long, "tool")],
            expect![[r"
                server_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                server_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_2
                xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            "]],
        );
    }
}
