//! [`Projection`]: a view of the conversation's blocks and messages, and [`Projected`], which folds both.
//!
//! The conversation holds the text; a projection only arranges it. A server that shows several projections of
//! one session can drive them all from one conversation.

use antiphon_event::Event;
use antiphon_graph::{Conversation, Placed};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Changes, View};

/// An arrangement of a conversation, kept up to date as the conversation grows.
pub trait Projection: Default + Clone + Serialize + DeserializeOwned + Send + 'static {
    /// What it is called on the command line and in addresses.
    const NAME: &'static str;

    /// Takes in an event that the conversation has just taken in, and says what that changes in the snapshot.
    /// `placed` is where the event went; nothing for events that concern the conversation as a whole.
    fn apply(
        &mut self,
        conversation: &Conversation,
        placed: Option<Placed>,
        event: &Event,
        changes: &mut Changes,
    );

    /// What a reader sees now.
    fn snapshot<'a>(&'a self, conversation: &'a Conversation) -> impl Serialize + 'a;
}

/// A projection together with the conversation it shows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Projected<P> {
    conversation: Conversation,
    projection: P,
}

impl<P: Projection> Projected<P> {
    /// Begins with a projection that has seen nothing.
    pub fn new(projection: P) -> Self {
        Self { conversation: Conversation::default(), projection }
    }

    /// The conversation behind it.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The projection.
    pub fn projection(&self) -> &P {
        &self.projection
    }

    /// Both, where the projection remembers what it was asked.
    pub fn projection_mut(&mut self) -> (&Conversation, &mut P) {
        (&self.conversation, &mut self.projection)
    }
}

impl<P: Projection> View for Projected<P> {
    const NAME: &'static str = P::NAME;

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        let placed = self.conversation.apply(event);
        self.projection.apply(&self.conversation, placed, event, changes);
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        self.projection.snapshot(&self.conversation)
    }
}
