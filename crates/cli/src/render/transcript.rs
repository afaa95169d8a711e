//! What was said, message by message, agents further down indented.

use antiphon_view::transcript::{Message, Role, Transcript};

use super::unit::clock;
use super::{Ink, Line, Page, nothing, paragraphs};

/// How far agents are indented at most.
const DEPTH_MAX: u32 = 8;

/// Lays out all messages, in the order of their first appearance.
pub(super) fn lines(transcript: &Transcript, page: Page) -> Vec<Line> {
    let spoken = transcript.messages().iter().filter(|message| !is_empty(message));
    let mut lines = Vec::new();
    for one in spoken {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        lines.extend(message(one, page));
    }
    if lines.is_empty() { nothing("nobody said anything") } else { lines }
}

fn is_empty(message: &Message) -> bool {
    message.text.is_empty() && message.reasoning.is_empty()
}

fn message(message: &Message, page: Page) -> Vec<Line> {
    let guide = || Line::new().ink(Ink::Faint, "│ ".repeat(message.depth.min(DEPTH_MAX) as usize));
    let (ink, name) = match message.role {
        Role::User => (Ink::Person, "user"),
        Role::Assistant => (Ink::Agent, "assistant"),
    };
    let who = message.agent.as_deref().or(message.speaker.as_deref());
    let mut head = guide().ink(ink, who.unwrap_or(name));
    if let (None, Some(node)) = (who, &message.node_id) {
        head = head.ink(Ink::Faint, format!(" in {node}"));
    }
    head = head.ink(Ink::Faint, message.started_at.map(|at| format!("  {}", clock(at))).unwrap_or_default());
    if message.streaming {
        head = head.ink(Ink::Waiting, "  …");
    }
    let width = page.width.saturating_sub(guide().width() + 2);
    let thought = paragraphs(Ink::Faint, &message.reasoning, width);
    let said = paragraphs(Ink::Plain, &message.text, width);
    let body = thought.into_iter().chain(said).map(|line| guide().plain("  ").join(line));
    std::iter::once(head.cut(page.width)).chain(body).collect()
}
