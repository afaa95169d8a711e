//! [`Tree`]: the nodes of a run as they stand, nested flows and items below them.

use std::collections::{HashMap, HashSet};

use antiphon_event::{Body, Event, Timestamp};
use antiphon_runtime::{Clock, SystemClock};
use antiphon_view::timeline::{Row, Run, RunKind, Timeline};
use antiphon_view::{Changes, Fold};

use crate::render::{Ink, Line, Page, paragraphs, status_ink, unit};

/// How many bytes of what a node says are kept: the last ones.
const SAID_MAX: usize = 2048;
/// How many lines of what a node says are shown.
const SAID_LINES: usize = 3;
/// How deep runs are followed.
const DEPTH_MAX: usize = 12;
const SPINNER: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The nodes of a run as they stand.
#[derive(Default)]
pub(super) struct Tree {
    timeline: Fold<Timeline>,
    /// What nodes that are at work have said last, by run and node.
    said: HashMap<(String, String), String>,
    /// Tokens that the latest execution of nodes took, in the same way.
    tokens: HashMap<(String, String), u64>,
    now: Option<Timestamp>,
    turn: usize,
}

/// A node and how deep it lies.
struct Entry<'t> {
    depth: usize,
    run: &'t Run,
    row: &'t Row,
}

impl Tree {
    pub(super) fn apply(&mut self, event: &Event) {
        self.timeline.apply(event, &mut Changes::unwanted());
        self.now = event.head.at.or(self.now);
        let Some(node) = &event.head.node_id else { return };
        // What an agent says is said in its own run: the node alone tells whose it is.
        let path = event
            .head
            .node_path
            .as_ref()
            .and_then(|path| path.len().checked_sub(2).map(|at| path[at].to_string()));
        let key = (path.unwrap_or_default(), node.to_string());
        match &event.body {
            Body::Text(text) => self.say(key, &text.content),
            Body::ModelRetry(retry) => {
                // What it had said does not count.
                self.said.remove(&key);
                self.say(key, &format!("({})\n\n", unit::again(retry)));
            }
            Body::Usage(usage) => {
                let tokens = self.tokens.entry(key).or_default();
                *tokens = tokens.saturating_add(usage.input_tokens).saturating_add(usage.output_tokens);
            }
            Body::NodeStart(_) => {
                self.said.remove(&key);
                self.tokens.remove(&key);
            }
            Body::NodeEnd(_) => {
                self.said.remove(&key);
            }
            _ => {}
        }
    }

    fn say(&mut self, key: (String, String), text: &str) {
        let said = self.said.entry(key).or_default();
        said.push_str(text);
        let cut = said.len().saturating_sub(SAID_MAX);
        let cut = (cut..said.len()).find(|at| said.is_char_boundary(*at)).unwrap_or(0);
        said.drain(..cut);
    }

    /// At most so many lines; what is at work, waits or failed goes before what is done.
    pub(super) fn lines(&mut self, page: Page, rows: usize, is_live: bool) -> Vec<Line> {
        self.turn += 1;
        if is_live {
            self.now = Some(SystemClock.now());
        }
        let entries = self.entries();
        let shown = chosen(&entries, rows);
        let mut lines = Vec::new();
        let left_out = entries.len() - shown.len();
        if left_out > 0 {
            lines.push(Line::new().ink(Ink::Faint, format!("… {} more nodes", unit::count(left_out as u64))));
        }
        let mut room = rows.saturating_sub(shown.len() + lines.len());
        for entry in shown.into_iter().map(|index| &entries[index]) {
            lines.push(self.line(entry, is_live));
            if let Some(said) = self.said.get(&self.key(entry)).filter(|_| is_live && entry.row.is_open()) {
                let indent = 2 * entry.depth + 2;
                let said = paragraphs(Ink::Faint, said, page.width.saturating_sub(indent));
                let last = said.len().saturating_sub(SAID_LINES.min(room));
                room = room.saturating_sub(said.len() - last);
                lines.extend(
                    said[last..].iter().map(|line| Line::new().plain(" ".repeat(indent)).join(line.clone())),
                );
            }
        }
        lines
    }

    /// The latest execution of each node, depth first.
    fn entries(&self) -> Vec<Entry<'_>> {
        let timeline = self.timeline.view();
        let mut entries = Vec::new();
        let is_root = |run: &&Run| run.kind == RunKind::Flow && run.within.is_none();
        if let Some(root) = timeline.runs().iter().rev().find(is_root) {
            add(timeline, root, 0, &mut entries);
        }
        entries
    }

    fn line(&self, entry: &Entry<'_>, is_live: bool) -> Line {
        let Entry { depth, row, .. } = entry;
        let word = row.status.as_str().to_lowercase();
        let mark = match &*word {
            "completed" => "✓",
            "failed" => "✗",
            "cancelled" => "⊘",
            "skipped" => "–",
            "interrupted" => "?",
            "executing" if is_live => SPINNER[self.turn % SPINNER.len()],
            _ => "·",
        };
        let mut line = Line::new().plain("  ".repeat(*depth)).ink(status_ink(&word), mark).plain(" ");
        line = line.ink(Ink::Strong, row.node_id.as_str());
        if let Some(kind) = &row.node_type {
            line = line.ink(Ink::Faint, format!("  {kind}"));
        }
        if let Some(took) = self.took(row) {
            line = line.plain(format!("  {}", unit::duration(took)));
        }
        if row.execution > 1 {
            line = line.ink(Ink::Faint, format!("  #{}", row.execution));
        }
        if row.attempt > 1 {
            line = line.ink(Ink::Waiting, format!("  try {}", row.attempt));
        }
        let tokens = self.tokens.get(&self.key(entry)).copied().unwrap_or_default();
        if tokens > 0 {
            line = line.ink(Ink::Faint, format!("  {} tokens", unit::count(tokens)));
        }
        match (&row.error, &row.reason) {
            (Some(error), _) => line.ink(Ink::Bad, format!("  {}", unit::flat(error))),
            (None, Some(reason)) => line.ink(Ink::Faint, format!("  {}", unit::flat(reason))),
            (None, None) => line,
        }
    }

    /// How long a node took, or has been at work so far.
    fn took(&self, row: &Row) -> Option<u64> {
        row.duration_ms.or_else(|| {
            let (start, now) = row.started_at.zip(self.now)?;
            row.is_open().then(|| now.millis().saturating_sub(start.millis()).max(0) as u64)
        })
    }

    /// What is kept of a node goes by it and the node around it.
    fn key(&self, entry: &Entry<'_>) -> (String, String) {
        let around = entry.run.within.as_ref().and_then(|within| {
            let around = self.timeline.view().run(&within.run_id)?;
            Some(around.rows.get(within.row)?.node_id.to_string())
        });
        (around.unwrap_or_default(), entry.row.node_id.to_string())
    }
}

fn add<'t>(timeline: &'t Timeline, run: &'t Run, depth: usize, entries: &mut Vec<Entry<'t>>) {
    let latest: HashMap<&str, usize> =
        run.rows.iter().enumerate().map(|(at, row)| (row.node_id.as_str(), at)).collect();
    let mut met = HashSet::new();
    for row in &run.rows {
        if !met.insert(row.node_id.as_str()) {
            continue;
        }
        let row = &run.rows[latest[row.node_id.as_str()]];
        entries.push(Entry { depth, run, row });
        let inside =
            row.inside.iter().filter_map(|id| timeline.run(id)).filter(|run| run.kind == RunKind::Flow);
        if depth < DEPTH_MAX {
            inside.for_each(|inside| add(timeline, inside, depth + 1, entries));
        }
    }
}

/// Which entries are shown if not all can be: the open and the failed ones first, then the last ones; in order.
fn chosen(entries: &[Entry<'_>], rows: usize) -> Vec<usize> {
    if entries.len() <= rows {
        return (0..entries.len()).collect();
    }
    let matters = |entry: &Entry<'_>| entry.row.is_open() || entry.row.error.is_some();
    let mut order: Vec<usize> = (0..entries.len()).rev().collect();
    order.sort_by_key(|index| !matters(&entries[*index]));
    order.truncate(rows.saturating_sub(1));
    order.sort_unstable();
    order
}
