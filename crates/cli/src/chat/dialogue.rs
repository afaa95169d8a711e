//! The conversation in a terminal: a prompt, a turn, a prompt again.
//!
//! Start reading at [`run`].

use std::collections::VecDeque;

use antiphon_agent::Spec;
use antiphon_agent::machine::own_tools;
use antiphon_runtime::{Outcome, Refused};
use anyhow::Result;

use super::agent::{model, model_name};
use super::prompt::{Prompt, Typed};
use super::slash::{COMMANDS, Heard, Slash, hear};
use super::talk::Talk;
use super::turn::Ended;
use crate::engine::wardrobe;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::render::{Choices, Ink, Line, Side, Table, VIEWS, paint};

/// What is to happen after something was typed.
enum Next {
    GoOn,
    Leave,
}

struct Dialogue<'o> {
    talk: Talk,
    output: &'o mut Output,
    /// What was said while a turn ran, for the turns after it.
    queued: VecDeque<String>,
    /// What was typed while a turn ran, and not entered.
    typed: String,
}

/// Talks until the person has had enough.
pub(crate) async fn run(talk: Talk, output: &mut Output) -> Result<Exit> {
    let mut prompt = Prompt::open(talk.shelf.folder(), output.error_page().palette)?;
    let mut dialogue = Dialogue { talk, output, queued: VecDeque::new(), typed: String::new() };
    dialogue.greet();
    dialogue.take_up().await?;
    let mut interrupts = 0;
    loop {
        let typed = match dialogue.queued.pop_front() {
            Some(text) => {
                prompt.remember(&text);
                dialogue.tell(Line::new().ink(Ink::Person, "> ").plain(&text));
                Typed::Text(text)
            }
            None => prompt.read(&std::mem::take(&mut dialogue.typed))?,
        };
        interrupts = if matches!(typed, Typed::Interrupt) { interrupts + 1 } else { 0 };
        let next = match typed {
            Typed::Text(text) => dialogue.hear(&text).await?,
            Typed::Interrupt if interrupts < 2 => {
                dialogue.tell(Line::new().ink(Ink::Faint, "(Ctrl-C again or Ctrl-D to leave)"));
                Next::GoOn
            }
            Typed::Interrupt | Typed::End => Next::Leave,
        };
        if matches!(next, Next::Leave) {
            dialogue.part();
            return Ok(Exit::Done);
        }
    }
}

impl Dialogue<'_> {
    fn tell(&self, line: Line) {
        self.print(&[line]);
    }

    fn print(&self, lines: &[Line]) {
        let page = self.output.error_page();
        let lines: Vec<Line> = lines.iter().flat_map(|line| line.clone().wrap(page.width)).collect();
        say(&paint(&lines, page.palette));
    }

    fn greet(&self) {
        let definition = &self.talk.definition;
        let name = definition.name.as_deref().unwrap_or("agent");
        let who = Line::new()
            .ink(Ink::Agent, name)
            .ink(Ink::Faint, format!(" · {}", model_name(&definition.model)));
        let session = self.talk.session.as_ref().map(|session| format!(" · session {session}"));
        self.tell(who.ink(Ink::Faint, session.unwrap_or_default()));
        self.tell(
            Line::new().ink(Ink::Faint, "/help lists commands, Ctrl-C stops a turn, Ctrl-D ends the chat"),
        );
        say("\n");
    }

    /// Says how to come back.
    fn part(&self) {
        if let Some(place) = self.talk.named() {
            self.tell(Line::new().ink(Ink::Faint, format!("go on with: antiphon chat --session {place}")));
        }
    }

    /// Ends a turn that was cut off.
    async fn take_up(&mut self) -> Result<()> {
        if let Some(ended) = self.talk.take_up(self.output).await? {
            self.keep(&ended);
            if ended.report.outcome == Outcome::Paused {
                self.print(&self.talk.pending(&ended, self.output.error_page()));
            }
            say("\n");
        }
        Ok(())
    }

    async fn hear(&mut self, text: &str) -> Result<Next> {
        match hear(text) {
            Heard::Message("") => {}
            Heard::Message(text) => self.say(text).await?,
            Heard::Command(Slash::Quit, _) => return Ok(Next::Leave),
            Heard::Command(command, rest) => {
                self.obey(command, rest).await?;
                say("\n");
            }
            Heard::Unknown(nearest) => {
                let nearest = nearest.map(|name| format!("; did you mean /{name}?"));
                let told = format!("there is no such command{}", nearest.unwrap_or_default());
                self.tell(Line::new().ink(Ink::Bad, told).ink(Ink::Faint, "  (/help lists them)"));
                say("\n");
            }
        }
        Ok(Next::GoOn)
    }

    /// Says something; what cannot begin is told, and the conversation goes on.
    async fn say(&mut self, text: &str) -> Result<()> {
        say("\n");
        match self.talk.say(text, self.output).await {
            Ok(ended) => {
                self.keep(&ended);
                if ended.report.outcome == Outcome::Paused {
                    self.print(&self.talk.pending(&ended, self.output.error_page()));
                }
            }
            Err(error) if error.is::<Refused>() => {
                self.tell(Line::new().ink(Ink::Bad, "error: ").plain(format!("{error:#}")));
            }
            Err(error) => return Err(error),
        }
        say("\n");
        Ok(())
    }

    /// Keeps what was said while a turn ran.
    fn keep(&mut self, ended: &Ended) {
        self.queued.extend(ended.queued.iter().cloned());
        self.typed.push_str(&ended.typed);
    }

    async fn obey(&mut self, command: Slash, rest: &str) -> Result<()> {
        match command {
            Slash::Help => self.help(),
            Slash::Model if rest.is_empty() => {
                self.tell(Line::new().plain(model_name(&self.talk.definition.model)));
            }
            Slash::Model => match model(rest) {
                Ok(model) => {
                    self.talk.definition.model = model;
                    self.tell(Line::new().plain(format!("{rest} answers from now on")));
                }
                Err(error) => self.tell(Line::new().ink(Ink::Bad, "error: ").plain(format!("{error:#}"))),
            },
            Slash::New => {
                self.talk.session = None;
                self.talk.branch = "main".into();
                self.tell(Line::new().plain("a new session begins with the next message"));
            }
            Slash::Quit => unreachable!("leaving is looked after before"),
            Slash::Retry => match self.talk.last_said().await? {
                Some(text) => {
                    self.tell(Line::new().ink(Ink::Person, "> ").plain(&text));
                    self.say(&text).await?;
                }
                None => self.tell(Line::new().plain("nothing was said yet")),
            },
            Slash::Session => {
                let session = self.talk.session.as_ref();
                let told = session.map_or(
                    "no session yet: it begins with the first message".to_owned(),
                    ToString::to_string,
                );
                self.tell(Line::new().plain(told));
            }
            Slash::Thread => self.view("thread").await?,
            Slash::Tools => self.tools()?,
            Slash::Usage => self.view("usage").await?,
        }
        Ok(())
    }

    fn help(&self) {
        let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
        for entry in COMMANDS {
            let name =
                Line::new().ink(Ink::Strong, format!("/{}", entry.name)).plain(format!(" {}", entry.takes));
            table.row(vec![name, Line::new().plain(entry.about)]);
        }
        let lines = table.lines(self.output.error_page().width);
        self.print(&lines[1..]);
        let more = "A line that ends with \\ goes on in the next one. Ctrl-C stops the turn; at the prompt it clears the line.";
        self.tell(Line::new().ink(Ink::Faint, more));
        let meanwhile = "While it works: type and press Enter and it hears you before its next step; Tab keeps it for the next turn.";
        self.tell(Line::new().ink(Ink::Faint, meanwhile));
    }

    /// Shows a view of the session.
    async fn view(&self, name: &str) -> Result<()> {
        let entry = VIEWS.iter().find(|view| view.name == name).expect("it is in the table of views");
        let mut screen = (entry.open)(Choices::default());
        for event in &self.talk.events().await? {
            screen.apply(event, &mut antiphon_view::Changes::unwanted());
        }
        say(&screen.text(self.output.error_page()));
        Ok(())
    }

    fn tools(&self) -> Result<()> {
        let definition = &self.talk.definition;
        let known = wardrobe()?.tools();
        let own = own_tools(definition);
        let specs: Vec<&Spec> = known.iter().map(|tool| tool.spec()).chain(&own).collect();
        let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
        for name in &definition.tools {
            let about = specs.iter().find(|spec| spec.name == *name).map_or("", |spec| &*spec.description);
            let about = about.split_inclusive(". ").next().unwrap_or_default();
            table.row(vec![Line::new().ink(Ink::Tool, name), Line::new().plain(about)]);
        }
        for (name, agent) in &definition.agents {
            let about = agent.description.clone().unwrap_or_default();
            table.row(vec![Line::new().ink(Ink::Agent, name), Line::new().plain(format!("agent: {about}"))]);
        }
        for name in definition.mcp.keys() {
            table.row(vec![
                Line::new().ink(Ink::Tool, format!("{name}/*")),
                Line::new().plain("an MCP server"),
            ]);
        }
        let lines = table.lines(self.output.error_page().width);
        match &lines[1..] {
            [] => self.tell(Line::new().plain("it can use no tools")),
            lines => self.print(lines),
        }
        Ok(())
    }
}
