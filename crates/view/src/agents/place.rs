//! Where an agent stands in the tree: by id, by chain, by depth, with places kept for those not seen yet.

use antiphon_event::body::mission::AgentSpawned;
use antiphon_event::{Agent, AgentId, Body, Event};

use super::descent::Behind;
use super::{AgentRow, Agents};
use crate::edit::Edit;
use crate::{Changes, path};

/// How many names of a chain are followed.
const CHAIN_MAX: usize = 256;

impl Agents {
    /// The agent an event belongs to; made if there is none.
    pub(super) fn agent_of(&mut self, event: &Event, run: Option<usize>, changes: &mut Changes) -> usize {
        self.named(event, run, changes).unwrap_or_else(|| self.root(changes))
    }

    /// The agent that an event, or its run, says it belongs to.
    fn named(&mut self, event: &Event, run: Option<usize>, changes: &mut Changes) -> Option<usize> {
        let known = run.and_then(|run| self.runs[run].agent);
        let named = match (&event.head.agent, &event.body) {
            (Some(agent), _) => Some(self.place_of(agent, run, changes)),
            (None, Body::HarnessStart(start)) if known.is_none() => {
                start.agent_id.as_ref().map(|id| self.bare(id, start.depth.unwrap_or(0), run, changes))
            }
            _ => None,
        };
        if let (Some(agent), Some(run)) = (named, run) {
            self.runs[run].agent.get_or_insert(agent);
        }
        named.or(known)
    }

    /// An agent joined a mission: it has a place under who took it in, also before it does anything.
    pub(super) fn spawned(
        &mut self,
        event: &Event,
        run: Option<usize>,
        spawned: &AgentSpawned,
        changes: &mut Changes,
    ) {
        let above = self.named(event, run, changes);
        let place = self.ids.get(&spawned.agent_id).copied().unwrap_or_else(|| {
            let role = Some(spawned.role.clone());
            let place = self.add(None, AgentRow { role, placeholder: true, ..AgentRow::default() }, changes);
            self.call(place, &spawned.agent_id, changes);
            place
        });
        let row = &mut self.rows[place];
        let steps = path!["agents", place];
        let mut edit = Edit::at(changes, steps);
        edit.count("events", &mut row.events);
        edit.take("role", &mut row.role, Some(spawned.role.clone()));
        edit.take("model", &mut row.model, Some(spawned.model.clone()));
        edit.take("provider", &mut row.provider, Some(spawned.provider.clone()));
        if let Some(above) = above {
            self.hang(place, above, changes);
        }
    }

    /// The agent with this metadata.
    fn place_of(&mut self, agent: &Agent, run: Option<usize>, changes: &mut Changes) -> usize {
        let known = self.ids.get(&agent.id).copied().filter(|_| !agent.id.as_str().is_empty());
        if let Some(place) = known.filter(|place| !self.rows[*place].placeholder) {
            self.depths.insert(agent.depth, place);
            return place;
        }
        let chain = &agent.chain[..agent.chain.len().min(CHAIN_MAX)];
        let name = agent.name.clone().or_else(|| chain.last().cloned());
        let parent = self.parent_of(agent, chain, run, changes);
        let place = known.or_else(|| self.kept_for(parent, name.as_deref(), agent)).unwrap_or_else(|| {
            self.add(parent, AgentRow { placeholder: true, ..AgentRow::default() }, changes)
        });
        self.identify(place, agent, name, changes);
        match (parent, run) {
            (Some(parent), _) => self.hang(place, parent, changes),
            (None, Some(run)) if *self.runs[run].agent.get_or_insert(place) == place => {
                self.hang_from_cause(run, changes);
            }
            (None, Some(_) | None) => {}
        }
        place
    }

    /// An agent that only a `harness_start` speaks of.
    fn bare(&mut self, id: &AgentId, depth: u32, run: Option<usize>, changes: &mut Changes) -> usize {
        let agent = Agent {
            id: id.clone(),
            name: None,
            chain: Vec::new(),
            depth,
            parent_id: None,
            extra: serde_json::Map::new(),
        };
        self.place_of(&agent, run, changes)
    }

    /// The agent it names as its parent, else the one behind what caused its run, else the one its chain names, else the last
    /// one a level higher.
    fn parent_of(
        &mut self,
        agent: &Agent,
        chain: &[String],
        run: Option<usize>,
        changes: &mut Changes,
    ) -> Option<usize> {
        let named = agent.parent_id.as_ref().filter(|id| **id != agent.id && !id.as_str().is_empty());
        if let Some(place) = named.and_then(|id| self.ids.get(id)) {
            return Some(*place);
        }
        let behind = run.filter(|_| named.is_none()).map_or(Behind::Nobody, |run| self.behind(run, changes));
        if let Behind::Agent(place) = behind {
            return Some(place);
        }
        let above = chain.split_last().and_then(|(_, above)| self.chain(above, changes));
        match (named, above) {
            (None, Some(above)) => Some(above),
            (Some(id), Some(above)) if self.rows[above].id.is_none() => {
                self.call(above, id, changes);
                Some(above)
            }
            // Its chain leads to somebody else of the same name, so the parent stands beside that one.
            (Some(id), above) => {
                let beside = above.and_then(|above| self.tree.parent(above));
                let name = above.and_then(|above| self.rows[above].name.clone());
                let depth = agent.depth.saturating_sub(1);
                let kept = self.add(
                    beside,
                    AgentRow { name, depth, placeholder: true, ..AgentRow::default() },
                    changes,
                );
                self.call(kept, id, changes);
                Some(kept)
            }
            (None, None) if matches!(behind, Behind::Awaited(_)) => None,
            (None, None) => agent.depth.checked_sub(1).and_then(|depth| self.depths.get(&depth).copied()),
        }
    }

    /// The agent at the end of a chain of names, with places kept for all that are missing on the way.
    fn chain(&mut self, names: &[String], changes: &mut Changes) -> Option<usize> {
        let mut at = None;
        for (depth, name) in names.iter().enumerate() {
            let known = self.names.get(&(at, name.clone())).copied();
            let place = match (known, self.nobody.filter(|_| at.is_none())) {
                (Some(place), _) => place,
                (None, Some(nobody)) => {
                    self.nobody = None;
                    self.rename(nobody, name.clone(), changes);
                    nobody
                }
                (None, None) => {
                    let row = AgentRow {
                        name: Some(name.clone()),
                        depth: depth as u32,
                        placeholder: true,
                        ..AgentRow::default()
                    };
                    self.add(at, row, changes)
                }
            };
            at = Some(place);
        }
        at
    }

    /// A place kept for an agent that was known by its chain only, or by nothing at all.
    fn kept_for(&mut self, parent: Option<usize>, name: Option<&str>, agent: &Agent) -> Option<usize> {
        let by_name = name.and_then(|name| self.names.get(&(parent, name.to_owned())).copied());
        let anonymous = agent.id.as_str().is_empty();
        let kept = by_name.filter(|place| self.rows[*place].id.is_none() || anonymous);
        if kept.is_none() && parent.is_none() {
            return self.nobody.take();
        }
        kept
    }

    /// Makes a kept place the agent itself.
    fn identify(&mut self, place: usize, agent: &Agent, name: Option<String>, changes: &mut Changes) {
        if let Some(name) = name.filter(|name| self.rows[place].name.as_ref() != Some(name)) {
            self.rename(place, name, changes);
        }
        if !agent.id.as_str().is_empty() {
            self.call(place, &agent.id, changes);
        }
        let row = &mut self.rows[place];
        let steps = path!["agents", place];
        let mut edit = Edit::at(changes, steps);
        edit.put("depth", &mut row.depth, agent.depth);
        edit.put("placeholder", &mut row.placeholder, false);
        self.depths.insert(agent.depth, place);
    }

    fn rename(&mut self, place: usize, name: String, changes: &mut Changes) {
        self.names.insert((self.tree.parent(place), name.clone()), place);
        let row = &mut self.rows[place];
        Edit::at(changes, path!["agents", place]).put("name", &mut row.name, Some(name));
    }

    fn call(&mut self, place: usize, id: &AgentId, changes: &mut Changes) {
        self.ids.insert(id.clone(), place);
        let row = &mut self.rows[place];
        Edit::at(changes, path!["agents", place]).fill("id", &mut row.id, Some(id.clone()));
    }

    /// Hangs an agent under its parent, with what it and those below it used. A root that becomes known to
    /// be none moves; an agent that has a parent stays where it is, and so does one that would close a cycle.
    pub(super) fn hang(&mut self, place: usize, parent: usize, changes: &mut Changes) {
        if self.tree.parent(place).is_some() || !self.tree.adopt(place, parent) {
            return;
        }
        let row = &mut self.rows[place];
        let used = row.tree;
        Edit::at(changes, path!["agents", place]).put("parent", &mut row.parent, Some(parent));
        if let Some(name) = row.name.clone() {
            let as_root = (None, name.clone());
            if self.names.get(&as_root) == Some(&place) {
                self.names.remove(&as_root);
            }
            self.names.insert((Some(parent), name), place);
        }
        self.add_above(place, used, changes);
    }

    fn add(&mut self, parent: Option<usize>, row: AgentRow, changes: &mut Changes) -> usize {
        let place = self.tree.add(parent);
        if let Some(name) = &row.name {
            self.names.insert((parent, name.clone()), place);
        }
        let is_root = parent.is_none() && row.role.is_none();
        let events = if is_root { std::mem::take(&mut self.unclaimed) } else { 0 };
        let row = AgentRow { parent, events, ..row };
        changes.append(path!["agents"], &row);
        self.rows.push(row);
        place
    }

    /// Where events belong that name nobody: the first agent without a parent, but for those that only joined a mission.
    pub(super) fn root(&mut self, changes: &mut Changes) -> usize {
        if let Some(root) = self.root.filter(|root| self.tree.parent(*root).is_none()) {
            return root;
        }
        let took_part = |place: &usize| !self.rows[*place].placeholder || self.rows[*place].role.is_none();
        let found = self.tree.roots().find(took_part);
        let root = found.unwrap_or_else(|| {
            let root = self.add(None, AgentRow { placeholder: true, ..AgentRow::default() }, changes);
            self.nobody = Some(root);
            root
        });
        self.root = Some(root);
        root
    }
}
