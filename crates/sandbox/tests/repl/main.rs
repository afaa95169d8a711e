//! Code in a session, through one door: turns as text in, what came of them as text out.

mod bounds;
mod door;
mod escapes;
mod host;
mod sessions;
mod turns;
