//! Code in a session, through one door: turns as text in, what came of them as text out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::too_many_lines, clippy::format_push_string, reason = "tables are long")]

mod bounds;
mod door;
mod escapes;
mod host;
mod sessions;
mod turns;
