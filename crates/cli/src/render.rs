//! Views as text for people: one file each, all pure: a view and a page in, lines out.
//!
//! Start reading at [`VIEWS`], the table of them all. What a line is made of is in `line.rs`, `table.rs` and
//! `tree.rs`.

mod agents;
mod bar;
mod dag;
pub(crate) mod diff;
pub(crate) mod flow;
mod ink;
mod line;
mod messages;
mod nested;
pub(crate) mod payload;
mod permissions;
mod prose;
mod repl;
mod replay;
mod risk;
mod runs;
mod status;
mod table;
mod thread;
mod timeline;
mod tools;
mod trace;
mod transcript;
mod tree;
pub(crate) mod unit;
mod usage;
pub(crate) mod why;

use antiphon_event::Event;
use antiphon_view::why::Causes;
use antiphon_view::{
    Agents, Changes, Dag, Fold, Messages, Nested, Permissions, Projected, Repl, Replay, Risk, Runs, Thread,
    Timeline, Tools, Traces, Transcript, Usage, View, catalogue,
};

use crate::output::{Output, Unwritable};

pub(crate) use dag::Format;
pub(crate) use ink::{Ink, Palette};
pub(crate) use line::{Line, harmless, paint, paragraphs};
pub(crate) use status::{ink_of as status_ink, status};
pub(crate) use table::{Side, Table};
pub(crate) use timeline::lines as timeline;
pub(crate) use tree::{room, tree, tree_on};

/// A view that can be asked for by name.
#[derive(Debug)]
pub(crate) struct ViewEntry {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Begins with no events.
    pub(crate) open: fn(Choices) -> Box<dyn Screen>,
}

impl ViewEntry {
    /// What it shows, in a line.
    pub(crate) fn about(&self) -> &'static str {
        catalogue::find(self.name).map_or("", |entry| entry.about)
    }
}

/// What can be chosen about some views.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Choices {
    /// What a thread leaves out.
    pub(crate) thread: thread::Options,
    /// How a graph is drawn.
    pub(crate) format: Format,
}

/// All views, in the order they are listed for people.
pub(crate) static VIEWS: &[ViewEntry] = &[
    entry::<Projected<Thread>>(thread::open),
    entry::<Projected<Messages>>(|_| shown(messages::lines)),
    entry::<Projected<Dag>>(dag::open),
    entry::<Transcript>(|_| shown(transcript::lines)),
    entry::<Nested>(|_| shown(nested::lines)),
    entry::<Tools>(|_| shown(tools::lines)),
    entry::<Permissions>(|_| shown(permissions::lines)),
    entry::<Repl>(|_| shown(repl::lines)),
    entry::<Timeline>(|_| shown(timeline::lines)),
    entry::<Agents>(|_| shown(agents::lines)),
    entry::<Runs>(|_| shown(runs::lines)),
    entry::<Usage>(|_| shown(usage::lines)),
    entry::<Risk>(|_| shown(risk::lines)),
    entry::<Traces>(|_| shown(trace::lines)),
    entry::<Causes>(|_| shown(why::facts)),
    entry::<Replay>(|_| shown(replay::lines)),
];

const fn entry<V: View>(open: fn(Choices) -> Box<dyn Screen>) -> ViewEntry {
    ViewEntry { name: V::NAME, open }
}

/// What text is laid out for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    /// Columns.
    pub(crate) width: usize,
    /// Colours.
    pub(crate) palette: Palette,
}

/// A view under way, whichever it is.
pub(crate) trait Screen {
    /// Takes in one event.
    fn apply(&mut self, event: &Event, changes: &mut Changes);

    /// Writes the snapshot as JSON, without a line break behind it.
    fn write_json(&self, output: &mut Output) -> Result<(), Unwritable>;

    /// The snapshot for people.
    fn text(&self, page: Page) -> String;
}

struct Shown<V> {
    fold: Fold<V>,
    lines: fn(&V, Page) -> Vec<Line>,
}

/// Shows a view with the lines a function lays out.
fn shown<V: View>(lines: fn(&V, Page) -> Vec<Line>) -> Box<dyn Screen> {
    begun(V::default(), lines)
}

/// The same for a view that was made to order.
fn begun<V: View>(view: V, lines: fn(&V, Page) -> Vec<Line>) -> Box<dyn Screen> {
    Box::new(Shown { fold: Fold::new(view), lines })
}

impl<V: View> Screen for Shown<V> {
    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        self.fold.apply(event, changes);
    }

    fn write_json(&self, output: &mut Output) -> Result<(), Unwritable> {
        output.json(&self.fold.view().snapshot())
    }

    fn text(&self, page: Page) -> String {
        paint(&(self.lines)(self.fold.view(), page), page.palette)
    }
}

/// What stands in place of a view of nothing.
fn nothing(why: &str) -> Vec<Line> {
    vec![Line::new().ink(Ink::Faint, format!("({why})"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_of_the_catalogue_can_be_shown() {
        let mut named: Vec<_> = catalogue::CATALOGUE.iter().map(|entry| entry.name).collect();
        let mut shown: Vec<_> = VIEWS.iter().map(|view| view.name).collect();
        named.sort_unstable();
        shown.sort_unstable();
        assert_eq!(named, shown);
    }
}
