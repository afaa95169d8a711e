//! The person who is asked: always says yes and, where a program may or may not have run, looks what it would have given.

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::{Body, Event, Json, RelayId};

/// Whether this event asks this.
pub(crate) fn is_asked(event: &Event, id: &RelayId) -> bool {
    matches!(&event.body, Body::Relay(relay) if relay.id == *id)
}

/// Whether it asks what to do about a program that nobody knows the end of.
pub(crate) fn is_doubt(relay: &Relay) -> bool {
    relay.options.as_ref().is_some_and(|options| options.iter().any(|option| option == "run again"))
}

/// The answer, the same however often the question is put.
pub(crate) fn answer(request: &Event) -> RelayResolved {
    let Body::Relay(relay) = &request.body else { panic!("{} asks nothing", request.body.tag()) };
    let mut answer = RelayResolved {
        relay_id: relay.id.clone(),
        approved: Some(true),
        answer: None,
        input: None,
        scope: None,
        reason: None,
        by: "tester".to_owned(),
    };
    if is_doubt(relay) {
        let node = request.head.node_id.as_ref().expect("a node asks");
        let coin = relay.id.as_str().bytes().map(u32::from).sum::<u32>() % 2;
        // What always fails is not done, whoever takes it as done.
        let done = coin == 0 && !node.as_str().starts_with("bad");
        answer.answer = Some(Json::from(if done { "take as done" } else { "run again" }));
        let read = relay.params.as_ref().map(Json::to_text).unwrap_or_default();
        answer.input = done.then(|| Json::from(format!("{read}.{node}").as_str()));
    }
    answer
}
