//! Agents are talked with, from end to end: scripted models, real tools in a folder, people who answer.
//!
//! Each file is one subject. Start reading at `stage.rs`.

mod away;
mod echo;
mod flow;
mod folder;
mod limit;
mod permission;
mod place;
mod resume;
mod server;
mod stage;
mod steer;
mod stop;
mod subagent;
mod trace;
mod turn;
mod view;
