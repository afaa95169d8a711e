//! The real binary, run as people run it.
//!
//! Start reading at [`door`], the one way in; then one file for each thing a user can rely on.

mod chat;
mod chat_terminal;
mod door;
mod explain;
mod fixtures;
mod flows;
mod folder;
mod input;
mod people;
mod place;
mod safety;
mod sessions;
mod signals;
mod stream;
mod terminal;
mod tour;
mod views;
