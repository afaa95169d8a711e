//! What tests do to a run: say yes to it, and read what it said.

use antiphon_event::body::request::RelayResolved;
use antiphon_event::{Event, RelayId};
use antiphon_runtime::Run;

/// A yes to a request.
pub(crate) fn yes(relay_id: RelayId) -> RelayResolved {
    RelayResolved {
        relay_id,
        approved: Some(true),
        answer: None,
        input: None,
        scope: None,
        reason: None,
        by: "tester".into(),
    }
}

/// All that a run has said by the time it has ended or waits.
pub(crate) async fn events(run: &Run) -> Vec<Event> {
    let mut tail = run.events();
    let mut all = Vec::new();
    while let Some(page) = tail.next().await.expect("readable") {
        all.extend(page);
    }
    all
}
