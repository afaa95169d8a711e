//! Views as text for people: one file each, all pure: a view and a page in, lines out.
//!
//! Start reading at [`VIEWS`], the table of them all. What a line is made of is in [`line`], [`table`] and
//! [`tree`].

mod agents;
mod bar;
pub(crate) mod diff;
mod ink;
mod line;
mod nested;
mod payload;
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
mod unit;
mod usage;
pub(crate) mod why;

use antiphon_event::Event;
use antiphon_view::thread::Thread;
use antiphon_view::{
    Agents, Changes, Fold, Nested, Permissions, Projected, Repl, Replay, Risk, Runs, Timeline, Tools, Traces,
    Transcript, Usage, View,
};

use crate::output::{Output, Unwritable};

pub(crate) use ink::{Ink, Palette};
pub(crate) use line::{Line, harmless, paint, paragraphs};
pub(crate) use table::{Side, Table};
pub(crate) use tree::tree;

/// A view that can be asked for by name.
#[derive(Debug)]
pub(crate) struct ViewEntry {
    /// What it is called.
    pub(crate) name: &'static str,
    /// What it shows, in a line.
    pub(crate) about: &'static str,
    /// Begins with no events.
    pub(crate) open: fn(Choices) -> Box<dyn Screen>,
}

/// What can be chosen about some views.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Choices {
    /// What a thread leaves out.
    pub(crate) thread: thread::Options,
}

/// All views, in the order they are listed for people.
pub(crate) static VIEWS: &[ViewEntry] = &[
    entry::<Projected<Thread>>("a conversation to read, subagents under their calls", thread::open),
    entry::<Transcript>("what was said, message by message", |_| shown(transcript::lines)),
    entry::<Nested>("everything that happened, inside what it belongs to", |_| shown(nested::lines)),
    entry::<Tools>("tool calls: arguments, progress, results, state", |_| shown(tools::lines)),
    entry::<Permissions>("what people were asked, what was granted", |_| shown(permissions::lines)),
    entry::<Repl>("turns of agents that write code", |_| shown(repl::lines)),
    entry::<Timeline>("what every flow did, node by node", |_| shown(timeline::lines)),
    entry::<Agents>("who started whom, what each did and used", |_| shown(agents::lines)),
    entry::<Runs>("runs: what started them, how they stand", |_| shown(runs::lines)),
    entry::<Usage>("tokens and cost by run, agent, node and model", |_| shown(usage::lines)),
    entry::<Risk>("what would run again if the process died now", |_| shown(risk::lines)),
    entry::<Traces>("spans inside spans, with the time each took", |_| shown(trace::lines)),
    entry::<Replay>("branches as recorded: positions, turns, gaps", |_| shown(replay::lines)),
];

const fn entry<V: View>(about: &'static str, open: fn(Choices) -> Box<dyn Screen>) -> ViewEntry {
    ViewEntry { name: V::NAME, about, open }
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
    use antiphon_view::catalogue::CATALOGUE;

    use super::*;

    #[test]
    fn every_view_of_the_catalogue_can_be_shown() {
        for entry in CATALOGUE {
            assert!(VIEWS.iter().any(|view| view.name == entry.name), "{}", entry.name);
        }
    }
}
