//! The commands, one file each: what was asked for in, output out.

pub(crate) mod diff;
pub(crate) mod reduce;
pub(crate) mod tour;
pub(crate) mod view;
pub(crate) mod why;
