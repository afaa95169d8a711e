//! Which events can be kept: those that will be read back as they are.

use antiphon_event::{Body, Event};
use antiphon_port::Fault;

/// Refuses events that nobody could read again.
pub(crate) fn fit(events: &[Event]) -> Result<(), Fault> {
    for (index, event) in events.iter().enumerate() {
        if let Some(why) = unfit(event) {
            return Err(Fault::Unfit { index, why });
        }
    }
    Ok(())
}

fn unfit(event: &Event) -> Option<String> {
    if matches!(event.body, Body::Connected(_)) {
        return Some("`connected` is live only".into());
    }
    let kind = event.kind();
    let missing = kind.needs().iter().find(|name| match **name {
        "runId" => event.head.run_id.is_none(),
        "nodeId" => event.head.node_id.is_none(),
        _ => unreachable!("the vocabulary needs only members that are listed here"),
    });
    if let Some(missing) = missing {
        return Some(format!("a `{}` event needs `{missing}`", event.body.tag()));
    }
    // Members of no known type may have the names of known ones; an unknown type may have a known tag.
    if event.extra.is_empty() && !matches!(event.body, Body::Unknown(_)) {
        return None;
    }
    match Event::from_json(&event.to_json()) {
        Ok(read) if read == *event => None,
        Ok(_) => Some("it is another event when it is read back".into()),
        Err(error) => Some(error.to_string()),
    }
}
