//! [`Room`]: how many programs run side by side, as many as this process may have open files for.
//!
//! Each that is at work takes a place; whoever comes when there is none waits for one that ends. Servers that are there
//! for as long as the process is take none. Start reading at [`room`].

use std::sync::OnceLock;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many open files are asked for, where that many are allowed: for about two thousand programs.
const FILES_WANTED: u64 = 8192;
/// How many are kept for all else.
const FILES_KEPT: u64 = 64;
/// How many a program takes here: what it prints on, what it complains on, the process itself, and one on the way.
const FILES_EACH: u64 = 4;
/// How many programs may run whatever is allowed.
const PROGRAMS_MIN: u64 = 8;

/// A place for a program, until it is dropped.
#[derive(Debug)]
pub struct Room(#[expect(dead_code, reason = "it is held")] SemaphorePermit<'static>);

/// A place for one more program, if there is room for it now.
pub fn room_now() -> Option<Room> {
    places().try_acquire().ok().map(Room)
}

/// Waits until there is room for one more program.
pub async fn room() -> Room {
    Room(places().acquire().await.expect("it is never closed"))
}

fn places() -> &'static Semaphore {
    static PLACES: OnceLock<Semaphore> = OnceLock::new();
    PLACES.get_or_init(|| Semaphore::new(places_for(files())))
}

/// How many open files this process may have, once it has asked for enough.
fn files() -> u64 {
    let Ok((allowed, most)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 0 };
    let wanted = FILES_WANTED.min(most);
    if allowed < wanted && setrlimit(Resource::RLIMIT_NOFILE, wanted, most).is_ok() {
        return wanted;
    }
    allowed
}

fn places_for(files: u64) -> usize {
    let places = files.saturating_sub(FILES_KEPT) / FILES_EACH;
    usize::try_from(places.max(PROGRAMS_MIN)).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

#[cfg(test)]
mod tests {
    use super::places_for;

    #[test]
    fn there_are_as_many_places_as_there_are_files_for() {
        let places = [0, 64, 1024, 8192, u64::MAX].map(places_for);
        assert_eq!(&places[..4], [8, 8, 240, 2032]);
        assert!(places[4] <= tokio::sync::Semaphore::MAX_PERMITS);
    }
}
