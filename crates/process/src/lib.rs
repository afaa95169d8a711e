//! Programs that are started, and the end of all that they started.
//!
//! In: a command. Out: its process, and the [`Group`] of all that comes of it, which ends together. Start reading at
//! [`Group::spawn`]; what a program reads is in [`input`](mod@input), how those are found that left the group in [`look`],
//! who looks in [`seeker`], and how many run side by side in [`room`](mod@room).

mod group;
mod input;
mod look;
mod mark;
mod room;
mod seeker;

pub use group::Group;
pub use input::input;
pub use room::{Room, room, room_now};
pub use seeker::settled;
