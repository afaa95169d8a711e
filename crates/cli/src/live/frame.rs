//! [`Frame`]: lines on a terminal that are drawn again in the same place.
//!
//! Lines are cut to the width, so each takes one row; when the terminal has become narrower since, the rows that the
//! last drawing takes now are counted again before it is taken away.

use std::fmt::Write;

use crate::output::say;
use crate::render::{Line, Page, paint};

/// Rows when the terminal does not say.
const ROWS: usize = 24;

/// Where something was drawn last.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// How wide each line of the last drawing is.
    widths: Vec<usize>,
    shown: String,
}

impl Frame {
    /// Draws lines in the place of the last ones, laid out for the terminal as it is now.
    pub(crate) fn draw(&mut self, lines: impl FnOnce(Page, usize) -> Vec<Line>, page: Page) {
        let size = terminal_size::terminal_size_of(std::io::stderr());
        let (columns, rows) =
            size.map_or((page.width, ROWS), |(columns, rows)| (columns.0.into(), rows.0.into()));
        let page = Page { width: usize::max(columns, 2) - 1, ..page };
        let lines: Vec<Line> =
            lines(page, usize::max(rows, 3) - 2).into_iter().map(|line| line.cut(page.width)).collect();
        let text = paint(&lines, page.palette);
        if text == self.shown && self.widths.iter().all(|width| *width < columns) {
            return;
        }
        let erased = self.erasure(columns);
        say(&format!("{erased}{text}"));
        self.widths = lines.iter().map(Line::width).collect();
        self.shown = text;
    }

    /// Takes the drawing away.
    pub(crate) fn clear(&mut self) {
        let columns = terminal_size::terminal_size_of(std::io::stderr())
            .map_or(usize::MAX, |(columns, _)| columns.0.into());
        say(&self.erasure(columns));
        self.leave();
    }

    /// Leaves the drawing where it is; the next one comes below.
    pub(crate) fn leave(&mut self) {
        self.widths.clear();
        self.shown.clear();
    }

    /// What takes the drawing away on a terminal of so many columns.
    fn erasure(&self, columns: usize) -> String {
        let rows: usize = self.widths.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum();
        let mut text = String::new();
        if rows > 0 {
            write!(text, "\r\x1b[{rows}A\x1b[J").expect("a string takes any text");
        }
        text
    }
}

/// How many rows the terminal has.
pub(crate) fn rows() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(ROWS, |(_, rows)| rows.0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_takes_more_rows_on_a_terminal_that_became_narrower() {
        let frame = Frame { widths: vec![10, 0, 25], shown: String::new() };
        assert_eq!(frame.erasure(30), "\r\x1b[3A\x1b[J");
        assert_eq!(frame.erasure(10), "\r\x1b[5A\x1b[J");
        assert_eq!(Frame::default().erasure(10), "");
    }
}
