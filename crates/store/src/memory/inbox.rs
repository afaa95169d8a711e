//! [`Inbox`]: what was left for the owners of sessions.

use antiphon_event::SessionId;
use antiphon_port::{Fault, Sent};

use crate::INBOX_MAX;

/// What was left, oldest first.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    last: u64,
    sent: Vec<(SessionId, Sent)>,
}

impl Inbox {
    pub(super) fn put(&mut self, session: &SessionId, text: &str) -> Result<u64, Fault> {
        let waiting = self.sent.iter().filter(|(of, _)| of == session).count();
        if waiting >= INBOX_MAX {
            return Err(Fault::Busy { place: format!("the owner of {session}"), waiting });
        }
        self.last += 1;
        self.sent.push((session.clone(), Sent { number: self.last, text: text.to_owned() }));
        Ok(self.last)
    }

    pub(super) fn take(&mut self, session: &SessionId, done: u64) -> Vec<Sent> {
        self.sent.retain(|(of, sent)| of != session || sent.number > done);
        let left = self.sent.iter().filter(|(of, _)| of == session);
        left.map(|(_, sent)| sent.clone()).collect()
    }

    pub(super) fn forget(&mut self, session: &SessionId) {
        self.sent.retain(|(of, _)| of != session);
    }
}
