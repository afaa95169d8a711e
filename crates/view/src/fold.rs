//! [`View`]: the shape all views have, and [`Fold`], which keeps their common laws.

use antiphon_event::{Event, Kind, Seen};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Changes;

/// An incremental fold of events into something a person looks at.
///
/// `apply` costs what it changes, never what there is already, and never fails: an event that says nothing
/// to a view, or that nobody expected, leaves it as it is. Saved (serialised) and loaded again it goes on as
/// if nothing had happened. Repeats and unknown types never reach `apply`, see [`Fold`].
pub trait View: Default + Clone + Serialize + DeserializeOwned + Send + 'static {
    /// What it is called on the command line and in addresses.
    const NAME: &'static str;

    /// Takes in one event, and says what that changes in the snapshot.
    fn apply(&mut self, event: &Event, changes: &mut Changes);

    /// Takes note that there was an event of an unknown type. Nothing a reader sees may change.
    fn pass_over(&mut self, _event: &Event) {}

    /// What a reader sees now.
    fn snapshot(&self) -> impl Serialize + '_;
}

/// A view together with the position it has reached: repeats and unknown types change nothing.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Fold<V> {
    seen: Seen,
    view: V,
}

impl<V: View> Fold<V> {
    /// Begins with a view that has seen nothing.
    pub fn new(view: V) -> Self {
        Self { seen: Seen::default(), view }
    }

    /// Folds a whole history at once.
    pub fn of<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut fold = Self::new(V::default());
        let mut changes = Changes::unwanted();
        for event in events {
            fold.apply(event, &mut changes);
        }
        fold
    }

    /// Takes in one event, unless it is a repeat or of a type this version does not know.
    pub fn apply(&mut self, event: &Event, changes: &mut Changes) {
        if event.kind() == Kind::Unknown {
            self.view.pass_over(event);
        } else if self.seen.admit(event) {
            self.view.apply(event, changes);
        }
    }

    /// The view.
    pub fn view(&self) -> &V {
        &self.view
    }
}
