//! What missions ask people: requests without an id, answered by what becomes of the change that was proposed.
//!
//! In: `mission:approval_required`, and what approves, rejects or ends. Out: a request as any other. An approval or a
//! rejection is for the oldest request of the same run that waits; the end of the mission closes what still does.
//! Start reading at [`Permissions::of_mission`].

use std::collections::BTreeSet;

use antiphon_event::body::mission::ApprovalRequired;
use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Body, Event, RelayId, RelayKind, RunId};
use serde::{Deserialize, Serialize};

use super::{Permissions, Status};
use crate::value::put;
use crate::{Changes, path};

/// What a mission has asked.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Mission {
    /// How many requests it has made.
    asked: u64,
    /// Those that it may still wait for, by their numbers.
    open: BTreeSet<usize>,
}

impl Permissions {
    pub(super) fn of_mission(&mut self, event: &Event, changes: &mut Changes) {
        match &event.body {
            Body::MissionApprovalRequired(required) => self.approval_required(event, required, changes),
            Body::MissionExpansionApproved(approved) => {
                self.mission_answered(event, true, &approved.by, None, changes);
            }
            Body::MissionExpansionRejected(rejected) => {
                self.mission_answered(event, false, &rejected.by, Some(&rejected.reason), changes);
            }
            Body::MissionComplete(_) => self.mission_over(event, changes),
            _ => {}
        }
    }

    fn approval_required(&mut self, event: &Event, required: &ApprovalRequired, changes: &mut Changes) {
        let mission = self.missions.entry(event.head.run_id.clone()).or_default();
        mission.asked += 1;
        // As the node in the conversation graph is called.
        let name = format!("{}:{}", event.body.tag(), mission.asked);
        let id = event.head.run_id.as_ref().map(|run| format!("{run}:{name}")).unwrap_or(name);
        let relay = Relay {
            id: RelayId::from(id.as_str()),
            kind: RelayKind::Approval,
            tool_call_id: None,
            tool: None,
            params: required.details.clone(),
            prompt: Some(required.action.clone()),
            options: None,
            schema: None,
            expires_at: None,
            scopes: None,
        };
        let number = self.asked(&run_of(event), event, &relay, changes);
        self.missions.entry(event.head.run_id.clone()).or_default().open.insert(number);
    }

    fn mission_answered(
        &mut self,
        event: &Event,
        approved: bool,
        by: &str,
        reason: Option<&str>,
        changes: &mut Changes,
    ) {
        let Some(number) = self.next_of_mission(event) else { return };
        let resolved = RelayResolved {
            relay_id: self.requests[number].id.clone(),
            approved: Some(approved),
            answer: None,
            input: None,
            scope: None,
            reason: reason.map(ToOwned::to_owned),
            by: by.to_owned(),
        };
        self.answered(Some(&run_of(event)), event, &resolved, changes);
    }

    fn mission_over(&mut self, event: &Event, changes: &mut Changes) {
        let waited = self.known.waiting();
        while let Some(number) = self.next_of_mission(event) {
            self.known.withdraw(number);
            let status = &mut self.requests[number].status;
            put(status, Status::Closed, changes, path!["requests", number, "status"]);
        }
        self.count(waited, changes);
    }

    /// Takes the oldest request that the mission of an event waits for.
    fn next_of_mission(&mut self, event: &Event) -> Option<usize> {
        let mission = self.missions.get_mut(&event.head.run_id)?;
        while let Some(number) = mission.open.pop_first() {
            if self.requests[number].status == Status::Pending {
                return Some(number);
            }
        }
        None
    }
}

fn run_of(event: &Event) -> RunId {
    event.head.run_id.clone().unwrap_or_else(|| RunId::from(""))
}
