//! A run while it happens: shown, cancelled, answered, until it has ended or only people can get it further.
//!
//! In: a run, what was decided beforehand, the terminal. Out: the result on standard output, an exit code.
//! Start reading at [`Live::follow`].

pub(crate) mod ask;
pub(crate) mod frame;
mod plain;
mod screen;
mod tree;

use std::io::{self, BufRead, IsTerminal};
use std::time::Duration;

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, Mode};
use antiphon_flow::Refusal;
use antiphon_runtime::{Outcome, Report, Run};
use anyhow::Result;
use nix::sys::termios::{FlushArg, tcflush};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::exit::Exit;
use crate::farewell::Farewell;
use crate::hint;
use crate::output::{Output, Unwritable, error_width, is_drawable, notice, say};
use crate::render::{Ink, Line, Page, paint, unit};
use crate::request::gone;
use crate::standing::Standing;
use ask::{Decisions, Question};
use frame::rows;
use screen::Screen;

/// Between two drawings, and between two looks at a run that waits.
const FRAME: Duration = Duration::from_millis(100);

/// The narrowest terminal that is laid out for.
const WIDTH_MIN: usize = 10;

/// A run that is being watched.
pub(crate) struct Live<'o> {
    output: &'o mut Output,
    screen: Screen,
    standing: Standing,
    /// The store as commands name it, and the branch in it.
    store: String,
    place: String,
    decisions: Decisions,
    question: Option<Question>,
    lines: Option<mpsc::Receiver<String>>,
    is_interactive: bool,
    interrupted: u32,
}

/// Hears that a run is to be cancelled: opened before the run begins, so that nothing is missed.
pub(crate) struct Ears {
    interrupt: Signal,
    farewell: Farewell,
}

impl Ears {
    /// Begins to listen.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, farewell: Farewell::new()? })
    }
}

impl<'o> Live<'o> {
    /// Shows event lines, or progress: as a tree in a terminal, as lines elsewhere.
    pub(crate) fn new(json: bool, decisions: Decisions, store: String, output: &'o mut Output) -> Self {
        let screen = Screen::new(json, is_drawable());
        let is_interactive = !json && io::stderr().is_terminal() && io::stdin().is_terminal();
        Self {
            output,
            screen,
            standing: Standing::default(),
            store,
            place: String::new(),
            decisions,
            question: None,
            lines: None,
            is_interactive,
            interrupted: 0,
        }
    }

    /// Takes in what happened before this process came.
    pub(crate) fn catch_up(&mut self, events: &[Event]) {
        for event in events {
            self.standing.apply(event);
            self.screen.remember(event);
        }
    }

    /// Watches the events after a position until the run has ended, or nobody here can get it further.
    pub(crate) async fn follow(mut self, mut run: Run, after: u64, ears: Ears) -> Result<Exit> {
        let Ears { mut interrupt, mut farewell } = ears;
        self.place = hint::place(run.branch(), &self.store);
        let mut tail = run.events_after(after);
        let mut frames = tokio::time::interval(FRAME);
        let mut is_waiting = false;
        loop {
            tokio::select! {
                next = tail.next(), if !is_waiting => match next? {
                    Some(events) => self.take(&run, &events).await?,
                    None => match self.rest(&mut run).await? {
                        Some(exit) => return Ok(exit),
                        None => is_waiting = true,
                    },
                },
                _ = interrupt.recv() => {
                    self.interrupt(&run).await;
                    is_waiting = false;
                }
                () = farewell.come() => {
                    self.interrupt(&run).await;
                    is_waiting = false;
                }
                line = line(&mut self.lines), if self.question.is_some() => {
                    self.hear(&run, line).await;
                    is_waiting = false;
                }
                // Somebody elsewhere may have answered, or the time for an answer may be over.
                _ = frames.tick() => {
                    is_waiting = false;
                    if self.question.is_none() {
                        self.screen.draw(self.output);
                    }
                }
            }
        }
    }

    async fn take(&mut self, run: &Run, events: &[Event]) -> Result<()> {
        for event in events {
            if let Body::RelayResolved(resolved) = &event.body {
                self.decisions.resolved(resolved, &self.standing);
            }
            self.standing.apply(event);
            self.screen.event(event, self.output);
        }
        let standing = &self.standing;
        if let Some(question) = self.question.take_if(|question| !standing.asks(&question.asked.relay.id)) {
            // What was typed was meant for this question alone.
            self.forget_typed();
            notice(&format!("\n{}", gone(&question.asked.relay.id, events)));
        }
        for resolved in self.decisions.ready(&self.standing)? {
            self.answer(run, resolved).await?;
        }
        self.ask();
        Ok(())
    }

    /// Gives an answer. One to what has been asked, and is not any more, comes too late, which is told when that is read.
    async fn answer(&self, run: &Run, resolved: RelayResolved) -> Result<()> {
        match run.answer(resolved).await {
            Err(Refusal::NotPending(_) | Refusal::Ended(_)) => Ok(()),
            answered => Ok(answered?),
        }
    }

    /// A run that does not work: has it ended, can somebody here get it further, or is this all for now?
    async fn rest(&mut self, run: &mut Run) -> Result<Option<Exit>> {
        let report = match run.wait().await {
            Ok(report) => report,
            Err(stopped) => {
                self.screen.finish(self.output);
                notice(&format!("error: {stopped}"));
                return Ok(Some(Exit::Failed));
            }
        };
        if report.outcome == Outcome::Paused {
            let ready = self.decisions.ready(&self.standing)?;
            if !ready.is_empty() {
                for resolved in ready {
                    self.answer(run, resolved).await?;
                }
                return Ok(None);
            }
            self.ask();
            if self.question.is_some() {
                return Ok(None);
            }
        }
        self.screen.finish(self.output);
        self.decisions.lament();
        self.end(&report).map(Some)
    }

    /// Asks the person at the terminal the next thing that is asked, if there is one.
    fn ask(&mut self) {
        if !self.is_interactive || self.question.is_some() || self.interrupted > 0 {
            return;
        }
        let Some(asked) = self.standing.asked.first() else { return };
        let mut question = Question::new(asked.clone());
        self.lines.get_or_insert_with(standard_input);
        // Nobody can have answered what was not to be seen yet.
        self.forget_typed();
        self.screen.clear();
        say(&question.text(self.page(), rows()));
        self.question = Some(question);
    }

    /// The terminal that questions are asked on, also if it is narrower than a page.
    fn page(&self) -> Page {
        Page { width: error_width().max(WIDTH_MIN), ..self.output.error_page() }
    }

    /// Passes over what was typed by now, entered or not.
    fn forget_typed(&mut self) {
        // Without a terminal nobody has typed.
        let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
        while self.lines.as_mut().is_some_and(|lines| lines.try_recv().is_ok()) {}
    }

    /// Takes in what the person typed; at the end of input everything stays as it is.
    async fn hear(&mut self, run: &Run, line: Option<String>) {
        let Some(mut question) = self.question.take() else { return };
        let Some(line) = line else {
            notice("");
            self.is_interactive = false;
            return;
        };
        if let Some(whole) = question.whole(&line, self.page()) {
            say(&whole);
            self.question = Some(question);
            return;
        }
        let resolved = match question.hear(&line) {
            Ok(Some(resolved)) => resolved,
            Ok(None) => {
                say(&question.prompt());
                self.question = Some(question);
                return;
            }
            Err(why) => return self.again(question, &why),
        };
        if let Err(refusal) = run.answer(resolved).await {
            self.again(Question::new(question.asked), &refusal.to_string());
        }
    }

    fn again(&mut self, question: Question, why: &str) {
        notice(&format!("  {why}"));
        say(&question.prompt());
        self.question = Some(question);
    }

    /// Stops the run: gracefully, and at once if asked again.
    async fn interrupt(&mut self, run: &Run) {
        self.interrupted += 1;
        self.question = None;
        let (mode, told) = match self.interrupted {
            1 => (Mode::Graceful, "cancelling: what runs may finish; Ctrl-C again cuts it off"),
            _ => (Mode::Now, "cancelling at once"),
        };
        self.screen.clear();
        notice(told);
        // One that has ended by itself meanwhile needs no cancelling.
        let _ = run.cancel("user", mode).await;
    }

    /// Says what came of the run.
    fn end(&mut self, report: &Report) -> Result<Exit> {
        let page = self.output.error_page();
        let lines = match report.outcome {
            Outcome::Completed => Vec::new(),
            Outcome::Paused => hint::pending(&self.standing, &self.place, page),
            Outcome::Failed | Outcome::Cancelled => {
                ended(report, self.standing.root.as_ref().and_then(|root| root.trouble.as_deref()))
            }
        };
        say(&paint(&lines, page.palette));
        match self.screen.result(report, self.output) {
            Err(unwritten) if !Unwritable::is_broken_pipe(&unwritten) => return Err(unwritten.into()),
            _ => {}
        }
        // What is still undecided by then fits nothing; this finds out why.
        self.decisions.ready(&self.standing)?;
        self.decisions.complain();
        let is_heard = self.decisions.is_used_up() && !self.decisions.is_refused();
        Ok(if is_heard { report.outcome.into() } else { Exit::Refused })
    }
}

/// Why a run came to no good end.
fn ended(report: &Report, trouble: Option<&str>) -> Vec<Line> {
    let (word, ink) = match report.outcome {
        Outcome::Cancelled => ("cancelled", Ink::Waiting),
        _ => ("failed", Ink::Bad),
    };
    let reason = report.reason.as_ref().filter(|reason| reason.as_str() != word);
    let reason = reason.map(|reason| format!(": {}", reason.as_str().replace('_', " ")));
    let trouble = trouble.map(|trouble| format!(": {}", unit::flat(trouble))).unwrap_or_default();
    let mut lines = vec![Line::new().ink(ink, word).plain(reason.unwrap_or_default()).plain(trouble)];
    for pending in &report.pending {
        let node = Line::new().ink(Ink::Faint, "  not done: ").ink(Ink::Strong, pending.node_id.as_str());
        lines.push(node.plain(", ").plain(&pending.why));
    }
    lines
}

/// The next line that was typed; nothing at the end.
async fn line(lines: &mut Option<mpsc::Receiver<String>>) -> Option<String> {
    match lines {
        Some(lines) => lines.recv().await,
        None => std::future::pending().await,
    }
}

/// Lines as they are typed, read by a thread of their own: reading a terminal cannot be called off.
fn standard_input() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    lines
}
