//! Texts side by side, word by word.

use serde::Serialize;
use similar::{Algorithm, DiffTag, capture_diff_slices};

/// A piece of text that is in both, or only in one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Piece {
    /// Where it is.
    pub op: Op,
    /// The text. Of a long piece that is in both only the ends are kept, with an ellipsis between them.
    pub text: String,
}

/// Where a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// In both.
    Keep,
    /// Only in A.
    Remove,
    /// Only in B.
    Add,
}

/// How many words, or lines, are compared with one another; beyond that the cost would grow with the square.
const COMPARED_MAX: usize = 4_000;

/// How many characters are kept at either end of a long piece that is in both.
const ENDS: usize = 30;

/// What must be taken away from A and added to get B: word by word, line by line if that is too much, or all of it.
pub(super) fn pieces(a: &str, b: &str) -> Vec<Piece> {
    let words =
        |text| str::split_inclusive::<fn(char) -> bool>(text, char::is_whitespace).collect::<Vec<_>>();
    compared(&words(a), &words(b))
        .or_else(|| {
            compared(
                &a.split_inclusive('\n').collect::<Vec<_>>(),
                &b.split_inclusive('\n').collect::<Vec<_>>(),
            )
        })
        .unwrap_or_else(|| {
            let mut pieces = Vec::new();
            add(&mut pieces, Op::Remove, &[a]);
            add(&mut pieces, Op::Add, &[b]);
            pieces
        })
}

/// The pieces of two texts, or `None` if too much of them differs.
fn compared(a: &[&str], b: &[&str]) -> Option<Vec<Piece>> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let ends = a[start..].iter().rev().zip(b[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let (a_end, b_end) = (a.len() - end, b.len() - end);
    let (a_differs, b_differs) = (&a[start..a_end], &b[start..b_end]);
    if a_differs.len() + b_differs.len() > COMPARED_MAX {
        return None;
    }
    let mut pieces = Vec::new();
    add(&mut pieces, Op::Keep, &a[..start]);
    for op in capture_diff_slices(Algorithm::Myers, a_differs, b_differs) {
        let (tag, from, to) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            add(&mut pieces, Op::Keep, &a_differs[from]);
            continue;
        }
        add(&mut pieces, Op::Remove, &a_differs[from]);
        add(&mut pieces, Op::Add, &b_differs[to]);
    }
    add(&mut pieces, Op::Keep, &a[a_end..]);
    Some(pieces)
}

fn add(pieces: &mut Vec<Piece>, op: Op, words: &[&str]) {
    let text = words.concat();
    if !text.is_empty() {
        let text = if op == Op::Keep { ends(text) } else { text };
        pieces.push(Piece { op, text });
    }
}

/// A long text without its middle.
fn ends(text: String) -> String {
    let length = text.chars().count();
    if length <= 2 * ENDS + 1 {
        return text;
    }
    let head: String = text.chars().take(ENDS).collect();
    let tail: String = text.chars().skip(length - ENDS).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: &str) {
        let shown = pieces(a, b).into_iter().map(|piece| match piece.op {
            Op::Keep => piece.text,
            Op::Remove => format!("[-{}]", piece.text),
            Op::Add => format!("[+{}]", piece.text),
        });
        assert_eq!(shown.collect::<String>(), expected);
    }

    #[test]
    fn words_that_differ_are_marked() {
        check("good morning all", "good evening all", "good [-morning ][+evening ]all");
        check("", "new", "[+new]");
        check("old", "", "[-old]");
        check("same", "same", "same");
        check("a b c d", "a c d e", "a [-b ]c [-d][+d e]");
    }

    #[test]
    fn long_pieces_that_are_in_both_keep_their_ends() {
        let same = "é ".repeat(50);
        let kept = format!("{}…{}", "é ".repeat(15), "é ".repeat(15));
        check(&format!("{same}x"), &format!("{same}y"), &format!("{kept}[-x][+y]"));
    }

    #[test]
    fn texts_that_have_too_little_in_common_are_taken_whole() {
        let (a, b) = ("a ".repeat(COMPARED_MAX), "b ".repeat(COMPARED_MAX));
        check(&a, &b, &format!("[-{a}][+{b}]"));
        let line = format!("{a}\n");
        let kept = ends(line.clone());
        check(&format!("x\n{line}{b}"), &format!("{line}{a}"), &format!("[-x\n]{kept}[-{b}][+{a}]"));
    }
}
