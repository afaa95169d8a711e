//! Flows: orchestration graphs, checked when built, and the machine that runs them.
//!
//! In: definitions as Rust or as files, and events that happened. Out: what may run next. No clock, no I/O.
//! Start reading at [`Flow`], then [`Scheduler`] for how one runs.

pub mod budget;
mod builder;
pub mod check;
pub mod consent;
mod definition;
pub mod expr;
pub mod file;
pub mod function;
pub mod guard;
pub mod hook;
mod moment;
pub mod retry;
mod scheduler;
pub mod schema;
mod shape;
pub mod state;
mod swarm;
pub mod time;

pub use builder::Builder;
pub use definition::{
    AgentUse, Auto, Class, Command, Edge, EdgeIndex, Flow, Guards, Human, Join, Limits, Map, Node, NodeIndex,
    OnError, OnFailure, OnTimeout, Settings, ToolUse, When, Work,
};
pub use expr::Expression;
pub use hook::may_be_said;
pub use moment::{Formula, Moment};
pub use scheduler::{Attempt, Effect, Input, Now, Origin, Refusal, Saved, Scheduler, Waits};
pub use shape::Shape;
pub use swarm::Swarm;
