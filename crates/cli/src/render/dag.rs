//! The graph of a conversation, drawn: as text, or as a picture for something else to show.

use antiphon_event::Event;
use antiphon_view::dag::{self, Dag};
use antiphon_view::{Changes, Fold, Projected, View};
use clap::ValueEnum;

use super::{Choices, Line, Page, Screen, nothing, paint};
use crate::output::{Output, Unwritable};

/// How a graph is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Rows and lanes, for a terminal.
    #[default]
    Text,
    /// A picture.
    Svg,
    /// A Mermaid flowchart.
    Mermaid,
    /// A Graphviz graph.
    Dot,
    /// The layout itself, as `--json`.
    Json,
}

/// A graph under way, and how it will be drawn.
struct Drawing {
    fold: Fold<Projected<Dag>>,
    format: Format,
}

/// A graph in the format that was chosen.
pub(super) fn open(choices: Choices) -> Box<dyn Screen> {
    Box::new(Drawing { fold: Fold::new(Projected::default()), format: choices.format })
}

impl Screen for Drawing {
    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        self.fold.apply(event, changes);
    }

    fn write_json(&self, output: &mut Output) -> Result<(), Unwritable> {
        output.json(&self.fold.view().snapshot())
    }

    fn text(&self, page: Page) -> String {
        let layout = self.fold.view().projection().layout();
        let drawn = match self.format {
            Format::Svg => return dag::svg(layout),
            Format::Mermaid => return dag::mermaid(layout),
            Format::Dot => return dag::dot(layout),
            Format::Text | Format::Json => dag::text(layout, page.width),
        };
        let lines: Vec<Line> = drawn.lines().map(|line| Line::new().plain(line)).collect();
        paint(&if lines.is_empty() { nothing("nothing happened") } else { lines }, page.palette)
    }
}
