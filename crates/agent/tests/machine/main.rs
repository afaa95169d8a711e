//! The agent loop as tables: an agent, what happens to it, what it does about that.

mod asking;
mod coding;
mod ending;
mod failing;
mod laws;
mod read;
mod remembering;
mod steering;
mod steps;
mod table;
mod write;
