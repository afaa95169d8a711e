//! The driver: runs flows on a journal.
//!
//! In: a flow and a task, or a journal to go on from. Out: events, appended before anything is done about them,
//! and a [`Report`] whatever ended the run. Start reading at [`Engine`], then [`driver`].

mod agent;
mod away;
mod budget;
mod checkpoint;
mod clock;
mod code;
mod command;
mod driver;
mod engine;
mod folder;
mod fork;
mod function;
mod harness;
mod hook;
mod mind;
mod model;
mod outfit;
mod pages;
mod perform;
mod report;
mod resume;
mod run;
mod stand_in;
mod tail;
mod talk;
mod timer;
mod tool;
mod tree;

pub use clock::{Clock, Ids, SystemClock, TaskClock, UuidIds};
pub use engine::{Engine, Invocation, Refused};
pub use fork::Forking;
pub use function::{Call, Function, Future};
pub use harness::{Harness, Invoke, Reservation};
pub use hook::{AsyncHook, Occasion};
pub use outfit::{Kit, Outfitter};
pub use report::{ByNode, Outcome, Report};
pub use run::{Run, Stopped};
pub use stand_in::{Job, StandIn};
pub use tail::Tail;

/// The programs on the page about flows.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/flows.md")]
struct Page;
