//! Talking with an agent from the command line.
//!
//! In: what a person or a script says. Out: what the agent says and does, as it happens. Start reading at
//! [`talk::Talk`], one conversation; [`turn`] follows one turn of it, [`scene`] shows it, [`dialogue`] is the loop
//! around it in a terminal, [`piped`] the one without.

pub(crate) mod agent;
mod call;
pub(crate) mod consent;
pub(crate) mod dialogue;
mod keys;
mod markdown;
pub(crate) mod piped;
mod prompt;
mod scene;
mod slash;
pub(crate) mod talk;
mod turn;
mod typing;

pub(crate) use turn::Show;
