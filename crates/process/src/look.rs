//! The look through all processes for those with a mark, wherever the system lists processes as files.
//!
//! Nobody is safe to have been missed by one look: whoever is listed may have started another and be gone before it is
//! looked at. And while a process begins another program it shows no environment at all for a moment. So it is looked
//! until a list has nobody new, and nobody who may yet get an environment. Start reading at [`kill_all`].

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::mark;

/// How long it is looked for: there may always be somebody new who has nothing to do with us.
const TIME_MAX: Duration = Duration::from_secs(2);
/// The pause before those are looked at again that are about to begin another program: it takes them some microseconds,
/// unless others have the machine, so each is twice as long as the one before.
const PAUSE: Duration = Duration::from_micros(50);
const PAUSE_MAX: Duration = Duration::from_millis(5);
/// How many bytes of an environment there is room for at first.
const ENVIRONMENT: usize = 64 * 1024;

/// Who is to be found.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) mark: String,
    /// When the program began, in the system's own count; 0 where it does not say.
    pub(crate) since: u64,
}

/// Kills all processes with one of these marks, until there are none.
///
/// Whoever was killed starts nobody, even before it is gone. So when all on a list were looked at before, and those with
/// a mark were killed, nobody is left who could have started one that is not on it.
pub(crate) fn kill_all(wanted: &[Wanted]) {
    let until = Instant::now() + TIME_MAX;
    let (mut seen, mut pause, mut room) = (HashSet::new(), PAUSE, vec![0; ENVIRONMENT]);
    loop {
        let unseen: Vec<Pid> = processes().into_iter().filter(|id| !seen.contains(id)).collect();
        if unseen.is_empty() || Instant::now() > until {
            return;
        }
        let mut is_unclear = false;
        for id in unseen {
            match look(id, wanted, &mut room) {
                Look::Unclear => {
                    is_unclear = true;
                    continue;
                }
                // Whoever is gone already is as good.
                Look::Wanted => drop(kill(id, Signal::SIGKILL)),
                Look::Other => {}
            }
            seen.insert(id);
        }
        if is_unclear {
            sleep(pause);
            pause = PAUSE_MAX.min(2 * pause);
        }
    }
}

/// Whose a process is.
#[derive(Debug, PartialEq)]
enum Look {
    Wanted,
    Other,
    Unclear,
}

fn look(id: Pid, wanted: &[Wanted], room: &mut Vec<u8>) -> Look {
    // What may not be read is not ours.
    let Ok(environment) = environment(id, room) else { return Look::Other };
    let is_wanted = |mark: &[u8]| wanted.iter().any(|wanted| wanted.mark.as_bytes() == mark);
    if mark::marks(environment).any(is_wanted) {
        return Look::Wanted;
    }
    let is_young = |stat: &Stat| wanted.iter().any(|wanted| stat.begun >= wanted.since);
    let may_get_one = |stat: Stat| stat.has_memory && !stat.is_without_environment && is_young(&stat);
    if environment.is_empty() && stat(id).is_some_and(may_get_one) { Look::Unclear } else { Look::Other }
}

/// The environment of a process, read at once: it may begin another program between two reads, and what was read of the
/// one before then seems to be all.
fn environment(id: Pid, room: &mut Vec<u8>) -> io::Result<&[u8]> {
    loop {
        let length = File::open(format!("/proc/{id}/environ"))?.read(room)?;
        if length < room.len() {
            return Ok(&room[..length]);
        }
        room.resize(2 * length, 0);
    }
}

/// Whether nobody was started after a process, so that it has started nobody. A look that is asked for too often is no
/// harm: where the system does not say, the answer is no.
pub(crate) fn is_youngest(id: Pid) -> bool {
    let Ok(line) = std::fs::read_to_string("/proc/loadavg") else { return false };
    line.split_ascii_whitespace().nth(4).and_then(|last| last.parse().ok()) == Some(id.as_raw())
}

/// When a process began, in ticks since the system did; 0 where it does not say.
pub(crate) fn begun(id: Pid) -> u64 {
    stat(id).map_or(0, |stat| stat.begun)
}

/// All processes; none where the system does not say.
fn processes() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.map(Pid::from_raw).collect()
}

/// What the system says of a process.
struct Stat {
    begun: u64,
    /// Neither a process that has ended nor one of the kernel has any.
    has_memory: bool,
    /// It was started with an empty environment, and is not about to get another. The place of the environment alone
    /// does not say so: it is empty at first also when there will be one, until the place of the code is known.
    is_without_environment: bool,
}

fn stat(id: Pid) -> Option<Stat> {
    let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, which may hold anything, stands in parentheses; the numbers after it are counted from the third on.
    let (_, after) = line.rsplit_once(')')?;
    let numbers: Vec<&str> = after.split_ascii_whitespace().collect();
    let number = |place: usize| numbers.get(place - 3)?.parse::<u64>().ok();
    let has_code = number(27).unwrap_or_default() > 0;
    Some(Stat {
        begun: number(22)?,
        has_memory: number(23)? > 0,
        is_without_environment: has_code && number(50) == number(51),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// `cat`, which waits until its input ends.
    struct Waits(Child);

    impl Waits {
        fn start(command: &mut Command) -> Self {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
            // Who says something has begun its program, and is not what it was before.
            child.stdin.as_mut().expect("it has an input").write_all(b"x").expect("it reads");
            child.stdout.as_mut().expect("it has an output").read_exact(&mut [0]).expect("it writes");
            Self(child)
        }

        fn id(&self) -> Pid {
            Pid::from_raw(self.0.id().cast_signed())
        }
    }

    impl Drop for Waits {
        fn drop(&mut self) {
            drop(self.0.stdin.take());
            let _ = self.0.wait();
        }
    }

    fn wanted(mark: &str) -> [Wanted; 1] {
        [Wanted { mark: mark.to_owned(), since: 0 }]
    }

    #[test]
    fn a_process_is_known_by_its_mark_whole_and_among_others() {
        let process = Waits::start(Command::new("cat").env(mark::VARIABLE, "1-1-1 2-2-22"));
        let rows = [
            ("1-1-1", Look::Wanted),
            ("2-2-22", Look::Wanted),
            ("2-2-2", Look::Other),
            ("1-1-1 2-2-22", Look::Other),
        ];
        for (mark, expected) in rows {
            assert_eq!(look(process.id(), &wanted(mark), &mut vec![0; 10]), expected, "{mark}");
        }
    }

    #[test]
    fn who_has_no_environment_is_somebody_else() {
        let path = std::env::var_os("PATH").expect("there is a path");
        let cat = std::env::split_paths(&path).map(|dir| dir.join("cat")).find(|cat| cat.exists());
        let process = Waits::start(Command::new(cat.expect("there is `cat`")).env_clear());
        assert_eq!(look(process.id(), &wanted("1"), &mut vec![0; 10]), Look::Other);
    }

    #[test]
    fn who_has_ended_is_somebody_else() {
        let mut process = Waits::start(Command::new("cat").env(mark::VARIABLE, "1"));
        drop(process.0.stdin.take());
        let is_zombie = || {
            std::fs::read_to_string(format!("/proc/{}/stat", process.id()))
                .is_ok_and(|stat| stat.contains(") Z"))
        };
        while !is_zombie() {
            std::thread::yield_now();
        }
        assert_eq!(look(process.id(), &wanted("1"), &mut vec![0; 10]), Look::Other);
    }

    #[test]
    fn who_has_started_somebody_is_not_the_youngest() {
        let first = Waits::start(&mut Command::new("cat"));
        let _second = Waits::start(&mut Command::new("cat"));
        assert!(!is_youngest(first.id()));
    }
}
