//! The trace view: spans inside spans, with the time each took.
//!
//! In: events with a trace. Out: `{traces: [Trace], spans: [Span]}`, both flat; a span names the place of its
//! trace and of the span around it, and spans side by side stand in the order of the list. Both lists only
//! grow. Start reading at [`Traces::apply`](View::apply).

mod role;
mod span;

use std::collections::BTreeMap;

use antiphon_event::{CallId, Event, RelayId, RunId, SpanId, TraceId};
use serde::{Deserialize, Serialize};
use serde_with::serde_as;

use crate::edit::Edit;
use crate::forest::Forest;
use crate::lapse::lapse;
use crate::{Changes, View, path};

use role::Role;
pub use span::{Annotation, Span, SpanKind, SpanStatus, Trace};

/// The traces of a session; two traces are two trees.
///
/// An event without a span annotates the span of the tool call it is about, else the innermost open iteration
/// of its run or trace, else the turn. A span that others name as theirs has a place kept until it appears;
/// spans that would contain themselves stay side by side.
#[serde_as]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Traces {
    list: Vec<Trace>,
    spans: Vec<Span>,
    tree: Forest,
    trace_places: BTreeMap<TraceId, usize>,
    #[serde_as(as = "Vec<(_, _)>")]
    span_places: BTreeMap<(usize, SpanId), usize>,
    /// The trace each run was last seen in.
    runs: BTreeMap<RunId, usize>,
    #[serde_as(as = "Vec<(_, _)>")]
    calls: BTreeMap<(Option<RunId>, CallId), usize>,
    relays: BTreeMap<RelayId, usize>,
    /// What is open, by trace, and by trace and run.
    #[serde_as(as = "Vec<(_, _)>")]
    open: BTreeMap<(usize, Option<RunId>), Open>,
    /// Places of annotations, by where they stand, type and id.
    #[serde_as(as = "Vec<(_, _)>")]
    notes: BTreeMap<(Holder, String, Option<String>), usize>,
}

/// What of a trace or run is open; ended ones are taken away when somebody looks.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Open {
    turns: Vec<usize>,
    iterations: Vec<usize>,
}

/// Where an annotation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Holder {
    Trace(usize),
    Span(usize),
}

impl Traces {
    /// The traces, in the order they were heard of.
    pub fn traces(&self) -> &[Trace] {
        &self.list
    }

    /// The spans of all traces, in the order they were heard of.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// All spans depth first, each with its depth.
    pub fn walk(&self) -> impl Iterator<Item = (usize, &Span)> {
        self.tree.walk().map(|(depth, place)| (depth, &self.spans[place]))
    }

    fn trace_of(&mut self, event: &Event, changes: &mut Changes) -> Option<usize> {
        let run = event.head.run_id.as_ref();
        let Some(id) = &event.head.trace_id else {
            return run.and_then(|run| self.runs.get(run)).copied();
        };
        let trace = match self.trace_places.get(id) {
            Some(place) => *place,
            None => self.add_trace(id, event, changes),
        };
        if let Some(run) = run.filter(|run| self.runs.get(*run) != Some(&trace)) {
            self.runs.insert(run.clone(), trace);
        }
        Some(trace)
    }

    fn add_trace(&mut self, id: &TraceId, event: &Event, changes: &mut Changes) -> usize {
        let at = event.head.at;
        let row = Trace {
            trace_id: id.clone(),
            started_at: at,
            last_at: None,
            duration_ms: None,
            annotations: Vec::new(),
        };
        changes.append(path!["traces"], &row);
        self.list.push(row);
        self.trace_places.insert(id.clone(), self.list.len() - 1);
        self.list.len() - 1
    }

    fn touch(&mut self, trace: usize, event: &Event, changes: &mut Changes) {
        let row = &mut self.list[trace];
        let steps = path!["traces", trace];
        let mut edit = Edit::at(changes, steps);
        edit.fill("startedAt", &mut row.started_at, event.head.at);
        // An event that comes late is not the latest.
        let last_at = row.last_at.max(event.head.at);
        edit.take("lastAt", &mut row.last_at, last_at);
        edit.take("durationMs", &mut row.duration_ms, lapse(row.started_at, last_at));
    }

    /// The span with this id; a place is kept for it if it is new.
    fn span(&mut self, trace: usize, id: &SpanId, changes: &mut Changes) -> usize {
        if let Some(place) = self.span_places.get(&(trace, id.clone())) {
            return *place;
        }
        let span = Span {
            trace,
            span_id: id.clone(),
            parent: None,
            kind: None,
            name: None,
            placeholder: true,
            status: SpanStatus::Open,
            started_at: None,
            ended_at: None,
            duration_ms: None,
            events: 0,
            annotations: Vec::new(),
        };
        changes.append(path!["spans"], &span);
        self.spans.push(span);
        let place = self.tree.add(None);
        self.span_places.insert((trace, id.clone()), place);
        place
    }

    /// An event that carries a span.
    fn in_span(&mut self, trace: usize, id: &SpanId, role: &Role<'_>, event: &Event, changes: &mut Changes) {
        let place = self.span(trace, id, changes);
        if let Some(parent) =
            event.head.parent_span_id.as_ref().filter(|_| self.spans[place].parent.is_none())
        {
            let parent = self.span(trace, parent, changes);
            if self.tree.adopt(place, parent) {
                let steps = path!["spans", place];
                Edit::at(changes, steps).put("parent", &mut self.spans[place].parent, Some(parent));
            }
        }
        let row = &mut self.spans[place];
        let kind_before = row.kind;
        let steps = path!["spans", place];
        let mut edit = Edit::at(changes, steps);
        edit.put("placeholder", &mut row.placeholder, false);
        edit.fill("startedAt", &mut row.started_at, event.head.at);
        edit.count("events", &mut row.events);
        let kind = row.kind.max(role.kind);
        if kind != kind_before {
            edit.put("kind", &mut row.kind, kind);
            edit.clear("name", &mut row.name);
        }
        if kind == role.kind {
            edit.fill("name", &mut row.name, role.name.map(ToOwned::to_owned));
        }
        if kind != kind_before {
            self.opened(place, event);
        }
        self.learn(place, role, event);
    }

    /// Remembers an iteration or turn as open.
    fn opened(&mut self, place: usize, event: &Event) {
        let (kind, trace) = (self.spans[place].kind, self.spans[place].trace);
        for run in [None, event.head.run_id.clone()] {
            let open = self.open.entry((trace, run)).or_default();
            match kind {
                Some(SpanKind::Turn) => open.turns.push(place),
                Some(SpanKind::Iteration) => open.iterations.push(place),
                Some(SpanKind::Input | SpanKind::Tool | SpanKind::Node) | None => {}
            }
        }
    }

    /// Remembers what a span is about, for events that carry none.
    fn learn(&mut self, place: usize, role: &Role<'_>, event: &Event) {
        if let Some(call) = role.call.filter(|_| role.opens_call) {
            self.calls.insert((event.head.run_id.clone(), call.clone()), place);
        }
        if let Some(relay) = role.relay {
            self.relays.entry(relay.clone()).or_insert(place);
        }
    }

    /// Ends the span of a closing event: its own, else that of its call, else what is open of that kind.
    fn close(
        &mut self,
        trace: Option<usize>,
        role: &Role<'_>,
        event: &Event,
        changes: &mut Changes,
    ) -> Option<()> {
        let kind = role.closes?;
        let own = trace.zip(event.head.span_id.as_ref());
        let own = own.and_then(|(trace, id)| self.span_places.get(&(trace, id.clone())).copied());
        let place =
            own.or_else(|| self.span_of_call(role, event)).or_else(|| self.innermost(trace?, event, kind))?;
        self.end(place, kind, role, event, changes);
        Some(())
    }

    /// What a model was asked in a run that is over has come to its end, also if nobody said so.
    fn close_iterations(
        &mut self,
        trace: Option<usize>,
        role: &Role<'_>,
        event: &Event,
        changes: &mut Changes,
    ) {
        let (Some(trace), Some(run), Some(SpanKind::Turn)) = (trace, &event.head.run_id, role.closes) else {
            return;
        };
        let open = self.open.get_mut(&(trace, Some(run.clone())));
        for place in open.map(|open| std::mem::take(&mut open.iterations)).unwrap_or_default() {
            self.end(place, SpanKind::Iteration, role, event, changes);
        }
    }

    /// Ends a span, if it is open and of this kind.
    fn end(&mut self, place: usize, kind: SpanKind, role: &Role<'_>, event: &Event, changes: &mut Changes) {
        let row = &mut self.spans[place];
        if row.kind != Some(kind) || row.status != SpanStatus::Open {
            return;
        }
        let status = if role.failed { SpanStatus::Error } else { SpanStatus::Ok };
        let steps = path!["spans", place];
        let mut edit = Edit::at(changes, steps);
        edit.put("status", &mut row.status, status);
        edit.take("endedAt", &mut row.ended_at, event.head.at);
        edit.take("durationMs", &mut row.duration_ms, lapse(row.started_at, event.head.at));
    }

    fn span_of_call(&self, role: &Role<'_>, event: &Event) -> Option<usize> {
        let by_relay = role.relay.and_then(|relay| self.relays.get(relay));
        let by_call = || self.calls.get(&(event.head.run_id.clone(), role.call?.clone()));
        by_relay.or_else(by_call).copied()
    }

    /// The innermost open span of a kind, of the event's run, else of its trace.
    fn innermost(&mut self, trace: usize, event: &Event, kind: SpanKind) -> Option<usize> {
        let spans = &self.spans;
        for run in [event.head.run_id.clone(), None] {
            let Some(open) = self.open.get_mut(&(trace, run)) else {
                continue;
            };
            let places = match kind {
                SpanKind::Turn => &mut open.turns,
                SpanKind::Iteration => &mut open.iterations,
                SpanKind::Input | SpanKind::Tool | SpanKind::Node => continue,
            };
            while places
                .pop_if(|place| spans[*place].status != SpanStatus::Open || spans[*place].kind != Some(kind))
                .is_some()
            {}
            if let Some(place) = places.last() {
                return Some(*place);
            }
        }
        None
    }

    /// An event that carries no span.
    fn annotate(
        &mut self,
        trace: Option<usize>,
        role: &Role<'_>,
        event: &Event,
        changes: &mut Changes,
    ) -> Option<()> {
        let span = self
            .span_of_call(role, event)
            .or_else(|| self.innermost(trace?, event, SpanKind::Iteration))
            .or_else(|| self.innermost(trace?, event, SpanKind::Turn));
        if let (Some(span), Some(relay)) = (span, role.relay) {
            self.relays.entry(relay.clone()).or_insert(span);
        }
        let holder = span.map(Holder::Span).or(trace.map(Holder::Trace))?;
        let kind = event.body.tag();
        let id = role.id.map(ToOwned::to_owned);
        let key = (holder, kind.to_owned(), id.clone());
        let (list, steps) = match holder {
            Holder::Span(span) => (&mut self.spans[span].annotations, ["spans".into(), span.into()]),
            Holder::Trace(trace) => (&mut self.list[trace].annotations, ["traces".into(), trace.into()]),
        };
        if let Some(place) = self.notes.get(&key) {
            let [table, row] = steps;
            let steps = [table, row, "annotations".into(), (*place).into()];
            Edit::at(changes, &steps).count("count", &mut list[*place].count);
            return Some(());
        }
        self.notes.insert(key, list.len());
        let note = Annotation { kind: kind.to_owned(), id, count: 1, at: event.head.at };
        Edit::at(changes, &steps).push("annotations", list, note);
        Some(())
    }
}

impl View for Traces {
    const NAME: &'static str = "trace";

    fn apply(&mut self, event: &Event, changes: &mut Changes) {
        let role = Role::of(event);
        let trace = self.trace_of(event, changes);
        if let Some(trace) = trace {
            self.touch(trace, event, changes);
        }
        match trace.zip(event.head.span_id.as_ref()) {
            Some((trace, span)) => self.in_span(trace, span, &role, event, changes),
            None => {
                self.annotate(trace, &role, event, changes);
            }
        }
        self.close(trace, &role, event, changes);
        self.close_iterations(trace, &role, event, changes);
    }

    fn snapshot(&self) -> impl Serialize + '_ {
        Snapshot { traces: &self.list, spans: &self.spans }
    }
}

#[derive(Serialize)]
struct Snapshot<'a> {
    traces: &'a [Trace],
    spans: &'a [Span],
}
