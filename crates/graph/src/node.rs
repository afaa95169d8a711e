//! [`Node`]: one thing that happened.

use antiphon_event::{Body, Extra, FlowNodeId, Json, Kind, NodeId, ParentId, RunId};
use imbl::Vector;
use triomphe::Arc;

use crate::Text;

/// Stands for "no node" where a place is kept.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// One thing that happened, or one stream of text that grew piece by piece.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub(crate) id: NodeId,
    pub(crate) run: RunId,
    pub(crate) run_place: u32,
    /// The members of its event, in its latest form; for a stream those of its pieces, without the text.
    pub(crate) body: Body,
    /// The pieces of a stream, put together.
    pub(crate) text: Option<Box<Text>>,
    /// What most nodes have nothing of, so that they are smaller.
    pub(crate) rest: Option<Box<Rest>>,
    pub(crate) discarded: bool,
}

/// What only some nodes have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rest {
    /// The members that this version does not know, in their latest form.
    pub(crate) extra: Extra,
    pub(crate) parent_id: Option<ParentId>,
    pub(crate) flow_node: Option<FlowNodeId>,
}

impl Rest {
    /// Nothing, if there is nothing in it.
    pub(crate) fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

impl Node {
    /// Its id, the same on every replay.
    pub fn id(&self) -> &NodeId {
        &self.id
    }

    /// The run it belongs to.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The place of its run in the order runs began, from 0.
    pub fn run_place(&self) -> u32 {
        self.run_place
    }

    /// The type of event it came from.
    pub fn kind(&self) -> Kind {
        self.body.kind()
    }

    /// The members of its event; for a stream, those of its pieces, without the text.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The members of its event that this version does not know.
    pub fn extra(&self) -> &[(Box<str>, Json)] {
        self.rest.as_ref().map_or(&[], |rest| &rest.extra)
    }

    /// Puts the latest of the members that this version does not know in the place of the earlier ones.
    pub(crate) fn set_extra(&mut self, latest: &Extra) {
        match &mut self.rest {
            Some(rest) => rest.extra.clone_from(latest),
            None => self.rest = Rest { extra: latest.clone(), ..Rest::default() }.boxed(),
        }
    }

    /// The text of a stream.
    pub fn text(&self) -> Option<&Text> {
        self.text.as_deref()
    }

    /// What caused its run, as the run's first event said; also where that would have closed a cycle.
    pub fn parent_id(&self) -> Option<&ParentId> {
        self.rest.as_ref()?.parent_id.as_ref()
    }

    /// The flow node in whose scope it happened.
    pub fn flow_node(&self) -> Option<&FlowNodeId> {
        self.rest.as_ref()?.flow_node.as_ref()
    }

    /// Whether a repeated model call made it void.
    pub fn is_discarded(&self) -> bool {
        self.discarded
    }
}

/// A node and how it hangs together with others. The links stand beside the node: whoever follows them, or adds one, need
/// not touch the nodes themselves, which are large and far apart.
#[derive(Debug, Clone)]
pub(crate) struct Linked {
    pub(crate) node: Arc<Node>,
    pub(crate) parent: u32,
    /// The node before it in its run.
    pub(crate) before: u32,
    pub(crate) children: Children,
}

impl Linked {
    /// The node to be changed; one that a snapshot holds is copied first.
    pub(crate) fn node_mut(&mut self) -> &mut Node {
        Arc::make_mut(&mut self.node)
    }
}

/// The children of a node, in order. Most nodes have one; a few have a great many.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Children {
    #[default]
    None,
    One(u32),
    Many(Box<Vector<u32>>),
}

impl Children {
    pub(crate) fn push(&mut self, child: u32) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(child),
            Self::One(first) => Self::Many(Box::new([first, child].into_iter().collect())),
            Self::Many(mut children) => {
                children.push_back(child);
                Self::Many(children)
            }
        };
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(child) => (Some(*child), None),
            Self::Many(children) => (None, Some(children.iter().copied())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl FromIterator<u32> for Children {
    fn from_iter<I: IntoIterator<Item = u32>>(places: I) -> Self {
        let mut children = Self::None;
        places.into_iter().for_each(|place| children.push(place));
        children
    }
}
