//! [`Talk`]: a conversation with an agent, turn by turn.

use std::path::PathBuf;

use antiphon_agent::Definition;
use antiphon_event::body::content::UserContent;
use antiphon_event::{Body, BranchId, Event, Json, SessionId};
use antiphon_port::Branch;
use antiphon_runtime::{Engine, Invocation, Outcome};
use anyhow::Result;
use serde_json::{Value, json};

use super::turn::{Ended, Show, Turn};
use crate::command::resume::{homeless, tell_folder};
use crate::command::run::plain;
use crate::hint;
use crate::output::{Output, notice};
use crate::render::{Line, Page, unit};
use crate::store::Shelf;

/// How much of the first message a session is called after.
const TITLE_MAX: usize = 60;
/// How many events are read at once.
const PAGE: usize = 1024;

/// A conversation.
pub(crate) struct Talk {
    /// Runs the turns.
    pub(crate) engine: Engine,
    /// Where sessions are kept.
    pub(crate) shelf: Shelf,
    /// Who answers.
    pub(crate) definition: Definition,
    /// The file that says so, if one does.
    pub(crate) file: Option<PathBuf>,
    /// The session, once something was said in it.
    pub(crate) session: Option<SessionId>,
    /// The branch of it.
    pub(crate) branch: BranchId,
    /// How turns are shown.
    pub(crate) show: Show,
}

impl Talk {
    /// Says something and shows what comes of it.
    pub(super) async fn say(&mut self, text: &str, output: &mut Output) -> Result<Ended> {
        let is_new = self.session.is_none();
        let title = unit::flat(text).chars().take(TITLE_MAX).collect();
        let task = Json::from(Value::from(text));
        let (session, branch) = (self.session.clone(), Some(self.branch.clone()));
        let path = self.file.as_ref().and_then(|file| std::path::absolute(file).ok());
        let metadata = path.map(|path| Json::from(json!({"agent": path.display().to_string()})));
        let invocation =
            Invocation { session, branch, title: Some(title), metadata, said: true, ..Invocation::new(task) };
        let run = self.engine.talk(self.definition.clone(), invocation).await.map_err(plain)?;
        self.session = Some(run.session().clone());
        if is_new && self.show != Show::Terminal {
            notice(&format!("session {}", run.session()));
        }
        let ended = Turn::new(self.show, output).follow(run).await?;
        self.reply(&ended, output)?;
        Ok(ended)
    }

    /// Goes on with a turn that was cut off, if there is one.
    pub(super) async fn take_up(&mut self, output: &mut Output) -> Result<Option<Ended>> {
        let Some(branch) = self.place() else { return Ok(None) };
        if !is_cut_off(&self.events().await?) {
            return Ok(None);
        }
        let here = hint::place(&branch, self.shelf.hint());
        let run = self.engine.resume(branch, None).await.map_err(|refused| homeless(refused, &here))?;
        tell_folder(&run);
        let ended = Turn::new(self.show, output).follow(run).await?;
        self.reply(&ended, output)?;
        Ok(Some(ended))
    }

    /// The reply of a turn on standard output, where nobody has seen it yet.
    fn reply(&self, ended: &Ended, output: &mut Output) -> Result<()> {
        let is_seen = match self.show {
            Show::Terminal => output.is_terminal(),
            Show::Plain => false,
            Show::Json => true,
        };
        let report = &ended.report;
        if is_seen || report.outcome != Outcome::Completed || report.output.is_null() {
            return Ok(());
        }
        output.text(report.output.to_text().trim_end_matches('\n'))?;
        output.text("\n")?;
        Ok(output.flush()?)
    }

    /// Where it is, once something was said.
    fn place(&self) -> Option<Branch> {
        Some(Branch::new(self.session.clone()?, self.branch.as_str()))
    }

    /// Everything that happened in the session.
    pub(super) async fn events(&self) -> Result<Vec<Event>> {
        let mut events: Vec<Event> = Vec::new();
        let Some(branch) = self.place() else { return Ok(events) };
        loop {
            let after = events.last().and_then(|event| event.head.seq).unwrap_or(0);
            let page = self.shelf.journal.read(&branch, after, PAGE).await?;
            if page.is_empty() {
                return Ok(events);
            }
            events.extend(page);
        }
    }

    /// What was said last.
    pub(super) async fn last_said(&self) -> Result<Option<String>> {
        let events = self.events().await?;
        let said = events.iter().rev().find_map(|event| match &event.body {
            Body::User(user) => Some(&user.content),
            _ => None,
        });
        Ok(said.map(UserContent::to_text).map(std::borrow::Cow::into_owned))
    }

    /// Where it is, as commands name it.
    pub(super) fn named(&self) -> Option<String> {
        Some(hint::place(&self.place()?, self.shelf.hint()))
    }

    /// What waits for people, with the commands that answer it.
    pub(super) fn pending(&self, ended: &Ended, page: Page) -> Vec<Line> {
        hint::pending(&ended.standing, &self.named().unwrap_or_default(), page)
    }
}

/// Whether the last turn of a session has begun and not ended.
fn is_cut_off(events: &[Event]) -> bool {
    let mut open = None;
    for event in events {
        match &event.body {
            Body::HarnessStart(start) if event.head.node_id.is_none() && start.depth.unwrap_or(0) == 0 => {
                open = event.head.run_id.as_ref();
            }
            Body::HarnessEnd(_) if event.head.run_id.as_ref() == open => open = None,
            _ => {}
        }
    }
    open.is_some()
}
