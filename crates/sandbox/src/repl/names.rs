//! [`declared`]: the names that code declares at its top, so that the next turn finds them.
//!
//! In: code. Out: names, perhaps a few too many or too few: one too many is looked up in vain, one too few has to be
//! put into `scope` by hand. It never changes the code. Start reading at [`declared`].

/// Names at most; code that declares more keeps the first of them.
const MAX: usize = 1000;

/// Words that are no name, and those of the session.
const NOT: &[&str] = &[
    "FINAL",
    "arguments",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "console",
    "const",
    "context",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "exec",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "llm_query",
    "new",
    "null",
    "of",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "scope",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Sign(char),
    /// A string, a number or a regular expression.
    Literal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between declarations.
    Outside,
    /// After `const`, `let`, `var` or a comma: what is declared, up to `=`.
    Pattern,
    /// After `=`: up to a comma at the same depth.
    Value,
    /// After `function` or `class`.
    Named,
}

/// The names that `code` declares at its top, each once, in order.
pub(super) fn declared(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut place = Place::Outside;
    let mut fresh = true;
    for token in Tokens::new(code) {
        match token {
            Token::Sign('{' | '(' | '[') => depth += 1,
            Token::Sign('}' | ')' | ']') => depth = depth.saturating_sub(1),
            Token::Sign(';') if depth == 0 => place = Place::Outside,
            Token::Sign('=') if depth == 0 && place == Place::Pattern => place = Place::Value,
            Token::Sign(',') if depth == 0 && place == Place::Value => place = Place::Pattern,
            Token::Word("const" | "let" | "var") if depth == 0 => place = Place::Pattern,
            Token::Word("function" | "class") if depth == 0 && fresh => place = Place::Named,
            Token::Word(name) if place == Place::Pattern => keep(&mut found, name),
            Token::Word(name) if depth == 0 && place == Place::Named => {
                keep(&mut found, name);
                place = Place::Outside;
            }
            Token::Word(_) | Token::Sign(_) | Token::Literal => {}
        }
        // After these a function or a class is a value and not a declaration.
        fresh = !matches!(
            token,
            Token::Sign('=' | '(' | ',' | ':' | '?' | '&' | '|' | '.') | Token::Word("return" | "new")
        );
    }
    found
}

fn keep<'a>(found: &mut Vec<&'a str>, name: &'a str) {
    if found.len() < MAX && !NOT.contains(&name) && !found.contains(&name) {
        found.push(name);
    }
}

/// The tokens of code, as far as they matter here; a template is a literal with all that is in it.
struct Tokens<'a> {
    rest: &'a str,
    /// Whether a slash would begin a regular expression.
    operand: bool,
}

impl<'a> Tokens<'a> {
    fn new(code: &'a str) -> Self {
        Self { rest: code, operand: true }
    }

    /// Takes what `end` says, in bytes, off the front.
    fn take(&mut self, end: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(end.min(self.rest.len()));
        self.rest = rest;
        taken
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let first = self.rest.chars().next()?;
            let token = match first {
                _ if first.is_whitespace() => {
                    self.take(first.len_utf8());
                    continue;
                }
                '/' if self.rest.starts_with("//") => {
                    self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
                    continue;
                }
                '/' if self.rest.starts_with("/*") => {
                    self.take(self.rest.find("*/").map_or(self.rest.len(), |end| end + 2));
                    continue;
                }
                '"' | '\'' => self.literal(quoted(self.rest, first)),
                '`' => self.literal(template(self.rest)),
                '/' if self.operand => self.literal(regexp(self.rest)),
                _ if word(first) => {
                    Token::Word(self.take(self.rest.find(|c| !word(c)).unwrap_or(self.rest.len())))
                }
                sign => {
                    self.take(sign.len_utf8());
                    Token::Sign(sign)
                }
            };
            self.operand = match token {
                Token::Word(text) => {
                    matches!(text, "return" | "typeof" | "case" | "in" | "of" | "await" | "void")
                }
                Token::Sign(sign) => !matches!(sign, ')' | ']' | '}'),
                Token::Literal => false,
            };
            return Some(match token {
                Token::Word(text) if text.starts_with(|c: char| c.is_ascii_digit()) => Token::Literal,
                token => token,
            });
        }
    }
}

impl<'a> Tokens<'a> {
    fn literal(&mut self, end: usize) -> Token<'a> {
        self.take(end);
        Token::Literal
    }
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Where a quoted string ends; it does not go over its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '\n' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Where a regular expression ends; it does not go over its line.
fn regexp(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let mut class = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '\n' => return at,
            '[' => class = true,
            ']' => class = false,
            '/' if !class => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Where a template ends: braces in it are counted, quotes in those are not looked at.
fn template(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    let mut open = 0_usize;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '$' if chars.peek().is_some_and(|&(_, next)| next == '{') => {
                chars.next();
                open += 1;
            }
            '{' if open > 0 => open += 1,
            '}' if open > 0 => open -= 1,
            '`' if open == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn names_at_the_top_are_found() {
        for (code, names) in [
            ("const a = 1, b = f(x, y); let c; var d", "a b c d"),
            ("const {p, q: [r], ...s} = o; const [t = 1] = u", "p q r s t"),
            ("function f() { const no = 1 } async function g() {} class K { m() {} }", "f g K"),
            ("for (const i of x) { let j = i } if (x) { var k }", ""),
            ("const s = 'const no = 1', t = `${ {a: 1} } const no`; // let no\n/* let no */ let u", "s t u"),
            ("const r = /[/'\"`]const no/g; const q = a / b; const n = 1 / 2", "r q n"),
            ("x = function no() {}; const f = function no() {}", "f"),
            ("const context = 1, scope = 2, mine = 3", "mine"),
            ("let größe = 1, $ = 2, _x = 3", "größe $ _x"),
            ("const a = 1\nconst b = 2\nlet a2 = () => { let no = 3 }", "a b a2"),
            ("'", ""),
            ("`${`", ""),
            ("/[", ""),
        ] {
            assert_eq!(declared(code).join(" "), names, "{code}");
        }
    }
}
