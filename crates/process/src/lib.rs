//! Programs that are started, and the end of all that they started.
//!
//! In: a command. Out: its process, and the [`Group`] of all that comes of it, which ends together. Start reading at
//! [`Group::spawn`]; how those are found that left the group is in [`look`], and who looks in [`seeker`].

mod group;
mod look;
mod mark;
mod seeker;

pub use group::Group;
pub use seeker::settled;
