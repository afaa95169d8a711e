//! Words: the text of an expression cut into tokens.
//!
//! In: text. Out: tokens with the character they begin at, counted from 0. Start reading at [`tokens`].

use super::ParseError;

/// One token and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// The character it begins at, from 0.
    pub(super) at: u32,
    pub(super) word: Word,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    Name(String),
    /// A name between backticks, which only stands for a member.
    Quoted(String),
    Text(String),
    Int(u64),
    Double(f64),
    Mark(&'static str),
    End,
}

/// Marks, the longer ones first.
const MARKS: &[&str] = &[
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":", ".", ",", "(", ")",
    "[", "]", "{", "}",
];

/// Cuts the text; the last token is [`Word::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    let mut cutter = Cutter { chars: text.chars().collect(), at: 0 };
    let mut found = Vec::new();
    loop {
        cutter.skip();
        let at = cutter.at as u32;
        let word = cutter.word()?;
        let is_end = word == Word::End;
        found.push(Token { at, word });
        if is_end {
            return Ok(found);
        }
    }
}

struct Cutter {
    chars: Vec<char>,
    at: usize,
}

impl Cutter {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Passes over white space and comments.
    fn skip(&mut self) {
        loop {
            match self.peek(0) {
                Some(c) if c.is_whitespace() => self.at += 1,
                Some('/') if self.peek(1) == Some('/') => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn word(&mut self) -> Result<Word, ParseError> {
        let Some(first) = self.peek(0) else {
            return Ok(Word::End);
        };
        match first {
            '"' | '\'' => self.text(false),
            'r' | 'R' if matches!(self.peek(1), Some('"' | '\'')) => {
                self.at += 1;
                self.text(true)
            }
            'b' | 'B' if matches!(self.peek(1), Some('"' | '\'')) => {
                Err(self.wrong("bytes are not supported: values are JSON"))
            }
            '`' => self.quoted(),
            '0'..='9' => self.number(),
            '.' if self.peek(1).is_some_and(|c| c.is_ascii_digit()) => self.number(),
            c if c == '_' || c.is_ascii_alphabetic() => Ok(Word::Name(self.name())),
            _ => self.mark(),
        }
    }

    fn name(&mut self) -> String {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c == '_' || c.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn quoted(&mut self) -> Result<Word, ParseError> {
        let start = self.at + 1;
        let length = self.chars[start..].iter().position(|c| *c == '`');
        let length = length.ok_or_else(|| self.wrong("a name between backticks has no end"))?;
        self.at = start + length + 1;
        Ok(Word::Quoted(self.chars[start..start + length].iter().collect()))
    }

    fn mark(&mut self) -> Result<Word, ParseError> {
        let starts = |mark: &&&str| mark.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c));
        if let Some(mark) = MARKS.iter().find(starts) {
            self.at += mark.len();
            return Ok(Word::Mark(mark));
        }
        let hint = match self.peek(0) {
            Some('=') => "`=` does not compare: write `==`".to_owned(),
            Some('&' | '|') => "write `&&` for and, `||` for or".to_owned(),
            other => format!("unexpected character {:?}", other.unwrap_or(' ')),
        };
        Err(self.wrong(&hint))
    }

    fn number(&mut self) -> Result<Word, ParseError> {
        let start = self.at;
        if self.peek(0) == Some('0') && matches!(self.peek(1), Some('x' | 'X')) {
            self.at += 2;
            return self.whole(start, 16);
        }
        self.digits();
        let is_fraction = self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit());
        if is_fraction {
            self.at += 1;
            self.digits();
        }
        let signed = usize::from(matches!(self.peek(1), Some('+' | '-')));
        let is_power = matches!(self.peek(0), Some('e' | 'E'))
            && self.peek(1 + signed).is_some_and(|c| c.is_ascii_digit());
        if is_power {
            self.at += 1 + signed;
            self.digits();
        }
        if !is_fraction && !is_power {
            self.at = start;
            return self.whole(start, 10);
        }
        let text: String = self.chars[start..self.at].iter().collect();
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.map(Word::Double).ok_or_else(|| wrong_at(start, "the number is too large"))
    }

    fn digits(&mut self) {
        while self.peek(0).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// An integer, with the `u` that CEL allows after it.
    fn whole(&mut self, start: usize, radix: u32) -> Result<Word, ParseError> {
        let first = self.at;
        while self.peek(0).is_some_and(|c| c.is_digit(radix)) {
            self.at += 1;
        }
        let digits: String = self.chars[first..self.at].iter().collect();
        if matches!(self.peek(0), Some('u' | 'U')) {
            self.at += 1;
        }
        // One more than the largest is read here, as the smallest is written with a minus in front of it.
        let number = u64::from_str_radix(&digits, radix).ok().filter(|n| *n <= i64::MIN.unsigned_abs());
        number.map(Word::Int).ok_or_else(|| wrong_at(start, "the integer does not fit 64 bits"))
    }

    fn text(&mut self, is_raw: bool) -> Result<Word, ParseError> {
        let start = self.at;
        let quote = self.peek(0).expect("the caller saw a quote");
        let width = if self.peek(1) == Some(quote) && self.peek(2) == Some(quote) { 3 } else { 1 };
        self.at += width;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek(0).filter(|c| width == 3 || *c != '\n') else {
                return Err(wrong_at(start, "the text has no closing quote"));
            };
            if (0..width).all(|i| self.peek(i) == Some(quote)) {
                self.at += width;
                return Ok(Word::Text(text));
            }
            if c == '\\' && !is_raw {
                text.push(self.escaped()?);
            } else {
                self.at += 1;
                text.push(c);
            }
        }
    }

    /// The character that a backslash and what follows stand for.
    fn escaped(&mut self) -> Result<char, ParseError> {
        let start = self.at;
        let code = self.peek(1).unwrap_or(' ');
        self.at += 2;
        Ok(match code {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '`' | '?' => code,
            'x' | 'X' => self.coded(start, 2, 16)?,
            'u' => self.coded(start, 4, 16)?,
            'U' => self.coded(start, 8, 16)?,
            '0'..='3' => {
                self.at -= 1;
                self.coded(start, 3, 8)?
            }
            _ => return Err(wrong_at(start, "unknown escape; for a backslash write `\\\\`")),
        })
    }

    fn coded(&mut self, start: usize, length: usize, radix: u32) -> Result<char, ParseError> {
        let digits: String = (0..length).filter_map(|i| self.peek(i)).collect();
        self.at += length;
        let all_digits = digits.chars().count() == length && digits.chars().all(|c| c.is_digit(radix));
        let code = all_digits.then(|| u32::from_str_radix(&digits, radix).ok()).flatten();
        let found = code.and_then(char::from_u32);
        found.ok_or_else(|| wrong_at(start, "the escape stands for no character"))
    }

    fn wrong(&self, message: &str) -> ParseError {
        wrong_at(self.at, message)
    }
}

fn wrong_at(at: usize, message: &str) -> ParseError {
    ParseError::at(at as u32, message)
}
