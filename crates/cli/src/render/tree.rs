//! [`tree`]: rows with a depth, drawn with guides.
//!
//! Works on a flat list, as a nesting of a hundred thousand levels must not cost the stack.

use std::fmt::Write;

use super::ink::Ink;
use super::line::Line;

/// How deep guides are drawn; rows further down stand there too, with their depth in figures.
const DEPTH_MAX: usize = 24;
/// Columns of a guide.
const GUIDE: usize = 3;
/// Columns that guides leave on a page at least.
const ROOM: usize = 20;

/// Draws rows in order, each at its depth (0 for a root) and of one or more lines.
pub(crate) fn tree(rows: Vec<(usize, Vec<Line>)>) -> Vec<Line> {
    draw(rows, DEPTH_MAX)
}

/// The same on a page of so many columns, where each row has its [`room`].
pub(crate) fn tree_on(width: usize, rows: Vec<(usize, Vec<Line>)>) -> Vec<Line> {
    draw(rows, deepest(width)).into_iter().map(|line| line.cut(width)).collect()
}

/// The columns that a row at this depth has on a page of so many.
pub(crate) fn room(width: usize, depth: usize) -> usize {
    width.saturating_sub(GUIDE * depth.min(deepest(width) + 1))
}

/// How deep guides are drawn on a page of so many columns.
fn deepest(width: usize) -> usize {
    let guides = width.saturating_sub(ROOM) / GUIDE;
    guides.saturating_sub(1).min(DEPTH_MAX)
}

fn draw(rows: Vec<(usize, Vec<Line>)>, deepest: usize) -> Vec<Line> {
    let lasts = lasts(&rows);
    let mut open: Vec<bool> = Vec::new();
    let mut drawn = Vec::new();
    for ((depth, lines), last) in rows.into_iter().zip(lasts) {
        open.truncate(depth);
        open.resize(depth, false);
        for (index, line) in lines.into_iter().enumerate() {
            drawn.push(guides(&open, last, deepest, index == 0).join(line));
        }
        open.push(!last);
    }
    drawn
}

/// For each row whether no sibling follows it.
fn lasts(rows: &[(usize, Vec<Line>)]) -> Vec<bool> {
    let mut follows: Vec<bool> = Vec::new();
    let mut lasts = vec![true; rows.len()];
    for (index, (depth, _)) in rows.iter().enumerate().rev() {
        follows.resize(depth + 1, false);
        lasts[index] = !follows[*depth];
        follows[*depth] = true;
    }
    lasts
}

fn guides(open: &[bool], last: bool, deepest: usize, first: bool) -> Line {
    let depth = open.len();
    if depth == 0 {
        return Line::new();
    }
    let mut text = String::new();
    for open in open[1..].iter().take(deepest) {
        text.push_str(if *open { "│  " } else { "   " });
    }
    if depth > deepest && first {
        write!(text, "({depth}) ").expect("a string takes any text");
    }
    text.push_str(match (first, last) {
        (true, true) => "└─ ",
        (true, false) => "├─ ",
        (false, true) => "   ",
        (false, false) => "│  ",
    });
    Line::new().ink(Ink::Faint, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::ink::Palette;
    use crate::render::line::paint;

    #[test]
    fn guides_join_siblings_and_stop_at_the_last() {
        let row = |depth: usize, text: &str| (depth, vec![Line::new().plain(text)]);
        let mut rows = vec![row(0, "a"), row(1, "b"), row(2, "c"), row(1, "d"), row(2, "e"), row(0, "f")];
        rows[1].1.push(Line::new().plain("more of b"));
        let text = paint(&tree(rows), Palette::Plain);
        assert_eq!(text, "a\n├─ b\n│  more of b\n│  └─ c\n└─ d\n   └─ e\nf\n");
    }
}
