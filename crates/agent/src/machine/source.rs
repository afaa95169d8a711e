//! Where the arguments of a call came from, as far as that can be told.

use antiphon_event::{Body, Json, Provenance};

use super::Agent;
use crate::permission::Origins;
use crate::{Content, Message};

impl Agent {
    /// Where arguments came from; found out only where a rule wants to know.
    pub(super) fn sources(&self, input: &Json) -> Vec<Provenance> {
        self.origins.as_ref().map_or_else(Vec::new, |origins| origins.of(input))
    }

    /// Where all came from that the agent has seen so far, if a rule wants to know. From then on each event adds to it.
    pub(super) fn origins_so_far(&self) -> Option<Origins> {
        if !self.outfit().policy.looks_at_sources() {
            return None;
        }
        let mut origins = Origins::default();
        for message in &self.before {
            saw_before(&mut origins, message);
        }
        let conversation = self.seen.conversation();
        for node in (0..).map_while(|place| conversation.node(place)) {
            saw(&mut origins, node.body());
        }
        Some(origins)
    }

    /// Where what it says may come from, at worst: the outermost place of which it has seen anything.
    pub fn provenance(&self) -> Option<Provenance> {
        const OUTERMOST: [Provenance; 4] =
            [Provenance::Web, Provenance::RemoteAgent, Provenance::File, Provenance::Memory];
        let conversation = self.seen.conversation();
        let seen: Vec<&Provenance> = (0..)
            .map_while(|place| conversation.node(place))
            .filter_map(|node| match node.body() {
                Body::ToolResult(result) => result.provenance.as_ref(),
                _ => None,
            })
            .collect();
        OUTERMOST.into_iter().find(|from| seen.contains(&from))
    }

    /// One more event that the agent sees.
    pub(super) fn sees(&mut self, body: &Body) {
        if let Some(origins) = &mut self.origins {
            saw(origins, body);
        }
    }
}

fn saw(origins: &mut Origins, body: &Body) {
    match body {
        Body::User(user) => {
            origins.saw(user.provenance.as_ref().unwrap_or(&Provenance::User), &user.content.to_text());
        }
        Body::ToolResult(result) => {
            origins.saw_value(result.provenance.as_ref().unwrap_or(&Provenance::Tool), &result.output);
        }
        _ => {}
    }
}

/// What it was told before it began says less about where it came from.
fn saw_before(origins: &mut Origins, message: &Message) {
    let saw =
        |origins: &mut Origins, from: Provenance, content: &Content| origins.saw(&from, &content.to_text());
    match message {
        Message::User { content } => saw(origins, Provenance::User, content),
        Message::Tool { content, .. } => saw(origins, Provenance::Tool, content),
        Message::Assistant { .. } => {}
    }
}
