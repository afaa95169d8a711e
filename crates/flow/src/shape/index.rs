//! [`Index`]: the nodes of a flow by id.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::definition::NodeIndex;

/// Nodes by id.
#[derive(Debug, Clone)]
pub(crate) enum Index {
    /// By the names their owner gave them. Looked up for every event, so hashed fast; the seed is fixed, as a flow comes
    /// from its owner.
    Named(HashMap<String, NodeIndex, FixedState>),
    /// The items of a map, so many of them: their names are their numbers.
    Items(usize),
}

impl Default for Index {
    fn default() -> Self {
        Self::Named(HashMap::default())
    }
}

impl Index {
    /// The first of each name counts; the checks report the others.
    pub(crate) fn of<'i>(ids: impl ExactSizeIterator<Item = &'i str>) -> Self {
        let mut named = HashMap::with_capacity_and_hasher(ids.len(), FixedState::default());
        for (node, id) in ids.enumerate() {
            named.entry(id.to_owned()).or_insert(node);
        }
        Self::Named(named)
    }

    pub(crate) fn get(&self, id: &str) -> Option<NodeIndex> {
        match self {
            Self::Named(named) => named.get(id).copied(),
            Self::Items(count) => number(id).filter(|item| item < count),
        }
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.get(id).is_some()
    }
}

/// The number that is written like this, and in no other way.
fn number(id: &str) -> Option<usize> {
    let is_plain = id == "0" || id.starts_with(|first: char| ('1'..='9').contains(&first));
    if is_plain { id.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_by_their_numbers_as_they_are_written_and_no_other_way() {
        let index = Index::Items(120);
        for (id, node) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("119", Some(119)),
            ("120", None),
            ("007", None),
            ("00", None),
            ("+7", None),
            ("-0", None),
            ("7 ", None),
            ("", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(index.get(id), node, "{id}");
        }
    }

    #[test]
    fn the_first_of_two_nodes_of_one_name_has_it() {
        let index = Index::of(["a", "b", "a"].into_iter());
        assert_eq!([index.get("a"), index.get("b"), index.get("c")], [Some(0), Some(1), None]);
    }
}
