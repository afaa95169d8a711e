//! What was heard of a voice: a message of the person who spoke.
//!
//! What may still change is passed over: what it comes to is told in full. Start reading at [`Transcript::heard`].

use antiphon_event::body::voice::VoiceTranscript;
use antiphon_event::{Event, MessageId, RunId};

use super::{Role, Transcript, close};
use crate::value::put;
use crate::{Changes, path};

impl Transcript {
    /// Adds what was understood for good.
    pub(super) fn heard(&mut self, event: &Event, heard: &VoiceTranscript, changes: &mut Changes) {
        if !heard.is_final || heard.text.is_empty() {
            return;
        }
        let run = event.head.run_id.clone().unwrap_or_else(no_run);
        let named = event.head.message_id.as_ref().map(MessageId::shared);
        let id = named.unwrap_or_else(|| match &event.head.node_id {
            Some(node) => format!("{node}:voice").into(),
            None => "voice".into(),
        });
        let id = self.free(Role::User, &id);
        let place = self.add(Role::User, id, &run, event, changes);
        let message = &mut self.messages[place];
        // The agent of such an event is the one that listens.
        if message.agent.take().is_some() {
            changes.remove(path!["messages", place, "agent"]);
        }
        put(&mut message.speaker, heard.speaker.clone(), changes, path!["messages", place, "speaker"]);
        put(&mut message.text, heard.text.clone(), changes, path!["messages", place, "text"]);
        close(message, place, event, changes);
    }
}

/// The run of what was heard in none.
pub(super) fn no_run() -> RunId {
    RunId::from("")
}

pub(super) fn is_no_run(run: &RunId) -> bool {
    run.as_str().is_empty()
}
