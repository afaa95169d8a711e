//! The list of all views, for those who know a view by its name only.
//!
//! Adding a view means a file of its own and one line in [`CATALOGUE`]; the laws are then tested for it.

use antiphon_event::Event;
use serde_json::Value;

use crate::value::to_value;
use crate::why::Causes;
use crate::{
    Agents, Changes, Dag, Fold, Messages, Nested, Permissions, Projected, Repl, Replay, Risk, Runs, Thread,
    Timeline, Tools, Traces, Transcript, Usage, View,
};

/// A fold whose view is known by name only.
pub trait AnyView: Send {
    /// Takes in one event, see [`Fold::apply`].
    fn apply(&mut self, event: &Event, changes: &mut Changes);

    /// What a reader sees now.
    fn snapshot(&self) -> Value;

    /// Appends what a reader sees now to `out`, as JSON on one line: payloads to the letter as they came.
    fn write_json(&self, out: &mut Vec<u8>);

    /// The whole fold as text, for [`Entry::load`].
    fn save(&self) -> String;
}

impl<V: View> AnyView for Fold<V> {
    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        Fold::apply(self, event, changes);
    }

    fn snapshot(&self) -> Value {
        to_value(&self.view().snapshot())
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, &self.view().snapshot()).expect("snapshots are JSON");
    }

    fn save(&self) -> String {
        serde_json::to_string(self).expect("views are saved as JSON")
    }
}

/// One view of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// What it is called on the command line and in addresses.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Begins with nothing seen.
    pub make: fn() -> Box<dyn AnyView>,
    /// Goes on from what [`AnyView::save`] gave.
    pub load: fn(&str) -> Result<Box<dyn AnyView>, serde_json::Error>,
}

/// All views, in the order they are listed for people.
pub const CATALOGUE: &[Entry] = &[
    entry::<Projected<Thread>>("the conversation as one would read it, subagents under their calls"),
    entry::<Projected<Messages>>("the conversation as a model's vendor wants it"),
    entry::<Projected<Dag>>("the conversation as a laid-out graph"),
    entry::<Transcript>("what was said, message by message"),
    entry::<Tools>("tool calls: arguments, progress, results, state"),
    entry::<Permissions>("what people were asked, what waits for an answer, what was granted"),
    entry::<Runs>("runs: what started them, their state, what they used"),
    entry::<Usage>("tokens and cost by run, agent, node and model"),
    entry::<Timeline>("flows: nodes, attempts, layers and edges over time"),
    entry::<Agents>("agents and their subagents, with what they used"),
    entry::<Traces>("traces: turns, iterations and tools as spans"),
    entry::<Nested>("everything that happened, inside what it belongs to"),
    entry::<Repl>("turns of agents that write code"),
    entry::<Risk>("what is recorded, what is in flight, what would run again"),
    entry::<Replay>("branches as recorded: positions, turns, counts, messages, gaps"),
    entry::<Causes>("what caused what, from every event back to whoever asked"),
];

/// The view with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

const fn entry<V: View>(about: &'static str) -> Entry {
    Entry { name: V::NAME, about, make: make::<V>, load: load::<V> }
}

fn make<V: View>() -> Box<dyn AnyView> {
    Box::new(Fold::new(V::default()))
}

fn load<V: View>(saved: &str) -> Result<Box<dyn AnyView>, serde_json::Error> {
    Ok(Box::new(serde_json::from_str::<Fold<V>>(saved)?))
}
