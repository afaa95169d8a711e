//! What an export says about itself: a hash beside each event, and beside the first where the export ends.
//!
//! Out: members that [`note`] adds. In: a [`Proof`] that is collected event by event and [checked](Proof::check) at the
//! end. An export from before it said where it ends has hashes only, and events from elsewhere have nothing to check.

use antiphon_event::{Event, Json};
use antiphon_port::{Hash, Head};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// The member with the hash of everything up to an event.
const HASH: &str = "hash";
/// The member of the first event with the end of the export.
const HEAD: &str = "head";

/// Puts the hash beside an event, and the end of the export if it is the first.
pub(super) fn note(event: &mut Event, hash: Hash, head: Head) {
    let has_own = event.extra.iter().any(|(name, _)| &**name == HEAD);
    if event.head.seq == Some(1) && !has_own {
        let end = json!({"seq": head.seq, "hash": head.hash.to_string()});
        event.extra.push((HEAD.into(), Json::from(end)));
    }
    event.extra.push((HASH.into(), Json::from(Value::from(hash.to_string()))));
}

/// Events with what was said about them.
#[derive(Debug, Default)]
pub(super) struct Proof {
    events: Vec<(Event, Option<Hash>)>,
    end: Option<Head>,
}

impl Proof {
    /// Takes an event with what stands beside it.
    pub(super) fn add(&mut self, mut event: Event) {
        let hash = take(&mut event, HASH).and_then(|value| hash(&value));
        if event.head.seq == Some(1)
            && let Some(end) =
                event.extra.iter().find(|(name, _)| &**name == HEAD).and_then(|(_, end)| head(end))
        {
            self.end = Some(end);
            take(&mut event, HEAD);
        }
        // Hashes are of positions; what has none has a member of its own by that name.
        let hash = hash.filter(|_| event.head.seq.is_some());
        self.events.push((event, hash));
    }

    /// The events, if they are what was exported: all of it, and with this head if one was kept.
    pub(super) fn check(self, kept: Option<Hash>) -> Result<Vec<Event>> {
        if self.events.iter().all(|(_, hash)| hash.is_none()) {
            if kept.is_some() || self.end.is_some() {
                bail!("the events have no hashes that could be compared with their head");
            }
            return Ok(self.events.into_iter().map(|(event, _)| event).collect());
        }
        let hashed = self.events.into_iter().enumerate().map(|(index, (event, hash))| match hash {
            Some(hash) => Ok((event, hash)),
            None => bail!("event {} has no hash, and others have one", position(&event, index)),
        });
        let hashed = hashed.collect::<Result<Vec<_>>>()?;
        follow(&hashed)?;
        ends(&hashed, self.end)?;
        if kept.is_some_and(|kept| hashed.iter().all(|(_, hash)| *hash != kept)) {
            bail!(
                "no event has the hash that --head names: this is another history, or a part of it is missing"
            );
        }
        Ok(hashed.into_iter().map(|(event, _)| event).collect())
    }
}

/// Refuses events that do not follow from one another, from the first.
fn follow(hashed: &[(Event, Hash)]) -> Result<()> {
    let first = position(&hashed[0].0, 0);
    if first != 1 {
        bail!("the export begins with event {first}: what was before it is missing");
    }
    if let Err(index) = antiphon_store::prove(hashed) {
        bail!(
            "event {} is not what was exported: its hash was made for something else. Events without `hash` and \
             `head` are imported as they are",
            position(&hashed[index].0, index)
        );
    }
    Ok(())
}

/// Refuses events that end elsewhere than the export did.
fn ends(hashed: &[(Event, Hash)], end: Option<Head>) -> Result<()> {
    let (Some((event, hash)), Some(end)) = (hashed.last(), end) else { return Ok(()) };
    let last = position(event, hashed.len() - 1);
    if last < end.seq {
        bail!(
            "the export ends with event {}, and here event {last} is the last: the rest is missing",
            end.seq
        );
    }
    if last > end.seq || *hash != end.hash {
        bail!("the export ends with event {} and another hash than this: it was changed", end.seq);
    }
    Ok(())
}

fn position(event: &Event, index: usize) -> u64 {
    event.head.seq.unwrap_or(index as u64 + 1)
}

/// Takes a member out that no type of event knows.
fn take(event: &mut Event, member: &str) -> Option<Json> {
    let index = event.extra.iter().position(|(name, _)| &**name == member)?;
    Some(event.extra.remove(index).1)
}

fn hash(value: &Json) -> Option<Hash> {
    value.value().as_str()?.parse().ok()
}

fn head(value: &Json) -> Option<Head> {
    let value = value.value();
    Some(Head { seq: value["seq"].as_u64()?, hash: value["hash"].as_str()?.parse().ok()? })
}

/// A head as it is given on the command line.
pub(super) fn kept(text: Option<&str>) -> Result<Option<Hash>> {
    text.map(str::parse).transpose().context("--head")
}
