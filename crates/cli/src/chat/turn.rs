//! [`Turn`]: one turn of a conversation while it happens: shown, answered, stopped.
//!
//! In: the events of a run, keys, Ctrl-C. Out: lines on standard error, or event lines on standard output; what came
//! of the run. Start reading at [`Turn::follow`].

use std::collections::HashMap;
use std::time::Duration;

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Body, Event, Mode, RelayId};
use antiphon_runtime::{Outcome, Report, Run};
use anyhow::Result;
use tokio::signal::unix::{SignalKind, signal};

use super::consent::{Consent, Pressed};
use super::keys::{Key, Keys};
use super::prompt::{Typed, line};
use super::scene::Scene;
use super::typing::{Entered, Typing};
use crate::farewell::Farewell;
use crate::live::frame::{Frame, rows};
use crate::output::{Output, error_width, say};
use crate::render::{Ink, Line, paint};
use crate::request::gone;
use crate::standing::Standing;

/// Between two drawings, and between two looks at a run that waits.
const FRAME: Duration = Duration::from_millis(60);

/// How a turn is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// As it happens, to a person who answers what is asked.
    Terminal,
    /// As lines, to nobody in particular.
    Plain,
    /// As event lines, to a program.
    Json,
}

/// What came of a turn.
pub(crate) struct Ended {
    /// The run.
    pub(crate) report: Report,
    /// What it still asks.
    pub(crate) standing: Standing,
    /// What was said meanwhile for the turns after it.
    pub(crate) queued: Vec<String>,
    /// What was typed meanwhile and not entered.
    pub(crate) typed: String,
}

/// A turn that is being watched.
pub(super) struct Turn<'o> {
    output: &'o mut Output,
    show: Show,
    scene: Scene,
    frame: Frame,
    standing: Standing,
    /// Which agents ask, of those that were called.
    askers: HashMap<RelayId, String>,
    /// What is asked at the moment, and the keys that answer it.
    asking: Option<(Consent, Keys)>,
    /// What a person types meanwhile, and what they said for later.
    typing: Option<Typing>,
    queued: Vec<String>,
    is_stopped: bool,
}

impl<'o> Turn<'o> {
    pub(super) fn new(show: Show, output: &'o mut Output) -> Self {
        Self {
            output,
            show,
            scene: if show == Show::Plain { Scene::without_reply() } else { Scene::default() },
            frame: Frame::default(),
            standing: Standing::default(),
            askers: HashMap::new(),
            asking: None,
            typing: (show == Show::Terminal).then(Typing::begin),
            queued: Vec::new(),
            is_stopped: false,
        }
    }

    /// Watches a run until it has ended, or nobody here can get it further.
    pub(super) async fn follow(mut self, mut run: Run) -> Result<Ended> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut farewell = match self.show {
            Show::Terminal => Farewell::of_terminal()?,
            Show::Plain | Show::Json => Farewell::new()?,
        };
        let mut tail = run.events();
        let mut frames = tokio::time::interval(FRAME);
        let mut is_waiting = false;
        let report = loop {
            tokio::select! {
                next = tail.next(), if !is_waiting => match next? {
                    Some(events) => self.take(&run, &events).await?,
                    None => match self.rest(&mut run).await? {
                        Some(report) => break report,
                        None => is_waiting = true,
                    },
                },
                _ = interrupt.recv() => {
                    self.stop(&run).await;
                    is_waiting = false;
                }
                () = farewell.come() => {
                    self.stop(&run).await;
                    is_waiting = false;
                }
                key = key(&mut self.asking) => {
                    self.press(&run, key).await?;
                    is_waiting = false;
                }
                key = typed(&mut self.typing) => {
                    let entered = self.typing.as_mut().and_then(|typing| typing.press(key));
                    self.heard(&run, entered).await;
                    is_waiting = false;
                }
                // Somebody elsewhere may have answered, or the time for an answer may be over.
                _ = frames.tick() => {
                    is_waiting = false;
                    self.draw();
                }
            }
        };
        self.end(&report);
        self.hush();
        let typed = self.typing.map(Typing::left).unwrap_or_default();
        Ok(Ended { report, standing: self.standing, queued: self.queued, typed })
    }

    async fn take(&mut self, run: &Run, events: &[Event]) -> Result<()> {
        for event in events {
            self.standing.apply(event);
            if let (Body::Relay(relay), Some(agent)) = (&event.body, &event.head.agent)
                && agent.depth > 0
            {
                self.askers
                    .insert(relay.id.clone(), agent.name.clone().unwrap_or_else(|| agent.id.to_string()));
            }
            match self.show {
                Show::Json => {
                    self.output.text(&event.to_json())?;
                    self.output.text("\n")?;
                }
                Show::Plain | Show::Terminal => self.scene.apply(event),
            }
        }
        self.output.flush()?;
        let standing = &self.standing;
        if let Some((asking, keys)) =
            self.asking.take_if(|(asking, _)| !standing.asks(&asking.asked.relay.id))
        {
            // The terminal is as usual again while anything is printed; what was pressed was meant for this question.
            keys.finish();
            self.typing.iter_mut().for_each(Typing::go_on);
            self.print(&[Line::new().plain("  ").plain(gone(&asking.asked.relay.id, events)), Line::new()]);
        }
        if self.show == Show::Plain {
            self.draw();
        }
        self.ask(run).await
    }

    /// A run that does not work: has it ended, or can somebody here get it further?
    async fn rest(&mut self, run: &mut Run) -> Result<Option<Report>> {
        let report = run.wait().await?;
        let is_asked = report.outcome == Outcome::Paused && !self.standing.asked.is_empty();
        if is_asked && self.show == Show::Terminal && !self.is_stopped {
            self.ask(run).await?;
            return Ok(None);
        }
        Ok(Some(report))
    }

    /// Shows what there is to see, unless a question stands there.
    fn draw(&mut self) {
        if self.show == Show::Json || self.asking.is_some() {
            return;
        }
        self.settle(false);
        if self.show == Show::Terminal {
            let (scene, typing) = (&mut self.scene, &self.typing);
            let lines = |page: crate::render::Page, rows: usize| {
                let typed = typing.as_ref().and_then(|typing| typing.shown(page.width));
                let mut lines = scene.moving(page.width, rows.saturating_sub(usize::from(typed.is_some())));
                lines.extend(typed);
                lines
            };
            self.frame.draw(lines, self.output.error_page());
        }
    }

    /// Prints what will not change any more.
    fn settle(&mut self, is_over: bool) {
        let lines = self.scene.settled(width(), is_over);
        if !lines.is_empty() || is_over {
            self.frame.clear();
            self.print(&lines);
        }
    }

    fn print(&self, lines: &[Line]) {
        say(&paint(lines, self.output.error_page().palette));
    }

    /// Asks the next thing that is asked, if a person is there.
    async fn ask(&mut self, run: &Run) -> Result<()> {
        if self.show != Show::Terminal || self.asking.is_some() || self.is_stopped {
            return Ok(());
        }
        let Some(asked) = self.standing.asked.first().cloned() else { return Ok(()) };
        self.settle(false);
        self.frame.clear();
        let consent = Consent { who: self.askers.get(&asked.relay.id).cloned(), asked };
        self.hush();
        if self.scene.part() {
            say("\n");
        }
        self.question(&consent, Some(rows()));
        if consent.is_only_in_words() {
            return self.words(run, consent).await;
        }
        self.asking = Some((consent, Keys::listen()?));
        Ok(())
    }

    /// Shows a question on so many rows, or all of it.
    fn question(&self, consent: &Consent, rows: Option<usize>) {
        let page = crate::render::Page { width: width(), ..self.output.error_page() };
        self.print(&consent.lines(page, rows));
    }

    /// Does what a key means.
    async fn press(&mut self, run: &Run, key: Option<Key>) -> Result<()> {
        // The terminal is as usual again while anything is printed.
        let Some((consent, keys)) = self.asking.take() else { return Ok(()) };
        let key = match key {
            Some(Key::Letter(key)) => key,
            Some(Key::Enter | Key::Tab | Key::Back | Key::Wipe) => {
                self.asking = Some((consent, keys));
                return Ok(());
            }
            Some(Key::Leave) | None => {
                drop(keys);
                say("\n");
                self.stop(run).await;
                return Ok(());
            }
        };
        match consent.press(key) {
            Pressed::Nothing => self.asking = Some((consent, keys)),
            Pressed::Answer(resolved, told) => {
                drop(keys);
                self.answer(run, resolved, &told).await;
            }
            Pressed::No => {
                drop(keys);
                self.refuse(run, consent).await?;
            }
            Pressed::Words => {
                drop(keys);
                self.words(run, consent).await?;
            }
            Pressed::View => {
                drop(keys);
                self.question(&consent, None);
                self.asking = Some((consent, Keys::listen()?));
            }
        }
        Ok(())
    }

    /// Says no, and why if the person wants to.
    async fn refuse(&mut self, run: &Run, consent: Consent) -> Result<()> {
        match line("  no, because (Enter for no reason): ")? {
            Typed::Text(why) => self.answer(run, consent.no(&why), "no").await,
            Typed::Interrupt | Typed::End => self.stop(run).await,
        }
        Ok(())
    }

    /// Takes an answer in words.
    async fn words(&mut self, run: &Run, consent: Consent) -> Result<()> {
        loop {
            match line("  answer: ")? {
                Typed::Text(words) if words.trim().is_empty() => {}
                Typed::Text(words) => {
                    self.answer(run, consent.answer(words.trim()), "").await;
                    return Ok(());
                }
                Typed::Interrupt | Typed::End => {
                    self.stop(run).await;
                    return Ok(());
                }
            }
        }
    }

    /// Leaves the keyboard to others; what was entered by then is for the next turn.
    fn hush(&mut self) {
        let entered = self.typing.as_mut().map(Typing::rest).unwrap_or_default();
        self.queued.extend(entered);
    }

    /// Passes on what somebody typed; what the turn does not hear any more is for the next one.
    async fn heard(&mut self, run: &Run, entered: Option<Entered>) {
        let (text, is_heard) = match entered {
            None => return,
            Some(Entered::Queue(text)) => (text, false),
            Some(Entered::Steer(text)) => {
                let is_heard = run.steer(text.as_str()).await.is_ok();
                (text, is_heard)
            }
        };
        self.settle(false);
        self.frame.clear();
        if self.scene.part() {
            say("\n");
        }
        let told = Line::new().ink(Ink::Person, "> ").plain(&text);
        let told = if is_heard { told } else { told.ink(Ink::Faint, "  (for the next turn)") };
        self.print(&told.wrap(width()));
        if !is_heard {
            self.queued.push(text);
        }
    }

    async fn answer(&mut self, run: &Run, resolved: RelayResolved, told: &str) {
        let id = resolved.relay_id.clone();
        let told = match run.answer(resolved).await {
            Ok(()) => {
                // The event that says so comes later; nobody is to be asked twice.
                self.standing.asked.retain(|asked| asked.relay.id != id);
                Line::new().ink(Ink::Faint, format!("  → {told}"))
            }
            Err(refusal) => Line::new().ink(Ink::Bad, format!("  {refusal}")),
        };
        if told.width() > "  → ".chars().count() {
            self.print(&[told]);
        }
        say("\n");
        self.typing.iter_mut().for_each(Typing::go_on);
    }

    /// Stops the run at once; it ends by itself then.
    async fn stop(&mut self, run: &Run) {
        if self.asking.take().is_some() {
            say("\n");
        }
        self.typing.iter_mut().for_each(Typing::go_on);
        if !self.is_stopped {
            self.frame.clear();
            self.is_stopped = true;
        }
        // One that has ended by itself meanwhile needs no cancelling.
        let _ = run.cancel("user", Mode::Now).await;
    }

    /// Shows what is left, and why the turn came to no good end.
    fn end(&mut self, report: &Report) {
        if report.outcome == Outcome::Completed {
            self.scene.take_reply();
        }
        self.settle(true);
        let told = match report.outcome {
            Outcome::Completed | Outcome::Paused => return,
            Outcome::Cancelled => Line::new().ink(Ink::Waiting, "stopped"),
            Outcome::Failed => Line::new().ink(Ink::Bad, "failed: ").plain(reason(report)),
        };
        if self.scene.part() {
            say("\n");
        }
        self.print(&told.wrap(width()));
    }
}

/// Why a turn failed.
fn reason(report: &Report) -> String {
    let value = report.output.value();
    let error = value.get("error").and_then(|error| error.as_str());
    error.map_or_else(|| report.output.to_text().into_owned(), str::to_owned)
}

/// Columns that text may take.
fn width() -> usize {
    error_width().saturating_sub(1).max(8)
}

/// The next key that is typed while nothing is asked.
async fn typed(typing: &mut Option<Typing>) -> Key {
    match typing {
        Some(typing) => typing.next().await,
        None => std::future::pending().await,
    }
}

/// The next key, while keys are waited for.
async fn key(asking: &mut Option<(Consent, Keys)>) -> Option<Key> {
    match asking {
        Some((_, keys)) => keys.next().await,
        None => std::future::pending().await,
    }
}
