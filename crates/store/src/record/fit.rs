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
    if let Some(missing) = event.kind().lacks(&event.head) {
        return Some(format!("a `{}` event needs `{}`", event.body.tag(), missing.name()));
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
