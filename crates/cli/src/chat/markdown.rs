//! Markdown for a terminal: what a model writes in, inked lines out.
//!
//! Start reading at [`lines`]; [`complete`] says how much of a text that is still coming will not change any more.

mod inline;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::render::{Ink, Line};
use inline::Inline;

/// How deep lists and quotes are indented.
const DEPTH_MAX: usize = 8;

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// How many bytes of a text that is still coming are blocks that will stay as they are: all but the last one.
pub(super) fn complete(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut last = 0;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        if depth == 0 {
            last = range.start;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    // A block begins where its line does: what stands before it on the line belongs to it.
    text[..last].rfind('\n').map_or(0, |end| end + 1)
}

/// Text as lines of at most so many columns.
pub(super) fn lines(text: &str, width: usize) -> Vec<Line> {
    let mut sheet = Sheet::new(width);
    for event in Parser::new_ext(text, options()) {
        sheet.take(event);
    }
    sheet.lines
}

/// Something that blocks stand in.
enum Around {
    Quote,
    /// The number of the next item, if they are numbered.
    List(Option<u64>),
    /// How wide its mark is, and the mark itself until a line has taken it.
    Item(usize, Option<String>),
}

struct Sheet {
    width: usize,
    lines: Vec<Line>,
    around: Vec<Around>,
    inline: Inline,
    /// The text of a block of code under way.
    code: Option<String>,
    /// The rows of a table under way.
    table: Option<Vec<Vec<Line>>>,
    /// Whether the next block stands apart from the last.
    apart: bool,
}

impl Sheet {
    fn new(width: usize) -> Self {
        let (around, inline) = (Vec::new(), Inline::default());
        Self { width, lines: Vec::new(), around, inline, code: None, table: None, apart: false }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.inline.text(&text),
            },
            Event::Code(text) => self.inline.inked(Ink::Tool, &text),
            Event::InlineHtml(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.inline.text(&text);
            }
            Event::Html(text) => self.inline.text(text.trim_end()),
            Event::FootnoteReference(name) => self.inline.text(&format!("[{name}]")),
            Event::SoftBreak => self.inline.text(" "),
            Event::HardBreak => self.inline.line_break(),
            Event::Rule => self.put(vec![Line::new().ink(Ink::Faint, "─".repeat(self.room().min(24)))]),
            Event::TaskListMarker(done) => self.inline.text(if done { "☑ " } else { "☐ " }),
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::BlockQuote(_) => {
                self.flush();
                self.part();
                self.around.push(Around::Quote);
            }
            Tag::List(first) => {
                self.flush();
                if !matches!(self.around.last(), Some(Around::Item(..))) {
                    self.part();
                }
                self.apart = false;
                self.around.push(Around::List(*first));
            }
            Tag::Item => {
                let mark = match self.around.last_mut() {
                    Some(Around::List(Some(number))) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                self.around.push(Around::Item(mark.chars().count(), Some(mark)));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.code = Some(String::new());
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    self.put(vec![Line::new().ink(Ink::Faint, format!("  {language}"))]);
                    self.apart = false;
                }
            }
            Tag::Heading { .. } | Tag::Strong => self.inline.push(Ink::Strong),
            Tag::Emphasis => self.inline.push(Ink::Emphasis),
            Tag::Strikethrough => self.inline.push(Ink::Faint),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.inline.link(dest_url),
            Tag::Table(_) => self.table = Some(Vec::new()),
            Tag::TableHead => {
                self.row();
                self.inline.push(Ink::Strong);
            }
            Tag::TableRow => self.row(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.flush();
                self.apart = true;
            }
            TagEnd::Heading(_) => {
                self.inline.pop();
                self.flush();
                self.apart = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.around.pop();
                self.apart = true;
            }
            TagEnd::List(_) => {
                self.around.pop();
                self.apart = !matches!(self.around.last(), Some(Around::Item(..)));
            }
            TagEnd::Item => {
                self.flush();
                if matches!(self.around.last(), Some(Around::Item(_, Some(_)))) {
                    self.put(vec![Line::new()]);
                }
                self.around.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough | TagEnd::TableHead => {
                self.inline.pop();
            }
            TagEnd::Link | TagEnd::Image => self.inline.end_link(),
            TagEnd::TableCell => {
                let cell = self.inline.take().into_iter().fold(Line::new(), Line::join);
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let rows = self.table.take().unwrap_or_default();
                let lines = grid(rows, self.room());
                self.put(lines);
                self.apart = true;
            }
            _ => {}
        }
    }

    fn row(&mut self) {
        if let Some(rows) = &mut self.table {
            rows.push(Vec::new());
        }
    }

    fn end_code(&mut self) {
        let code = self.code.take().unwrap_or_default();
        let room = self.room().saturating_sub(2);
        let lines = code.trim_end_matches('\n').split('\n').flat_map(|line| {
            let line = line.replace('\t', "    ");
            Line::new().ink(Ink::Tool, line).wrap(room)
        });
        let lines = lines.map(|line| Line::new().plain("  ").join(line)).collect();
        self.put(lines);
        self.apart = true;
    }

    /// Puts down the text of a block.
    fn flush(&mut self) {
        let room = self.room();
        let lines: Vec<Line> = self.inline.take().into_iter().flat_map(|line| line.wrap(room)).collect();
        if !lines.is_empty() {
            self.put(lines);
        }
    }

    /// Leaves a line free if the next block is to stand apart.
    fn part(&mut self) {
        if std::mem::take(&mut self.apart) && !self.lines.is_empty() {
            let empty = self.prefixed(Line::new(), false);
            self.lines.push(empty);
        }
    }

    fn put(&mut self, lines: Vec<Line>) {
        let is_first = matches!(self.around.last(), Some(Around::Item(_, Some(_))));
        if is_first {
            // The items of a list stand close together.
            self.apart = false;
        }
        self.part();
        for line in lines {
            let line = self.prefixed(line, true);
            self.lines.push(line);
        }
    }

    /// Columns that what stands around leaves.
    fn room(&self) -> usize {
        let taken: usize = self.around.iter().take(DEPTH_MAX).map(taken).sum();
        self.width.saturating_sub(taken).max(8)
    }

    /// The line behind the marks of all it stands in; each mark of an item is used once.
    fn prefixed(&mut self, line: Line, uses_marks: bool) -> Line {
        let mut prefix = Line::new();
        for around in self.around.iter_mut().take(DEPTH_MAX) {
            prefix = match around {
                Around::Quote => prefix.ink(Ink::Faint, "│ "),
                Around::List(_) => prefix,
                Around::Item(width, mark) => match mark.take_if(|_| uses_marks) {
                    Some(mark) => prefix.ink(Ink::Faint, mark),
                    None => prefix.plain(" ".repeat(*width)),
                },
            };
        }
        prefix.join(line)
    }
}

fn taken(around: &Around) -> usize {
    match around {
        Around::Quote => 2,
        Around::List(_) => 0,
        Around::Item(width, _) => *width,
    }
}

/// A table in columns; if it is too wide, a row below the other with its cells one after another.
fn grid(rows: Vec<Vec<Line>>, width: usize) -> Vec<Line> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(Line::width).max();
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let fits = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1) <= width;
    rows.into_iter()
        .flat_map(|row| {
            let cells = row.into_iter().zip(&widths).enumerate();
            let line = cells.fold(Line::new(), |line, (at, (cell, width))| match (at, fits) {
                (0, true) => cell.fill(*width),
                (_, true) => line.plain("  ").join(cell.fill(*width)),
                (0, false) => cell,
                (_, false) => line.ink(Ink::Faint, " | ").join(cell),
            });
            if fits { vec![line] } else { line.wrap(width) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::render::{Palette, paint};

    fn check(text: &str, width: usize, expected: Expect) {
        expected.assert_eq(&paint(&lines(text, width), Palette::Plain));
    }

    #[test]
    fn blocks_are_laid_out_for_the_width() {
        check(
            "# Title\n\nSome **bold** and *slanted* `code` text that goes on.\nSoft.  \nHard.\n\n\
             - one\n- two words that are long enough to wrap\n  1. inner\n  2. more\n\n> quoted\n> text\n\n\
             ```rust\nfn main() {\n    x();\n}\n```\n\n---\n\n[here](https://a.b) and [https://c.d](https://c.d)\n",
            30,
            expect![[r#"
                Title

                Some bold and slanted code
                 text that goes on. Soft.
                Hard.

                • one
                • two words that are long
                  enough to wrap
                  1. inner
                  2. more

                │ quoted text

                  rust
                  fn main() {
                      x();
                  }

                ────────────────────────
                here (https://a.b) and
                https://c.d
            "#]],
        );
    }

    #[test]
    fn tables_are_columns_if_they_fit() {
        let table = "| name | size |\n|---|---|\n| a | 1 |\n| long one | 22 |\n";
        check(
            table,
            40,
            expect![[r#"
            name      size
            a         1
            long one  22
        "#]],
        );
        check(
            table,
            12,
            expect![[r#"
            name | size
            a | 1
            long one |
            22
        "#]],
        );
    }

    #[test]
    fn hostile_text_does_nothing_to_a_terminal() {
        check(
            "\u{1b}[2J `\u{7}` [x](\u{1b}]0;)\n\n\u{9b}1m",
            40,
            expect![[r#"
            ␛[2J ␇ [x](␛]0;)

            �1m
        "#]],
        );
    }

    #[test]
    fn all_but_the_last_block_of_a_text_that_is_coming_is_complete() {
        for (text, kept) in [
            ("", ""),
            ("one", ""),
            ("one\n\n", ""),
            ("one\n\ntwo", "one\n\n"),
            ("# a\ntext", "# a\n"),
            ("- a\n- b\n\nlast", "- a\n- b\n\n"),
            ("```\na\n\nb", ""),
            ("```\na\n```\nb", "```\na\n```\n"),
            ("one\n\n> quo", "one\n\n"),
        ] {
            assert_eq!(&text[..complete(text)], kept, "{text:?}");
        }
    }
}
