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
/// widest columns of words give way.
pub(crate) struct Table {
    columns: Vec<(&'static str, Side)>,
    rows: Vec<Vec<Line>>,
}

const GAP: usize = 2;
const NARROWEST: usize = 6;

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: &[(&'static str, Side)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
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

    fn widths(&self, page: usize) -> Vec<usize> {
        let mut widths: Vec<usize> =
            (0..self.columns.len()).map(|column| self.widest(column).min(page)).collect();
        let gaps = widths.iter().filter(|width| **width > 0).count().saturating_sub(1) * GAP;
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(page);
        while over > 0 {
            let words = (0..widths.len()).filter(|column| self.columns[*column].1 == Side::Left);
            let widest = words.max_by_key(|column| (widths[*column], *column));
            let Some(widest) = widest.filter(|column| widths[*column] > NARROWEST) else {
                break;
            };
            widths[widest] -= 1;
            over -= 1;
        }
        widths
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
}
