//! [`Effect`]: something to be done outside, and [`Effects`], all that one event asks for.

use std::ops::Deref;
use std::{slice, vec};

use antiphon_event::{RelayId, Timestamp};

use super::Attempt;

/// What the scheduler wants done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Do the work of a node.
    Perform(Attempt),
    /// Say [`Input::Due`](super::Input::Due) after so many milliseconds.
    Wait(Attempt, u64),
    /// Say [`Input::Expired`](super::Input::Expired) at this moment.
    Watch(RelayId, Timestamp),
    /// Cut the work of a node off; what it still says or gives is dropped.
    Stop(Attempt),
    /// Let the work of a node come to a good end soon.
    Wind(Attempt),
}

/// What one event asks for: mostly nothing or one thing, which then costs no memory of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Effects {
    /// Nothing.
    #[default]
    None,
    /// One thing.
    One(Effect),
    /// Any number of things, in this order.
    Many(Vec<Effect>),
}

impl Deref for Effects {
    type Target = [Effect];

    fn deref(&self) -> &[Effect] {
        match self {
            Self::None => &[],
            Self::One(effect) => slice::from_ref(effect),
            Self::Many(effects) => effects,
        }
    }
}

impl IntoIterator for Effects {
    type Item = Effect;
    type IntoIter = IntoIter;

    #[inline]
    fn into_iter(self) -> IntoIter {
        match self {
            Self::None => IntoIter::One(None),
            Self::One(effect) => IntoIter::One(Some(effect)),
            Self::Many(effects) => IntoIter::Many(effects.into_iter()),
        }
    }
}

/// Each of [`Effects`], in order.
#[derive(Debug, Clone)]
pub enum IntoIter {
    /// At most one is left.
    One(Option<Effect>),
    /// Any number may be.
    Many(vec::IntoIter<Effect>),
}

impl Iterator for IntoIter {
    type Item = Effect;

    #[inline]
    fn next(&mut self) -> Option<Effect> {
        match self {
            Self::One(effect) => effect.take(),
            Self::Many(effects) => effects.next(),
        }
    }
}
