//! [`Span`]: a stretch of time drawn as a bar on a common scale.

use super::ink::Ink;
use super::line::Line;

/// From when to when, in milliseconds; without an end it is still under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// When it began.
    pub(crate) start: i64,
    /// When it ended.
    pub(crate) end: Option<i64>,
}

/// The stretch that holds them all.
pub(crate) fn whole(spans: impl Iterator<Item = Span>) -> Option<Span> {
    spans.fold(None, |whole: Option<Span>, span| {
        let end = span.end.unwrap_or(span.start);
        let (start, end) = match whole {
            Some(Span { start: first, end: last }) => (first.min(span.start), last.unwrap_or(end).max(end)),
            None => (span.start, end),
        };
        Some(Span { start, end: Some(end) })
    })
}

/// Draws a span as a part of `whole`, in so many columns; one under way runs on to the end.
pub(crate) fn bar(span: Span, whole: Span, width: usize, ink: Ink) -> Line {
    let end = whole.end.unwrap_or(whole.start);
    let total = end.saturating_sub(whole.start).max(1) as f64;
    let column = |at: i64| (at.saturating_sub(whole.start) as f64 / total * width as f64) as usize;
    let from = column(span.start).min(width.saturating_sub(1));
    let to = column(span.end.unwrap_or(end)).clamp(from + 1, width.max(from + 1));
    let drawn = if span.end.is_some() { "━" } else { "╍" };
    Line::new().plain(" ".repeat(from)).ink(ink, drawn.repeat(to - from)).fill(width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::ink::Palette;
    use crate::render::line::paint;

    #[test]
    fn bars_share_a_scale_and_the_shortest_is_still_seen() {
        let spans = [(0, Some(50)), (50, Some(100)), (99, Some(99)), (75, None)];
        let spans = spans.map(|(start, end)| Span { start, end });
        let all = whole(spans.into_iter()).expect("there are some");
        assert_eq!(all, Span { start: 0, end: Some(100) });
        let text = paint(&spans.map(|span| bar(span, all, 8, Ink::Plain)), Palette::Plain);
        assert_eq!(text, "━━━━\n    ━━━━\n       ━\n      ╍╍\n");
        let hostile = Span { start: i64::MIN, end: Some(i64::MAX) };
        assert_eq!(bar(hostile, hostile, 8, Ink::Plain).width(), 8);
    }
}
