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

use antiphon::{Body, Event};
use antiphon_port::Branch;
use fastrand::Rng;

use super::{person, process, tools};

/// A seed to begin with instead of a fresh one.
const SEED: &str = "ANTIPHON_SEED";

/// What the processes said, and what the tools left.
pub(crate) struct Story {
    /// What happened on the first branch, as processes said it.
    pub(crate) events: Vec<Event>,
    /// What happened on all branches, as the journal says in the end.
    pub(crate) all: Vec<Event>,
    pub(crate) log: String,
    /// What came of it in the end.
    pub(crate) gave: String,
    pub(crate) killed: usize,
}

impl Story {
    /// How often a person was asked about a call that nobody knew the end of.
    pub(crate) fn doubts(&self) -> usize {
        let doubt = |event: &&Event| matches!(&event.body, Body::Relay(relay) if person::is_doubt(relay));
        self.all.iter().filter(doubt).count()
    }

    /// How often an answer of a model was cut off.
    pub(crate) fn retries(&self) -> usize {
        self.all.iter().filter(|event| matches!(event.body, Body::ModelRetry(_))).count()
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
    /// So long after a call was let through.
    Call(Duration),
    /// When the first model has begun to speak. It does not go on, so that no disk is too slow for an answer to be cut
    /// off.
    Answer,
    /// After so long.
    Time(Duration),
    /// Not at all.
    Never,
}

impl Moment {
    fn any(chance: &mut Rng) -> Self {
        let short = Duration::from_micros(chance.u64(0..4_000));
        match chance.u32(0..8) {
            0 => Self::Time(Duration::from_micros(chance.u64(0..60_000))),
            1 | 2 => Self::Call(short),
            3 | 4 => Self::Answer,
            _ => Self::Events(chance.usize(0..9), short),
        }
    }
}

/// Plays an act to its end in process after process, of which at most so many are killed.
pub(crate) fn tell(test: &str, chance: &mut Rng, kills: usize) -> Story {
    let folder = tempfile::tempdir().expect("a folder");
    let (events, all) = (Vec::new(), Vec::new());
    let mut story = Story { events, all, log: String::new(), gave: String::new(), killed: 0 };
    loop {
        let moment = if story.killed < kills { Moment::any(chance) } else { Moment::Never };
        let done = story.live(start(test, folder.path(), &moment), &moment);
        story.compare(folder.path());
        if done {
            break;
        }
    }
    story.all = process::everywhere(&*process::journal(folder.path()));
    story.log = std::fs::read_to_string(tools::log(folder.path())).expect("tools ran");
    story
}

fn start(test: &str, folder: &Path, moment: &Moment) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("a test"));
    command.args(["--exact", test, "--nocapture"]).env(process::FOLDER, folder).stdout(Stdio::piped());
    if matches!(moment, Moment::Answer) {
        command.env(process::HUSHED, "");
    }
    command.spawn().expect("a process")
}

impl Story {
    /// Listens to a process until it is killed or through; whether the run is done.
    fn live(&mut self, mut child: Child, moment: &Moment) -> bool {
        let known = self.events.len();
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        match moment {
            Moment::Never => {}
            Moment::Time(time) => std::thread::sleep(*time),
            Moment::Call(time) => {
                self.hear_until(&mut lines, |story| {
                    story.events[known..].iter().any(|event| story.is_let_through(event))
                });
                std::thread::sleep(*time);
            }
            Moment::Answer => {
                let text = |event: &Event| matches!(event.body, Body::Text(_));
                self.hear_until(&mut lines, |story| story.events[known..].iter().any(text));
            }
            Moment::Events(count, time) => {
                self.hear_until(&mut lines, |story| story.events.len() >= known + count);
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

    /// Takes lines in until something holds, or there are no more.
    fn hear_until(&mut self, lines: &mut impl Iterator<Item = String>, holds: impl Fn(&Self) -> bool) {
        while !holds(self) && lines.next().is_some_and(|line| !self.hear(&line)) {}
    }

    /// Whether a call is about to run: it was said before that it is wanted.
    fn is_let_through(&self, event: &Event) -> bool {
        let Body::ToolCall(call) = &event.body else { return false };
        let same = |other: &&Event| matches!(&other.body, Body::ToolCall(made) if made.id == call.id);
        self.events.iter().filter(same).count() > 1 && !matches!(call.name.as_str(), "ask" | "handoff")
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
        if let Some(gave) = line.strip_prefix("gave ") {
            gave.clone_into(&mut self.gave);
        }
        line == "done"
    }

    /// All that was acknowledged is in the journal, which is whole.
    fn compare(&self, folder: &Path) {
        let journal = process::journal(folder);
        let sessions = process::sessions(&*journal);
        let Some(session) = sessions.first() else {
            return assert!(self.events.is_empty(), "acknowledged events are gone");
        };
        let branch = Branch::main(session.clone());
        let kept = journal.read(&branch, 0, usize::MAX).wait().expect("readable");
        assert!(kept.starts_with(&self.events), "acknowledged events are gone");
        for branch in sessions.iter().flat_map(|session| process::branches(&*journal, session)) {
            let head = journal.head(&branch).wait().expect("readable");
            assert_eq!(journal.verify(&branch).wait().map(|verdict| verdict.head()), Ok(Some(head)));
        }
    }
}
