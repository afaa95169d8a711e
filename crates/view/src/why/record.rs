//! Which event is caused by what.
//!
//! One function for each way of being caused; [`Causes::record`] is the table.

use std::sync::Arc;

use antiphon_event::body::request::{Relay, RelayResolved};
use antiphon_event::body::tool::{ToolCall, ToolResult};
use antiphon_event::{Body, CallId, Delivery, Event, Kind, RunId, StreamId};

use super::ledger::{Own, run_part};
use super::{Asked, Causes, Relation, Run, What, Work};
use crate::brief::brief;
use crate::calls::Whose;
use crate::{Changes, Tally, path};

impl Causes {
    /// Remembers an event and gives the fact it belongs to.
    pub(super) fn record(&mut self, event: &Event, changes: &mut Changes) -> u32 {
        if let Some(run) = &event.head.run_id
            && !self.runs.contains_key(run)
        {
            let parent = event.head.parent_id.clone();
            self.runs.insert(run.clone(), Run { parent, ..Run::default() });
        }
        match &event.body {
            Body::User(user) => {
                let steers = user.delivery == Some(Delivery::Steer);
                self.user(event, steers, changes)
            }
            Body::Text(text) => self.stream(event, &text.id, &text.content, changes),
            Body::Reasoning(reasoning) => self.stream(event, &reasoning.id, &reasoning.content, changes),
            Body::ToolCall(call) => self.call(event, call, changes),
            Body::ToolProgress(progress) => {
                self.progress(Own::Call, event, &progress.tool_call_id.shared(), changes)
            }
            Body::ToolResult(result) => self.result(event, result, changes),
            Body::HarnessStart(_) | Body::RunStart(_) => self.run_begins(event, changes),
            Body::HarnessEnd(_) | Body::RunEnd(_) => self.end(event, changes),
            Body::CancelRequested(_) | Body::Error(_) => self.stop(event, changes),
            Body::Usage(usage) => self.usage(event, Tally::of(usage), usage.model.as_deref(), changes),
            Body::ModelRetry(_) => self.model_retry(event, changes),
            Body::Relay(relay) => self.relay(event, relay, changes),
            Body::RelayResolved(resolved) => self.resolved(event, resolved, changes),
            Body::ReplInput(input) => self.code(event, &input.id.shared(), changes),
            Body::ReplProgress(progress) => self.progress(Own::Code, event, &progress.id.shared(), changes),
            Body::ReplOutput(output) => self.output(event, &output.id.shared(), output.done, changes),
            Body::Summary(summary) => self.summary(event, &summary.id, &summary.sources, changes),
            Body::HistoryCompacted(compacted) => {
                let summary = self.messages.get(&*compacted.summary_id);
                let link = summary.map(|summary| (*summary, Relation::PartOf));
                self.note(event, link, changes)
            }
            // Nodes and edges are causes of their own kind; of all others the closest thing before is known.
            _ => self.flow(event, changes),
        }
    }

    /// A person is where chains of causes end; what the message follows is only named.
    fn user(&mut self, event: &Event, steers: bool, changes: &mut Changes) -> u32 {
        let before = event.head.parent_id.as_ref().and_then(|parent| self.find(parent.as_str()));
        let fact = self.push_also(event, None, before.into_iter().collect(), changes);
        self.name_of_run(event, "user", fact, changes);
        if let Some(message) = &event.head.message_id {
            self.messages.insert(message.shared(), fact);
        }
        let steered =
            event.head.parent_id.as_ref().filter(|_| steers).map(|parent| run_part(parent.as_str()));
        if let Some(run) = steered.and_then(|run| self.runs.get_mut(run)) {
            run.unanswered.push(fact);
        }
        fact
    }

    fn stream(&mut self, event: &Event, id: &StreamId, piece: &str, changes: &mut Changes) -> u32 {
        if let Some(fact) = self.known_stream(event, id) {
            self.lengthen(fact, piece, changes);
            return fact;
        }
        let answered = self.run(event).answered;
        let link = match answered {
            Some(output) => Some((output, Relation::ResultOf)),
            None => Some((self.step(event, changes), Relation::SaidBy)),
        };
        let fact = self.push(event, link, changes);
        self.begin_stream(event, &id.shared(), fact, changes);
        self.run(event).stream = Some((id.clone(), fact));
        fact
    }

    /// The fact of a stream that is under way: same id, same run, same kind.
    fn known_stream(&mut self, event: &Event, id: &StreamId) -> Option<u32> {
        let kind = What::Event(event.kind());
        if let Some((latest, fact)) = &self.run(event).stream
            && latest == id
        {
            let fact = *fact;
            return Some(fact).filter(|fact| self.facts[*fact as usize].what == kind);
        }
        let stream = self.streams.exact(event.head.run_id.as_ref()?, &id.shared())?;
        let fact = self.works[stream].start;
        let found = &self.facts[fact as usize];
        (found.what == kind).then_some(fact)
    }

    /// Adds to a description that is not full yet.
    fn lengthen(&mut self, fact: u32, piece: &str, changes: &mut Changes) {
        let text = &mut self.facts[fact as usize].text;
        if text.ends_with('…') {
            return;
        }
        text.push_str(piece);
        *text = brief(text);
        changes.set(path!["facts", fact as usize, "text"], text);
    }

    /// A call is proposed by a model call, and runs because of the proposal or of a decision about it.
    fn call(&mut self, event: &Event, call: &ToolCall, changes: &mut Changes) -> u32 {
        let id = call.id.shared();
        let known = event.head.run_id.as_ref().and_then(|run| self.calls.works.own(run, &id));
        self.skip_early(event, &id);
        let proposed = known.map(|work| &self.works[work]).filter(|work| !work.done);
        let link = match proposed.map(|work| work.tip) {
            Some(tip) if self.facts[tip as usize].what == What::Event(Kind::ToolCall) => {
                Some((tip, Relation::RunsAs))
            }
            Some(tip) => Some((tip, Relation::AllowedBy)),
            None => Some((self.step(event, changes), Relation::ProposedBy)),
        };
        let fact = self.push(event, link, changes);
        self.begin(Own::Call, event, &id, fact, changes);
        fact
    }

    /// What came of a call before the call is not what the model call answers that makes it.
    fn skip_early(&mut self, event: &Event, id: &Arc<str>) {
        let Some(run) = &event.head.run_id else { return };
        let early = self.calls.strays.get(&(run.clone(), Arc::clone(id)));
        if let (Some(early), Some(run)) = (early, self.runs.get_mut(run)) {
            run.unanswered.retain(|fact| !early.contains(fact));
        }
    }

    fn result(&mut self, event: &Event, result: &ToolResult, changes: &mut Changes) -> u32 {
        let fact = self.come(Own::Call, event, &result.id.shared(), changes);
        let run = self.run(event);
        run.unanswered.push(fact);
        run.steps.settle();
        fact
    }

    /// Code is a call of its own kind.
    fn code(&mut self, event: &Event, id: &Arc<str>, changes: &mut Changes) -> u32 {
        let step = self.run(event).step;
        let link = step.map(|step| (step, Relation::ProposedBy));
        let fact = self.note(event, link, changes);
        self.begin(Own::Code, event, id, fact, changes);
        fact
    }

    fn output(&mut self, event: &Event, id: &Arc<str>, done: bool, changes: &mut Changes) -> u32 {
        let fact = self.come(Own::Code, event, id, changes);
        let run = self.run(event);
        run.unanswered.push(fact);
        run.steps.settle();
        run.answered = done.then_some(fact);
        fact
    }

    /// A piece of progress of a call, or of code.
    fn progress(&mut self, kind: Own, event: &Event, id: &Arc<str>, changes: &mut Changes) -> u32 {
        let whose = self.whose(kind, event, id);
        let link = self.tip(whose.call(), Relation::PartOf);
        let fact = self.note(event, link, changes);
        self.stray(kind, event, id, whose, fact);
        fact
    }

    /// What came of a call, or of code.
    fn come(&mut self, kind: Own, event: &Event, id: &Arc<str>, changes: &mut Changes) -> u32 {
        let whose = self.whose(kind, event, id);
        let fact = self.end_work(event, whose.call(), changes);
        if let Whose::Own(work) = whose {
            self.finish(kind, work);
        }
        self.stray(kind, event, id, whose, fact);
        fact
    }

    /// Records what a node came to.
    pub(super) fn finish_work(&mut self, event: &Event, work: Option<usize>, changes: &mut Changes) -> u32 {
        if let Some(work) = work {
            self.works[work].done = true;
        }
        self.end_work(event, work, changes)
    }

    /// Records what a work came to: caused by the last thing on the way, be it the start, a refusal or a child run.
    fn end_work(&mut self, event: &Event, work: Option<usize>, changes: &mut Changes) -> u32 {
        let Some(Work { start, tip, .. }) = work.map(|work| self.works[work].clone()) else {
            return self.note(event, None, changes);
        };
        let relation = match self.facts[tip as usize].what {
            What::Event(Kind::RelayResolved) if event.kind() == Kind::ToolResult => Relation::DeniedBy,
            What::Event(Kind::RelayResolved) => Relation::DecidedBy,
            What::Event(Kind::HarnessEnd | Kind::RunEnd) => Relation::ReturnedBy,
            What::Event(_) | What::Step => Relation::ResultOf,
        };
        let also = if tip == start { Vec::new() } else { vec![start] };
        self.push_also(event, Some((tip, relation)), also, changes)
    }

    fn run_begins(&mut self, event: &Event, changes: &mut Changes) -> u32 {
        let fact = self.push(event, None, changes);
        self.link_to_parent(event, fact, Relation::StartedBy, changes);
        self.name_of_run(event, event.kind().tag(), fact, changes);
        self.run(event).unanswered = vec![fact];
        fact
    }

    /// The end of a run comes from what stopped it, from what it did last, or at least from its start; whoever
    /// waits for the run has it from here.
    fn end(&mut self, event: &Event, changes: &mut Changes) -> u32 {
        let run = self.run(event);
        let last = run.unanswered.last().copied().or(run.step).or(run.first);
        let link = match run.stopped.take() {
            Some(stop) => Some((stop, Relation::StoppedBy)),
            None => last.map(|last| (last, Relation::EndsWith)),
        };
        let parent = run.parent.clone();
        let fact = self.note(event, link, changes);
        self.name_of_run(event, event.kind().tag(), fact, changes);
        let cause = parent.and_then(|parent| self.named.get(&parent.shared()));
        self.advance(cause.filter(|cause| !self.works[*cause].done), fact);
        fact
    }

    /// A request to stop comes from outside, an error from where the run stood.
    fn stop(&mut self, event: &Event, changes: &mut Changes) -> u32 {
        let asked = event.kind() == Kind::CancelRequested;
        let fact = if asked { self.push(event, None, changes) } else { self.note(event, None, changes) };
        if let Some(run) = event.head.run_id.as_ref().and_then(|run| self.runs.get_mut(run)) {
            run.stopped = Some(fact);
        }
        fact
    }

    fn usage(&mut self, event: &Event, spent: Tally, model: Option<&str>, changes: &mut Changes) -> u32 {
        let step = self.run(event).step;
        self.run(event).steps.settle();
        let Some(step) = step else {
            return self.note(event, None, changes);
        };
        let fact = &mut self.facts[step as usize];
        if fact.spent.is_none()
            && let Some(model) = model
        {
            fact.text = brief(&format!("{} on {model}", fact.text));
            changes.set(path!["facts", step as usize, "text"], &fact.text);
        }
        fact.spent = Some(fact.spent.unwrap_or_default().plus(spent));
        changes.set(path!["facts", step as usize, "spent"], &fact.spent);
        self.push(event, Some((step, Relation::PartOf)), changes)
    }

    fn model_retry(&mut self, event: &Event, changes: &mut Changes) -> u32 {
        let fact = self.note(event, None, changes);
        let run = self.run(event);
        run.unanswered.push(fact);
        run.steps.settle();
        run.stopped = None;
        fact
    }

    fn relay(&mut self, event: &Event, relay: &Relay, changes: &mut Changes) -> u32 {
        let call = relay.tool_call_id.as_ref().map(CallId::shared);
        let call = call.and_then(|id| {
            self.asked_about(Own::Call, event, &id).or_else(|| self.asked_about(Own::Code, event, &id))
        });
        let about = call.or_else(|| self.node_work(event));
        let link = self.tip(about, Relation::AsksAbout);
        let fact = self.note(event, link, changes);
        self.advance(about, fact);
        if let Some(run) = &event.head.run_id {
            let (request, _) = self.requests.ask(run, relay);
            self.asked.insert(request, Asked { fact, about });
        }
        fact
    }

    fn resolved(&mut self, event: &Event, resolved: &RelayResolved, changes: &mut Changes) -> u32 {
        let (request, _) = self.requests.answer(event.head.run_id.as_ref(), &resolved.relay_id);
        let Some(Asked { fact: asked, about }) = self.asked.get(&request).copied() else {
            return self.note(event, None, changes);
        };
        let fact = self.push(event, Some((asked, Relation::Resolves)), changes);
        self.advance(about, fact);
        fact
    }

    fn summary(&mut self, event: &Event, id: &str, sources: &[String], changes: &mut Changes) -> u32 {
        let found = sources.iter().filter_map(|source| {
            let message = source.strip_prefix("msg:").unwrap_or(source);
            self.messages.get(message).copied().or_else(|| self.find(source))
        });
        let mut found: Vec<u32> = found.collect();
        let link = found.pop().map(|last| (last, Relation::SumsUp));
        let fact = self.push_also(event, link, found, changes);
        self.messages.insert(id.into(), fact);
        fact
    }

    /// The model call an event belongs to; a new one if the event begins it.
    fn step(&mut self, event: &Event, changes: &mut Changes) -> u32 {
        let run = self.runs.entry(event.head.run_id.clone().unwrap_or_else(|| RunId::from(""))).or_default();
        let begins = run.steps.begins(event.head.message_id.as_ref());
        if let Some(step) = run.step.filter(|_| !begins) {
            return step;
        }
        run.step_count += 1;
        // A run that goes on after an error was not stopped by it.
        let stopped = run.stopped;
        run.stopped = stopped.filter(|stop| self.facts[*stop as usize].what != What::Event(Kind::Error));
        let mut answers = std::mem::take(&mut run.unanswered);
        let before = run.step;
        let text = format!("model call {}", run.step_count);
        let link = match answers.pop() {
            Some(last) => Some((last, Relation::Answers)),
            None => before.map(|before| (before, Relation::Follows)),
        };
        let agent = event.head.agent.as_ref().map(|agent| agent.name.as_deref().unwrap_or(agent.id.as_str()));
        let text = agent.map_or(text.clone(), |agent| format!("{text} of {agent}"));
        let step = self.add(event, What::Step, brief(&text), link, answers, changes);
        if link.is_none() {
            self.link_to_parent(event, step, Relation::Answers, changes);
        }
        if let Some(message) = &event.head.message_id {
            self.messages.insert(message.shared(), step);
        }
        self.run(event).step = Some(step);
        step
    }
}
