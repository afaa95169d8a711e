//! [`blocks`]: the code in what a model said.

/// The closed blocks of a text that are fenced and labelled `js` or `javascript`, in order.
pub(super) fn blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(usize, bool, Vec<&str>)> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        let label = &trimmed[ticks..];
        match &mut open {
            Some((fence, _, _)) if ticks >= *fence && label.is_empty() => {
                let (_, is_code, lines) = open.take().expect("it was just looked at");
                if is_code {
                    found.push(lines.join("\n"));
                }
            }
            Some((_, _, lines)) => lines.push(line),
            None if ticks >= 3 && !label.contains('`') => {
                let word = label.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
                open = Some((ticks, matches!(word.as_str(), "js" | "javascript"), Vec::new()));
            }
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::blocks;

    #[test]
    fn only_closed_blocks_of_javascript_are_code() {
        let rows: [(&str, &[&str]); 9] = [
            ("no code", &[]),
            ("so:\n```js\nlet a = 1;\n\nFINAL(a)\n```\nthat is it", &["let a = 1;\n\nFINAL(a)"]),
            ("```JavaScript\n1\n```", &["1"]),
            ("  ```js title\n1\n  ```", &["1"]),
            ("```\n1\n```\n```python\n2\n```", &[]),
            ("```js\n1\n```\n```js\n2\n```", &["1", "2"]),
            ("```js\nnot closed", &[]),
            ("````js\nconst s = `\n```\n`;\n````", &["const s = `\n```\n`;"]),
            ("```text\n```js\n```", &[]),
        ];
        for (text, code) in rows {
            assert_eq!(blocks(text), code, "{text}");
        }
    }
}
