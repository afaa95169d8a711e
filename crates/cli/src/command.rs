//! The commands, one file each: what was asked for in, output out.

pub(crate) mod cancel;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod draw;
pub(crate) mod fork;
mod left;
pub(crate) mod record;
pub(crate) mod reduce;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sessions;
pub(crate) mod test;
pub(crate) mod tour;
pub(crate) mod verify;
pub(crate) mod view;
pub(crate) mod why;
