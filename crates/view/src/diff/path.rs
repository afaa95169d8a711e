//! [`Paths`]: places in the structure of a conversation, the same for both histories.

use std::collections::HashMap;

/// A place: a turn, a call in a run, a node of a flow, and so on down.
pub(super) type Path = u32;

/// The place above all others.
pub(super) const ROOT: Path = 0;

/// How many steps of a path are shown, from its end.
const SHOWN_MAX: usize = 8;

/// Gives every place a number, so that deep ones cost no more than shallow ones.
#[derive(Debug)]
pub(super) struct Paths {
    numbers: HashMap<(Path, String), Path>,
    /// The place above each, and its own label.
    places: Vec<(Path, String)>,
}

impl Default for Paths {
    fn default() -> Self {
        Self { numbers: HashMap::new(), places: vec![(ROOT, String::new())] }
    }
}

impl Paths {
    /// The place of this label below another; an empty label is not shown.
    pub(super) fn below(&mut self, above: Path, label: String) -> Path {
        let next = self.places.len() as Path;
        *self.numbers.entry((above, label)).or_insert_with_key(|(above, label)| {
            self.places.push((*above, label.clone()));
            next
        })
    }

    /// The labels from the top down to a place.
    pub(super) fn show(&self, mut path: Path) -> String {
        let mut labels = Vec::new();
        while path != ROOT && labels.len() < SHOWN_MAX {
            let (above, label) = &self.places[path as usize];
            if !label.is_empty() && !label.starts_with("turn ") {
                labels.push(label.as_str());
            }
            path = *above;
        }
        if path != ROOT && labels.len() == SHOWN_MAX {
            labels.push("…");
        }
        labels.reverse();
        labels.join(" › ")
    }
}
