//! The books behind the causes: facts, what is under way under which name, who waits for whom.

use std::sync::Arc;

use antiphon_event::{Event, Kind, ParentId, RunId};

use super::describe::describe;
use super::{Called, Causes, Fact, Relation, Run, What, Work};
use crate::calls::{Gets, Whose};
use crate::{Changes, path};

/// A cause and how the effect comes from it.
pub(super) type Link = Option<(u32, Relation)>;

impl Causes {
    pub(super) fn run(&mut self, event: &Event) -> &mut Run {
        let run = event.head.run_id.clone().unwrap_or_else(|| RunId::from(""));
        self.runs.entry(run).or_default()
    }

    /// Takes an event in with this cause, or else as a part of what its run is at.
    pub(super) fn note(&mut self, event: &Event, link: Link, changes: &mut Changes) -> u32 {
        let link = link.or_else(|| self.surroundings(event));
        let fact = self.push(event, link, changes);
        if link.is_none() {
            self.link_to_parent(event, fact, Relation::StartedBy, changes);
        }
        fact
    }

    /// The closest thing that an event can be a part of.
    fn surroundings(&mut self, event: &Event) -> Link {
        let node = self.node_work(event).and_then(|work| self.tip(Some(work), Relation::PartOf));
        let run = event.head.run_id.as_ref().and_then(|run| self.runs.get(run));
        let run = run.and_then(|run| run.step.or(run.first)).map(|whole| (whole, Relation::PartOf));
        node.or(run)
    }

    pub(super) fn push(&mut self, event: &Event, link: Link, changes: &mut Changes) -> u32 {
        self.push_also(event, link, Vec::new(), changes)
    }

    pub(super) fn push_also(
        &mut self,
        event: &Event,
        link: Link,
        also: Vec<u32>,
        changes: &mut Changes,
    ) -> u32 {
        self.add(event, What::Event(event.kind()), describe(event), link, also, changes)
    }

    pub(super) fn add(
        &mut self,
        event: &Event,
        what: What,
        text: String,
        link: Link,
        also: Vec<u32>,
        changes: &mut Changes,
    ) -> u32 {
        let (cause, relation) = link.unzip();
        let (seq, at, run_id) = (event.head.seq, event.head.at, event.head.run_id.clone());
        let fact = Fact { seq, at, what, run_id, text, relation, cause, also, spent: None };
        let index = self.facts.len() as u32;
        changes.append(path!["facts"], &fact);
        self.facts.push(fact);
        if let Some(cause) = cause {
            self.trees.join(index, cause);
        }
        if let Some(run) = &event.head.run_id {
            let found = self.runs.entry(run.clone()).or_default();
            found.last = Some(index);
            if found.first.is_none() {
                found.first = Some(index);
                self.adopt(&run.shared(), index, changes);
            }
        }
        index
    }

    /// Makes whatever caused the run the cause of its first fact, now or when it is heard of.
    pub(super) fn link_to_parent(
        &mut self,
        event: &Event,
        fact: u32,
        relation: Relation,
        changes: &mut Changes,
    ) {
        let parent = event.head.parent_id.as_ref().map(ParentId::shared);
        let Some(parent) = parent.filter(|_| self.is_first(event, fact)) else {
            return;
        };
        self.facts[fact as usize].relation = Some(relation);
        changes.set(path!["facts", fact as usize, "relation"], &relation);
        match self.find(&parent) {
            Some(cause) => self.set_cause(fact, cause, changes),
            None => self.waiting.entry(parent).or_default().push(fact),
        }
    }

    fn is_first(&mut self, event: &Event, fact: u32) -> bool {
        self.run(event).first == Some(fact)
    }

    /// Gives a fact its cause, unless that comes from the fact.
    fn set_cause(&mut self, fact: u32, cause: u32, changes: &mut Changes) {
        if fact != cause && self.effect_of(fact, cause).is_none() {
            self.link(fact, cause, changes);
        }
    }

    fn link(&mut self, fact: u32, cause: u32, changes: &mut Changes) {
        self.trees.join(fact, cause);
        self.late = self.late.max((cause > fact).then_some(cause));
        self.facts[fact as usize].cause = Some(cause);
        changes.set(path!["facts", fact as usize, "cause"], &cause);
    }

    /// What of a fact is on the way back from another, if that comes from it. No more of the way is looked at than lies behind
    /// the fact: what came before it comes from it only if a cause came late.
    fn effect_of(&mut self, fact: u32, from: u32) -> Option<u32> {
        if !self.trees.together(fact, from) {
            return None;
        }
        let late = self.late >= Some(fact);
        let way = std::iter::successors(Some(from), |from| self.facts[*from as usize].cause);
        way.take_while(|from| *from > fact || late)
            .find(|from| self.facts[*from as usize].cause == Some(fact))
    }

    /// What was taken to come from a fact comes from what that comes from.
    fn pass_over(&mut self, fact: u32, effect: u32, changes: &mut Changes) {
        if let Some(cause) = self.facts[fact as usize].cause {
            self.link(effect, cause, changes);
            self.forget_also(effect, cause, changes);
            return;
        }
        self.facts[effect as usize].cause = None;
        changes.remove(path!["facts", effect as usize, "cause"]);
        let run = self.facts[fact as usize].run_id.as_ref().and_then(|run| self.runs.get(run));
        if let Some(parent) = run.and_then(|run| run.parent.as_ref()) {
            self.waiting.entry(parent.shared()).or_default().push(effect);
        } else {
            self.facts[effect as usize].relation = None;
            changes.remove(path!["facts", effect as usize, "relation"]);
        }
    }

    /// A cause that is followed is not among the others.
    fn forget_also(&mut self, fact: u32, cause: u32, changes: &mut Changes) {
        let also = &mut self.facts[fact as usize].also;
        let before = also.len();
        also.retain(|other| *other != cause);
        match also.len() {
            0 if before > 0 => changes.remove(path!["facts", fact as usize, "also"]),
            after if after < before => changes.set(path!["facts", fact as usize, "also"], also),
            _ => {}
        }
    }

    /// Gives those who waited for a name their cause.
    fn adopt(&mut self, name: &str, cause: u32, changes: &mut Changes) {
        for fact in self.waiting.remove(name).unwrap_or_default() {
            // What was found to come from a call does not come from whatever caused its run.
            if self.facts[fact as usize].cause.is_none() {
                self.set_cause(fact, cause, changes);
            }
        }
    }

    /// What a name stands for: what was begun under it, or the last thing of that run.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let work = self.named.get(&name.into()).map(|work| self.works[work].start);
        let run = || self.runs.get(name).or_else(|| self.runs.get(run_part(name))).and_then(|run| run.last);
        work.or_else(run)
    }

    /// Begins a stream of content.
    pub(super) fn begin_stream(&mut self, event: &Event, id: &Arc<str>, fact: u32, changes: &mut Changes) {
        let Some(run) = &event.head.run_id else { return };
        if let Some(work) = self.streams.begins(run, id, |_| false) {
            self.works[work] = Work::new(fact);
            return;
        }
        let work = self.add_work(run, id, fact, changes);
        self.streams.begun(run, id, work);
    }

    /// Begins a call, or code; the same once more takes its place.
    pub(super) fn begin(
        &mut self,
        kind: Own,
        event: &Event,
        id: &Arc<str>,
        fact: u32,
        changes: &mut Changes,
    ) {
        let Some(run) = &event.head.run_id else { return };
        if let Some(work) = self.called(kind).works.own(run, id) {
            self.works[work] = Work::new(fact);
            return;
        }
        let work = self.add_work(run, id, fact, changes);
        let gets = self.called(kind).works.gets(run, id);
        self.called_mut(kind).works.begun(run, id, work, &gets);
        self.hand_over(kind, gets, run, id, work, changes);
    }

    /// Gives a work what came of it before it began.
    fn hand_over(
        &mut self,
        kind: Own,
        gets: Gets,
        run: &RunId,
        id: &Arc<str>,
        work: usize,
        changes: &mut Changes,
    ) {
        let called = self.called_mut(kind);
        let (facts, is_own) = match gets {
            Gets::Nothing => return,
            Gets::Loan { of } => (called.strays.get(&(of, Arc::clone(id))).cloned(), false),
            Gets::Own { .. } => (called.strays.remove(&(run.clone(), Arc::clone(id))), true),
        };
        for fact in facts.unwrap_or_default() {
            let ends = is_end(self.facts[fact as usize].what);
            let relation = if ends { Relation::ResultOf } else { Relation::PartOf };
            if ends && is_own {
                self.called_mut(kind).works.answered(work);
            }
            let tip = self.works[work].tip;
            // What led to the call did not come from what came of it.
            if let Some(effect) = self.effect_of(fact, tip) {
                self.pass_over(fact, effect, changes);
            }
            let found = &mut self.facts[fact as usize];
            if !std::mem::take(&mut found.also).is_empty() {
                changes.remove(path!["facts", fact as usize, "also"]);
            }
            found.relation = Some(relation);
            changes.set(path!["facts", fact as usize, "relation"], &relation);
            self.link(fact, tip, changes);
        }
    }

    /// Notes that a call, or code, has a result of its own run.
    pub(super) fn finish(&mut self, kind: Own, work: usize) {
        self.works[work].done = true;
        self.called_mut(kind).works.answered(work);
    }

    fn add_work(&mut self, run: &RunId, id: &Arc<str>, fact: u32, changes: &mut Changes) -> usize {
        let work = self.works.len();
        self.works.push(Work::new(fact));
        // As in the conversation graph: what has an id that is taken is known by its run, too.
        let is_taken = self.named.get(id).is_some();
        let name = if is_taken { format!("{run}/{id}").into() } else { Arc::clone(id) };
        self.name(name, work, changes);
        work
    }

    /// Begins what is known by this name alone.
    pub(super) fn begin_named(&mut self, name: Arc<str>, fact: u32, changes: &mut Changes) -> usize {
        if let Some(work) = self.named.get(&name) {
            self.works[work] = Work::new(fact);
            return work;
        }
        let work = self.works.len();
        self.works.push(Work::new(fact));
        self.name(name, work, changes);
        work
    }

    fn name(&mut self, name: Arc<str>, work: usize, changes: &mut Changes) {
        self.adopt(&name, self.works[work].start, changes);
        self.named.insert(name, work);
    }

    pub(super) fn name_of_run(&mut self, event: &Event, suffix: &str, fact: u32, changes: &mut Changes) {
        if let Some(run) = &event.head.run_id {
            self.begin_named(format!("{run}:{suffix}").into(), fact, changes);
        }
    }

    /// Whose it is what the run of an event says of a call, or of code.
    pub(super) fn whose(&mut self, kind: Own, event: &Event, id: &Arc<str>) -> Whose {
        self.called_mut(kind).works.whose(event.head.run_id.as_ref(), id)
    }

    /// The call, or the code, that is asked about in the run of an event.
    pub(super) fn asked_about(&self, kind: Own, event: &Event, id: &Arc<str>) -> Option<usize> {
        self.called(kind).works.asked_about(event.head.run_id.as_ref(), id)
    }

    /// Remembers what a run says of what it has not begun, until it does.
    pub(super) fn stray(&mut self, kind: Own, event: &Event, id: &Arc<str>, whose: Whose, fact: u32) {
        if let Some(run) = event.head.run_id.as_ref().filter(|_| !matches!(whose, Whose::Own(_))) {
            let name = (run.clone(), Arc::clone(id));
            self.called_mut(kind).strays.entry(name).or_default().push(fact);
        }
    }

    pub(super) fn called(&self, kind: Own) -> &Called {
        match kind {
            Own::Call => &self.calls,
            Own::Code => &self.codes,
        }
    }

    fn called_mut(&mut self, kind: Own) -> &mut Called {
        match kind {
            Own::Call => &mut self.calls,
            Own::Code => &mut self.codes,
        }
    }

    /// The last thing on the way of a work, as a cause.
    pub(super) fn tip(&self, work: Option<usize>, relation: Relation) -> Link {
        work.map(|work| (self.works[work].tip, relation))
    }

    pub(super) fn advance(&mut self, work: Option<usize>, fact: u32) {
        if let Some(work) = work {
            self.works[work].tip = fact;
        }
    }

    pub(super) fn node_work(&self, event: &Event) -> Option<usize> {
        let run = self.runs.get(event.head.run_id.as_ref()?)?;
        run.nodes.get(event.head.node_id.as_ref()?)?.work
    }
}

/// What a run gives an id of its own and something comes of: equal ids of two runs, or of two kinds, are two things.
#[derive(Debug, Clone, Copy)]
pub(super) enum Own {
    Call,
    Code,
}

impl Work {
    fn new(fact: u32) -> Self {
        Self { start: fact, tip: fact, done: false }
    }
}

/// Whether a fact says what came of a call or of code.
fn is_end(what: What) -> bool {
    matches!(what, What::Event(Kind::ToolResult | Kind::ReplOutput))
}

/// The run in the id of something that belongs to it: `<run>/<id>` or `<run>:<type>`.
pub(super) fn run_part(name: &str) -> &str {
    name.split(['/', ':']).next().unwrap_or(name)
}
