//! One run, told by the processes that were killed on the way.
//!
//! In: how many may be killed. Out: what each acknowledged, checked against the journal after every kill. Start reading
//! at [`tell`].

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use antiphon_event::{Body, Event};
use antiphon_port::{Branch, Page};
use fastrand::Rng;

use super::{person, process};

/// A seed to begin with instead of a fresh one.
const SEED: &str = "ANTIPHON_SEED";

/// What the processes said, and what the programs left.
pub(crate) struct Story {
    pub(crate) events: Vec<Event>,
    pub(crate) log: String,
    pub(crate) killed: usize,
}

impl Story {
    /// How often a person was asked about a program that nobody knew the end of.
    pub(crate) fn doubts(&self) -> usize {
        let doubt = |event: &&Event| matches!(&event.body, Body::Relay(relay) if person::is_doubt(relay));
        self.events.iter().filter(doubt).count()
    }
}

/// Dice from a seed, which is said so that a failure shows it.
pub(crate) fn chance(test: &str) -> Rng {
    let given = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    eprintln!("{test}: {SEED}={seed}");
    Rng::with_seed(seed)
}

/// When a process is killed.
enum Moment {
    /// After so many events that are new, and so long.
    Events(usize, Duration),
    /// After so long.
    Time(Duration),
    /// Not at all.
    Never,
}

impl Moment {
    fn any(chance: &mut Rng) -> Self {
        let short = Duration::from_micros(chance.u64(0..4_000));
        match chance.u32(0..4) {
            0 => Self::Time(Duration::from_micros(chance.u64(0..60_000))),
            _ => Self::Events(chance.usize(0..9), short),
        }
    }
}

/// Runs a flow to its end in process after process, of which at most so many are killed.
pub(crate) fn tell(test: &str, chance: &mut Rng, kills: usize) -> Story {
    let folder = tempfile::tempdir().expect("a folder");
    let mut story = Story { events: Vec::new(), log: String::new(), killed: 0 };
    loop {
        let moment = if story.killed < kills { Moment::any(chance) } else { Moment::Never };
        let done = story.live(start(test, folder.path()), &moment);
        story.compare(folder.path());
        if done {
            break;
        }
    }
    story.log = std::fs::read_to_string(folder.path().join("log")).expect("programs ran");
    story
}

fn start(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().expect("a test"))
        .args(["--exact", test, "--nocapture"])
        .env(process::FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

impl Story {
    /// Listens to a process until it is killed or through; whether the run is done.
    fn live(&mut self, mut child: Child, moment: &Moment) -> bool {
        let known = self.events.len();
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        match moment {
            Moment::Never => {}
            Moment::Time(time) => std::thread::sleep(*time),
            Moment::Events(count, time) => {
                while self.events.len() < known + count && lines.next().is_some_and(|line| !self.hear(&line))
                {
                }
                std::thread::sleep(*time);
            }
        }
        if !matches!(moment, Moment::Never) {
            child.kill().expect("it is ours");
        }
        let mut done = false;
        for line in lines {
            done |= self.hear(&line);
        }
        let status = child.wait().expect("it is ours");
        let killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(9);
        assert!(killed || status.success(), "the process broke: {status}");
        self.killed += usize::from(killed);
        done || status.success()
    }

    /// Takes a line in; whether it was the last. A process begins with what those before it said, to the letter.
    fn hear(&mut self, line: &str) -> bool {
        // The last line of a process that was killed while it spoke is none.
        if let Some(event) = line.strip_prefix("at ").and_then(|json| Event::from_json(json).ok()) {
            let seq = event.head.seq.expect("it is durable") as usize;
            if let Some(known) = self.events.get(seq - 1) {
                assert_eq!(*known, event, "an acknowledged event became another");
            } else {
                assert_eq!(self.events.len() + 1, seq, "an event was left out");
                self.events.push(event);
            }
        }
        line == "done"
    }

    /// All that was acknowledged is in the journal, which is whole.
    fn compare(&self, folder: &Path) {
        let journal = process::journal(folder);
        let sessions = journal.sessions(Page { after: None, limit: 2 }).wait().expect("readable");
        let Some(session) = sessions.first() else {
            return assert!(self.events.is_empty(), "acknowledged events are gone");
        };
        assert_eq!(sessions.len(), 1, "one run, one session");
        let branch = Branch::main(session.id.clone());
        let kept = journal.read(&branch, 0, usize::MAX).wait().expect("readable");
        assert!(kept.starts_with(&self.events), "acknowledged events are gone");
        let head = journal.head(&branch).wait().expect("readable");
        assert_eq!(journal.verify(&branch).wait().map(|verdict| verdict.head()), Ok(Some(head)));
    }
}
