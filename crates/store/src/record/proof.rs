//! [`prove`]: whether exported events are those that their hashes were made for.
//!
//! A hash covers the bytes of a record, and an export has events: which of them were one record, and what their heads
//! shared in it, is found again by trying. Hardly ever more than once for each record: what the events that follow share
//! is what the record did, unless it goes on behind a fork point. Start reading at [`prove`].

use antiphon_event::body::session::{BranchCreated, ForkPoint};
use antiphon_event::{Body, Event, Head};
use antiphon_port::{Branch, Hash};

use super::chain::link;
use super::head::{MEMBERS, meet, sharable, without};
use super::{genesis, write_event, write_shared};

/// About how many bytes are hashed at most to find out what the head of one event shared with others.
const TRIED_MAX: usize = 2 * 1024 * 1024 * 1024;

/// Compares the events of a branch, from its first on, with the hashes that they were exported with.
///
/// # Errors
///
/// The index of the first that is not what was written, or does not follow from the one before it.
pub fn prove(exported: &[(Event, Hash)]) -> Result<(), usize> {
    let Some((first, _)) = exported.first() else { return Ok(()) };
    let branches = || exported.chunk_by(|(one, _), (other, _)| of_one_branch(&one.head, &other.head));
    let begun = branches().next().unwrap_or_default();
    let mut before = starts(first).find(|start| record(*start, begun) > 0).ok_or(0_usize)?;
    let mut proved = 0;
    for written in branches() {
        // What an event is shown to belong to is no part of its bytes: a branch must say where it begins, and its name.
        if proved > 0 && fork(&written[0].0).is_none() {
            return Err(proved);
        }
        if let Some(misnamed) = written.iter().position(|(event, _)| !is_called(event)) {
            return Err(proved + misnamed);
        }
        let mut rest = written;
        while !rest.is_empty() {
            let count = record(before, rest);
            let Some((_, last)) = count.checked_sub(1).map(|last| &rest[last]) else { return Err(proved) };
            (before, rest) = (*last, &rest[count..]);
            proved += count;
        }
    }
    Ok(())
}

/// What the chain may begin with: that of the branch, or if the branch forks before anything happened, that of another.
fn starts(first: &Event) -> impl Iterator<Item = Hash> {
    let branch = first.head.session_id.clone().zip(first.head.branch_id.clone());
    let own = branch.map(|(session, branch)| genesis(&Branch::new(session, branch)));
    let told = fork(first).and_then(|from| from.hash.as_ref()?.parse().ok());
    [own, told].into_iter().flatten()
}

/// Where a branch that begins with an event leaves another, if that is what the event says.
fn fork(first: &Event) -> Option<&ForkPoint> {
    let Body::BranchCreated(created) = &first.body else { return None };
    created.from.as_ref()
}

/// Whether an event, if it begins a fork, is of the branch that it names. One that was imported tells of another session.
fn is_called(event: &Event) -> bool {
    match &event.body {
        Body::BranchCreated(BranchCreated { into: Some(name), .. }) if event.head.recorded_at.is_none() => {
            let (session, branch) = (&event.head.session_id, &event.head.branch_id);
            (session.as_ref(), branch.as_ref()) == (Some(&name.session_id), Some(&name.branch_id))
        }
        _ => true,
    }
}

fn of_one_branch(one: &Head, other: &Head) -> bool {
    one.session_id == other.session_id && one.branch_id == other.branch_id
}

/// How many events at the beginning were written as one record; 0 if the first is not what was written.
fn record(before: Hash, events: &[(Event, Hash)]) -> usize {
    let (first, hash) = &events[0];
    let mut tried = 0;
    let mut bytes = Vec::new();
    let opens = |shared: &Head| {
        bytes.clear();
        write_shared(&mut bytes, shared);
        write_event(&mut bytes, first, shared);
        tried += bytes.len();
        tried > TRIED_MAX || link(before, &bytes) == *hash
    };
    let Some(shared) = candidates(events).find(opens) else { return 0 };
    if tried > TRIED_MAX {
        return 0;
    }
    let mut before = *hash;
    let follows = |(event, hash): &&(Event, Hash)| {
        let is_next = has(&event.head, &shared) && {
            bytes.clear();
            write_event(&mut bytes, event, &shared);
            link(before, &bytes) == *hash
        };
        before = *hash;
        is_next
    };
    1 + events[1..].iter().take_while(follows).count()
}

/// What the record that the first event opens may have shared: less and less with each event that follows, and if those
/// do not tell, anything of its head.
fn candidates(events: &[(Event, Hash)]) -> impl Iterator<Item = Head> + '_ {
    let first = &events[0].0.head;
    let mut shared = sharable(first);
    let narrowed = events.iter().enumerate().filter_map(move |(index, (event, _))| {
        let is_less = !has(&event.head, &shared);
        meet(&mut shared, &event.head);
        (is_less || index == 0).then(|| shared.clone())
    });
    narrowed.chain((0..1 << MEMBERS).filter_map(|taken| without(first, taken)))
}

/// Whether a head has all that is shared.
fn has(head: &Head, shared: &Head) -> bool {
    let mut met = shared.clone();
    meet(&mut met, head);
    met == *shared
}
