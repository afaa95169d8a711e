//! [`Screen`]: what is shown of a run while it happens.

use antiphon_event::Event;
use antiphon_runtime::Report;

use super::frame::Frame;
use super::plain;
use super::tree::Tree;
use crate::output::{Output, Unwritable, say};
use crate::render::{Line, paint, paragraphs};

/// What is shown of a run while it happens.
pub(super) struct Screen {
    kind: Kind,
    /// Nobody reads standard output any more.
    is_gone: bool,
    /// Why an event line could not be written, if it is the machine's fault.
    unwritten: Option<Unwritable>,
}

enum Kind {
    /// Event lines on standard output.
    Json,
    /// A line for each thing that happened, on standard error.
    Plain,
    /// A tree that is drawn again and again, on standard error.
    Tree(Box<Tree>, Frame),
}

impl Screen {
    pub(super) fn new(json: bool, is_drawable: bool) -> Self {
        let kind = match (json, is_drawable) {
            (true, _) => Kind::Json,
            (false, true) => Kind::Tree(Box::default(), Frame::default()),
            (false, false) => Kind::Plain,
        };
        Self { kind, is_gone: false, unwritten: None }
    }

    /// Takes in what happened before.
    pub(super) fn remember(&mut self, event: &Event) {
        if let Kind::Tree(tree, _) = &mut self.kind {
            tree.apply(event);
        }
    }

    /// Takes in, or shows, what happens.
    pub(super) fn event(&mut self, event: &Event, output: &mut Output) {
        match &mut self.kind {
            Kind::Json if !self.is_gone => {
                let written = output.text(&event.to_json()).and_then(|()| output.text("\n"));
                if let Err(unwritten) = written.and_then(|()| output.flush()) {
                    self.is_gone = true;
                    self.unwritten = (!unwritten.is_broken_pipe()).then_some(unwritten);
                }
            }
            Kind::Json => {}
            Kind::Plain => {
                if let Some(line) = plain::line(event) {
                    say(&paint(&[line], output.error_page().palette));
                }
            }
            Kind::Tree(tree, _) => tree.apply(event),
        }
    }

    /// Draws what there is to see.
    pub(super) fn draw(&mut self, output: &Output) {
        if let Kind::Tree(tree, frame) = &mut self.kind {
            frame.draw(|page, rows| tree.lines(page, rows, true), output.error_page());
        }
    }

    /// Takes the drawing away, so that something else can be said.
    pub(super) fn clear(&mut self) {
        if let Kind::Tree(_, frame) = &mut self.kind {
            frame.clear();
        }
    }

    /// Draws for the last time and leaves it there.
    pub(super) fn finish(&mut self, output: &Output) {
        if let Kind::Tree(tree, frame) = &mut self.kind {
            frame.draw(|page, rows| tree.lines(page, rows, false), output.error_page());
            frame.leave();
        }
    }

    /// What the run gave, on standard output: text as it is, anything else as JSON.
    pub(super) fn result(&mut self, report: &Report, output: &mut Output) -> Result<(), Unwritable> {
        if let Some(unwritten) = self.unwritten.take() {
            return Err(unwritten);
        }
        if matches!(self.kind, Kind::Json) || report.output.is_null() {
            return Ok(());
        }
        match report.output.value() {
            serde_json::Value::String(text) if output.is_terminal() => {
                let page = output.page();
                let lines: Vec<Line> = paragraphs(crate::render::Ink::Plain, &text, page.width);
                output.text(&paint(&lines, page.palette))?;
            }
            serde_json::Value::String(text) => output.text(&format!("{text}\n"))?,
            value => {
                output.json(&value)?;
                output.text("\n")?;
            }
        }
        output.flush()
    }
}
