//! [`Table`]: rows in aligned columns that fit the width.

use super::ink::Ink;
use super::line::Line;

/// On which side of its column a cell stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
    /// Drawings, which are never cut.
    Fixed,
}

/// Rows of cells under titles. Columns are as wide as their widest cell; if the page is too narrow, the
/// widest columns of words give way, and before they can be read no more, columns that can be spared are left out.
pub(crate) struct Table {
    columns: Vec<(&'static str, Side)>,
    /// What can be spared, the least important first.
    spare: Vec<&'static str>,
    rows: Vec<Vec<Line>>,
}

const GAP: usize = 2;
/// How far words give way while there are columns to be left out.
const LEGIBLE: usize = 32;
const NARROWEST: usize = 6;

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: &[(&'static str, Side)]) -> Self {
        Self { columns: columns.to_vec(), spare: Vec::new(), rows: Vec::new() }
    }

    /// These columns can be left out, the first of them first.
    #[must_use]
    pub(crate) fn sparing(mut self, columns: &[&'static str]) -> Self {
        self.spare = columns.to_vec();
        self
    }

    /// Adds a row, one cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<Line>) {
        assert_eq!(cells.len(), self.columns.len(), "a row has a cell for each column");
        self.rows.push(cells);
    }

    /// The table in at most `width` columns of the terminal. A column with nothing in it is left out.
    pub(crate) fn lines(self, width: usize) -> Vec<Line> {
        let widths = self.widths(width);
        let titles = self.columns.iter().map(|(title, _)| Line::new().ink(Ink::Faint, title)).collect();
        let sides: Vec<Side> = self.columns.iter().map(|(_, side)| *side).collect();
        let rows = std::iter::once(titles).chain(self.rows);
        rows.map(|row| line(row, &widths, &sides).cut(width)).collect()
    }

    /// Whether nothing has to give way on a page of so many columns.
    pub(crate) fn fits(&self, page: usize) -> bool {
        self.widths(usize::MAX / 2) == self.widths(page)
    }

    /// How wide each column is on a page of so many columns; 0 if it is left out.
    fn widths(&self, page: usize) -> Vec<usize> {
        let mut widths: Vec<usize> =
            (0..self.columns.len()).map(|column| self.widest(column).min(page)).collect();
        let mut spare = self.spare.iter();
        loop {
            let mut given = widths.clone();
            if self.give_way(&mut given, page, LEGIBLE) {
                return given;
            }
            let Some(spare) = spare.next() else { break };
            let column = self.columns.iter().position(|(title, _)| title == spare);
            widths[column.expect("what can be spared is a column")] = 0;
        }
        self.give_way(&mut widths, page, NARROWEST);
        widths
    }

    /// Takes from the widest columns of words until all fit, or until none is wider than the narrowest; whether they fit.
    fn give_way(&self, widths: &mut [usize], page: usize, narrowest: usize) -> bool {
        let gaps = widths.iter().filter(|width| **width > 0).count().saturating_sub(1) * GAP;
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(page);
        while over > 0 {
            let words = (0..widths.len()).filter(|column| self.columns[*column].1 == Side::Left);
            let widest = words.max_by_key(|column| (widths[*column], *column));
            let Some(widest) = widest.filter(|column| widths[*column] > narrowest) else {
                return false;
            };
            widths[widest] -= 1;
            over -= 1;
        }
        true
    }

    fn widest(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
        if cells == 0 { 0 } else { cells.max(self.columns[column].0.len()) }
    }
}

fn line(row: Vec<Line>, widths: &[usize], sides: &[Side]) -> Line {
    let mut line = Line::new();
    let shown = row.into_iter().zip(widths).zip(sides).filter(|((_, width), _)| **width > 0);
    for (index, ((cell, width), side)) in shown.enumerate() {
        let cell = cell.cut(*width);
        let before = if *side == Side::Right { width - cell.width() } else { 0 };
        let gap = if index == 0 { 0 } else { GAP };
        line = line.plain(" ".repeat(gap + before)).join(cell.fill(*width - before));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::ink::Palette;
    use crate::render::line::paint;

    #[test]
    fn words_give_way_numbers_do_not_and_empty_columns_go() {
        let mut table = Table::new(&[("tool", Side::Left), ("note", Side::Left), ("ms", Side::Right)]);
        for (name, ms) in [("bash", "12"), ("a_very_long_name", "123456")] {
            table.row(vec![Line::new().plain(name), Line::new(), Line::new().plain(ms)]);
        }
        let text = paint(&table.lines(18), Palette::Plain);
        assert_eq!(text, "tool            ms\nbash            12\na_very_lo…  123456\n");
    }

    #[test]
    fn what_can_be_spared_is_left_out_before_words_can_be_read_no_more() {
        let text = |width: usize| {
            let columns = [("name", Side::Left), ("ms", Side::Right), ("tokens", Side::Right)];
            let mut table = Table::new(&columns).sparing(&["tokens", "ms"]);
            let name = Line::new().plain("a name of some more than thirty-two columns");
            table.row(vec![name, Line::new().plain("12"), Line::new().plain("345")]);
            paint(&table.lines(width).split_off(1), Palette::Plain)
        };
        assert_eq!(text(55), "a name of some more than thirty-two columns  12     345\n");
        assert_eq!(text(44), "a name of some more than thirty…  12     345\n");
        assert_eq!(text(43), "a name of some more than thirty-two co…  12\n");
        assert_eq!(text(36), "a name of some more than thirty…  12\n");
        assert_eq!(text(35), "a name of some more than thirty-tw…\n");
        assert_eq!(text(10), "a name of…\n");
    }
}
